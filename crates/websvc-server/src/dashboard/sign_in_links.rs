//! Links that sign in to the dashboard once, for the operator who has just started the service.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use subtle::ConstantTimeEq;

use super::session::random_hex;
use crate::response::ApiError;

/// The time for which a link is valid.
pub(crate) const LINK_TTL: Duration = Duration::from_secs(600);

/// The links that are valid, in memory only.
#[derive(Default)]
pub(crate) struct SignInLinks(Mutex<Vec<SignInLink>>);

struct SignInLink {
    token: String,
    /// The admin key of the session that the link starts.
    key: String,
    expires_at: Instant,
}

impl SignInLinks {
    /// Creates a link that signs in with a key, and returns its token.
    ///
    /// # Errors
    /// 500 if the system provides no random numbers.
    pub(crate) fn create(&self, key: &str, now: Instant) -> Result<String, ApiError> {
        let token = random_hex()?;
        let mut links = self.0.lock();
        links.retain(|link| link.expires_at > now);
        links.push(SignInLink { token: token.clone(), key: key.to_owned(), expires_at: now + LINK_TTL });
        Ok(token)
    }

    /// Returns the key of a link, which is not valid any more then; `None` if there is no such link.
    pub(crate) fn take(&self, token: &str, now: Instant) -> Option<String> {
        let mut links = self.0.lock();
        links.retain(|link| link.expires_at > now);
        let position = links.iter().position(|link| link.token.as_bytes().ct_eq(token.as_bytes()).into())?;
        Some(links.swap_remove(position).key)
    }
}

impl std::fmt::Debug for SignInLinks {
    /// Omits the tokens and keys.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SignInLinks").field(&self.0.lock().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_is_valid_once_and_for_ten_minutes() {
        let (links, now) = (SignInLinks::default(), Instant::now());
        let token = links.create("fc-1", now).unwrap();
        assert_eq!(links.take("other", now), None);
        assert_eq!(links.take(&token, now).as_deref(), Some("fc-1"));
        assert_eq!(links.take(&token, now), None);
        let token = links.create("fc-2", now).unwrap();
        assert_eq!(links.take(&token, now + LINK_TTL), None);
        let other = links.create("fc-3", now).unwrap();
        assert_ne!(token, other);
        assert!(!format!("{links:?}").contains("fc-3"));
    }
}
