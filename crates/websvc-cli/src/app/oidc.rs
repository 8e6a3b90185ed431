//! The configured identity provider.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use url::Url;
use websvc_server::{ClientSecret, Oidc, OidcConfig, ProviderTiming, SignInConfig, TeamSource};
use websvc_store::DEFAULT_TEAM;

use super::sources::client_to;
use crate::config::{self, Config};

/// Maximum size of the file with the secret of the client.
const MAX_SECRET_FILE_BYTES: u64 = 4096;

/// Returns the identity provider without contacting it; `None` if none is configured.
pub(crate) fn oidc(config: &Config) -> Result<Option<Oidc>> {
    let settings = &config.auth.oidc;
    let Some(issuer) = &settings.issuer else {
        if let Some(name) = first_set(settings) {
            bail!("auth.oidc.{name} is set, but auth.oidc.issuer is missing");
        }
        return Ok(None);
    };
    ensure!(
        config.auth.required,
        "auth.oidc.issuer is set, but auth.required is false: no client needs a token"
    );
    let algorithms = settings.algorithms.iter().map(|name| name.parse().context("auth.oidc.algorithms"));
    let oidc = OidcConfig {
        issuer: issuer.clone(),
        audiences: settings.audience.clone(),
        algorithms: algorithms.collect::<Result<_>>()?,
        leeway: Duration::from_secs(settings.leeway_s),
        team: team(settings)?,
        scopes_claim: settings.scopes_claim.clone(),
        groups_claim: settings.groups_claim.clone(),
        groups: settings.groups.clone(),
        default_scopes: settings.default_scopes.clone(),
        sign_in: sign_in(config)?,
        timing: ProviderTiming::default(),
    };
    let url: Url = issuer.parse().context("auth.oidc.issuer")?;
    let host = url.host_str().context("auth.oidc.issuer: the URL has no host")?;
    let port = url.port_or_known_default().context("auth.oidc.issuer: the URL has no port")?;
    // The operator has chosen the issuer, so it may be on any network. Other hosts that it names must be public.
    let client = client_to(config, host, port).context("auth.oidc.issuer")?;
    Ok(Some(Oidc::new(oidc, client).context("auth.oidc")?))
}

/// Returns the first key that has no effect without an issuer.
fn first_set(settings: &config::Oidc) -> Option<&'static str> {
    let set = [
        ("audience", !settings.audience.is_empty()),
        ("team", settings.team.is_some()),
        ("team_claim", settings.team_claim.is_some()),
        ("scopes_claim", settings.scopes_claim.is_some()),
        ("groups_claim", settings.groups_claim.is_some()),
        ("groups", !settings.groups.is_empty()),
        ("default_scopes", !settings.default_scopes.is_empty()),
        ("client_id", settings.client_id.is_some()),
        ("client_secret", settings.client_secret.is_some()),
        ("client_secret_file", settings.client_secret_file.is_some()),
    ];
    set.into_iter().find_map(|(name, is_set)| is_set.then_some(name))
}

fn team(settings: &config::Oidc) -> Result<TeamSource> {
    match (&settings.team, &settings.team_claim) {
        (Some(_), Some(_)) => {
            bail!("auth.oidc.team and auth.oidc.team_claim are both set: only one can decide")
        }
        (None, Some(claim)) => {
            ensure!(!claim.is_empty(), "auth.oidc.team_claim is empty");
            Ok(TeamSource::Claim(claim.clone()))
        }
        (team, None) => Ok(TeamSource::Fixed(team.clone().unwrap_or_else(|| DEFAULT_TEAM.to_owned()))),
    }
}

/// Returns the service as a client of the provider, if it is one.
fn sign_in(config: &Config) -> Result<Option<SignInConfig>> {
    let settings = &config.auth.oidc;
    let Some(client_id) = &settings.client_id else {
        ensure!(
            settings.client_secret.is_none() && settings.client_secret_file.is_none(),
            "auth.oidc has a client_secret, but no client_id"
        );
        return Ok(None);
    };
    let public_url = config.server.public_url.as_deref().context(
        "auth.oidc.client_id is set, but server.public_url is missing: the browser returns from the provider to it",
    )?;
    Ok(Some(SignInConfig {
        client_id: client_id.clone(),
        client_secret: client_secret(settings)?.map(ClientSecret::new),
        public_url: public_url.parse().context("server.public_url")?,
        scopes: settings.sign_in_scopes.clone(),
        name: settings.name.clone(),
    }))
}

