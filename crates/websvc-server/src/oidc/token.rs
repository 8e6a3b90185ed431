//! The form and the signature of a token: a JWS in compact form (RFC 7515), checked by the rules of RFC 8725.

use data_encoding::BASE64URL_NOPAD;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::algorithm::SignatureAlgorithm;
use super::key_set::KeySet;
use super::refusal::TokenRefusal;

/// Maximum length of a token in bytes.
pub(super) const MAX_TOKEN_BYTES: usize = 16 * 1024;
/// Maximum length of a value that an error repeats, in characters.
const MAX_SHOWN_CHARS: usize = 60;

/// Types of tokens that prove the access of their bearer (RFC 9068, section 2.1), in lower case. Others, such as those of a
/// logout, have another purpose.
const TYPES: &[&str] = &["jwt", "application/jwt", "at+jwt", "application/at+jwt"];

/// A token whose signature was not checked.
#[derive(Debug)]
pub(super) struct Token<'a> {
    pub(super) algorithm: SignatureAlgorithm,
    pub(super) key_id: Option<String>,
    /// The part that is signed.
    message: &'a [u8],
    signature: Vec<u8>,
    claims: Map<String, Value>,
}

/// The members of the header that matter here. A key in the header (`jwk`, `jku`, `x5c`, `x5u`) is ignored: the sender of the
/// token has chosen it.
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    crit: Option<Value>,
}

/// Returns whether a bearer has the form of a token: the beginning of a JSON object in base64url, and three parts. Keys of the
/// service never have it.
pub(crate) fn has_form_of_token(text: &str) -> bool {
    text.starts_with("eyJ") && text.bytes().filter(|byte| *byte == b'.').count() >= 2
}

impl<'a> Token<'a> {
    /// Reads a token.
    ///
    /// # Errors
    /// [`TokenRefusal::Invalid`] with the broken rule.
    pub(super) fn parse(text: &'a str, allowed: &[SignatureAlgorithm]) -> Result<Self, TokenRefusal> {
        if text.len() > MAX_TOKEN_BYTES {
            return Err(invalid(format!("it has {} bytes, more than {MAX_TOKEN_BYTES}", text.len())));
        }
        let mut parts = text.split('.');
        let (Some(header), Some(payload), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(invalid("it is not a signed token of three parts"));
        };
        let Header { alg, kid, typ, crit } = serde_json::from_slice(&decode(header, "header")?)
            .map_err(|error| invalid(format!("its header is not valid: {error}")))?;
        let algorithm = alg.parse().ok().filter(|algorithm| allowed.contains(algorithm));
        let algorithm =
            algorithm.ok_or_else(|| invalid(format!("its algorithm {} is not allowed", shown(&alg))))?;
        if crit.is_some() {
            return Err(invalid("its header has critical extensions, and none is supported"));
        }
        if let Some(typ) = typ.filter(|typ| !TYPES.contains(&typ.to_ascii_lowercase().as_str())) {
            return Err(invalid(format!("its type {} is not one of JWT and at+jwt", shown(&typ))));
        }
        let claims = serde_json::from_slice(&decode(payload, "payload")?)
            .map_err(|error| invalid(format!("its payload is not a JSON object: {error}")))?;
        let message = &text.as_bytes()[..header.len() + 1 + payload.len()];
        Ok(Self { algorithm, key_id: kid, message, signature: decode(signature, "signature")?, claims })
    }

    /// Returns a claim that is not proved yet, to refuse a token early.
    pub(super) fn unproved(&self, name: &str) -> Option<&Value> {
        self.claims.get(name)
    }

    /// Returns the claims if one of the keys has made the signature.
    ///
    /// # Errors
    /// [`TokenRefusal::Invalid`] without such a key.
    pub(super) fn verify(self, keys: &KeySet) -> Result<Map<String, Value>, TokenRefusal> {
        let candidates = keys.candidates(self.key_id.as_deref(), self.algorithm);
        if candidates.is_empty() {
            let algorithm = self.algorithm;
            return Err(invalid(match &self.key_id {
                Some(id) => format!("the provider has no key {} for {algorithm}", shown(id)),
                None => format!("it names no key, and the provider has not exactly one for {algorithm}"),
            }));
        }
        if candidates.iter().any(|key| self.algorithm.verifies(key, self.message, &self.signature)) {
            return Ok(self.claims);
        }
        Err(invalid("its signature is not valid"))
    }
}

fn decode(part: &str, name: &str) -> Result<Vec<u8>, TokenRefusal> {
    BASE64URL_NOPAD.decode(part.as_bytes()).map_err(|_error| invalid(format!("its {name} is not base64url")))
}

fn invalid(rule: impl Into<String>) -> TokenRefusal {
    TokenRefusal::Invalid(rule.into())
}

/// Returns a value of a token for an error: short, and without characters that a terminal could interpret.
pub(super) fn shown(value: &str) -> String {
    let short: String = value.chars().take(MAX_SHOWN_CHARS).collect();
    format!("{short:?}")
}

#[cfg(test)]
mod tests;
