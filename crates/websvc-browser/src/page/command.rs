//! A command of the protocol.

use serde_json::Value;

/// A command and its parameters.
pub(crate) type Command = (&'static str, Value);
