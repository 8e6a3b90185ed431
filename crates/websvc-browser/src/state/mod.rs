//! What a browser keeps from one page to the next: cookies, and the storage of every origin.
//!
//! A context is never used again, so this is taken out of one and put into another. Storage can only be read and
//! written by a document of its origin: the page's own tab is led to an empty document of each origin, which this
//! process answers itself, before the page is opened and after it was read. Nothing leaves for that, and none of the
//! page's scripts run beside it.

pub(crate) mod cookies;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};
use thiserror::Error;

/// Origins of one state; more are not kept.
pub(crate) const MAX_ORIGINS: usize = 64;
/// The storage of one origin, in UTF-16 code units of its text.
pub(crate) const MAX_ORIGIN_CHARS: usize = 32 * 1024 * 1024;
/// How it is written; what is written otherwise is not read.
const FORMAT: u64 = 1;

/// Cookies, and `localStorage`, `sessionStorage` and IndexedDB of origins.
#[derive(Clone, Default, PartialEq)]
pub struct State {
    /// As the protocol has them.
    pub(crate) cookies: Vec<Value>,
    /// By origin, as `page/read_storage.js` writes it.
    pub(crate) origins: BTreeMap<String, String>,
}

/// A state that a page begins with.
#[derive(Debug, Clone)]
pub struct Session {
    /// What the page finds.
    pub state: Arc<State>,
    /// What becomes of what it changes.
    pub changes: Changes,
}

/// What becomes of what a page changes in its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changes {
    /// It ends with the page.
    Forgotten,
    /// It is in [`RenderedPage::state`](crate::RenderedPage::state).
    Kept,
}

/// Bytes are no state.
#[derive(Debug, Error)]
#[error("the state of a browser cannot be read: {what}")]
pub struct StateError {
    what: String,
}

impl State {
    /// Reads what [`State::to_bytes`] has written.
    ///
    /// # Errors
    /// [`StateError`] for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        let failed = |what: &str| StateError { what: what.to_owned() };
        let mut read: Value = serde_json::from_slice(bytes).map_err(|error| failed(&error.to_string()))?;
        if read["format"] != FORMAT {
            return Err(failed("it was written by another version"));
        }
        let Value::Array(cookies) = read["cookies"].take() else { return Err(failed("no cookies")) };
        let Value::Object(found) = read["origins"].take() else { return Err(failed("no origins")) };
        let mut origins = BTreeMap::new();
        for (origin, text) in found {
            let Value::String(text) = text else { return Err(failed("an origin without text")) };
            origins.insert(origin, text);
        }
        Ok(Self { cookies, origins })
    }

    /// Writes it down.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { cookies, origins } = self;
        json!({"format": FORMAT, "cookies": cookies, "origins": origins}).to_string().into_bytes()
    }
}

impl fmt::Debug for State {
    /// Tells how much there is and nothing of what it is: it lets in whoever has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut state = f.debug_struct("State");
        state.field("cookies", &self.cookies.len()).field("origins", &self.origins.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_nothing_else() {
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
