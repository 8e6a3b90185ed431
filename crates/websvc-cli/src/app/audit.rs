//! The configured sinks of audit events.

use anyhow::{Context, Result, ensure};
use url::Url;
use websvc_server::audit::{Audit, AuditConfig, Sink, SyslogAddress, WebhookSecret};

use super::{client, sources};
use crate::config::{self, Config};
use crate::data_dir::DataDir;

/// Minimum size of the spool. A smaller one could not hold the events of a short interruption.
const MIN_BYTES: u64 = 64 * 1024;

/// Opens the spool and its sinks. Returns `None` if no sink is configured.
pub(crate) fn audit(config: &Config, data_dir: &DataDir) -> Result<Option<Audit>> {
    let sinks = sinks(config)?;
    if sinks.is_empty() {
        return Ok(None);
    }
    let max_bytes = config.audit.max_bytes;
    Ok(Some(Audit::open(&data_dir.audit(), AuditConfig { sinks, max_bytes })?))
}

/// Returns the configured sinks without opening a file or connection. Their clients may reach their addresses on any
/// network, because the operator has chosen them.
pub(crate) fn sinks(config: &Config) -> Result<Vec<Sink>> {
    let config::Audit { file, syslog, webhook, webhook_secret, max_bytes } = &config.audit;
    ensure!(*max_bytes >= MIN_BYTES, "audit.max_bytes is {max_bytes}: the minimum is {MIN_BYTES}");
    let mut sinks = Vec::new();
    if let Some(file) = file {
        ensure!(!file.as_os_str().is_empty(), "audit.file is empty");
        sinks.push(Sink::file(file.clone()));
    }
    if let Some(address) = syslog {
        let address: SyslogAddress = address.parse().context("audit.syslog")?;
        let client = match address.remote() {
            Some((host, port)) => sources::client_to(config, &host.to_string(), port),
            None => client(config),
        };
        let client = client.context("audit.syslog")?;
        sinks.push(Sink::syslog(client, address, hostname().as_deref()));
    }
    if let Some(url) = webhook {
        let secret = webhook_secret.as_deref().filter(|secret| !secret.is_empty());
        let secret = secret.context("audit.webhook is set, but audit.webhook_secret is missing")?;
        let secret = WebhookSecret::new(secret).context("audit.webhook_secret")?;
        let url: Url = url.parse().context("audit.webhook")?;
        let client = sources::client(config, &url).context("audit.webhook")?;
        sinks.push(Sink::webhook(client, url, secret).context("audit.webhook")?);
    }
    Ok(sinks)
}

#[cfg(unix)]
fn hostname() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().map(str::to_owned)
}

#[cfg(not(unix))]
fn hostname() -> Option<String> {
    None
}
