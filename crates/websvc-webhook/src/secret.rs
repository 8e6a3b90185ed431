//! Secrets that sign bodies.

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ring::hmac;

/// Prefix of a secret that is encoded in base64, as in Standard Webhooks.
const ENCODED: &str = "whsec_";
/// Shorter secrets can be guessed.
const SECRET_MIN_BYTES: usize = 16;

/// A secret that cannot sign.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the secret of the webhook cannot be used: {reason}")]
pub struct SecretError {
    /// Reason why the secret is invalid.
    pub reason: &'static str,
}

/// Secret that signs bodies.
#[derive(Clone)]
pub struct SigningSecret {
    /// The bytes that the text stands for: the key of Standard Webhooks.
    decoded: hmac::Key,
    /// The text as it stands: the key of receivers that know nothing of an encoding.
    literal: hmac::Key,
}

impl SigningSecret {
    /// Reads a secret: base64 after `whsec_`, or as it stands.
    ///
    /// # Errors
    /// [`SecretError`] when it is shorter than 16 bytes or not base64 where it says so.
    pub fn new(text: &str) -> Result<Self, SecretError> {
        let failed = |reason| SecretError { reason };
        let bytes = match text.strip_prefix(ENCODED) {
            Some(encoded) => {
                BASE64_STANDARD.decode(encoded).map_err(|_| failed("what follows whsec_ is no base64"))?
            }
            None => text.as_bytes().to_vec(),
        };
        if bytes.len() < SECRET_MIN_BYTES {
            return Err(failed("it is shorter than 16 bytes"));
        }
        Ok(Self {
            decoded: hmac::Key::new(hmac::HMAC_SHA256, &bytes),
            literal: hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes()),
        })
    }

    /// Writes random bytes as a secret is written.
    #[must_use]
    pub fn encode(bytes: &[u8]) -> String {
        format!("{ENCODED}{}", BASE64_STANDARD.encode(bytes))
    }

    /// Returns the signature of Standard Webhooks of a body that is sent at a time, in seconds since the Unix epoch.
    #[must_use]
    pub fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let mut context = hmac::Context::with_key(&self.decoded);
        context.update(format!("{id}.{timestamp}.").as_bytes());
        context.update(body);
        format!("v1,{}", BASE64_STANDARD.encode(context.sign()))
    }

    /// Returns the HMAC-SHA256 of the body alone by the text of the secret, in hexadecimal digits.
    #[must_use]
    pub fn sign_body(&self, body: &[u8]) -> String {
        use fmt::Write;
        hmac::sign(&self.literal, body).as_ref().iter().fold(String::new(), |mut text, byte| {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_the_published_example() {
        // From the test of the reference libraries of Standard Webhooks.
        let secret = SigningSecret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature =
            secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_body_alone_is_signed_by_the_text_of_the_secret() {
        // By `openssl dgst -sha256 -hmac sixteen--letters`.
        let secret = SigningSecret::new("sixteen--letters").unwrap();
        let signature = secret.sign_body(b"what do ya want for nothing?");
        assert_eq!(signature, "fc0a0545c527861c004d6b9e1ccb87104b34862227bb0ccefcb3309f4f387f80");
    }

    #[test]
    fn secrets_that_can_be_guessed_are_refused() {
        assert!(SigningSecret::new("").is_err());
        assert!(SigningSecret::new("fifteen-letters").is_err());
        assert!(SigningSecret::new("sixteen--letters").is_ok());
        assert!(SigningSecret::new("whsec_AAAAAAAAAAAAAAAA").is_err(), "twelve bytes");
        assert!(SigningSecret::new("whsec_not base64, however long it is").is_err());
        assert!(SigningSecret::new(&SigningSecret::encode(&[7; 32])).is_ok());
    }
}
