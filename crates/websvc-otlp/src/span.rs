//! A span as it is recorded.

use std::time::SystemTime;

use crate::context::{SpanId, TraceContext};

/// A value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    Number(u64),
    Truth(bool),
}

/// A span that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FinishedSpan {
    pub(crate) context: TraceContext,
    pub(crate) parent: Option<SpanId>,
    pub(crate) name: &'static str,
    pub(crate) is_request: bool,
    pub(crate) began: SystemTime,
    pub(crate) ended: SystemTime,
    /// By the names of the fields.
    pub(crate) attributes: Vec<(&'static str, Value)>,
}
