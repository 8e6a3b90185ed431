//! Redirects of crawl pages: robots.txt applies to each step.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use url::Url;
use websvc_engine::Engine;
use websvc_engine::crawl::RobotsStatus;
use websvc_scrape::tls_policy;
use websvc_transport::{TlsPolicy, UrlPolicy};

use crate::active::JobContext;
use crate::jobs::Jobs;

/// Scrapes one page of a job and applies robots.txt to every redirect of a crawl page.
#[derive(Debug)]
pub(crate) struct RedirectGuard {
    pub(crate) engine: Engine,
    /// Why it went no further.
    refused: Arc<OnceLock<RobotsVerdict>>,
}

/// Verdict of robots.txt about the targets of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RobotsVerdict {
    /// Nobody forbids it.
    Allowed,
    /// A robots.txt forbids it.
    Disallowed,
    /// The host of this URL could not say what it allows, and may in a while.
    Unknown(Url),
}

impl RedirectGuard {
    /// Prepares getting a page, which began at `started`.
    pub(crate) fn new(jobs: &Jobs, work: &JobContext, started: Instant) -> Self {
        let refused = Arc::new(OnceLock::new());
        let engine = match &work.crawling {
            Some(_) => {
                let (deadline, tls) = (started + work.plan.timeout(), tls_policy(&work.plan));
                jobs.inner
                    .engine
                    .with_redirect_rule(name(tls), redirect_policy(jobs, tls, deadline, &refused))
            }
            None => jobs.inner.engine.clone(),
        };
        Self { engine, refused }
    }

    /// Returns what the hosts said when the page was got.
    pub(crate) fn verdict(&self) -> RobotsVerdict {
        self.refused.get().cloned().unwrap_or(RobotsVerdict::Allowed)
    }
}

/// Returns the name that rules have in common which decide alike.
fn name(tls: TlsPolicy) -> &'static str {
    match tls {
        TlsPolicy::Verify => "robots.txt",
        TlsPolicy::SkipVerification => "robots.txt without verification",
    }
}

/// Returns the rule that lets a page lead on to what its host allows, and notes what it did not.
fn redirect_policy(
    jobs: &Jobs,
    tls: TlsPolicy,
    deadline: Instant,
    refused: &Arc<OnceLock<RobotsVerdict>>,
) -> UrlPolicy {
    let (jobs, refused) = (jobs.clone(), Arc::clone(refused));
    UrlPolicy::new(move |url| {
        let (jobs, refused) = (jobs.clone(), Arc::clone(&refused));
        async move {
            let verdict = check_robots(&jobs, &url, tls, deadline).await;
            let reason = match verdict {
                RobotsVerdict::Allowed => return Ok(()),
                RobotsVerdict::Disallowed => "robots.txt forbids it",
                RobotsVerdict::Unknown(_) => "its host could not say what it allows",
            };
            // Only the first step counts: it goes no further.
            let _ = refused.set(verdict);
            Err(reason.to_owned())
        }
    })
}

async fn check_robots(jobs: &Jobs, url: &Url, tls: TlsPolicy, deadline: Instant) -> RobotsVerdict {
    if !matches!(url.scheme(), "http" | "https") {
        // There is no such file, and the client refuses it by itself.
        return RobotsVerdict::Allowed;
    }
    // Before the page itself is late, which would be told of its own host.
    let now = Instant::now();
    let deadline = now + deadline.saturating_duration_since(now) / 2;
    let rules = jobs.inner.robots.rules(jobs.inner.engine.scraper(), url, tls, deadline).await;
    match rules.get() {
        None => RobotsVerdict::Allowed,
        Some(rules) => match rules.status() {
            RobotsStatus::ServerError | RobotsStatus::Unreachable => RobotsVerdict::Unknown(url.clone()),
            RobotsStatus::Available | RobotsStatus::Unavailable | RobotsStatus::HostFailed => {
                if rules.is_allowed(&url) { RobotsVerdict::Allowed } else { RobotsVerdict::Disallowed }
            }
        },
    }
}
