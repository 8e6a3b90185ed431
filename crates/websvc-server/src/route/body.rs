//! The bodies that endpoints read, and their limits.

use websvc_types::limits::{
    BODY_MAX_BYTES, BODY_OPTIONS_MAX_BYTES, BODY_SHORT_MAX_BYTES, BODY_TOKEN_MAX_BYTES,
};

/// The body that an endpoint reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestBody {
    /// None. A body that a client sends nevertheless is not read.
    None,
    /// At most this many bytes, which are received before the request is admitted.
    Whole { max_bytes: usize },
    /// A form with a file, which the handler receives in parts, or JSON that names a file sent before.
    Form,
    /// A file, which the handler receives in parts.
    File,
}

impl RequestBody {
    /// A token or a key.
    pub(crate) const TOKEN: Self = Self::Whole { max_bytes: BODY_TOKEN_MAX_BYTES };
    /// A few short fields.
    pub(crate) const SHORT: Self = Self::Whole { max_bytes: BODY_SHORT_MAX_BYTES };
    /// The options of one piece of work, which may contain schemas and scripts.
    pub(crate) const OPTIONS: Self = Self::Whole { max_bytes: BODY_OPTIONS_MAX_BYTES };
    /// Thousands of URLs, or texts.
    pub(crate) const LONG: Self = Self::Whole { max_bytes: BODY_MAX_BYTES };
}
