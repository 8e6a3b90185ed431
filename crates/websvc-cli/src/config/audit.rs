//! `[audit]`: the sinks of audit events.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;

/// `[audit]`: the sinks and the spool in front of them.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Audit {
    /// File of JSON lines.
    pub(crate) file: Option<PathBuf>,
    /// `udp://`, `tcp://`, `tls://`, or the path of a socket.
    pub(crate) syslog: Option<String>,
    /// URL that batches are posted to. It may contain secrets.
    pub(crate) webhook: Option<String>,
    /// Key that signs batches.
    pub(crate) webhook_secret: Option<String>,
    /// Maximum size of the spool in bytes.
    pub(crate) max_bytes: u64,
}

impl Audit {
    /// The names of the keys.
    pub(super) const KEYS: &'static [&'static str] =
        &["file", "syslog", "webhook", "webhook_secret", "max_bytes"];
}

impl Default for Audit {
    fn default() -> Self {
        Self { file: None, syslog: None, webhook: None, webhook_secret: None, max_bytes: 256 * 1024 * 1024 }
    }
}

impl fmt::Debug for Audit {
    /// Omits the secret and the URL of the webhook.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, syslog, max_bytes, webhook: _, webhook_secret: _ } = self;
        f.debug_struct("Audit")
            .field("file", file)
            .field("syslog", syslog)
            .field("max_bytes", max_bytes)
            .finish_non_exhaustive()
    }
}
