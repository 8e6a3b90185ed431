//! The fetcher: turns a request into a page as received, with proxy tiers, refreshes and detection of challenges.

use std::ops::Deref;
use std::time::{Duration, Instant};

use http::header::{ACCEPT, ACCEPT_LANGUAGE, IF_MODIFIED_SINCE, IF_NONE_MATCH, USER_AGENT};
use http::{HeaderMap, StatusCode};
use url::Url;
use websvc_transport::{Client, CookieJar, FetchError, FetchPhase, FetchRequest, Proxy};
use websvc_types::{ErrorCode, Proxy as ProxyChoice, ProxyUsed};
use websvc_validate::ScrapePlan;

use crate::error::ScrapeError;
use crate::fetch_slots::FetchSlots;
use crate::proxies::{Proxies, ProxyConfig, ProxyTier};
use crate::raw::RawPage;
use crate::refresh;

/// The maximum number of proxies of a pool that are tried for one page.
const MAX_PROXIES: usize = 3;

/// The maximum number of refreshes that are followed; redirects have their own limit in each of these fetches.
const MAX_REFRESHES: usize = 5;

/// The proxies that a plan allows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProxyRoute {
    choice: ProxyChoice,
    country: &'static str,
}

impl ProxyRoute {
    pub(crate) fn from_plan(plan: &ScrapePlan) -> Self {
        Self { choice: plan.proxy, country: plan.location.country }
    }
}

/// The proxy tiers that a page is fetched through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProxyTiers {
    /// The tier that is tried first.
    pub(crate) first: ProxyTier,
    /// The tier that is tried if the host rejects the first one.
    pub(crate) fallback: Option<ProxyTier>,
}

/// The client, the slots and the proxies of all fetches.
#[derive(Debug)]
pub(crate) struct Fetcher {
    client: Client,
    slots: FetchSlots,
    proxies: Proxies,
}

/// Fetches pages for a team, within the concurrency limit of all teams.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TeamFetcher<'a> {
    fetcher: &'a Fetcher,
    team: &'a str,
}

impl Deref for TeamFetcher<'_> {
    type Target = Fetcher;

    fn deref(&self) -> &Fetcher {
        self.fetcher
    }
}

impl Fetcher {
    pub(crate) fn new(client: Client, concurrency: usize, proxies: ProxyConfig) -> Self {
        let slots = FetchSlots::new(concurrency, client.connections_per_host());
        Self { client, slots, proxies: Proxies::new(proxies) }
    }

    /// Returns the fetcher for the requests of a team.
    pub(crate) fn for_team<'a>(&'a self, team: &'a str) -> TeamFetcher<'a> {
        TeamFetcher { fetcher: self, team }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn proxies(&self) -> &ProxyConfig {
        self.proxies.config()
    }

    /// Returns the tiers that `route` allows; without enhanced proxies, only the basic one.
    pub(crate) fn tiers(&self, route: ProxyRoute) -> ProxyTiers {
        let has_enhanced = self.proxies.config().has_enhanced();
        let (first, fallback) = match route.choice {
            ProxyChoice::Enhanced if has_enhanced => (ProxyTier::Enhanced, None),
            ProxyChoice::Auto if has_enhanced => (ProxyTier::Basic, Some(ProxyTier::Enhanced)),
            ProxyChoice::Basic | ProxyChoice::Auto | ProxyChoice::Enhanced => (ProxyTier::Basic, None),
        };
        ProxyTiers { first, fallback }
    }

    /// Returns the best proxy of a tier for a host; `None` if the tier has none, so that the connection is direct.
    pub(crate) fn pick_proxy(&self, tier: ProxyTier, country: &str, url: &Url) -> Option<Proxy> {
        self.proxies.ranked(tier, country, url.host_str().unwrap_or_default()).into_iter().next()
    }
}

impl<'a> TeamFetcher<'a> {
    /// Returns the team.
    pub(crate) fn team(self) -> &'a str {
        self.team
    }

    /// Fetches a page by the proxy tiers that `route` allows, and follows its refreshes. With `auto` the enhanced tier
    /// is tried if the host rejected the basic one.
    ///
    /// # Errors
    /// [`ScrapeError::Blocked`] if the host served a challenge instead of the page; else the errors of the client.
    pub(crate) async fn page(
        self,
        request: FetchRequest,
        route: ProxyRoute,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        self.fetch_via_tiers(request, route, deadline, RefreshPolicy::Follow).await
    }

