//! `[mail]`: the mail server for notifications of monitors.

use std::fmt;
use std::num::{NonZeroU16, NonZeroU64};
use std::path::PathBuf;

use serde::Deserialize;
use websvc_notify::MailTls;

/// `[mail]`: the mail server that emails are submitted to. Without `host` there is none.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Mail {
    /// Name or address of the server.
    pub(crate) host: Option<String>,
    /// Port. If unset, that of the encryption: 587, 465 or 25.
    pub(crate) port: Option<NonZeroU16>,
    /// Encryption. If unset, that of the port: `implicit` for 465, otherwise `starttls`.
    pub(crate) tls: Option<MailEncryption>,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
    /// Sender of all emails, with or without a name.
    pub(crate) from: Option<String>,
    pub(crate) timeout_ms: NonZeroU64,
    /// Certificates to trust in addition to those of the system.
    pub(crate) ca_file: Option<PathBuf>,
}

/// The encryption of connections to the mail server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MailEncryption {
    /// None, for a server on this machine.
    None,
    /// `STARTTLS`, which the server must offer.
    StartTls,
    /// TLS from the start.
    Implicit,
}

impl Mail {
    /// The names of the keys.
    pub(super) const KEYS: &'static [&'static str] =
        &["host", "port", "tls", "user", "password", "from", "timeout_ms", "ca_file"];
}

impl From<MailEncryption> for MailTls {
    fn from(encryption: MailEncryption) -> Self {
        match encryption {
            MailEncryption::None => Self::None,
            MailEncryption::StartTls => Self::StartTls,
            MailEncryption::Implicit => Self::Implicit,
        }
    }
}

impl Default for Mail {
    fn default() -> Self {
        Self {
            host: None,
            port: None,
            tls: None,
            user: None,
            password: None,
            from: None,
            timeout_ms: NonZeroU64::new(30_000).unwrap_or(NonZeroU64::MIN),
            ca_file: None,
        }
    }
}

impl fmt::Debug for Mail {
    /// Omits the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mail").field("host", &self.host).finish_non_exhaustive()
    }
}
