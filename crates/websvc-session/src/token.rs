//! Tokens of session URLs.

use std::fmt;

use data_encoding::HEXLOWER;
use subtle::ConstantTimeEq;

use crate::error::SessionError;

/// A token: 256 random bits as hex digits. `Debug` does not print it.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// Returns a new token.
    pub(crate) fn random() -> Result<Self, SessionError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|_| SessionError::Random)?;
        Ok(Self(HEXLOWER.encode(&bytes)))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether a text is the token, in constant time.
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.0.as_bytes().ct_eq(text.as_bytes()).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_match_only_themselves() {
        let (first, second) = (Token::random().unwrap(), Token::random().unwrap());
        assert!(first.matches(first.as_str()) && !first.matches(second.as_str()) && !first.matches(""));
        assert!(!first.matches(&first.as_str()[1..]));
        assert_eq!(format!("{first:?}"), "Token");
    }
}
