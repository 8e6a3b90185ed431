//! The tokens of the URLs of a session.

use crate::error::SessionError;
use crate::token::Token;

/// The tokens of the URLs of a session.
#[derive(Debug, Clone)]
pub struct SessionUrls {
    pub(crate) control: Token,
    pub(crate) view: Token,
}

impl SessionUrls {
    /// Creates new tokens.
    pub(crate) fn random() -> Result<Self, SessionError> {
        Ok(Self { control: Token::random()?, view: Token::random()? })
    }

    /// Returns the token that gives control of the browser.
    #[must_use]
    pub fn control_token(&self) -> &str {
        self.control.as_str()
    }

    /// Returns the token that shows the session.
    #[must_use]
    pub fn view_token(&self) -> &str {
        self.view.as_str()
    }
}
