//! A fetch from its first request to its last byte: the redirect loop inside one time limit.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::Duration;

use http::Method;
use http::header::{ACCEPT, ACCEPT_ENCODING, HeaderValue, USER_AGENT};
use url::Url;

use super::Shared;
use super::cookies::CookieJar;
use super::decode::{ACCEPTED, Decoder};
use super::exchange::{Answer, exchange};
use super::headers;
use super::proxy::Proxy;
use super::receive::{discard, receive};
use super::redirect::{Hop, target};
use super::request::{ExcessPolicy, FetchRequest, Fetched, RedirectPolicy, TlsPolicy};
use crate::error::{FetchError, Stage};

/// What bounds every hop of a fetch, and where it is.
pub(super) struct Limits {
    pub(super) connect_timeout: Duration,
    pub(super) max_body_bytes: u64,
    pub(super) max_decoded_bytes: u64,
    pub(super) excess: ExcessPolicy,
    pub(super) tls: TlsPolicy,
    pub(super) proxy: Option<Proxy>,
    stage: AtomicU8,
}

const STAGES: [Stage; 4] = [Stage::Resolve, Stage::Connect, Stage::Response, Stage::Body];

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
    pub(super) fn enter(&self, stage: Stage) {
        self.stage.store(stage as u8, Relaxed);
    }

    fn stage(&self) -> Stage {
        STAGES[usize::from(self.stage.load(Relaxed))]
    }
}

pub(super) async fn fetch(shared: &Shared, request: FetchRequest) -> Result<Fetched, FetchError> {
    headers::check(&request.headers)?;
    if request.method == Method::CONNECT {
        return Err(FetchError::Forbidden);
    }
    let limits = Limits::of(&request);
    let after = request.timeout;
    match tokio::time::timeout(after, follow(shared, request, &limits)).await {
        Ok(result) => result,
        Err(_) => Err(FetchError::Timeout { stage: limits.stage(), after }),
    }
}

async fn follow(shared: &Shared, request: FetchRequest, limits: &Limits) -> Result<Fetched, FetchError> {
    let (policy, rule) = (request.redirects, request.redirect_rule.clone());
    let mut jar = request.cookies.clone();
    let mut hop = first_hop(shared, request);
    let mut trail = Trail::default();
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
            trail.cookies = jar;
            return finish(shared, answer, hop.url, trail, limits).await;
        };
        if let RedirectPolicy::Follow(most) = policy
            && trail.redirects.len() >= most
        {
            return Err(FetchError::TooManyRedirects { limit: most });
        }
        if discard(answer.response.into_body()).await {
            answer.lease.give_back(shared);
        }
        if let Some(rule) = &rule {
            rule.admit(&next).await.map_err(|reason| FetchError::RefusedByRule { reason })?;
        }
        trail.redirects.push(hop.url.clone());
        hop.follow(status, next);
        headers::take_credentials(&mut hop.url, &mut hop.headers);
    }
}

fn first_hop(shared: &Shared, request: FetchRequest) -> Hop {
    let FetchRequest { method, mut url, mut headers, body, .. } = request;
    headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
    headers.entry(ACCEPT_ENCODING).or_insert(HeaderValue::from_static(ACCEPTED));
    if let Some(agent) = &shared.user_agent {
        headers.entry(USER_AGENT).or_insert_with(|| agent.clone());
    }
    headers::take_credentials(&mut url, &mut headers);
    Hop { method, url, headers, body }
}

/// What a chain of redirects leaves behind.
#[derive(Default)]
struct Trail {
    redirects: Vec<Url>,
    warnings: Vec<String>,
    cookies: CookieJar,
    unverified: bool,
}

impl Trail {
    fn note_certificate(&mut self, url: &Url, answer: &Answer) {
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
    answer: Answer,
    url: Url,
    trail: Trail,
    limits: &Limits,
) -> Result<Fetched, FetchError> {
    limits.enter(Stage::Body);
    let Answer { response, lease } = answer;
    let Trail { redirects, mut warnings, cookies, unverified } = trail;
    let (parts, incoming) = response.into_parts();
    let (decoder, unknown) = Decoder::new(&parts.headers, limits.max_decoded_bytes)?;
    if let Some(coding) = unknown {
        warnings.push(format!("the body was kept in its content coding {coding:?}, which is not supported"));
    }
    let received = receive(incoming, decoder, limits).await?;
    let remote_addr = lease.connection.facts.remote_addr;
    if received.is_cut {
        warnings.push(format!("the body broke off after {} bytes", received.wire_bytes));
    } else {
        lease.give_back(shared);
        if received.is_unfinished {
            warnings.push("the end of the compressed body is missing".to_owned());
        }
    }
    Ok(Fetched {
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
    })
}
