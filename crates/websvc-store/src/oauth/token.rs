//! Codes and refresh tokens: two random halves and their hashes.

use data_encoding::HEXLOWER;

use crate::error::StoreError;
use crate::secret::{ApiSecret, SecretHash};

/// The start of every code.
pub(super) const CODE_PREFIX: &str = "fa-";
/// The start of every refresh token.
pub(super) const REFRESH_PREFIX: &str = "fr-";

/// The length of a half in hex digits.
const HALF: usize = 32;

/// The hashes of both halves.
pub(super) struct TokenHashes {
    /// That of the half which all tokens of a grant have in common, in hex.
    pub(super) family: String,
    /// That of the half which changes.
    pub(super) secret: SecretHash,
}

impl TokenHashes {
    /// Returns the hashes of a text, if it has the form of a code or a refresh token.
    pub(super) fn of(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(CODE_PREFIX).or_else(|| text.strip_prefix(REFRESH_PREFIX))?;
        let is_token = digits.len() == 2 * HALF && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_token.then(|| {
            let (family, secret) = digits.split_at(HALF);
            let family = HEXLOWER.encode(SecretHash::from_secret(family).as_bytes());
            Self { family, secret: SecretHash::from_secret(secret) }
        })
    }
}

/// Creates a code.
pub(super) fn new_code() -> Result<ApiSecret, StoreError> {
    let family = ApiSecret::random_with(CODE_PREFIX)?;
    ApiSecret::random_with(family.expose())
}

/// Returns the refresh token that follows a code or a refresh token: the same family with another second half.
pub(super) fn next_refresh_token(text: &str) -> Result<ApiSecret, StoreError> {
    let start = CODE_PREFIX.len();
    ApiSecret::random_with(&format!("{REFRESH_PREFIX}{}", &text[start..start + HALF]))
}
