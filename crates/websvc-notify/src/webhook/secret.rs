//! The secrets that sign webhook requests.

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use data_encoding::HEXLOWER;
use ring::hmac;

/// The prefix of a secret that is encoded in Base64, as in Standard Webhooks.
const BASE64_PREFIX: &str = "whsec_";
/// The minimum length, because shorter secrets can be guessed.
const SECRET_MIN_BYTES: usize = 16;

/// The error for an invalid secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid webhook secret: {reason}")]
pub struct SecretError {
    /// The reason why the secret is invalid.
    pub reason: &'static str,
}

/// A secret that signs webhook requests.
#[derive(Clone)]
pub struct SigningSecret {
    /// The decoded bytes, the key of Standard Webhooks.
    decoded: hmac::Key,
    /// The text as it is, the key for receivers that do not decode it.
    literal: hmac::Key,
}

impl SigningSecret {
    /// Parses a secret: Base64 after the prefix `whsec_`, otherwise the text itself.
    ///
    /// # Errors
    /// [`SecretError`] if it is shorter than 16 bytes, or not Base64 after the prefix.
    pub fn new(text: &str) -> Result<Self, SecretError> {
        let invalid = |reason| SecretError { reason };
        let bytes = match text.strip_prefix(BASE64_PREFIX) {
            Some(encoded) => {
                BASE64_STANDARD.decode(encoded).map_err(|_| invalid("not Base64 after whsec_"))?
            }
            None => text.as_bytes().to_vec(),
        };
        if bytes.len() < SECRET_MIN_BYTES {
            return Err(invalid("shorter than 16 bytes"));
        }
        Ok(Self {
            decoded: hmac::Key::new(hmac::HMAC_SHA256, &bytes),
            literal: hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes()),
        })
    }

    /// Encodes random bytes as a secret.
    #[must_use]
    pub fn encode(bytes: &[u8]) -> String {
        format!("{BASE64_PREFIX}{}", BASE64_STANDARD.encode(bytes))
    }

    /// Returns the Standard Webhooks signature of a body. `timestamp` is in seconds since the Unix epoch.
    #[must_use]
    pub fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let mut context = hmac::Context::with_key(&self.decoded);
        context.update(format!("{id}.{timestamp}.").as_bytes());
        context.update(body);
        format!("v1,{}", BASE64_STANDARD.encode(context.sign()))
    }

    /// Returns the HMAC-SHA256 of the body alone, in hexadecimal digits. The key is the text of the secret.
    #[must_use]
    pub fn sign_body(&self, body: &[u8]) -> String {
        HEXLOWER.encode(hmac::sign(&self.literal, body).as_ref())
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningSecret").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_matches_the_published_example() {
        // From the tests of the reference libraries of Standard Webhooks.
        let secret = SigningSecret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature =
            secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn sign_body_uses_the_text_of_the_secret_as_key() {
        // Computed by `openssl dgst -sha256 -hmac sixteen--letters`.
        let secret = SigningSecret::new("sixteen--letters").unwrap();
        let signature = secret.sign_body(b"what do ya want for nothing?");
        assert_eq!(signature, "fc0a0545c527861c004d6b9e1ccb87104b34862227bb0ccefcb3309f4f387f80");
    }

    #[test]
    fn secrets_that_are_too_short_or_not_base64_are_rejected() {
        assert!(SigningSecret::new("").is_err());
        assert!(SigningSecret::new("fifteen-letters").is_err());
        assert!(SigningSecret::new("sixteen--letters").is_ok());
        assert!(SigningSecret::new("whsec_AAAAAAAAAAAAAAAA").is_err(), "twelve bytes");
        assert!(SigningSecret::new("whsec_not base64, however long it is").is_err());
        assert!(SigningSecret::new(&SigningSecret::encode(&[7; 32])).is_ok());
    }
}
