//! Sinks that receive events.

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
pub use websvc_webhook::SigningSecret as WebhookSecret;

/// Sink that receives events.
#[derive(Debug)]
pub struct Sink(Kind);

#[derive(Debug)]
enum Kind {
    File(FileSink),
    Syslog(Box<SyslogSink>),
    Webhook(Box<WebhookSink>),
}

impl Sink {
    /// Makes a sink that adds events to a file, one line of JSON each, and brings every batch to the disk. The file is made
    /// when it is not there; when it was renamed or removed, the next batch goes into a new one.
    #[must_use]
    pub fn file(path: PathBuf) -> Self {
        Self(Kind::File(FileSink::new(path)))
    }

    /// Makes a sink that sends events as messages of syslog (RFC 5424). `client` must be allowed to reach the address;
    /// `hostname` is what the messages call this machine.
    #[must_use]
    pub fn syslog(client: Client, address: SyslogAddress, hostname: Option<&str>) -> Self {
        Self(Kind::Syslog(Box::new(SyslogSink::new(client, address, hostname))))
    }

    /// Makes a sink that posts events to a URL, signed. `client` must be allowed to reach it.
    ///
    /// # Errors
    /// [`AuditError::WebhookAddress`] when it is neither `https` nor on this machine.
    pub fn webhook(client: Client, url: Url, secret: WebhookSecret) -> Result<Self, AuditError> {
        Ok(Self(Kind::Webhook(Box::new(WebhookSink::new(client, url, secret)?))))
    }

    /// Returns its name, as the configuration spells it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.0 {
            Kind::File(_) => "file",
            Kind::Syslog(_) => "syslog",
            Kind::Webhook(_) => "webhook",
        }
    }

    /// Sees whether events could be delivered, without delivering one: the file can be written to, syslog can be connected
    /// to, the webhook takes an empty batch.
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

    /// Delivers the events of a batch, or the first of them: the batch then has those alone.
    pub(crate) async fn deliver(&mut self, batch: &mut Batch) -> Result<(), SinkError> {
        match &mut self.0 {
            Kind::File(file) => file.deliver(batch).await,
            Kind::Syslog(syslog) => syslog.deliver(batch).await,
            Kind::Webhook(webhook) => webhook.deliver(batch).await,
        }
    }
}
