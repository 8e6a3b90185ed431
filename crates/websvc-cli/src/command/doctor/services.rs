//! Checks of services and tools: other replicas, the URL scanner, the mail server, logs and traces, the tools for media.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use websvc_notify::MailError;
use websvc_scrape::threat::ScanError;
use websvc_server::Announcement;
use websvc_validate::RetentionMode;

use super::finding::{Finding, timed};
use crate::app::{self, TraceSettings};
use crate::config::Config;
use crate::logging;
use crate::output;

const REPLICA: &str = "replica address";

/// Checks the address, if the database is on a server: otherwise there are no other replicas.
pub(super) async fn replica(config: &Config) -> Option<Finding> {
    config.store.url.as_ref()?;
    // The check of the listener reports a host that has no address.
    let listener = tokio::net::lookup_host(&config.server.listen).await.ok()?.next()?;
    Some(match app::announcement(config, listener) {
        Ok(announcement) => announcement_finding(announcement),
        Err(error) => Finding::problem(REPLICA, error.to_string())
            .advice("set `replica.address` to the host under which the other replicas reach this one"),
    })
}

fn announcement_finding(announcement: Announcement) -> Finding {
    match announcement {
        Announcement::Url(url) => {
            Finding::ok(REPLICA, format!("other replicas pass on requests for browser sessions to {url}"))
        }
        Announcement::None { reason } => {
            Finding::warning(REPLICA, format!("none is announced: {reason}")).advice(
                "without it, let the load balancer send all requests of a client to the same replica if clients use \
                 browser sessions; with one replica, ignore this",
            )
        }
    }
}

pub(super) const THREAT: &str = "threat protection";

/// The URL that is scanned, with a domain reserved for examples (RFC 2606).
const TEST_URL: &str = "http://example.com/";

/// Scans a URL, if a scanner is configured.
pub(super) async fn threat(config: &Config) -> Result<Option<Finding>> {
    let classifier = app::classifier(config)?;
    // The verdict is not cached.
    let (result, elapsed) = timed(classifier.score(TEST_URL, RetentionMode::Zero)).await;
    Ok(result.map(|result| scan_finding(&result, elapsed)))
}

fn scan_finding(result: &Result<u8, ScanError>, elapsed: Duration) -> Finding {
    let error = match result {
        Ok(score) => {
            let elapsed = elapsed.as_millis();
            let message = format!("the scanner responds in {elapsed} ms; {TEST_URL} has the score {score}");
            return Finding::ok(THREAT, message);
        }
        Err(error) => error,
    };
    let advice = match error {
        ScanError::Status { .. } => "check `threat.api_key` and `threat.url`",
        ScanError::Unreadable { .. } => {
            "check `threat.url`: the scanner must respond with status 200 and JSON with a score from 0 to 100"
        }
        _ => "check that the scanner runs, `threat.url`, and the network",
    };
    Finding::problem(THREAT, format!("the scanner returned no verdict: {error}")).advice(advice)
}

pub(super) const MAIL: &str = "mail server";

const MAIL_TIMEOUT: Duration = Duration::from_secs(10);

/// Connects to the mail server, starts TLS and authenticates, if there is one. Sends no email.
pub(super) async fn mail(config: &Config) -> Result<Option<Finding>> {
    let Some(settings) = app::mail_settings(config)? else { return Ok(None) };
    let (result, elapsed) = timed(tokio::time::timeout(MAIL_TIMEOUT, settings.mailer.probe())).await;
    let has_user = config.mail.user.is_some();
    Ok(Some(match result {
        Ok(Ok(())) => {
            let ready = if has_user { "accepts the user name and the password" } else { "responds" };
            Finding::ok(MAIL, format!("{ready}, in {} ms", elapsed.as_millis()))
        }
        Ok(Err(error)) => mail_failure(&error),
        Err(_) => Finding::problem(MAIL, format!("no response within {} s", MAIL_TIMEOUT.as_secs())).advice(
            "check `mail.host`, `mail.port` and `mail.tls`, and that a firewall allows this connection",
        ),
    }))
}

