//! The address of the service and its certificate.

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
const PATIENCE: Duration = Duration::from_secs(5);
const DAY: i64 = 86_400;
/// Certificates of 90 days are usually renewed a month before their end.
const RENEWAL_DAYS: i64 = 14;

/// Checks the address and, where there is one, the certificate.
pub(super) async fn check(config: &Config) -> Vec<Finding> {
    let mut findings = vec![listen(config).await];
    if let Some(Tls { cert, key }) = &config.server.tls {
        let files = TlsFiles { cert: cert.clone(), key: key.clone() };
        findings.push(match files.validity() {
            Ok(validity) => certificate(*validity.start(), *validity.end(), jiff::Timestamp::now().as_second()),
            Err(error) => Finding::problem(
                TLS,
                output::causes(&error),
                "give PEM files that belong together and that this user may read: the host's certificate first, \
                 then the intermediate ones",
            ),
        });
    }
    findings
}

async fn listen(config: &Config) -> Finding {
    let listen = &config.server.listen;
    match TcpListener::bind(listen).await {
        Ok(listener) => {
            let address =
                listener.local_addr().map_or_else(|_| listen.clone(), |address| address.to_string());
            Finding::ok(LISTEN, format!("{address} is free"))
        }
        Err(error) if error.kind() == ErrorKind::AddrInUse => taken(config).await,
        Err(error) => {
            Finding::problem(LISTEN, format!("cannot listen on {listen}: {error}"), advice(error.kind()))
        }
    }
}

fn advice(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::PermissionDenied => {
            "give a port of 1024 and above, or the right to lower ones (systemd: \
             AmbientCapabilities=CAP_NET_BIND_SERVICE)"
        }
        ErrorKind::AddrNotAvailable => "give an address of this machine, or 0.0.0.0 for all of them",
        _ => "give host:port by `server.listen` or --listen, such as 127.0.0.1:3002",
    }
}

/// Asks who has the address whether it is websvc.
async fn taken(config: &Config) -> Finding {
    let listen = &config.server.listen;
    match ready(config).await {
        Some(readiness) => judge(listen, &readiness),
        None => Finding::problem(
            LISTEN,
            format!("{listen} is taken by another program"),
            "end that program, or give another address by `server.listen` or --listen",
        ),
    }
}

fn judge(listen: &str, readiness: &ReadinessResponse) -> Finding {
    let ReadinessResponse { status, checks, degraded, audit, .. } = readiness;
    let running = format!("a websvc runs on {listen}");
    match status {
        ReadinessStatus::Ready => {
            if let Some(told) = super::audit::of_readiness(audit) {
                return Finding::warning(
                    LISTEN,
                    format!("{running} and is ready; of its audit events, {told}"),
                    "see the lines of audit events below: those that wait are delivered when their sink takes them, until their \
                     place (`audit.max_bytes`) is full",
                );
            }
            if degraded.is_empty() {
                return Finding::ok(LISTEN, format!("{running} and is ready"));
            }
            Finding::warning(
                LISTEN,
                format!("{running} and is ready, but not whole: {}", degraded.join(", ")),
                "see the lines of these parts below, and /ready for the reason",
            )
        }
        ReadinessStatus::Stopping => Finding::warning(
            LISTEN,
            format!("{running} and is stopping"),
            "wait until it has finished what it has begun",
        ),
        ReadinessStatus::NotReady => {
            let lost = [("database", checks.store), ("index", checks.index), ("cache", checks.cache)];
            let lost = lost.into_iter().filter(|(_, condition)| *condition != ComponentStatus::Ok);
            let lost = lost.map(|(name, _)| name).collect::<Vec<_>>().join(" and ");
            Finding::problem(
                LISTEN,
                format!("{running} without its {lost}"),
                "look into its log, then restart it",
            )
        }
    }
}

