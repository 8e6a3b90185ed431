//! A fetch from its first request to its last byte: the redirect loop inside one time limit.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Method;
use http::header::{ACCEPT, ACCEPT_ENCODING, COOKIE, HeaderValue, USER_AGENT};
use http::response::Parts;
use url::Url;

use super::Shared;
use super::cookies::CookieJar;
use super::decode::{ACCEPTED, Decoder};
use super::exchange::{PendingResponse, exchange};
use super::headers;
use super::proxy::Proxy;
use super::receive::{ReceivedBody, discard, receive};
use super::redirect::{Hop, target};
use super::request::{BodyMode, FetchRequest, FetchResponse, OversizePolicy, RedirectPolicy, TlsPolicy};
use crate::error::{FetchError, FetchPhase};

/// Limits and addresses that apply to every hop of a fetch.
pub(super) struct Limits {
    pub(super) connect_timeout: Duration,
    pub(super) max_body_bytes: u64,
    pub(super) max_decoded_bytes: u64,
    pub(super) excess: OversizePolicy,
    pub(super) tls: TlsPolicy,
    pub(super) proxy: Option<Proxy>,
    stage: AtomicU8,
}

const STAGES: [FetchPhase; 4] =
    [FetchPhase::Resolve, FetchPhase::Connect, FetchPhase::Response, FetchPhase::Body];

impl Limits {
    fn of(request: &FetchRequest) -> Self {
        Self {
            connect_timeout: request.connect_timeout.min(request.timeout),
            max_body_bytes: request.max_body_bytes,
            max_decoded_bytes: request.max_decoded_bytes,
            excess: request.excess,
            tls: request.tls,
            proxy: request.proxy.clone(),
            stage: AtomicU8::new(0),
        }
    }

    /// Notes what is going on, for the text of a timeout.
    pub(super) fn set_phase(&self, stage: FetchPhase) {
        self.stage.store(stage as u8, Relaxed);
    }

    fn stage(&self) -> FetchPhase {
        STAGES[usize::from(self.stage.load(Relaxed))]
    }
}

pub(super) async fn fetch(shared: &Shared, request: FetchRequest) -> Result<FetchResponse, FetchError> {
    headers::check(&request.headers)?;
    if request.method == Method::CONNECT {
        return Err(FetchError::Forbidden);
    }
    let limits = Limits::of(&request);
    let (started, after, wanted) = (Instant::now(), request.timeout, request.wanted);
    let late = |_elapsed| FetchError::Timeout { stage: limits.stage(), after };
    let reached = tokio::time::timeout(after, follow(shared, request, &limits)).await.map_err(late)??;
    match wanted {
        BodyMode::Body => {
            let left = after.saturating_sub(started.elapsed());
            tokio::time::timeout(left, finish(shared, reached, &limits)).await.map_err(late)?
        }
        // What was asked for is here, whatever the time: the rest has a bound of its own.
        BodyMode::Head => Ok(discard_body(shared, reached).await),
    }
}

/// The last answer, its body still on the wire.
struct FinalResponse {
    answer: PendingResponse,
    url: Url,
    trail: RedirectHistory,
}

async fn follow(
    shared: &Shared,
    request: FetchRequest,
    limits: &Limits,
) -> Result<FinalResponse, FetchError> {
    let (policy, rule) = (request.redirects, request.redirect_rule.clone());
    let mut jar = request.cookies.clone();
    let mut trail = RedirectHistory::default();
    let mut hop = first_hop(shared, request, &mut trail);
    loop {
        let mut sent = hop.clone();
        jar.apply(&sent.url, &mut sent.headers);
        let answer = exchange(shared, &sent, limits).await?;
        let (status, headers) = (answer.response.status(), answer.response.headers());
        jar.store(&hop.url, headers);
        trail.note_certificate(&hop.url, &answer);
        let next = match policy {
            RedirectPolicy::Follow(_) => target(&hop.url, status, headers)?,
            RedirectPolicy::None => None,
        };
        let Some(next) = next else {
            trail.sent_set_cookies = sent.headers.get(COOKIE) != hop.headers.get(COOKIE);
            trail.cookies = jar;
            return Ok(FinalResponse { answer, url: hop.url, trail });
        };
        if let RedirectPolicy::Follow(most) = policy
            && trail.redirects.len() >= most
        {
            return Err(FetchError::TooManyRedirects { limit: most });
        }
        if discard(answer.response.into_body()).await {
            answer.lease.release(shared);
        }
        if let Some(rule) = &rule {
            rule.check(&next).await.map_err(|reason| FetchError::RefusedByRule { reason })?;
        }
        trail.redirects.push(hop.url.clone());
        hop.follow(status, next);
        trail.sent_credentials |= headers::take_credentials(&mut hop.url, &mut hop.headers);
    }
}

