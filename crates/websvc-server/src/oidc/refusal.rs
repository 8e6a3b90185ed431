//! The reasons why a token gives no access.

use http::HeaderValue;
use websvc_types::ErrorCode;

use super::provider::ProviderError;
use crate::response::ApiError;

/// Time after which a client may try again while the provider does not respond, in seconds.
const RETRY_AFTER_S: u64 = 30;

/// The reason why a token gives no access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenRefusal {
    /// The token proves nothing.
    Invalid(String),
    /// The token proves an identity without rights here.
    Forbidden(String),
    /// The keys of the provider are not known.
    Unavailable(String),
}

impl TokenRefusal {
    /// Returns the reason for the log.
    pub(super) fn reason(&self) -> &str {
        match self {
            Self::Invalid(reason) | Self::Forbidden(reason) | Self::Unavailable(reason) => reason,
        }
    }
}

impl From<ProviderError> for TokenRefusal {
    fn from(error: ProviderError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl From<TokenRefusal> for ApiError {
    /// The client learns the reason: it has the token, and can read it.
    fn from(refusal: TokenRefusal) -> Self {
        match refusal {
            TokenRefusal::Invalid(rule) => {
                let text = format!("Unauthorized: Invalid token: {rule}");
                let challenge = HeaderValue::from_static("Bearer error=\"invalid_token\"");
                Self::new(ErrorCode::Unauthorized, text).with_challenge(challenge)
            }
            TokenRefusal::Forbidden(rule) => Self::new(ErrorCode::Forbidden, format!("Forbidden: {rule}")),
            // The log has the reason: it may contain addresses of the operator's network.
            TokenRefusal::Unavailable(_) => {
                let text =
                    format!("The identity provider does not respond: try again in {RETRY_AFTER_S} seconds");
                Self::new(ErrorCode::IdentityProviderUnavailable, text).retry_after(RETRY_AFTER_S)
            }
        }
    }
}