async fn ready(config: &Config) -> Option<ReadinessResponse> {
    let address = tokio::net::lookup_host(&config.server.listen).await.ok()?.next()?;
    let mut reachable = address;
    if address.ip().is_unspecified() {
        reachable.set_ip(match address.ip() {
            std::net::IpAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            std::net::IpAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    let scheme = if config.server.tls.is_some() { "https" } else { "http" };
    let url: Url = format!("{scheme}://{reachable}/ready").parse().ok()?;
    // Its own certificate is for its public name, and its own address is no page's.
    let client = Client::new(ClientConfig::new(AddressGuard::open())).ok()?;
    let request = FetchRequest {
        timeout: PATIENCE,
        tls: TlsPolicy::SkipVerification,
        redirects: RedirectPolicy::None,
        max_body_bytes: 1 << 20,
        ..FetchRequest::get(url)
    };
    let answer = client.fetch(request).await.ok()?;
    let is_answer = matches!(answer.status, StatusCode::OK | StatusCode::SERVICE_UNAVAILABLE);
    is_answer.then(|| serde_json::from_slice(&answer.body).ok()).flatten()
}

/// Judges from when until when a certificate is valid; seconds since the Unix epoch.
fn certificate(start: i64, end: i64, now: i64) -> Finding {
    let day = |at: i64| {
        jiff::Timestamp::from_second(at)
            .map_or_else(|_| at.to_string(), |at| at.strftime("%Y-%m-%d").to_string())
    };
    let renew = "renew it; a running service takes over the new files by itself";
    if now > end {
        Finding::problem(TLS, format!("the certificate ended on {}", day(end)), renew)
    } else if now < start {
        let advice = "check the clock of this machine, or use the certificate that is valid today";
        Finding::problem(TLS, format!("the certificate is valid from {} on", day(start)), advice)
    } else if end - now < RENEWAL_DAYS * DAY {
        Finding::warning(TLS, format!("the certificate ends on {}", day(end)), renew)
    } else {
        Finding::ok(TLS, format!("the certificate is valid until {}", day(end)))
    }
}

#[cfg(test)]
mod tests {
    use websvc::types::status::{BrowserReadiness, ReadinessChecks, ThreatReadiness};

    use super::super::finding::State;
    use super::*;

    #[test]
    fn a_certificate_is_judged_by_its_days() {
        let now = 1_800_000_000;
        for (start, end, expected, word) in [
            (now - DAY, now + 90 * DAY, State::Ok, "valid until 2027-04-15"),
            (now - DAY, now + 3 * DAY, State::Warning, "ends on 2027-01-18"),
            (now - 90 * DAY, now - DAY, State::Problem, "ended on 2027-01-14"),
            (now + DAY, now + 90 * DAY, State::Problem, "valid from 2027-01-16 on"),
            (0, i64::MAX, State::Ok, "valid until"),
        ] {
            let finding = certificate(start, end, now);
            assert_eq!(finding.state, expected, "{finding:?}");
            assert!(finding.message.contains(word), "{finding:?}");
        }
    }

    #[test]
    fn a_running_service_is_judged_by_what_it_says() {
        let good = ReadinessChecks {
            store: ComponentStatus::Ok,
            index: ComponentStatus::Ok,
            cache: ComponentStatus::Ok,
            artifacts: ComponentStatus::Ok,
        };
        let readiness = |status, store| ReadinessResponse {
            status,
            checks: ReadinessChecks { store, ..good },
            sources: Vec::new(),
            browser: BrowserReadiness::default(),
            threat: ThreatReadiness::default(),
            degraded: Vec::new(),
            audit: Vec::new(),
        };
        let mut ready = readiness(ReadinessStatus::Ready, ComponentStatus::Ok);
        assert_eq!(judge("x:1", &ready), Finding::ok(LISTEN, "a websvc runs on x:1 and is ready"));
        ready.degraded.push("source:searxng".to_owned());
        let less = judge("x:1", &ready);
        assert_eq!(less.state, State::Warning);
        assert!(less.message.contains("source:searxng"), "{less:?}");
        let broken = judge("x:1", &readiness(ReadinessStatus::NotReady, ComponentStatus::Unavailable));
        assert_eq!(
            (broken.state, broken.message.as_str()),
            (State::Problem, "a websvc runs on x:1 without its database")
        );
    }

    #[test]
    fn an_address_that_cannot_be_had_has_its_advice() {
        assert!(advice(ErrorKind::PermissionDenied).contains("1024"));
        assert!(advice(ErrorKind::AddrNotAvailable).contains("of this machine"));
        assert!(advice(ErrorKind::InvalidInput).contains("host:port"));
    }
}
