//! The state that a caller can keep from one page to the next: cookies, and the storage of every origin.
//!
//! Browser contexts are never reused, so the state is captured from one and restored in another. Only a document of an
//! origin can read and write its storage. Therefore the page navigates to an empty document of each origin, before it is
//! opened and after it was read. This process serves these documents itself: nothing is sent to the network, and no script
//! of the page runs in them.

pub(crate) mod cookies;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};
use thiserror::Error;

/// The maximum number of origins of a state.
pub(crate) const MAX_ORIGINS: usize = 64;
/// The maximum storage of one origin, in UTF-16 code units of its JSON.
pub(crate) const MAX_ORIGIN_CHARS: usize = 32 * 1024 * 1024;
/// The version of the serialized form. Other versions are not read.
const FORMAT: u64 = 1;

/// Cookies, and the `localStorage`, `sessionStorage` and IndexedDB of origins.
#[derive(Clone, Default, PartialEq)]
pub struct State {
    /// `Network.Cookie` values.
    pub(crate) cookies: Vec<Value>,
    /// The storage by origin, as JSON of `page/read_storage.js`.
    pub(crate) origins: BTreeMap<String, String>,
}

/// The initial state of a page.
#[derive(Debug, Clone)]
pub struct Session {
    /// The cookies and the storage that the page finds.
    pub state: Arc<State>,
    /// The handling of its changes.
    pub changes: Changes,
}

/// The handling of the changes that a page makes to its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changes {
    /// They are discarded with the page.
    Discarded,
    /// They are returned in [`RenderedPage::state`](crate::RenderedPage::state).
    Captured,
}

/// The error for bytes that are not a state.
#[derive(Debug, Error)]
#[error("the browser state cannot be read: {reason}")]
pub struct StateError {
    reason: String,
}

impl State {
    /// Deserializes a state from the bytes of [`State::to_bytes`].
    ///
    /// # Errors
    /// [`StateError`] if the bytes are not a state of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        let invalid = |reason: &str| StateError { reason: reason.to_owned() };
        let mut json: Value = serde_json::from_slice(bytes).map_err(|error| invalid(&error.to_string()))?;
        if json["format"] != FORMAT {
            return Err(invalid("it was written by another version"));
        }
        let Value::Array(cookies) = json["cookies"].take() else {
            return Err(invalid("the cookies are missing"));
        };
        let Value::Object(storages) = json["origins"].take() else {
            return Err(invalid("the origins are missing"));
        };
        let mut origins = BTreeMap::new();
        for (origin, text) in storages {
            let Value::String(text) = text else {
                return Err(invalid("the storage of an origin is not a string"));
            };
            origins.insert(origin, text);
        }
        Ok(Self { cookies, origins })
    }

    /// Serializes the state.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { cookies, origins } = self;
        json!({"format": FORMAT, "cookies": cookies, "origins": origins}).to_string().into_bytes()
    }
}

impl fmt::Debug for State {
    /// Writes counts only: the contents are credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut state = f.debug_struct("State");
        state.field("cookies", &self.cookies.len()).field("origins", &self.origins.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_bytes_reads_to_bytes_and_rejects_other_input() {
        let origins = BTreeMap::from([("https://a.test".to_owned(), "{\"local\":[]}".to_owned())]);
        let state = State { cookies: vec![json!({"name": "a", "value": "secret"})], origins };
        assert_eq!(State::from_bytes(&state.to_bytes()).unwrap(), state);
        assert!(!format!("{state:?}").contains("secret"));
        for other in
            ["", "{}", "{\"format\":2,\"cookies\":[],\"origins\":{}}", "{\"format\":1,\"origins\":{}}"]
        {
            assert!(State::from_bytes(other.as_bytes()).is_err(), "{other}");
        }
    }
}
