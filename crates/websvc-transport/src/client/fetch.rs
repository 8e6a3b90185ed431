//! A fetch from its first request to the end of its body: the redirect loop within one time limit.

use std::net::SocketAddr;
use std::time::Instant;

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
use super::limits::Limits;
use super::receive::{ReceivedBody, discard, receive};
use super::redirect::{Hop, redirect_target};
use super::request::{BodyMode, FetchRequest, FetchResponse, RedirectPolicy};
use crate::error::{FetchError, FetchPhase};

pub(super) async fn fetch(shared: &Shared, request: FetchRequest) -> Result<FetchResponse, FetchError> {
    headers::check(&request.headers)?;
    if request.method == Method::CONNECT {
        return Err(FetchError::Forbidden);
    }
    let limits = Limits::from_request(&request);
    let (started, after, body_mode) = (Instant::now(), request.timeout, request.body_mode);
    let timed_out = |_elapsed| limits.timed_out(after);
    let response =
        tokio::time::timeout(after, follow(shared, request, &limits)).await.map_err(timed_out)??;
    match body_mode {
        BodyMode::Body => {
            let remaining = after.saturating_sub(started.elapsed());
            tokio::time::timeout(remaining, finish(shared, response, &limits)).await.map_err(timed_out)?
        }
        // The head has arrived within the time limit. Discarding the body has a limit of its own.
        BodyMode::Head => Ok(discard_body(shared, response).await),
    }
}

/// The response that is not a followed redirect, its body still on the wire.
struct FinalResponse {
    pending: PendingResponse,
    url: Url,
    history: RedirectHistory,
}

async fn follow(
    shared: &Shared,
    request: FetchRequest,
    limits: &Limits,
) -> Result<FinalResponse, FetchError> {
    let (redirects, url_policy) = (request.redirects, request.url_policy.clone());
    let mut jar = request.cookies.clone();
    let mut history = RedirectHistory::default();
    let mut hop = first_hop(shared, request, &mut history);
    loop {
        let mut sent = hop.clone();
        jar.apply(&sent.url, &mut sent.headers);
        let pending = exchange(shared, &sent, limits).await?;
        let (status, headers) = (pending.response.status(), pending.response.headers());
        jar.store(&hop.url, headers);
        history.record_certificate(&hop.url, &pending);
        let next = match redirects {
            RedirectPolicy::Follow(_) => redirect_target(&hop.url, status, headers)?,
            RedirectPolicy::None => None,
        };
        let Some(next) = next else {
            history.sent_redirect_cookies = sent.headers.get(COOKIE) != hop.headers.get(COOKIE);
            history.cookies = jar;
            return Ok(FinalResponse { pending, url: hop.url, history });
        };
        if let RedirectPolicy::Follow(max) = redirects
            && history.redirects.len() >= max
        {
            return Err(FetchError::TooManyRedirects { limit: max });
        }
        if discard(pending.response.into_body()).await {
            pending.pooled.release(shared);
        }
        if let Some(policy) = &url_policy {
            policy.check(&next).await.map_err(|reason| FetchError::RefusedByRule { reason })?;
        }
        history.redirects.push(hop.url.clone());
        hop.follow(status, next);
        history.sent_credentials |= headers::take_credentials(&mut hop.url, &mut hop.headers);
    }
}

fn first_hop(shared: &Shared, request: FetchRequest, history: &mut RedirectHistory) -> Hop {
    let FetchRequest { method, mut url, mut headers, body, .. } = request;
    headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
    headers.entry(ACCEPT_ENCODING).or_insert(HeaderValue::from_static(ACCEPTED));
    if let Some(agent) = &shared.user_agent {
        headers.entry(USER_AGENT).or_insert_with(|| agent.clone());
    }
    history.sent_credentials = headers::take_credentials(&mut url, &mut headers);
    Hop { method, url, headers, body }
}

/// Cookies, warnings and URLs of a chain of redirects.
#[derive(Default)]
struct RedirectHistory {
    redirects: Vec<Url>,
    warnings: Vec<String>,
    cookies: CookieJar,
    unverified: bool,
    sent_credentials: bool,
    sent_redirect_cookies: bool,
}

impl RedirectHistory {
    fn record_certificate(&mut self, url: &Url, pending: &PendingResponse) {
        if let Some(problem) = &pending.pooled.connection.info.certificate_problem {
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
    response: FinalResponse,
    limits: &Limits,
) -> Result<FetchResponse, FetchError> {
    limits.set_phase(FetchPhase::Body);
    let FinalResponse { pending: PendingResponse { response, pooled }, url, mut history } = response;
    let (parts, incoming) = response.into_parts();
    let (decoder, unknown) = Decoder::new(&parts.headers, limits.max_decoded_bytes)?;
    if let Some(coding) = unknown {
        history
            .warnings
            .push(format!("the body was not decoded: the content coding {coding:?} is not supported"));
    }
    let body = receive(incoming, decoder, limits).await?;
    let remote_addr = pooled.connection.info.remote_addr;
    if body.is_cut {
        history.warnings.push(format!("the body broke off after {} bytes", body.wire_bytes));
    } else {
        pooled.release(shared);
        if body.is_unfinished {
            history.warnings.push("the end of the compressed body is missing".to_owned());
        }
    }
    Ok(fetch_response(parts, url, history, remote_addr, body))
}

/// Discards the body of a response of which only the head is read.
async fn discard_body(shared: &Shared, response: FinalResponse) -> FetchResponse {
    let FinalResponse { pending: PendingResponse { response, pooled }, url, history } = response;
    let (parts, incoming) = response.into_parts();
    let remote_addr = pooled.connection.info.remote_addr;
    if discard(incoming).await {
        pooled.release(shared);
    }
    let body = ReceivedBody { bytes: Bytes::new(), wire_bytes: 0, is_cut: false, is_unfinished: false };
    fetch_response(parts, url, history, remote_addr, body)
}

fn fetch_response(
    parts: Parts,
    url: Url,
    history: RedirectHistory,
    remote_addr: SocketAddr,
    body: ReceivedBody,
) -> FetchResponse {
    let RedirectHistory { redirects, warnings, cookies, unverified, sent_credentials, sent_redirect_cookies } =
        history;
    FetchResponse {
        status: parts.status,
        url,
        headers: parts.headers,
        body: body.bytes,
        redirects,
        remote_addr,
        truncated: body.is_cut || body.is_unfinished,
        warnings,
        wire_bytes: body.wire_bytes,
        unverified,
        cookies,
        sent_credentials,
        sent_redirect_cookies,
    }
}
