//! The sinks of audit events.

mod file;
mod syslog;
mod webhook;

use std::path::PathBuf;

use url::Url;
use websvc_transport::Client;

use crate::error::{AuditError, SinkError};
use crate::spool::Batch;
use file::FileSink;
use syslog::SyslogSink;
use webhook::WebhookSink;

pub use syslog::SyslogAddress;
pub use websvc_notify::webhook::SigningSecret as WebhookSecret;

/// A receiver of audit events.
#[derive(Debug)]
pub struct Sink(Kind);

#[derive(Debug)]
enum Kind {
    File(FileSink),
    Syslog(Box<SyslogSink>),
    Webhook(Box<WebhookSink>),
}

impl Sink {
    /// Creates a sink that appends events to a file as lines of JSON, and syncs every batch to disk. The file is
    /// created if it does not exist. If it is renamed or removed, the next batch goes to a new file.
    #[must_use]
    pub fn file(path: PathBuf) -> Self {
        Self(Kind::File(FileSink::new(path)))
    }

    /// Creates a sink that sends events as syslog messages (RFC 5424). `client` must be allowed to connect to the
    /// address. `hostname` is the name of this machine in the messages.
    #[must_use]
    pub fn syslog(client: Client, address: SyslogAddress, hostname: Option<&str>) -> Self {
        Self(Kind::Syslog(Box::new(SyslogSink::new(client, address, hostname))))
    }

    /// Creates a sink that posts signed events to a URL. `client` must be allowed to connect to it.
    ///
    /// # Errors
    /// [`AuditError::WebhookAddress`] if the URL is neither `https` nor on this machine.
    pub fn webhook(client: Client, url: Url, secret: WebhookSecret) -> Result<Self, AuditError> {
        Ok(Self(Kind::Webhook(Box::new(WebhookSink::new(client, url, secret)?))))
    }

    /// Returns the name of the sink in the configuration.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.0 {
            Kind::File(_) => "file",
            Kind::Syslog(_) => "syslog",
            Kind::Webhook(_) => "webhook",
        }
    }

    /// Checks that events could be delivered, without delivering one: that the file is writable, that the syslog
    /// receiver accepts a connection, or that the webhook accepts an empty batch.
    ///
    /// # Errors
    /// [`SinkError`]
    pub async fn check(&mut self) -> Result<(), SinkError> {
        match &mut self.0 {
            Kind::File(file) => file.check().await,
            Kind::Syslog(syslog) => syslog.check().await,
            Kind::Webhook(webhook) => webhook.check().await,
        }
    }

    /// Delivers the events of a batch, or only the first of them. Then the batch is reduced to these.
    pub(crate) async fn deliver(&mut self, batch: &mut Batch) -> Result<(), SinkError> {
        match &mut self.0 {
            Kind::File(file) => file.deliver(batch).await,
            Kind::Syslog(syslog) => syslog.deliver(batch).await,
            Kind::Webhook(webhook) => webhook.deliver(batch).await,
        }
    }
}
