//! Where the pages of a crawl lead on to: robots.txt is asked about each step of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use websvc_engine::Engine;
use websvc_scrape::tls_policy;
use websvc_transport::{TlsPolicy, UrlRule};

use crate::active::Work;
use crate::jobs::Jobs;

/// What gets a page of a job; where a page of a crawl leads on to, robots.txt is asked first.
#[derive(Debug)]
pub(crate) struct Onward {
    pub(crate) engine: Engine,
    is_forbidden: Arc<AtomicBool>,
}

impl Onward {
    pub(crate) fn of(jobs: &Jobs, work: &Work, started: Instant) -> Self {
        let is_forbidden = Arc::new(AtomicBool::new(false));
        let engine = match &work.crawling {
            Some(_) => {
                let deadline = started + work.plan.timeout();
                let rule = robots_rule(jobs, tls_policy(&work.plan), deadline, &is_forbidden);
                jobs.inner.engine.with_redirect_rule(rule)
            }
            None => jobs.inner.engine.clone(),
        };
        Self { engine, is_forbidden }
    }

    /// Returns whether the page led on to what its host forbids.
    pub(crate) fn is_forbidden(&self) -> bool {
        self.is_forbidden.load(Ordering::Relaxed)
    }
}

/// Returns the rule that lets a page lead on to what its host allows, and notes when that was not so.
fn robots_rule(jobs: &Jobs, tls: TlsPolicy, deadline: Instant, is_forbidden: &Arc<AtomicBool>) -> UrlRule {
    let (jobs, is_forbidden) = (jobs.clone(), Arc::clone(is_forbidden));
    UrlRule::new(move |url| {
        let (jobs, is_forbidden) = (jobs.clone(), Arc::clone(&is_forbidden));
        async move {
            let rules = jobs.inner.robots.rules(jobs.inner.engine.scraper(), &url, tls, deadline).await;
            if rules.get().is_none_or(|rules| rules.allow(&url)) {
                return Ok(());
            }
            is_forbidden.store(true, Ordering::Relaxed);
            Err("robots.txt forbids it".to_owned())
        }
    })
}
