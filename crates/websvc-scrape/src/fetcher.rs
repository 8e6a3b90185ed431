//! From a request to a page as received: ways to the host, pages that lead on, walls.

use std::time::{Duration, Instant};

use http::header::{ACCEPT, ACCEPT_LANGUAGE, IF_MODIFIED_SINCE, IF_NONE_MATCH, USER_AGENT};
use http::{HeaderMap, StatusCode};
use tokio::sync::Semaphore;
use url::Url;
use websvc_transport::{Client, CookieJar, FetchError, FetchPhase, FetchRequest, Proxy};
use websvc_types::{Proxy as ProxyChoice, ProxyUsed};
use websvc_validate::ScrapePlan;

use crate::error::ScrapeError;
use crate::proxies::{Proxies, ProxyConfig, ProxyTier};
use crate::raw::RawPage;
use crate::refresh;

/// How many proxies of a pool are tried for one page.
const MAX_PROXIES: usize = 3;

/// How often a page may lead on by itself; redirects have a limit of their own for each of these fetches.
const MAX_REFRESHES: usize = 5;

/// Which ways to a host a plan allows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProxyRoute {
    choice: ProxyChoice,
    country: &'static str,
}

impl ProxyRoute {
    pub(crate) fn of(plan: &ScrapePlan) -> Self {
        Self { choice: plan.proxy(), country: plan.location().country() }
    }
}

/// Fetches pages, so many at one time.
#[derive(Debug)]
pub(crate) struct Fetcher {
    client: Client,
    fetching: Semaphore,
    proxies: Proxies,
}

impl Fetcher {
    pub(crate) fn new(client: Client, concurrency: usize, proxies: ProxyConfig) -> Self {
        Self { client, fetching: Semaphore::new(concurrency), proxies: Proxies::new(proxies) }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn proxies(&self) -> &ProxyConfig {
        self.proxies.config()
    }

    /// Fetches a page by the ways that `route` allows, and what it leads on to. With `auto` the enhanced proxies are
    /// tried when the basic way was turned away.
    ///
    /// # Errors
    /// [`ScrapeError::Blocked`] when there is a wall in place of the page; else as the client has them.
    pub(crate) async fn page(
        &self,
        request: FetchRequest,
        route: ProxyRoute,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        self.by_route(request, route, deadline, RefreshPolicy::Follow).await
    }

    /// Fetches what is no page by the ways that `route` allows; what the host answers is the answer.
    ///
    /// # Errors
    /// As the client has them.
    pub(crate) async fn file(
        &self,
        request: FetchRequest,
        route: ProxyRoute,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        self.by_route(request, route, deadline, RefreshPolicy::Ignore).await
    }

    async fn by_route(
        &self,
        request: FetchRequest,
        route: ProxyRoute,
        deadline: Instant,
        onward: RefreshPolicy,
    ) -> Result<RawPage, ScrapeError> {
        let (first, second) = self.tiers(route);
        let retried = second.map(|tier| (tier, request.clone()));
        let fetched = self.by_tier(request, first, route.country, deadline, onward).await;
        let Some((second, request)) = retried.filter(|_| is_rejected(&fetched.as_ref())) else {
            return fetched;
        };
        match self.by_tier(request, second, route.country, deadline, onward).await {
            // What the basic way brought is better than nothing, if it brought anything.
            Err(error) => fetched.map_err(|_| error),
            Ok(page) => Ok(page),
        }
    }

    /// Returns the tier that is tried first, and the one that is tried when the first was turned away.
    pub(crate) fn tiers(&self, route: ProxyRoute) -> (ProxyTier, Option<ProxyTier>) {
        let enhanced = self.proxies.config().has_enhanced();
        match route.choice {
            ProxyChoice::Enhanced if enhanced => (ProxyTier::Enhanced, None),
            ProxyChoice::Auto if enhanced => (ProxyTier::Basic, Some(ProxyTier::Enhanced)),
            ProxyChoice::Basic | ProxyChoice::Auto | ProxyChoice::Enhanced => (ProxyTier::Basic, None),
        }
    }

    /// Returns the proxy of the tier that is best for a host; `None` when there is none and it is reached directly.
    pub(crate) fn pick_proxy(&self, tier: ProxyTier, country: &str, url: &Url) -> Option<Proxy> {
        self.proxies.ranked(tier, country, url.host_str().unwrap_or_default()).into_iter().next()
    }

    /// Fetches what nobody has wishes about, by the basic way; what the host answers is the answer.
    ///
    /// # Errors
    /// As [`Fetcher::page`].
    pub(crate) async fn fetch_plain_file(
        &self,
        request: FetchRequest,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        self.fetch_via_proxies(request, ProxyTier::Basic, "", deadline, RefreshPolicy::Ignore).await
    }

    async fn by_tier(
        &self,
        request: FetchRequest,
        tier: ProxyTier,
        country: &str,
        deadline: Instant,
        onward: RefreshPolicy,
    ) -> Result<RawPage, ScrapeError> {
        let page = self.fetch_via_proxies(request, tier, country, deadline, onward).await?;
        Ok(RawPage {
            proxy_used: match tier {
                ProxyTier::Basic => ProxyUsed::Basic,
                ProxyTier::Enhanced => ProxyUsed::Stealth,
            },
            ..page
        })
    }

    /// Fetches through the first proxy of the tier that works, or directly when it has none. The fetch itself is
    /// boxed: it is awaited in several places, each of which would hold it whole.
    async fn fetch_via_proxies(
        &self,
        request: FetchRequest,
        tier: ProxyTier,
        country: &str,
        deadline: Instant,
        onward: RefreshPolicy,
    ) -> Result<RawPage, ScrapeError> {
        let host = request.url.host_str().unwrap_or_default().to_owned();
        let proxies = self.proxies.ranked(tier, country, &host);
        let mut last = None;
        for proxy in proxies.into_iter().take(MAX_PROXIES) {
            let request = FetchRequest { proxy: Some(proxy.clone()), ..request.clone() };
            let fetched = Box::pin(self.follow(request, deadline, onward)).await;
            if is_failure_of_proxy(&fetched) && Instant::now() < deadline {
                self.proxies.failed(&proxy);
                last = Some(fetched);
                continue;
            }
            self.record_proxy_result(&proxy, &host, &fetched);
            return fetched;
        }
        match last {
            Some(fetched) => fetched,
            None => Box::pin(self.follow(request, deadline, onward)).await,
        }
    }

    fn record_proxy_result(&self, proxy: &Proxy, host: &str, fetched: &Result<RawPage, ScrapeError>) {
        self.proxies.record_success(proxy);
        if is_rejected(&fetched.as_ref()) {
            self.proxies.record_rejection(proxy, host);
        }
    }

    /// Fetches a page and, when it leads on by itself, what it leads to.
    async fn follow(
        &self,
        request: FetchRequest,
        deadline: Instant,
        onward: RefreshPolicy,
    ) -> Result<RawPage, ScrapeError> {
        let source_url = request.url.clone();
        let mut request = request;
        let mut sent_credentials = false;
        for _ in 0..=MAX_REFRESHES {
            let (mut page, cookies) = self.send(request.clone(), deadline).await?;
            sent_credentials |= page.sent_credentials;
            page.sent_credentials = sent_credentials;
            if onward == RefreshPolicy::Ignore {
                return Ok(page);
            }
            if let Some(by) = page.challenge_vendor() {
                return Err(ScrapeError::Blocked { by, status: page.status });
            }
            match refresh::target(&page) {
                Some(next) => {
                    if let Some(rule) = &request.redirect_rule {
                        let refused = |reason| ScrapeError::Fetch(FetchError::RefusedByRule { reason });
                        rule.check(&next).await.map_err(refused)?;
                    }
                    request = refresh_request(request, &page.url, next, cookies);
                }
                None => return Ok(RawPage { source_url, ..page }),
            }
        }
        Err(ScrapeError::Fetch(FetchError::TooManyRedirects { limit: MAX_REFRESHES }))
    }

    async fn send(
        &self,
        mut request: FetchRequest,
        deadline: Instant,
    ) -> Result<(RawPage, CookieJar), ScrapeError> {
        let waiting = tokio::time::timeout_at(deadline.into(), self.fetching.acquire()).await;
        let _permit = match waiting {
            Ok(Ok(permit)) => permit,
            Ok(Err(_closed)) => return Err(ScrapeError::Stopping),
            Err(_elapsed) => return Err(ScrapeError::Timeout),
        };
        request.timeout = remaining(deadline)?;
        let source_url = request.url.clone();
        let mut fetched = self.client.fetch(request).await.map_err(ScrapeError::Fetch)?;
        let cookies = std::mem::take(&mut fetched.cookies);
        Ok((RawPage::fetched(source_url, fetched), cookies))
    }
}

/// Whether a page that leads on by itself is gone on from, and a wall is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefreshPolicy {
    Follow,
    Ignore,
}

