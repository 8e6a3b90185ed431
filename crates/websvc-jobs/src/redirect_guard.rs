//! Redirects of crawl pages: robots.txt applies to each step.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use url::Url;
use websvc_engine::Engine;
use websvc_site::{RobotsStatus, is_web};
use websvc_transport::UrlPolicy;

use crate::active::JobContext;
use crate::jobs::Jobs;
use crate::robots::RobotsReader;

/// An engine for one page of a job, which applies robots.txt to every redirect of a crawl page.
#[derive(Debug)]
pub(crate) struct RedirectGuard {
    pub(crate) engine: Engine,
    /// The verdict that stopped a redirect.
    rejection: Arc<OnceLock<RobotsVerdict>>,
}

/// Verdict of robots.txt about the redirects of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RobotsVerdict {
    /// All of them are allowed.
    Allowed,
    /// A robots.txt disallows one.
    Disallowed,
    /// The robots.txt of the host of this URL is unavailable, perhaps only for a while.
    Unknown(Url),
}

impl RedirectGuard {
    /// Prepares the scrape of a page, which started at `started`.
    pub(crate) fn new(jobs: &Jobs, context: &JobContext, started: Instant) -> Self {
        let rejection = Arc::new(OnceLock::new());
        let engine = match &context.crawl {
            Some(_) => {
                let engine = &jobs.inner.engine;
                let (deadline, reader) =
                    (started + context.plan.timeout, context.robots_reader(engine.scraper()));
                let name = reader.policy_name();
                engine.with_redirect_rule(name, redirect_policy(jobs, reader, deadline, &rejection))
            }
            None => jobs.inner.engine.clone(),
        };
        Self { engine, rejection }
    }

    /// Returns the verdict about the redirects of the scrape.
    pub(crate) fn verdict(&self) -> RobotsVerdict {
        self.rejection.get().cloned().unwrap_or(RobotsVerdict::Allowed)
    }
}

/// Returns a policy that follows a redirect only if the robots.txt of its host allows it, and records the first
/// rejection.
fn redirect_policy(
    jobs: &Jobs,
    reader: RobotsReader,
    deadline: Instant,
    rejection: &Arc<OnceLock<RobotsVerdict>>,
) -> UrlPolicy {
    let (jobs, rejection) = (jobs.clone(), Arc::clone(rejection));
    UrlPolicy::new(move |url| {
        let (jobs, rejection, reader) = (jobs.clone(), Arc::clone(&rejection), reader.clone());
        async move {
            let verdict = check_robots(&jobs, &url, &reader, deadline).await;
            let reason = match verdict {
                RobotsVerdict::Allowed => return Ok(()),
                RobotsVerdict::Disallowed => "robots.txt disallows it",
                RobotsVerdict::Unknown(_) => "the robots.txt of its host is unavailable",
            };
            // Only the first rejection counts: the fetch ends with it.
            let _ = rejection.set(verdict);
            Err(reason.to_owned())
        }
    })
}

async fn check_robots(jobs: &Jobs, url: &Url, reader: &RobotsReader, deadline: Instant) -> RobotsVerdict {
    if !is_web(url) {
        // Such a URL has no robots.txt, and the client rejects it.
        return RobotsVerdict::Allowed;
    }
    // Half of the remaining time: if the whole page timed out here, its own host would be blamed.
    let now = Instant::now();
    let deadline = now + deadline.saturating_duration_since(now) / 2;
    let robots = jobs.inner.robots.get(jobs.inner.engine.scraper(), url, reader, deadline).await;
    match robots.get() {
        None => RobotsVerdict::Allowed,
        Some(robots) => match robots.status() {
            RobotsStatus::ServerError | RobotsStatus::Unreachable => RobotsVerdict::Unknown(url.clone()),
            RobotsStatus::Available | RobotsStatus::Unavailable | RobotsStatus::HostFailed => {
                if robots.is_allowed(url) { RobotsVerdict::Allowed } else { RobotsVerdict::Disallowed }
            }
        },
    }
}
