//! Tokens in the links of messages: secrets of which the store keeps a hash, to find and to revoke them.
//!
//! A caller may generate them, or derive them from a secret of the installation, so that all messages to a recipient have
//! the same links. The hash is a fast one, because a token has 128 random bits: there is nothing to guess.

use std::fmt;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const RANDOM_BYTES: usize = 16;
/// Limits of a token's length, in characters (operations.md, section 3.1).
const MIN_CHARS: usize = 16;
const MAX_CHARS: usize = 64;

/// A secret that confirms or ends the subscription of a recipient, or gives access to a feed: 32 hexadecimal digits.
///
/// `Debug` does not print it, and there is no `Display`.
#[derive(Clone)]
pub struct Token(String);

/// SHA-256 of a token, for the store.
#[derive(Clone, Copy)]
pub struct TokenHash([u8; 32]);

/// Error of a token that could not be created.
#[derive(Debug, thiserror::Error)]
#[error("the system provides no randomness")]
pub struct TokenError(#[source] getrandom::Error);

/// Error of a text that is not a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a token has {MIN_CHARS} to {MAX_CHARS} characters, not {chars}")]
pub struct InvalidToken {
    /// Number of characters of the text.
    pub chars: usize,
}

impl Token {
    /// Creates a random token with 128 bits of entropy.
    ///
    /// # Errors
    /// [`TokenError`] if the system provides no randomness.
    pub fn generate() -> Result<Self, TokenError> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(TokenError)?;
        Ok(Self(HEXLOWER.encode(&bytes)))
    }

    /// Reads a token that a client sent. Its text is not checked further: a token that was never created has a hash that
    /// the store does not know.
    ///
    /// # Errors
    /// [`InvalidToken`] if it is shorter than 16 or longer than 64 characters.
    pub fn parse(text: &str) -> Result<Self, InvalidToken> {
        // Counts one more than the maximum at most, however long the text is.
        match text.chars().take(MAX_CHARS + 1).count() {
            MIN_CHARS..=MAX_CHARS => Ok(Self(text.to_owned())),
            _ => Err(InvalidToken { chars: text.chars().count() }),
        }
    }

    /// Returns the token as text, for a link.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the hash, by which the store finds the token.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        TokenHash(Sha256::digest(self.0.as_bytes()).into())
    }
}

impl TokenHash {
    /// Returns the hash with these bytes, as the store keeps them.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Compares two hashes in constant time.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_token_is_random_and_can_be_parsed() {
        let token = Token::generate().unwrap();
        assert_eq!(token.expose().len(), 32);
        assert!(token.hash().matches(&Token::parse(token.expose()).unwrap().hash()));
        assert!(!token.hash().matches(&Token::generate().unwrap().hash()));
        assert!(!format!("{token:?}{:?}", token.hash()).contains(&token.expose()[..8]));
    }

    #[test]
    fn token_of_16_to_64_characters_is_accepted() {
        for (chars, is_valid) in
            [(0, false), (15, false), (16, true), (64, true), (65, false), (9_999, false)]
        {
            let parsed = Token::parse(&"ä".repeat(chars)).map(|_| ());
            assert_eq!(parsed, if is_valid { Ok(()) } else { Err(InvalidToken { chars }) });
        }
        let error = Token::parse("short").unwrap_err();
        assert_eq!(error.to_string(), "a token has 16 to 64 characters, not 5");
    }

    #[test]
    fn hash_is_sha_256() {
        // Computed by `printf %s 0123456789abcdef | sha256sum`.
        let hash = Token::parse("0123456789abcdef").unwrap().hash();
        assert_eq!(
            HEXLOWER.encode(hash.as_bytes()),
            "9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f"
        );
        assert!(TokenHash::from_bytes(*hash.as_bytes()).matches(&hash));
    }
}
