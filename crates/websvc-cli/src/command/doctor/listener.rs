//! Checks of the address of the service and its certificate.

use std::io::ErrorKind;
use std::time::Duration;

use http::StatusCode;
use tokio::net::TcpListener;
use url::Url;
use websvc::types::status::{ComponentStatus, ReadinessResponse, ReadinessStatus};
use websvc_transport::{
    AddressGuard, Client, ClientConfig, FetchRequest, RedirectPolicy, TlsFiles, TlsPolicy,
};

use super::finding::Finding;
use crate::config::{Config, Tls};
use crate::output;

const LISTEN: &str = "address";
const TLS: &str = "tls";
const TIMEOUT: Duration = Duration::from_secs(5);
const DAY_SECONDS: i64 = 86_400;
/// Days before the expiry from which a certificate is overdue. Usually, 90-day certificates are renewed 30 days before.
const RENEWAL_DAYS: i64 = 14;

/// Checks the address and, if there is one, the certificate.
pub(super) async fn check(config: &Config) -> Vec<Finding> {
    let tls = config.server.tls.as_ref().map(|Tls { cert, key }| {
        let files = TlsFiles { cert: cert.clone(), key: key.clone() };
        match files.validity() {
            Ok(validity) => certificate(*validity.start(), *validity.end(), jiff::Timestamp::now().as_second()),
            Err(error) => Finding::problem(TLS, output::causes(&error)).advice(
                "use a certificate and its key as PEM files that this user can read; the certificate file has the host's \
                 certificate first, then the intermediate ones",
            ),
        }
    });
    std::iter::once(listen(config).await).chain(tls).collect()
}

async fn listen(config: &Config) -> Finding {
    let listen = &config.server.listen;
    match TcpListener::bind(listen).await {
        Ok(listener) => {
            let address =
                listener.local_addr().map_or_else(|_| listen.clone(), |address| address.to_string());
            Finding::ok(LISTEN, format!("{address} is free"))
        }
        Err(error) if error.kind() == ErrorKind::AddrInUse => match readiness(config).await {
            Some(readiness) => readiness_finding(listen, &readiness),
            None => Finding::problem(LISTEN, format!("{listen} is in use by another program"))
                .advice("stop that program, or use another address (`server.listen` or --listen)"),
        },
        Err(error) => Finding::problem(LISTEN, format!("cannot listen on {listen}: {error}"))
            .advice(advice(error.kind())),
    }
}

fn advice(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::PermissionDenied => {
            "use a port from 1024 on, or allow lower ones (systemd: \
             AmbientCapabilities=CAP_NET_BIND_SERVICE)"
        }
        ErrorKind::AddrNotAvailable => "use an address of this machine, or 0.0.0.0 for all of them",
        _ => "set `server.listen` or --listen to host:port, such as 127.0.0.1:3002",
    }
}

fn readiness_finding(listen: &str, readiness: &ReadinessResponse) -> Finding {
    let ReadinessResponse { status, reason, checks, degraded, audit, .. } = readiness;
    let warning = |text: &str| Finding::warning(LISTEN, format!("websvc is running on {listen} {text}"));
    let problem = |text: &str| Finding::problem(LISTEN, format!("websvc is running on {listen} {text}"));
    match status {
        ReadinessStatus::Ready => {
            if let Some(problems) = super::audit::readiness_problems(audit) {
                return warning(&format!("and is ready; audit events: {problems}")).advice(
                    "see the checks of audit events below; queued events are delivered when the sink accepts them, \
                     unless the spool (`audit.max_bytes`) is full before",
                );
            }
            if degraded.is_empty() {
                return Finding::ok(LISTEN, format!("websvc is running on {listen} and is ready"));
            }
            warning(&format!("and is ready, but degraded: {}", degraded.join(", ")))
                .advice("see the checks of these parts below, and /ready for the reason")
        }
        ReadinessStatus::Stopping => {
            warning("and is stopping").advice("wait until its requests in flight are finished")
        }
        ReadinessStatus::NotReady => {
            if let Some(reason) = reason {
                return problem(&format!("and is not ready: {reason}"))
                    .advice("see the checks of the disk and of the database");
            }
            let parts = [("database", checks.store), ("index", checks.index), ("cache", checks.cache)];
            let unavailable = parts.into_iter().filter(|(_, condition)| *condition != ComponentStatus::Ok);
            let unavailable = unavailable.map(|(name, _)| name).collect::<Vec<_>>().join(" and ");
            problem(&format!("without its {unavailable}")).advice("see its log, then restart it")
        }
    }
}

