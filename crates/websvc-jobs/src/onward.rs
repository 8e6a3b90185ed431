//! Where the pages of a crawl lead on to: robots.txt is asked about each step of it.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use url::Url;
use websvc_engine::Engine;
use websvc_engine::crawl::{Rules, host_key};
use websvc_scrape::tls_policy;
use websvc_transport::{TlsPolicy, UrlRule};

use crate::active::Work;
use crate::crawling::Crawling;
use crate::jobs::Jobs;

/// What gets a page of a job; where a page of a crawl leads on to, robots.txt is asked first.
#[derive(Debug)]
pub(crate) struct Onward<'a> {
    pub(crate) engine: Engine,
    asking: Option<Asking<'a>>,
    /// The first step that was not allowed.
    refused: Arc<OnceLock<(Url, Answer)>>,
}

/// What robots.txt is asked by, for a crawl.
#[derive(Debug)]
struct Asking<'a> {
    rules: RulesOf,
    crawling: &'a Crawling,
    from: &'a Url,
}

/// What may be said of where a page led.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nobody forbids it.
    Allowed,
    /// A robots.txt forbids it.
    Forbidden,
    /// It is forbidden, but is no page of the crawl anyway.
    Out,
    /// A host could not say what it allows, and may in a while.
    Unknown,
}

/// What a robots.txt says of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Allowed,
    Forbidden,
    Unknown,
}

impl<'a> Onward<'a> {
    /// Prepares getting the page at `from`, which began at `started`.
    pub(crate) fn of(jobs: &Jobs, work: &'a Work, from: &'a Url, started: Instant) -> Self {
        let refused = Arc::new(OnceLock::new());
        let Some(crawling) = work.crawling.as_deref() else {
            return Self { engine: jobs.inner.engine.clone(), asking: None, refused };
        };
        let deadline = started + work.plan.timeout();
        let rules = RulesOf { jobs: jobs.clone(), tls: tls_policy(&work.plan), deadline };
        let engine = jobs.inner.engine.with_redirect_rule(rule(&rules, &refused));
        Self { engine, asking: Some(Asking { rules, crawling, from }), refused }
    }

    /// Returns whether the page at `depth` that was reached here may be taken.
    pub(crate) async fn verdict(&self, reached: Option<&Url>, depth: u32) -> Verdict {
        let Some(asking) = &self.asking else { return Verdict::Allowed };
        let refused = match self.refused.get() {
            Some(refused) => Some(refused.clone()),
            // What the cache has may have been got when it was allowed, or by who did not ask.
            None => match reached.filter(|reached| *reached != asking.from) {
                Some(reached) => Some((reached.clone(), asking.rules.ask(reached).await)),
                None => None,
            },
        };
        match refused {
            None | Some((_, Answer::Allowed)) => Verdict::Allowed,
            Some((url, _)) if depth > 0 && !asking.takes(url.clone()) => Verdict::Out,
            Some((_, Answer::Forbidden)) => Verdict::Forbidden,
            Some((_, Answer::Unknown)) => Verdict::Unknown,
        }
    }
}

impl Asking<'_> {
    fn takes(&self, url: Url) -> bool {
        let url = self.crawling.site.fetched(url);
        // On its own host it is what the host says, wherever the crawl ends.
        host_key(&url) == host_key(self.from) || self.crawling.site.takes(&url)
    }
}

/// What the hosts of URLs allow.
#[derive(Debug, Clone)]
struct RulesOf {
    jobs: Jobs,
    tls: TlsPolicy,
    deadline: Instant,
}

impl RulesOf {
    async fn ask(&self, url: &Url) -> Answer {
        if !matches!(url.scheme(), "http" | "https") {
            // There is no such file, and the client refuses it by itself.
            return Answer::Allowed;
        }
        let inner = &self.jobs.inner;
        let rules = inner.robots.rules(inner.engine.scraper(), url, self.tls, self.deadline).await;
        match rules.get() {
            Some(Rules::DisallowAll) => Answer::Unknown,
            Some(rules) if !rules.allow(url) => Answer::Forbidden,
            Some(_) | None => Answer::Allowed,
        }
    }
}

/// Returns the rule that lets a page lead on to what its host allows, and notes what it did not.
fn rule(rules: &RulesOf, refused: &Arc<OnceLock<(Url, Answer)>>) -> UrlRule {
    let (rules, refused) = (rules.clone(), Arc::clone(refused));
    UrlRule::new(move |url| {
        let (rules, refused) = (rules.clone(), Arc::clone(&refused));
        async move {
            let answer = rules.ask(&url).await;
            let reason = match answer {
                Answer::Allowed => return Ok(()),
                Answer::Forbidden => "robots.txt forbids it",
                Answer::Unknown => "its host could not say what it allows",
            };
            // Only the first step counts: it goes no further.
            let _ = refused.set((url, answer));
            Err(reason.to_owned())
        }
    })
}
