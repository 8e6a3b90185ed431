//! The settings of an identity provider, and their rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use url::Url;
use websvc_store::KeyScope;

use super::algorithm::SignatureAlgorithm;
use super::provider::ProviderTiming;
use crate::oauth::is_loopback_http;

/// Maximum difference between the clocks of the provider and of the service.
pub const MAX_LEEWAY: Duration = Duration::from_secs(300);

/// The name that stands for all scopes.
const ALL_SCOPES: &str = "all";
/// The name of the right to administer, which only a group can give.
const ADMIN: &str = "admin";

/// The settings of an identity provider.
#[derive(Debug, Clone)]
pub struct OidcConfig {
    /// The issuer, exactly as the provider writes it.
    pub issuer: String,
    /// The audiences of tokens that are accepted as bearers; without any, no token is.
    pub audiences: Vec<String>,
    /// The algorithms of signatures that are accepted.
    pub algorithms: Vec<SignatureAlgorithm>,
    /// The difference between the clocks that is tolerated.
    pub leeway: Duration,
    /// The team of a token.
    pub team: TeamSource,
    /// The claim with names of scopes, as a list or a text with spaces. A claim is a name, or a JSON Pointer.
    pub scopes_claim: Option<String>,
    /// The claim with names of groups, as a list or one name.
    pub groups_claim: Option<String>,
    /// The scopes of the members of groups. `all` stands for every scope, `admin` for the right to sign in to the dashboard.
    pub groups: BTreeMap<String, Vec<String>>,
    /// The scopes of every token.
    pub default_scopes: Vec<String>,
    /// The service as a client of the provider, with which users sign in to the dashboard.
    pub sign_in: Option<SignInConfig>,
    /// The times of the cache.
    pub timing: ProviderTiming,
}

/// The rule that finds the team of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TeamSource {
    /// The same team for all tokens.
    Fixed(String),
    /// A claim with the name of the team, as a name of the claim or a JSON Pointer.
    Claim(String),
}

/// The service as a client of the provider.
#[derive(Debug, Clone)]
pub struct SignInConfig {
    /// The identifier of the client.
    pub client_id: String,
    /// Its secret; `None` for a public client.
    pub client_secret: Option<ClientSecret>,
    /// The URL of the service, without a path.
    pub public_url: Url,
    /// The scopes that are requested of the provider; `openid` is one of them.
    pub scopes: Vec<String>,
    /// The name of the provider on the button.
    pub name: String,
}

/// The secret of a client. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientSecret(String);

impl ClientSecret {
    /// Wraps a secret.
    #[must_use]
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ClientSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientSecret(..)")
    }
}

/// The error for settings that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {rule}")]
pub struct InvalidOidcConfig {
    key: &'static str,
    rule: String,
}

/// The rights that a group or every token has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct GrantedRights {
    pub(super) scopes: BTreeSet<KeyScope>,
    pub(super) admin: bool,
}

impl GrantedRights {
    pub(super) fn add(&mut self, other: &Self) {
        self.scopes.extend(&other.scopes);
        self.admin |= other.admin;
    }

    /// Reads names of scopes, and the names that only the configuration has.
    fn parse(names: &[String]) -> Result<Self, String> {
        let mut rights = Self::default();
        for name in names {
            match name.as_str() {
                ALL_SCOPES => rights.scopes.extend(KeyScope::ALL),
                ADMIN => rights.admin = true,
                name => {
                    let scope = name.parse().map_err(|error| format!("{error}, {ALL_SCOPES} or {ADMIN}"))?;
                    rights.scopes.insert(scope);
                }
            }
        }
        Ok(rights)
    }
}

/// Checked rights of groups and of every token.
#[derive(Debug, Clone)]
pub(super) struct RightsTable {
    pub(super) groups: BTreeMap<String, GrantedRights>,
    pub(super) defaults: BTreeSet<KeyScope>,
}