async fn readiness(config: &Config) -> Option<ReadinessResponse> {
    let address = tokio::net::lookup_host(&config.server.listen).await.ok()?.next()?;
    let mut target = address;
    if address.ip().is_unspecified() {
        target.set_ip(match address.ip() {
            std::net::IpAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            std::net::IpAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    let scheme = if config.server.tls.is_some() { "https" } else { "http" };
    let url: Url = format!("{scheme}://{target}/ready").parse().ok()?;
    // The certificate is for the public name, and the address may be private.
    let client = Client::new(ClientConfig::new(AddressGuard::open())).ok()?;
    let request = FetchRequest {
        timeout: TIMEOUT,
        tls: TlsPolicy::SkipVerification,
        redirects: RedirectPolicy::None,
        max_body_bytes: 1 << 20,
        ..FetchRequest::get(url)
    };
    let response = client.fetch(request).await.ok()?;
    let is_ready_response = matches!(response.status, StatusCode::OK | StatusCode::SERVICE_UNAVAILABLE);
    is_ready_response.then(|| serde_json::from_slice(&response.body).ok()).flatten()
}

/// Checks the validity of a certificate. Times are seconds since the Unix epoch.
fn certificate(start: i64, end: i64, now: i64) -> Finding {
    let day = |at: i64| {
        jiff::Timestamp::from_second(at)
            .map_or_else(|_| at.to_string(), |at| at.strftime("%Y-%m-%d").to_string())
    };
    let renew = "renew the certificate; a running service reloads the files";
    if now > end {
        Finding::problem(TLS, format!("the certificate expired on {}", day(end))).advice(renew)
    } else if now < start {
        let advice = "check the clock of this machine, or use a certificate that is valid today";
        Finding::problem(TLS, format!("the certificate is not valid before {}", day(start))).advice(advice)
    } else if end - now < RENEWAL_DAYS * DAY_SECONDS {
        Finding::warning(TLS, format!("the certificate expires on {}", day(end))).advice(renew)
    } else {
        Finding::ok(TLS, format!("the certificate is valid until {}", day(end)))
    }
}

#[cfg(test)]
mod tests {
    use websvc::types::status::{BrowserReadiness, ClockReadiness, ReadinessChecks, ThreatReadiness};

    use super::super::finding::State;
    use super::*;

    #[test]
    fn certificate_finding_depends_on_its_validity() {
        let now = 1_800_000_000;
        for (start, end, expected, word) in [
            (now - DAY_SECONDS, now + 90 * DAY_SECONDS, State::Ok, "valid until 2027-04-15"),
            (now - DAY_SECONDS, now + 3 * DAY_SECONDS, State::Warning, "expires on 2027-01-18"),
            (now - 90 * DAY_SECONDS, now - DAY_SECONDS, State::Problem, "expired on 2027-01-14"),
            (now + DAY_SECONDS, now + 90 * DAY_SECONDS, State::Problem, "not valid before 2027-01-16"),
            (0, i64::MAX, State::Ok, "valid until"),
        ] {
            let finding = certificate(start, end, now);
            assert_eq!(finding.state, expected, "{finding:?}");
            assert!(finding.message.contains(word), "{finding:?}");
        }
    }

    #[test]
    fn running_service_is_checked_by_its_readiness() {
        let checks_ok = ReadinessChecks {
            store: ComponentStatus::Ok,
            index: ComponentStatus::Ok,
            cache: ComponentStatus::Ok,
            artifacts: ComponentStatus::Ok,
        };
        let readiness = |status, store| ReadinessResponse {
            status,
            reason: None,
            checks: ReadinessChecks { store, ..checks_ok },
            sources: Vec::new(),
            outboxes: Vec::new(),
            browser: BrowserReadiness::default(),
            threat: ThreatReadiness::default(),
            degraded: Vec::new(),
            audit: Vec::new(),
            forwarding: None,
            clock: ClockReadiness::default(),
        };
        let mut ready = readiness(ReadinessStatus::Ready, ComponentStatus::Ok);
        assert_eq!(
            readiness_finding("x:1", &ready),
            Finding::ok(LISTEN, "websvc is running on x:1 and is ready")
        );
        ready.degraded.push("source:searxng".to_owned());
        let degraded = readiness_finding("x:1", &ready);
        assert_eq!(degraded.state, State::Warning);
        assert!(degraded.message.contains("source:searxng"), "{degraded:?}");
        let reason = Some("the disk of the database is full".to_owned());
        let full = readiness(ReadinessStatus::NotReady, ComponentStatus::Unavailable);
        let full = readiness_finding("x:1", &ReadinessResponse { reason, ..full });
        assert_eq!(
            (full.state, full.message.as_str()),
            (State::Problem, "websvc is running on x:1 and is not ready: the disk of the database is full")
        );
        let broken =
            readiness_finding("x:1", &readiness(ReadinessStatus::NotReady, ComponentStatus::Unavailable));
        assert_eq!(
            (broken.state, broken.message.as_str()),
            (State::Problem, "websvc is running on x:1 without its database")
        );
    }

    #[test]
    fn unusable_address_has_specific_advice() {
        assert!(advice(ErrorKind::PermissionDenied).contains("1024"));
        assert!(advice(ErrorKind::AddrNotAvailable).contains("of this machine"));
        assert!(advice(ErrorKind::InvalidInput).contains("host:port"));
    }
}