/// Returns the request for where a page leads on to. What the caller gave is for the origin it was given for, and
/// conditions are for the page they were made for.
pub(crate) fn refresh_request(
    request: FetchRequest,
    from: &Url,
    next: Url,
    cookies: CookieJar,
) -> FetchRequest {
    let mut headers = request.headers;
    if request.url.origin() == from.origin() && from.origin() == next.origin() {
        headers.remove(IF_NONE_MATCH);
        headers.remove(IF_MODIFIED_SINCE);
    } else {
        let ours = [ACCEPT, ACCEPT_LANGUAGE, USER_AGENT];
        let kept = ours.into_iter().filter_map(|name| headers.remove(&name).map(|value| (name, value)));
        headers = kept.collect::<HeaderMap>();
    }
    FetchRequest { url: next, headers, cookies, ..request }
}

/// Returns whether another way to the host may get more.
pub(crate) fn is_rejected(fetched: &Result<&RawPage, &ScrapeError>) -> bool {
    match fetched {
        Ok(page) => {
            matches!(page.status, StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS)
                || page.status.is_server_error()
        }
        Err(ScrapeError::Blocked { .. }) => true,
        Err(ScrapeError::Fetch(error)) => matches!(
            error,
            FetchError::Connect { .. }
                | FetchError::Protocol { .. }
                | FetchError::Proxy { .. }
                | FetchError::Timeout { stage: FetchPhase::Connect, .. }
        ),
        Err(_) => false,
    }
}

fn is_failure_of_proxy(fetched: &Result<RawPage, ScrapeError>) -> bool {
    match fetched {
        Ok(page) => page.status == StatusCode::PROXY_AUTHENTICATION_REQUIRED,
        Err(ScrapeError::Fetch(error)) => {
            matches!(error, FetchError::Proxy { .. } | FetchError::Timeout { stage: FetchPhase::Connect, .. })
        }
        Err(_) => false,
    }
}

/// Returns the time until `deadline`.
///
/// # Errors
/// [`ScrapeError::Timeout`] when it has passed.
pub(crate) fn remaining(deadline: Instant) -> Result<Duration, ScrapeError> {
    let remaining = deadline.saturating_duration_since(Instant::now());
    if remaining.is_zero() { Err(ScrapeError::Timeout) } else { Ok(remaining) }
}
