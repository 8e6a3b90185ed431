//! A command of the DevTools protocol.

use serde_json::Value;

/// A method of the DevTools protocol and its parameters.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    pub(crate) method: &'static str,
    pub(crate) params: Value,
}

impl Command {
    pub(crate) fn new(method: &'static str, params: Value) -> Self {
        Self { method, params }
    }
}
