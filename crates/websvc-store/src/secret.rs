//! Secrets of API keys, their hashes, and the identifiers made of the hashes.
//!
//! Only the SHA-256 hash of a secret is stored. Passwords need a slow, salted hash because people choose them: an
//! attacker with the hashes tries likely passwords. A secret here has 128 random bits, so no candidate is likely, and
//! trying 2^128 of them is hopeless even with a fast hash. A fast hash keeps authentication at about a microsecond.

use std::fmt;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::error::StoreError;

/// The start of every generated key.
pub const KEY_PREFIX: &str = "fc-";
/// The start of every invitation.
pub const INVITATION_PREFIX: &str = "fi-";
const RANDOM_BYTES: usize = 16;
/// Number of leading bytes of the hash that are the id of the key, in hex. The id reveals nothing about the secret, but
/// the finder of a leaked secret can compute the id to revoke: `printf %s SECRET | sha256sum | cut -c1-12`.
const ID_BYTES: usize = 6;
/// Maximum length of a secret. It bounds the cost of hashing the bearer tokens of unauthenticated clients.
pub(crate) const MAX_SECRET_BYTES: usize = 256;

/// The secret of a key, which a client sends as its bearer token, or of an invitation: a prefix and 32 lower-case hex digits.
///
/// It is shown once and not stored. `Debug` does not print it, and there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiSecret(String);

impl ApiSecret {
    /// Creates the secret of a key, with 128 bits of entropy.
    pub(crate) fn random() -> Result<Self, StoreError> {
        Self::random_with(KEY_PREFIX)
    }

    /// Creates a secret with this prefix and 128 bits of entropy.
    pub(crate) fn random_with(prefix: &str) -> Result<Self, StoreError> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(|source| StoreError::Random { source })?;
        Ok(Self(format!("{prefix}{}", HEXLOWER.encode(&bytes))))
    }

    /// Returns the secret as text, to be shown once.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiSecret(..)")
    }
}

/// SHA-256 of a secret.
#[derive(Clone, Copy)]
pub(crate) struct SecretHash([u8; 32]);

impl SecretHash {
    pub(crate) fn from_secret(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the bytes of the id as a number, which is cheap to look up in memory.
    pub(crate) fn tag(&self) -> u64 {
        self.0[..ID_BYTES].iter().fold(0, |tag, byte| (tag << 8) | u64::from(*byte))
    }

    /// Returns the id of the key with this hash.
    pub(crate) fn id(&self) -> String {
        HEXLOWER.encode(&self.0[..ID_BYTES])
    }

    /// Compares two hashes in constant time.
    pub(crate) fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for SecretHash {
    /// Prints nothing of the hash: a secret from the configuration may be short enough to be guessed from it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretHash(..)")
    }
}

/// Placeholders for keys in examples and templates, in lower case and without separators.
const PLACEHOLDERS: &[&str] = &[
    "apikey",
    "changeit",
    "changeme",
    "default",
    "example",
    "examplekey",
    "exampleapikey",
    "insertkeyhere",
    "mysecret",
    "none",
    "null",
    "password",
    "placeholder",
    "replaceme",
    "secret",
    "secretkey",
    "test",
    "testkey",
    "todo",
    "undefined",
    "yourkey",
    "yourapikey",
    "yourapikeyhere",
    "yoursecret",
];

/// Returns whether a secret is a public placeholder from examples and templates.
pub(crate) fn is_placeholder(secret: &str) -> bool {
    let letters = secret.to_ascii_lowercase().replace(['-', '_', '.'], "");
    let text = letters.strip_prefix("fc").unwrap_or(&letters);
    let is_repeated = text.bytes().all(|byte| Some(byte) == text.bytes().next());
    is_repeated
        || text.starts_with(['<', '[', '{', '$'])
        || PLACEHOLDERS.contains(&text)
        || text.starts_with("your") && text.contains("key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_is_fc_and_32_lower_case_hex_digits() {
        let secret = ApiSecret::random().unwrap();
        let digits = secret.expose().strip_prefix("fc-").unwrap();
        assert_eq!(digits.len(), 32);
        assert!(digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)), "{digits}");
        assert_ne!(secret, ApiSecret::random().unwrap());
    }

    #[test]
    fn hash_is_sha_256_and_id_is_its_prefix() {
        // The test vector "abc" of FIPS 180-2.
        let hash = SecretHash::from_secret("abc");
        assert!(HEXLOWER.encode(hash.as_bytes()).starts_with("ba7816bf8f01cfea414140de5dae2223"));
        assert_eq!(hash.id(), "ba7816bf8f01");
        assert_eq!(format!("{:012x}", hash.tag()), hash.id());
    }

    #[test]
    fn debug_output_hides_the_secret() {
        let secret = ApiSecret::random().unwrap();
        assert!(!format!("{secret:?}").contains(&secret.expose()[3..]));
    }

    #[test]
    fn placeholders_are_recognized() {
        for text in [
            "changeme",
            "CHANGE_ME",
            "fc-YOUR-API-KEY",
            "fc-your-firecrawl-key",
            "<your key>",
            "${WEBSVC_KEY}",
            "fc-xxxxxxxx",
            "00000000",
            "fc-....",
            "password",
        ] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in [
            "fc-3b1f0c9a7d5e4f21",
            "static-secret-of-the-test",
            "correct-horse-battery",
            "yourself-at-home-9",
        ] {
            assert!(!is_placeholder(text), "{text}");
        }
    }
}
