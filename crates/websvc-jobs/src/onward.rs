//! Where the pages of a crawl lead on to: robots.txt is asked about each step of it.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use url::Url;
use websvc_engine::Engine;
use websvc_engine::crawl::Rules;
use websvc_scrape::tls_policy;
use websvc_transport::{TlsPolicy, UrlRule};

use crate::active::Work;
use crate::jobs::Jobs;

/// What gets a page of a job; where a page of a crawl leads on to, robots.txt is asked first.
#[derive(Debug)]
pub(crate) struct Onward {
    pub(crate) engine: Engine,
    /// Why it went no further.
    refused: Arc<OnceLock<Verdict>>,
}

/// What the hosts say of where a page leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nobody forbids it.
    Allowed,
    /// A robots.txt forbids it.
    Forbidden,
    /// The host of this URL could not say what it allows, and may in a while.
    Unknown(Url),
}

impl Onward {
    /// Prepares getting a page, which began at `started`.
    pub(crate) fn of(jobs: &Jobs, work: &Work, started: Instant) -> Self {
        let refused = Arc::new(OnceLock::new());
        let engine = match &work.crawling {
            Some(_) => {
                let (deadline, tls) = (started + work.plan.timeout(), tls_policy(&work.plan));
                jobs.inner.engine.with_redirect_rule(name(tls), rule(jobs, tls, deadline, &refused))
            }
            None => jobs.inner.engine.clone(),
        };
        Self { engine, refused }
    }

    /// Returns what the hosts said when the page was got.
    pub(crate) fn verdict(&self) -> Verdict {
        self.refused.get().cloned().unwrap_or(Verdict::Allowed)
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
fn rule(jobs: &Jobs, tls: TlsPolicy, deadline: Instant, refused: &Arc<OnceLock<Verdict>>) -> UrlRule {
    let (jobs, refused) = (jobs.clone(), Arc::clone(refused));
    UrlRule::new(move |url| {
        let (jobs, refused) = (jobs.clone(), Arc::clone(&refused));
        async move {
            let verdict = ask(&jobs, &url, tls, deadline).await;
            let reason = match verdict {
                Verdict::Allowed => return Ok(()),
                Verdict::Forbidden => "robots.txt forbids it",
                Verdict::Unknown(_) => "its host could not say what it allows",
            };
            // Only the first step counts: it goes no further.
            let _ = refused.set(verdict);
            Err(reason.to_owned())
        }
    })
}

async fn ask(jobs: &Jobs, url: &Url, tls: TlsPolicy, deadline: Instant) -> Verdict {
    if !matches!(url.scheme(), "http" | "https") {
        // There is no such file, and the client refuses it by itself.
        return Verdict::Allowed;
    }
    // Before the page itself is late, which would be told of its own host.
    let now = Instant::now();
    let deadline = now + deadline.saturating_duration_since(now) / 2;
    let rules = jobs.inner.robots.rules(jobs.inner.engine.scraper(), url, tls, deadline).await;
    match rules.get() {
        Some(Rules::DisallowAll | Rules::Unanswered) => Verdict::Unknown(url.clone()),
        Some(rules) if !rules.allow(url) => Verdict::Forbidden,
        Some(_) | None => Verdict::Allowed,
    }
}