    /// Fetches a file that is not a page by the proxy tiers that `route` allows; refreshes and challenges are ignored.
    ///
    /// # Errors
    /// [`ScrapeError`] with the errors of the client.
    pub(crate) async fn file(
        self,
        request: FetchRequest,
        route: ProxyRoute,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        self.fetch_via_tiers(request, route, deadline, RefreshPolicy::Ignore).await
    }

    async fn fetch_via_tiers(
        self,
        request: FetchRequest,
        route: ProxyRoute,
        deadline: Instant,
        refresh_policy: RefreshPolicy,
    ) -> Result<RawPage, ScrapeError> {
        let ProxyTiers { first, fallback } = self.tiers(route);
        let retry = fallback.map(|tier| (tier, request.clone()));
        let fetched = self.fetch_via_tier(request, first, route.country, deadline, refresh_policy).await;
        let Some((tier, request)) = retry.filter(|_| is_rejected(&fetched.as_ref())) else {
            return fetched;
        };
        match self.fetch_via_tier(request, tier, route.country, deadline, refresh_policy).await {
            // The page of the first tier, if there is one, is better than an error.
            Err(error) => fetched.map_err(|_| error),
            Ok(page) => Ok(page),
        }
    }

    /// Fetches a file with default options by the basic tier; refreshes and challenges are ignored.
    ///
    /// # Errors
    /// [`ScrapeError`] with the errors of the client.
    pub(crate) async fn fetch_plain_file(
        self,
        request: FetchRequest,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        self.fetch_via_proxies(request, ProxyTier::Basic, "", deadline, RefreshPolicy::Ignore).await
    }

    async fn fetch_via_tier(
        self,
        request: FetchRequest,
        tier: ProxyTier,
        country: &str,
        deadline: Instant,
        refresh_policy: RefreshPolicy,
    ) -> Result<RawPage, ScrapeError> {
        let page = self.fetch_via_proxies(request, tier, country, deadline, refresh_policy).await?;
        Ok(RawPage {
            proxy_used: match tier {
                ProxyTier::Basic => ProxyUsed::Basic,
                ProxyTier::Enhanced => ProxyUsed::Stealth,
            },
            ..page
        })
    }

    /// Fetches through the first proxy of the tier that works, or directly if the tier has none. The fetch itself is
    /// boxed, because it is awaited in several places and the future of each would contain it.
    async fn fetch_via_proxies(
        self,
        request: FetchRequest,
        tier: ProxyTier,
        country: &str,
        deadline: Instant,
        refresh_policy: RefreshPolicy,
    ) -> Result<RawPage, ScrapeError> {
        let host = request.url.host_str().unwrap_or_default().to_owned();
        let proxies = self.proxies.ranked(tier, country, &host);
        let mut last_failure = None;
        for proxy in proxies.into_iter().take(MAX_PROXIES) {
            let request = FetchRequest { proxy: Some(proxy.clone()), ..request.clone() };
            let fetched = Box::pin(self.follow(request, deadline, refresh_policy)).await;
            if is_proxy_failure(&fetched) && Instant::now() < deadline {
                self.proxies.record_failure(&proxy);
                last_failure = Some(fetched);
                continue;
            }
            self.record_proxy_result(&proxy, &host, &fetched);
            return fetched;
        }
        match last_failure {
            Some(fetched) => fetched,
            None => Box::pin(self.follow(request, deadline, refresh_policy)).await,
        }
    }

    fn record_proxy_result(self, proxy: &Proxy, host: &str, fetched: &Result<RawPage, ScrapeError>) {
        self.proxies.record_success(proxy);
        if is_rejected(&fetched.as_ref()) {
            self.proxies.record_rejection(proxy, host);
        }
    }

