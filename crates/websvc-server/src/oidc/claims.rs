//! The claims of a token: which tokens are valid, and which team and rights they give.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Map, Value};
use subtle::ConstantTimeEq;
use websvc_store::{KeyRights, KeyScope};

use super::config::{GrantedRights, RightsTable, TeamSource};
use super::refusal::TokenRefusal;
use super::token::shown;
use crate::oauth::is_shown;

/// Maximum length of the identifier of a user (OpenID Connect Core, section 2).
const MAX_SUBJECT_BYTES: usize = 255;
/// Maximum length of the name of a user in characters.
const MAX_NAME_CHARS: usize = 100;

/// The purpose that a token must have.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose<'a> {
    /// Access to the service: one of these audiences.
    Access { audiences: &'a [String] },
    /// The sign-in of a user with this client, which has sent the nonce.
    SignIn { client_id: &'a str, nonce: &'a str },
}

/// The claims of a token whose signature is valid.
#[derive(Debug)]
pub(super) struct Claims(Map<String, Value>);

/// The identity that a valid token proves.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) subject: String,
    /// A name for people.
    pub(super) name: String,
    pub(super) team: String,
    pub(super) rights: KeyRights,
}

/// The rules that make claims an identity.
#[derive(Debug)]
pub(super) struct ClaimRules {
    pub(super) team: TeamSource,
    pub(super) scopes_claim: Option<String>,
    pub(super) groups_claim: Option<String>,
    pub(super) rights: RightsTable,
}

impl Claims {
    /// Checks the claims of a token whose signature is valid.
    ///
    /// # Errors
    /// [`TokenRefusal::Invalid`] with the first broken rule.
    pub(super) fn check(
        claims: Map<String, Value>,
        issuer: &str,
        purpose: Purpose<'_>,
        leeway: Duration,
        now_ms: u64,
    ) -> Result<Self, TokenRefusal> {
        let claims = Self(claims);
        claims.check_issuer(issuer)?;
        claims.check_times(leeway, now_ms)?;
        claims.check_purpose(purpose)?;
        let subject = claims.text("sub").ok_or_else(|| invalid("the claim sub is missing"))?;
        if subject.is_empty() || subject.len() > MAX_SUBJECT_BYTES {
            return Err(invalid("the claim sub does not have 1 to 255 bytes"));
        }
        Ok(claims)
    }

    fn check_issuer(&self, issuer: &str) -> Result<(), TokenRefusal> {
        check_issuer(self.0.get("iss"), issuer)
    }

    fn check_times(&self, leeway: Duration, now_ms: u64) -> Result<(), TokenRefusal> {
        let (leeway, now) = (leeway.as_secs_f64(), Duration::from_millis(now_ms).as_secs_f64());
        let expiry = self.time("exp")?.ok_or_else(|| invalid("the claim exp is missing"))?;
        if expiry + leeway <= now {
            return Err(invalid("it has expired"));
        }
        if self.time("nbf")?.is_some_and(|start| start > now + leeway) {
            return Err(invalid("it is not valid yet"));
        }
        if self.time("iat")?.is_some_and(|issued| issued > now + leeway) {
            return Err(invalid("it was issued in the future: compare the clocks"));
        }
        Ok(())
    }