/// Checks settings. Returns the URL of the issuer and the rights.
///
/// # Errors
/// [`InvalidOidcConfig`] with the first broken rule.
pub(super) fn check(config: &OidcConfig) -> Result<(Url, RightsTable), InvalidOidcConfig> {
    let invalid = |key, rule: String| InvalidOidcConfig { key, rule };
    let issuer = check_issuer(&config.issuer).map_err(|rule| invalid("issuer", rule))?;
    if config.algorithms.is_empty() {
        return Err(invalid("algorithms", "it is empty, so no token could be valid".to_owned()));
    }
    if config.leeway > MAX_LEEWAY {
        let rule = format!("it is {} s, the maximum is {} s", config.leeway.as_secs(), MAX_LEEWAY.as_secs());
        return Err(invalid("leeway_s", rule));
    }
    if config.audiences.is_empty() && config.sign_in.is_none() {
        let rule = "it is missing, and so is client_id: no token could be used".to_owned();
        return Err(invalid("audience", rule));
    }
    if config.audiences.iter().any(String::is_empty) {
        return Err(invalid("audience", "it has an empty text".to_owned()));
    }
    let rights = check_rights(config)?;
    if let Some(sign_in) = &config.sign_in {
        check_sign_in(sign_in)?;
        if !rights.groups.values().any(|rights| rights.admin) {
            let rule = "no group has admin, so no user could sign in to the dashboard".to_owned();
            return Err(invalid("groups", rule));
        }
    }
    Ok((issuer, rights))
}

fn check_rights(config: &OidcConfig) -> Result<RightsTable, InvalidOidcConfig> {
    let invalid = |key, rule: String| InvalidOidcConfig { key, rule };
    let mut groups = BTreeMap::new();
    for (group, names) in &config.groups {
        let rights =
            GrantedRights::parse(names).map_err(|rule| invalid("groups", format!("{group:?}: {rule}")))?;
        groups.insert(group.clone(), rights);
    }
    if config.groups_claim.is_none() && !groups.is_empty() {
        return Err(invalid("groups_claim", "it is missing, but groups has entries".to_owned()));
    }
    let defaults =
        GrantedRights::parse(&config.default_scopes).map_err(|rule| invalid("default_scopes", rule))?;
    if defaults.admin {
        let rule = "admin can only be the right of a group".to_owned();
        return Err(invalid("default_scopes", rule));
    }
    if config.scopes_claim.is_none() && groups.is_empty() && defaults.scopes.is_empty() {
        let rule =
            "it is missing, and so are groups and default_scopes: no token could have a scope".to_owned();
        return Err(invalid("scopes_claim", rule));
    }
    Ok(RightsTable { groups, defaults: defaults.scopes })
}

fn check_issuer(text: &str) -> Result<Url, String> {
    let url: Url = text.parse().map_err(|error| format!("{text:?} is not a URL: {error}"))?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!("{text} has a query or a fragment"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it has a user name or a password".to_owned());
    }
    if url.scheme() != "https" && !is_loopback_http(&url) {
        return Err(format!("{text} is neither https nor http on 127.0.0.1, [::1] or localhost"));
    }
    Ok(url)
}

