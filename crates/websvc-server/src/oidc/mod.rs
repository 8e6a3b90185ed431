//! OpenID Connect: tokens of an identity provider as bearers, and sign-in to the dashboard.
//!
//! A bearer in the form of a token needs no key: its signature, its claims and the configuration decide its team and scopes
//! ([`bearer`]). A user who signs in to the dashboard brings an ID token by the authorization code flow ([`sign_in`]), and the
//! session then stands for a key, as every session does. Both kinds of tokens are checked by the same code: [`token`] the
//! form and the signature, [`claims`] the rest. [`provider`] fetches and caches the keys of the provider.

mod algorithm;
mod bearer;
mod claims;
mod config;
mod endpoints;
mod exchange;
mod flow;
mod key_set;
mod provider;
mod refusal;
mod sign_in;
mod token;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use websvc_transport::Client;

use self::claims::{ClaimRules, Claims, Identity, Purpose, check_issuer};
use self::flow::UsedFlows;
use self::provider::Provider;
use self::refusal::TokenRefusal;
use self::token::Token;

pub use algorithm::{SignatureAlgorithm, UnknownAlgorithm};
pub(crate) use bearer::find_token_caller;
pub use config::{ClientSecret, InvalidOidcConfig, MAX_LEEWAY, OidcConfig, SignInConfig, TeamSource};
pub(crate) use endpoints::ENDPOINTS;
pub use provider::{ProviderError, ProviderTiming};
pub(crate) use token::has_form_of_token;

/// An identity provider. Cheap to clone.
#[derive(Clone)]
pub struct Oidc(Arc<OidcParts>);

struct OidcParts {
    issuer: String,
    audiences: Vec<String>,
    algorithms: Vec<SignatureAlgorithm>,
    leeway: Duration,
    rules: ClaimRules,
    provider: Arc<Provider>,
    sign_in: Option<SignInConfig>,
    used_flows: UsedFlows,
}

/// A provider as it describes itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderSummary {
    /// The number of keys that can verify a signature.
    pub keys: usize,
    /// The provider has the endpoints for sign-in.
    pub has_sign_in: bool,
}

impl Oidc {
    /// Returns the provider with these settings. `client` must be able to reach it. Nothing is fetched yet.
    ///
    /// # Errors
    /// [`InvalidOidcConfig`] for settings that cannot be used.
    pub fn new(config: OidcConfig, client: Client) -> Result<Self, InvalidOidcConfig> {
        let (url, rights) = config::check(&config)?;
        let OidcConfig { issuer, audiences, algorithms, leeway, team, scopes_claim, groups_claim, .. } =
            config;
        Ok(Self(Arc::new(OidcParts {
            provider: Arc::new(Provider::new(client, &url, &issuer, config.timing)),
            issuer,
            audiences,
            algorithms,
            leeway,
            rules: ClaimRules { team, scopes_claim, groups_claim, rights },
            sign_in: config.sign_in,
            used_flows: UsedFlows::default(),
        })))
    }

    /// Fetches the documents of the provider.
    ///
    /// # Errors
    /// [`ProviderError`]
    pub async fn probe(&self) -> Result<ProviderSummary, ProviderError> {
        let documents = self.0.provider.documents(|_| true).await?;
        let metadata = &documents.metadata;
        let has_sign_in = metadata.authorization_endpoint.is_some() && metadata.token_endpoint.is_some();
        Ok(ProviderSummary { keys: documents.keys.len(), has_sign_in })
    }

    /// Returns the service as a client of the provider; `None` if users cannot sign in.
    pub(crate) fn sign_in(&self) -> Option<&SignInConfig> {
        self.0.sign_in.as_ref()
    }

    /// Returns the identity that a token proves at a time (milliseconds since the Unix epoch).
    async fn identify(
        &self,
        text: &str,
        purpose: Purpose<'_>,
        now_ms: u64,
    ) -> Result<Identity, TokenRefusal> {
        let parts = &*self.0;
        let token = Token::parse(text, &parts.algorithms)?;
        // Tokens of others fetch no keys.
        check_issuer(token.unproved("iss"), &parts.issuer)?;
        let (id, algorithm) = (token.key_id.clone(), token.algorithm);
        let has_key =
            |documents: &provider::Documents| !documents.keys.candidates(id.as_deref(), algorithm).is_empty();
        let documents = parts.provider.documents(has_key).await?;
        let claims = token.verify(&documents.keys)?;
        let claims = Claims::check(claims, &parts.issuer, purpose, parts.leeway, now_ms)?;
        parts.rules.identity(&claims, parts.leeway)
    }
}

impl fmt::Debug for Oidc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Oidc").field("issuer", &self.0.issuer).finish_non_exhaustive()
    }
}
