//! Keys from the configuration, and the rules for them.

use crate::error::StoreError;
use crate::secret::{MAX_SECRET_BYTES, SecretHash, is_placeholder};

/// Minimum length of an ordinary key in bytes: a shorter one could be guessed.
const MIN_BYTES: usize = 8;
/// Minimum length of an administrative key in bytes.
const MIN_ADMIN_BYTES: usize = 16;

/// Keys from the configuration, which are valid in addition to the stored ones: an ordinary and an administrative one.
/// Only their hashes are kept, in memory.
#[derive(Debug, Default)]
pub struct StaticKeys {
    ordinary: Option<SecretHash>,
    admin: Option<SecretHash>,
}

/// The kind of a key from the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StaticKeyKind {
    Ordinary,
    Admin,
}

impl StaticKeys {
    /// Sets the ordinary key.
    ///
    /// # Errors
    /// [`StoreError::InvalidStaticKey`] if it is empty, shorter than 8 or longer than 256 bytes, a placeholder, equal to
    /// the other key, or cannot be sent as a bearer token (visible ASCII only).
    pub fn set_key(&mut self, secret: &str) -> Result<(), StoreError> {
        self.ordinary = Some(check(secret, MIN_BYTES, self.admin.as_ref())?);
        Ok(())
    }

    /// Sets the administrative key.
    ///
    /// # Errors
    /// As for [`set_key`](Self::set_key), but the minimum length is 16 bytes.
    pub fn set_admin_key(&mut self, secret: &str) -> Result<(), StoreError> {
        self.admin = Some(check(secret, MIN_ADMIN_BYTES, self.ordinary.as_ref())?);
        Ok(())
    }

    /// Returns whether there is an ordinary key.
    #[must_use]
    pub fn has_key(&self) -> bool {
        self.ordinary.is_some()
    }

    /// Returns whether there is an administrative key.
    #[must_use]
    pub fn has_admin_key(&self) -> bool {
        self.admin.is_some()
    }

    /// Returns the kind of the key with this hash.
    pub(crate) fn find(&self, hash: &SecretHash) -> Option<StaticKeyKind> {
        // Both are compared, so that the duration does not depend on which key matches.
        let is = |key: Option<&SecretHash>| key.is_some_and(|key| key.matches(hash));
        match (is(self.ordinary.as_ref()), is(self.admin.as_ref())) {
            (_, true) => Some(StaticKeyKind::Admin),
            (true, false) => Some(StaticKeyKind::Ordinary),
            (false, false) => None,
        }
    }
}

fn check(secret: &str, min_bytes: usize, other: Option<&SecretHash>) -> Result<SecretHash, StoreError> {
    let hash = SecretHash::from_secret(secret);
    let rule = if secret.is_empty() {
        "it is empty".to_owned()
    } else if secret.len() > MAX_SECRET_BYTES {
        format!("it is longer than {MAX_SECRET_BYTES} bytes")
    } else if !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
        "it contains characters that cannot be sent in a bearer token".to_owned()
    } else if is_placeholder(secret) {
        "it is a placeholder from an example".to_owned()
    } else if secret.len() < min_bytes {
        format!("it is shorter than {min_bytes} bytes")
    } else if other.is_some_and(|other| other.matches(&hash)) {
        "it equals another configured key".to_owned()
    } else {
        return Ok(hash);
    };
    Err(StoreError::InvalidStaticKey { rule })
}