fn mail_failure(error: &MailError) -> Finding {
    let advice = match error {
        MailError::Dns { .. } | MailError::Connect { .. } | MailError::Timeout { .. } => {
            "check `mail.host` and `mail.port`, that the server runs, and that a firewall allows this connection"
        }
        MailError::Tls { .. } | MailError::Connection { .. } => {
            "check `mail.tls`, which must fit `mail.port`, and `mail.ca_file` if the server has a private certificate"
        }
        MailError::Authentication { .. } => "check `mail.user` and `mail.password`",
        MailError::NoMechanism { .. } => {
            "remove `mail.user` and `mail.password` if the server needs none, or check `mail.port`"
        }
        MailError::Sender { .. } | MailError::Recipient { .. } | MailError::Refused { .. } => {
            "check that the server accepts connections from this machine"
        }
    };
    Finding::problem(MAIL, output::causes(error)).advice(advice)
}

pub(super) const LOG: &str = "log";
pub(super) const TRACES: &str = "traces";

/// Checks the log settings.
pub(super) fn log(config: &Config) -> Result<Option<Finding>> {
    logging::check(&config.log)?;
    Ok(Some(Finding::ok(LOG, "format and filter are valid")))
}

/// Sends an empty batch to the collector, if there is one.
pub(super) async fn traces(config: &Config) -> Result<Vec<Finding>> {
    let settings = TraceSettings::read(&config.traces, |name| std::env::var(name).ok())?;
    let Some(settings) = settings else { return Ok(Vec::new()) };
    let (result, elapsed) = timed(settings.exporter_config(config)?.probe()).await;
    let collector = match result {
        Ok(()) => Finding::ok(TRACES, format!("the collector accepts spans, in {} ms", elapsed.as_millis())),
        Err(error) => Finding::warning(TRACES, format!("the collector does not accept spans: {error}")).advice(
            "check that it runs and accepts OTLP over HTTP as JSON, `traces.endpoint` and `traces.headers`; the service \
             works without it",
        ),
    };
    let advice = "remove the variable, or set the corresponding key of `[traces]`";
    let warnings = settings.warnings.into_iter();
    let warnings = warnings.map(|warning| Finding::warning(TRACES, warning).advice(advice));
    Ok(std::iter::once(collector).chain(warnings).collect())
}

const MEDIA: &str = "media";

/// Advice for tools that cannot be used.
const INSTALL_MEDIA: &str = "install yt-dlp from PyPI (pipx install yt-dlp) and set `media.yt_dlp`; Debian, Ubuntu: apt install \
    ffmpeg bubblewrap; the system must allow user namespaces, or websvc runs as root. See the page \"Audio and video\" of \
    the manual";

/// Runs the tools once in their sandbox, as the service does at its start. Without configured tools, there is no finding.
pub(super) async fn media(data_dir: &Path, config: &Config) -> Option<Finding> {
    Some(match app::downloader(config, data_dir).await {
        Ok(None) => return None,
        Ok(Some(Ok(downloader))) => Finding::ok(MEDIA, downloader.versions()),
        Ok(Some(Err(error))) => {
            let reason = output::causes(&error);
            let message = format!("audio and video are off, their tools cannot run in the sandbox: {reason}");
            Finding::problem(MEDIA, message).advice(INSTALL_MEDIA)
        }
        Err(error) => {
            Finding::problem(MEDIA, output::causes(error.as_ref())).advice("lower `media.max_bytes`")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[tokio::test]
    async fn address_is_checked_only_with_a_database_on_a_server() {
        let mut config = Config::default();
        assert_eq!(replica(&config).await, None);
        config.store.url = Some("postgres://db.test/websvc".to_owned());
        let off = replica(&config).await.unwrap();
        assert!(off.state == State::Warning && off.message.contains("replica.address"), "{off:?}");
        config.replica.address = Some("10.0.0.5".to_owned());
        let on = replica(&config).await.unwrap();
        assert!(on.state == State::Ok && on.message.contains("http://10.0.0.5:3002/"), "{on:?}");
        config.replica.address = Some("a b".to_owned());
        assert_eq!(replica(&config).await.unwrap().state, State::Problem);
    }

    #[test]
    fn scan_errors_are_problems() {
        let of = |result| scan_finding(&result, Duration::from_millis(12));
        assert_eq!(of(Ok(0)).state, State::Ok);
        let status = of(Err(ScanError::Status { status: 403, retry_after: None }));
        assert_eq!(
            (status.state, status.advice.as_deref()),
            (State::Problem, Some("check `threat.api_key` and `threat.url`"))
        );
        assert_eq!(of(Err(ScanError::Unreadable { what: "x" })).state, State::Problem);
    }
}