fn check_sign_in(config: &SignInConfig) -> Result<(), InvalidOidcConfig> {
    let invalid = |key, rule: String| Err(InvalidOidcConfig { key, rule });
    let SignInConfig { client_id, client_secret, public_url, scopes, name } = config;
    if client_id.is_empty() {
        return invalid("client_id", "it is empty".to_owned());
    }
    if client_secret.as_ref().is_some_and(|secret| secret.expose().is_empty()) {
        return invalid("client_secret", "it is empty".to_owned());
    }
    if public_url.path() != "/" || (public_url.scheme() != "https" && !is_loopback_http(public_url)) {
        let rule = format!(
            "sign-in needs a server.public_url without a path, with https or on loopback, not {public_url}"
        );
        return invalid("client_id", rule);
    }
    if !scopes.iter().any(|scope| scope == "openid") {
        return invalid(
            "sign_in_scopes",
            "it does not have openid, so there would be no ID token".to_owned(),
        );
    }
    if scopes.iter().any(|scope| scope.is_empty() || !scope.bytes().all(|byte| byte.is_ascii_graphic())) {
        return invalid(
            "sign_in_scopes",
            "a scope is empty or has characters other than visible ASCII".to_owned(),
        );
    }
    if name.trim().is_empty() || name.chars().count() > 40 || name.chars().any(char::is_control) {
        return invalid("name", "it must have 1 to 40 characters, and no control characters".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> OidcConfig {
        OidcConfig {
            issuer: "https://idp.test/realm".to_owned(),
            audiences: vec!["websvc".to_owned()],
            algorithms: vec![SignatureAlgorithm::Rs256],
            leeway: Duration::from_secs(60),
            team: TeamSource::Fixed("red".to_owned()),
            scopes_claim: Some("scope".to_owned()),
            groups_claim: Some("groups".to_owned()),
            groups: BTreeMap::from([("ops".to_owned(), vec!["all".to_owned(), "admin".to_owned()])]),
            default_scopes: vec!["search".to_owned()],
            sign_in: Some(SignInConfig {
                client_id: "websvc".to_owned(),
                client_secret: Some(ClientSecret::new("s3cret")),
                public_url: "https://websvc.test".parse().unwrap(),
                scopes: vec!["openid".to_owned(), "groups".to_owned()],
                name: "Tea".to_owned(),
            }),
            timing: ProviderTiming::default(),
        }
    }

    #[track_caller]
    fn refuse(change: impl FnOnce(&mut OidcConfig), expected: &str) {
        let mut config = config();
        change(&mut config);
        let error = check(&config).unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains("s3cret"), "{error}");
    }

    #[test]
    fn settings_of_each_kind_are_checked() {
        check(&config()).unwrap();
        for issuer in
            ["http://idp.test", "idp.test", "https://idp.test?x", "https://idp.test#x", "https://a@idp.test"]
        {
            refuse(|config| config.issuer = issuer.to_owned(), "issuer: ");
        }
        refuse(|config| config.algorithms.clear(), "algorithms: ");
        refuse(
            |config| config.leeway = Duration::from_secs(301),
            "leeway_s: it is 301 s, the maximum is 300 s",
        );
        refuse(|config| config.audiences = vec![String::new()], "audience: ");
        refuse(
            |config| {
                config.audiences.clear();
                config.sign_in = None;
            },
            "audience: it is missing, and so is client_id",
        );
        refuse(|config| config.default_scopes = vec!["serch".to_owned()], "default_scopes: \"serch\"");
        refuse(|config| config.default_scopes = vec!["admin".to_owned()], "only be the right of a group");
        refuse(|config| config.groups_claim = None, "groups_claim: ");
        refuse(
            |config| config.groups = BTreeMap::from([("ops".to_owned(), vec!["root".to_owned()])]),
            "groups: \"ops\": \"root\" is not one of",
        );
        refuse(
            |config| config.groups = BTreeMap::from([("ops".to_owned(), vec!["all".to_owned()])]),
            "no group has admin",
        );
        refuse(
            |config| {
                config.scopes_claim = None;
                config.groups.clear();
                config.default_scopes.clear();
            },
            "no token could have a scope",
        );
    }

    #[test]
    fn client_of_the_provider_is_checked() {
        let change = |change: fn(&mut SignInConfig)| {
            move |config: &mut OidcConfig| change(config.sign_in.as_mut().unwrap())
        };
        refuse(change(|client| client.client_id.clear()), "client_id: it is empty");
        refuse(change(|client| client.client_secret = Some(ClientSecret::new(""))), "client_secret: ");
        refuse(change(|client| client.name = " ".to_owned()), "name: ");
        refuse(change(|client| drop(client.scopes.remove(0))), "sign_in_scopes: it does not have openid");
        refuse(change(|client| client.scopes.push("a b".to_owned())), "sign_in_scopes: a scope");
        for url in ["http://websvc.test", "https://websvc.test/api"] {
            let mut config = config();
            config.sign_in.as_mut().unwrap().public_url = url.parse().unwrap();
            assert!(check(&config).unwrap_err().to_string().contains("server.public_url"), "{url}");
        }
        assert!(!format!("{:?}", config()).contains("s3cret"));
    }

    #[test]
    fn loopback_provider_needs_no_tls() {
        for issuer in ["http://127.0.0.1:9000", "http://localhost:9000/realms/tea", "http://[::1]"] {
            let config = OidcConfig { issuer: issuer.to_owned(), ..config() };
            check(&config).unwrap();
        }
    }
}