fn first_hop(shared: &Shared, request: FetchRequest, trail: &mut RedirectHistory) -> Hop {
    let FetchRequest { method, mut url, mut headers, body, .. } = request;
    headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
    headers.entry(ACCEPT_ENCODING).or_insert(HeaderValue::from_static(ACCEPTED));
    if let Some(agent) = &shared.user_agent {
        headers.entry(USER_AGENT).or_insert_with(|| agent.clone());
    }
    trail.sent_credentials = headers::take_credentials(&mut url, &mut headers);
    Hop { method, url, headers, body }
}

/// Cookies, warnings and URLs collected along a chain of redirects.
#[derive(Default)]
struct RedirectHistory {
    redirects: Vec<Url>,
    warnings: Vec<String>,
    cookies: CookieJar,
    unverified: bool,
    sent_credentials: bool,
    sent_set_cookies: bool,
}

impl RedirectHistory {
    fn note_certificate(&mut self, url: &Url, answer: &PendingResponse) {
        if let Some(problem) = &answer.lease.connection.facts.certificate_problem {
            self.unverified = true;
            let host = url.host_str().unwrap_or_default();
            let warning = format!("the certificate of {host} was not verified: {problem}");
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }
}

async fn finish(
    shared: &Shared,
    reached: FinalResponse,
    limits: &Limits,
) -> Result<FetchResponse, FetchError> {
    limits.set_phase(FetchPhase::Body);
    let FinalResponse { answer: PendingResponse { response, lease }, url, mut trail } = reached;
    let (parts, incoming) = response.into_parts();
    let (decoder, unknown) = Decoder::new(&parts.headers, limits.max_decoded_bytes)?;
    if let Some(coding) = unknown {
        trail
            .warnings
            .push(format!("the body was kept in its content coding {coding:?}, which is not supported"));
    }
    let received = receive(incoming, decoder, limits).await?;
    let remote_addr = lease.connection.facts.remote_addr;
    if received.is_cut {
        trail.warnings.push(format!("the body broke off after {} bytes", received.wire_bytes));
    } else {
        lease.release(shared);
        if received.is_unfinished {
            trail.warnings.push("the end of the compressed body is missing".to_owned());
        }
    }
    Ok(fetched(parts, url, trail, remote_addr, received))
}

/// Lets go of a body that nobody wants.
async fn discard_body(shared: &Shared, reached: FinalResponse) -> FetchResponse {
    let FinalResponse { answer: PendingResponse { response, lease }, url, trail } = reached;
    let (parts, incoming) = response.into_parts();
    let remote_addr = lease.connection.facts.remote_addr;
    if discard(incoming).await {
        lease.release(shared);
    }
    let nothing = ReceivedBody { bytes: Bytes::new(), wire_bytes: 0, is_cut: false, is_unfinished: false };
    fetched(parts, url, trail, remote_addr, nothing)
}

fn fetched(
    parts: Parts,
    url: Url,
    trail: RedirectHistory,
    remote_addr: SocketAddr,
    received: ReceivedBody,
) -> FetchResponse {
    let RedirectHistory { redirects, warnings, cookies, unverified, sent_credentials, sent_set_cookies } =
        trail;
    FetchResponse {
        status: parts.status,
        url,
        headers: parts.headers,
        body: received.bytes,
        redirects,
        remote_addr,
        truncated: received.is_cut || received.is_unfinished,
        warnings,
        wire_bytes: received.wire_bytes,
        unverified,
        cookies,
        sent_credentials,
        sent_set_cookies,
    }
}