    /// Fetches a page and follows its refreshes, except those to a forbidden address: the page stays as it is, with a
    /// warning.
    async fn follow(
        self,
        request: FetchRequest,
        deadline: Instant,
        refresh_policy: RefreshPolicy,
    ) -> Result<RawPage, ScrapeError> {
        let source_url = request.url.clone();
        let mut request = request;
        let mut sent_credentials = false;
        let mut refreshing: Option<RawPage> = None;
        for _ in 0..=MAX_REFRESHES {
            let sent = self.send(request.clone(), deadline).await;
            let SentPage { mut page, cookies } = match (sent, refreshing.take()) {
                (Ok(sent), _) => sent,
                (Err(error), Some(page)) if error.code() == ErrorCode::ScrapeForbiddenUrl => {
                    return Ok(without_refresh(RawPage { source_url, ..page }, &request.url));
                }
                (Err(error), _) => return Err(error),
            };
            sent_credentials |= page.sent_credentials;
            page.sent_credentials = sent_credentials;
            if refresh_policy == RefreshPolicy::Ignore {
                return Ok(page);
            }
            if let Some(vendor) = page.challenge_vendor() {
                return Err(ScrapeError::Blocked { vendor, status: page.status });
            }
            match refresh::target(&page) {
                Some(next) => {
                    if let Some(rule) = &request.url_policy {
                        let to_error = |reason| ScrapeError::Fetch(FetchError::RefusedByRule { reason });
                        rule.check(&next).await.map_err(to_error)?;
                    }
                    request = refresh_request(request, &page.url, next, cookies);
                    refreshing = Some(page);
                }
                None => return Ok(RawPage { source_url, ..page }),
            }
        }
        Err(ScrapeError::Fetch(FetchError::TooManyRedirects { limit: MAX_REFRESHES }))
    }

    /// Sends one request, with its redirects, within the concurrency limit.
    async fn send(self, mut request: FetchRequest, deadline: Instant) -> Result<SentPage, ScrapeError> {
        let acquiring = self.slots.acquire(&request.url, self.team);
        let acquired = tokio::time::timeout_at(deadline.into(), acquiring).await;
        let _slot = acquired.map_err(|_elapsed| ScrapeError::Timeout)?;
        request.timeout = remaining(deadline)?;
        let source_url = request.url.clone();
        let mut fetched = self.client.fetch(request).await.map_err(ScrapeError::Fetch)?;
        let cookies = std::mem::take(&mut fetched.cookies);
        Ok(SentPage { page: RawPage::fetched(source_url, fetched), cookies })
    }
}

/// The response to one request, and the cookies that it and its redirects have set.
struct SentPage {
    page: RawPage,
    cookies: CookieJar,
}

/// The treatment of refreshes and challenges in a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefreshPolicy {
    /// Follow refreshes, and fail on a challenge.
    Follow,
    /// Return the response as it is.
    Ignore,
}

/// Returns a page as it was before its refresh, which the address guard refused.
fn without_refresh(mut page: RawPage, target: &Url) -> RawPage {
    let host = target.host_str().unwrap_or_default();
    page.warnings.push(format!("a refresh of the page to {host} was blocked"));
    page
}

/// Returns the request for the target of a refresh. The caller's headers are only sent to the origin that they were
/// given for, and conditional headers only to the page that they were made for.
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
        let own_headers = [ACCEPT, ACCEPT_LANGUAGE, USER_AGENT];
        let own_headers = own_headers.into_iter();
        let own_headers = own_headers.filter_map(|name| headers.remove(&name).map(|value| (name, value)));
        headers = own_headers.collect::<HeaderMap>();
    }
    FetchRequest { url: next, headers, cookies, ..request }
}

/// Returns whether the host rejected the fetch in a way in which another proxy tier may help.
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
                | FetchError::Timeout { phase: FetchPhase::Connect, .. }
        ),
        Err(_) => false,
    }
}

/// Returns whether the proxy failed, not the host.
fn is_proxy_failure(fetched: &Result<RawPage, ScrapeError>) -> bool {
    match fetched {
        Ok(page) => page.status == StatusCode::PROXY_AUTHENTICATION_REQUIRED,
        Err(ScrapeError::Fetch(error)) => {
            matches!(error, FetchError::Proxy { .. } | FetchError::Timeout { phase: FetchPhase::Connect, .. })
        }
        Err(_) => false,
    }
}

/// Returns the time until `deadline`.
///
/// # Errors
/// [`ScrapeError::Timeout`] if it has passed.
pub(crate) fn remaining(deadline: Instant) -> Result<Duration, ScrapeError> {
    let remaining = deadline.saturating_duration_since(Instant::now());
    if remaining.is_zero() { Err(ScrapeError::Timeout) } else { Ok(remaining) }
}
