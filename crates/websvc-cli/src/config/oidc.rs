//! The identity provider.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

/// `[auth.oidc]`: an identity provider whose tokens and users are accepted. Without `issuer` there is none.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Oidc {
    /// URL, exactly as the provider writes it into its tokens.
    pub(crate) issuer: Option<String>,
    /// Audiences of bearer tokens.
    pub(crate) audience: Vec<String>,
    /// Names of the accepted signature algorithms.
    pub(crate) algorithms: Vec<String>,
    /// Tolerated difference between the clocks.
    pub(crate) leeway_s: u64,
    /// Team of all tokens, unless `team_claim` is set.
    pub(crate) team: Option<String>,
    pub(crate) team_claim: Option<String>,
    pub(crate) scopes_claim: Option<String>,
    pub(crate) groups_claim: Option<String>,
    /// Scopes of the members of groups.
    pub(crate) groups: BTreeMap<String, Vec<String>>,
    /// Scopes of every token.
    pub(crate) default_scopes: Vec<String>,
    /// The service as a client of the provider. Without it, no user can sign in to the dashboard by the provider.
    pub(crate) client_id: Option<String>,
    pub(crate) client_secret: Option<String>,
    pub(crate) client_secret_file: Option<PathBuf>,
    /// Scopes that are requested when a user signs in.
    pub(crate) sign_in_scopes: Vec<String>,
    /// Name on the button.
    pub(crate) name: String,
}

impl Default for Oidc {
    fn default() -> Self {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Self {
            issuer: None,
            audience: Vec::new(),
            algorithms: texts(&["RS256", "PS256", "ES256", "EdDSA"]),
            leeway_s: 60,
            team: None,
            team_claim: None,
            scopes_claim: None,
            groups_claim: None,
            groups: BTreeMap::new(),
            default_scopes: Vec::new(),
            client_id: None,
            client_secret: None,
            client_secret_file: None,
            sign_in_scopes: texts(&["openid", "profile", "email"]),
            name: "single sign-on".to_owned(),
        }
    }
}