    fn check_purpose(&self, purpose: Purpose<'_>) -> Result<(), TokenRefusal> {
        let audiences = self.audiences();
        match purpose {
            Purpose::Access { audiences: accepted } => {
                if !accepted.iter().any(|accepted| audiences.contains(&accepted.as_str())) {
                    return Err(invalid("its audience is not this service"));
                }
            }
            Purpose::SignIn { client_id, nonce } => {
                if !audiences.contains(&client_id) {
                    return Err(invalid("its audience is not this client"));
                }
                // Another client of the provider may have got it (OpenID Connect Core, section 3.1.3.7).
                let party = self.text("azp");
                if party.map_or(audiences.len() > 1, |party| party != client_id) {
                    return Err(invalid("it was issued to another client"));
                }
                let sent = self.text("nonce").unwrap_or_default();
                if !bool::from(sent.as_bytes().ct_eq(nonce.as_bytes())) {
                    return Err(invalid("its nonce is not that of this sign-in"));
                }
            }
        }
        Ok(())
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// Returns a time in seconds since the Unix epoch.
    fn time(&self, name: &str) -> Result<Option<f64>, TokenRefusal> {
        match self.0.get(name) {
            None => Ok(None),
            Some(value) => {
                let time = value.as_f64().filter(|time| time.is_finite() && *time >= 0.0);
                time.map(Some).ok_or_else(|| invalid(format!("the claim {name} is not a time")))
            }
        }
    }

    fn audiences(&self) -> Vec<&str> {
        match self.0.get("aud") {
            Some(Value::String(audience)) => vec![audience],
            Some(Value::Array(audiences)) => audiences.iter().filter_map(Value::as_str).collect(),
            Some(_) | None => Vec::new(),
        }
    }

    /// Returns a claim by its name, or by a JSON Pointer such as `/realm_access/roles`.
    fn find(&self, path: &str) -> Option<&Value> {
        let Some(pointer) = path.strip_prefix('/') else { return self.0.get(path) };
        let unescape = |part: &str| part.replace("~1", "/").replace("~0", "~");
        let (first, rest) =
            pointer.split_once('/').map_or((pointer, None), |(first, rest)| (first, Some(rest)));
        let value = self.0.get(&unescape(first))?;
        rest.map_or(Some(value), |rest| value.pointer(&format!("/{rest}")))
    }

    /// Returns the texts of a claim: those of a list, or one text.
    fn texts(&self, path: &str) -> Vec<&str> {
        match self.find(path) {
            Some(Value::String(text)) => vec![text],
            Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect(),
            Some(_) | None => Vec::new(),
        }
    }

    /// Returns a name of the user for people. It proves nothing: users may choose their names.
    fn name(&self) -> String {
        let names = ["email", "preferred_username", "sub"].into_iter().filter_map(|claim| self.text(claim));
        let shown = |name: &str| -> String {
            name.chars()
                .filter(|char| is_shown(*char))
                .take(MAX_NAME_CHARS)
                .collect::<String>()
                .trim()
                .to_owned()
        };
        names.map(shown).find(|name| !name.is_empty()).unwrap_or_else(|| "user".to_owned())
    }
}

/// Checks the claim `iss`.
///
/// # Errors
/// [`TokenRefusal::Invalid`] if it is another issuer.
pub(super) fn check_issuer(claim: Option<&Value>, issuer: &str) -> Result<(), TokenRefusal> {
    match claim.and_then(Value::as_str) {
        Some(claim) if claim == issuer => Ok(()),
        Some(other) => Err(invalid(format!("its issuer {} is not accepted here", shown(other)))),
        None => Err(invalid("the claim iss is missing")),
    }
}

impl ClaimRules {
    /// Returns the identity of a valid token.
    ///
    /// # Errors
    /// [`TokenRefusal::Forbidden`] if it names no team.
    pub(super) fn identity(&self, claims: &Claims, leeway: Duration) -> Result<Identity, TokenRefusal> {
        let team = match &self.team {
            TeamSource::Fixed(team) => team.clone(),
            TeamSource::Claim(claim) => match claims.find(claim).and_then(Value::as_str) {
                Some(team) if !team.is_empty() => team.to_owned(),
                Some(_) | None => {
                    return Err(TokenRefusal::Forbidden(format!(
                        "the token has no team in the claim {claim}"
                    )));
                }
            },
        };
        let GrantedRights { scopes, admin } = self.rights(claims);
        // A checked token has an expiry.
        let expiry = claims.time("exp")?.unwrap_or_default() + leeway.as_secs_f64();
        let expires_at_ms = Duration::try_from_secs_f64(expiry).ok().map(|at| at.as_millis());
        let rights = KeyRights {
            admin,
            scopes: Some(scopes),
            expires_at_ms: Some(expires_at_ms.and_then(|at| u64::try_from(at).ok()).unwrap_or(u64::MAX)),
            ..KeyRights::default()
        };
        let subject = claims.text("sub").unwrap_or_default().to_owned();
        Ok(Identity { subject, name: claims.name(), team, rights })
    }

    /// Returns the rights of a token: those of its scopes, of its groups and of every token. Only a group administers.
    fn rights(&self, claims: &Claims) -> GrantedRights {
        let mut rights = GrantedRights { scopes: self.rights.defaults.clone(), admin: false };
        if let Some(claim) = &self.scopes_claim {
            // Tokens also have scopes of other services, such as `openid`.
            let named = claims.texts(claim).into_iter().flat_map(str::split_whitespace);
            let known: BTreeSet<KeyScope> = named.filter_map(|name| name.parse().ok()).collect();
            rights.scopes.extend(known);
        }
        if let Some(claim) = &self.groups_claim {
            for group in claims.texts(claim).into_iter().filter_map(|group| self.rights.groups.get(group)) {
                rights.add(group);
            }
        }
        rights
    }
}

fn invalid(rule: impl Into<String>) -> TokenRefusal {
    TokenRefusal::Invalid(rule.into())
}

#[cfg(test)]
mod tests;