fn client_secret(settings: &config::Oidc) -> Result<Option<String>> {
    match (&settings.client_secret, &settings.client_secret_file) {
        (Some(_), Some(_)) => {
            bail!(
                "auth.oidc.client_secret and auth.oidc.client_secret_file are both set: only one can be the secret"
            )
        }
        (Some(secret), None) => Ok(Some(secret.clone())),
        (None, Some(file)) => read_secret(file).map(Some),
        (None, None) => Ok(None),
    }
}

/// Reads a secret from a file, without the end of its line.
fn read_secret(file: &Path) -> Result<String> {
    let shown = || format!("auth.oidc.client_secret_file: {}", file.display());
    let length = std::fs::metadata(file).with_context(shown)?.len();
    ensure!(
        length <= MAX_SECRET_FILE_BYTES,
        "{} has {length} bytes, more than {MAX_SECRET_FILE_BYTES}",
        shown()
    );
    let secret = std::fs::read_to_string(file).with_context(shown)?.trim().to_owned();
    ensure!(!secret.is_empty(), "{} is empty", shown());
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output;

    const BEARER: &str =
        "[auth.oidc]\nissuer = 'https://idp.test'\naudience = ['websvc']\ndefault_scopes = ['search']\n";
    const SIGN_IN: &str = "[server]\npublic_url = 'https://websvc.test'\n[auth.oidc]\nissuer = 'https://idp.test'\n\
                           client_id = 'websvc'\ngroups_claim = 'groups'\ngroups = { ops = ['admin', 'all'] }\n";

    #[track_caller]
    fn check(text: &str, expected: Result<bool, &str>) {
        let config: Config = toml::from_str(text).unwrap();
        match (oidc(&config), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found.is_some(), expected, "{text}"),
            (Err(error), Err(expected)) => {
                let shown = output::causes(error.as_ref());
                assert!(shown.contains(expected) && !shown.contains("s3cret"), "{shown}");
            }
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn provider_is_off_unless_it_has_an_issuer() {
        check("", Ok(false));
        check(BEARER, Ok(true));
        check(SIGN_IN, Ok(true));
        for key in ["audience = ['x']", "team = 'x'", "groups = { a = [] }", "client_secret = 's3cret'"] {
            check(&format!("[auth.oidc]\n{key}"), Err("auth.oidc.issuer is missing"));
        }
        check(&format!("[auth]\nrequired = false\n{BEARER}"), Err("auth.required is false"));
    }

    #[test]
    fn invalid_values_name_their_key() {
        check(&BEARER.replace("https:", "http:"), Err("neither https nor http on 127.0.0.1"));
        check(
            &format!("{BEARER}algorithms = ['HS256']"),
            Err("auth.oidc.algorithms: \"HS256\" is not one of"),
        );
        check(&format!("{BEARER}algorithms = []"), Err("algorithms: it is empty"));
        check(&format!("{BEARER}team = 'a'\nteam_claim = 'b'"), Err("are both set"));
        check(&format!("{BEARER}team_claim = ''"), Err("team_claim is empty"));
        check(&format!("{BEARER}client_secret = 's3cret'"), Err("no client_id"));
        check(&BEARER.replace("search", "serch"), Err("default_scopes: \"serch\" is not one of"));
        check(&SIGN_IN.replace("https://websvc.test", "https://websvc.test/api"), Err("without a path"));
        check(
            &SIGN_IN.replace("public_url = 'https://websvc.test'", ""),
            Err("server.public_url is missing"),
        );
        check(&SIGN_IN.replace("'admin', ", ""), Err("no group has admin"));
        check(
            &format!("{SIGN_IN}sign_in_scopes = ['email']"),
            Err("sign_in_scopes: it does not have openid"),
        );
    }

    #[test]
    fn secret_is_in_the_configuration_or_a_file() {
        check(&format!("{SIGN_IN}client_secret = 's3cret'"), Ok(true));
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("secret");
        let with_file = format!("{SIGN_IN}client_secret_file = '{}'", file.display());
        check(&with_file, Err("client_secret_file"));
        std::fs::write(&file, "s3cret\n").unwrap();
        check(&with_file, Ok(true));
        assert_eq!(read_secret(&file).unwrap(), "s3cret");
        check(&format!("{with_file}\nclient_secret = 's3cret'"), Err("are both set"));
        std::fs::write(&file, "\n").unwrap();
        check(&with_file, Err("is empty"));
        std::fs::write(&file, "x".repeat(5000)).unwrap();
        check(&with_file, Err("more than 4096"));
    }
}
