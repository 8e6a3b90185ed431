//! A finished span and its attributes.

use std::time::SystemTime;

use crate::otlp::context::{SpanId, TraceContext};

/// A value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    Number(u64),
    Bool(bool),
}

/// A span that has ended and can be exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FinishedSpan {
    pub(crate) context: TraceContext,
    pub(crate) parent: Option<SpanId>,
    pub(crate) name: &'static str,
    pub(crate) is_request: bool,
    pub(crate) start: SystemTime,
    pub(crate) end: SystemTime,
    /// Names of fields and their values.
    pub(crate) attributes: Vec<(&'static str, Value)>,
}
