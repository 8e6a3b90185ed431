//! What a browser drew, as a page that was received.

use std::time::Duration;

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, LAST_MODIFIED, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue, StatusCode};
use url::Url;
use websvc_browser::{Download, DownloadCause, Refusal, RenderedPage, State};
use websvc_transport::{has_credentials, without_credentials};
use websvc_types::ProxyUsed;

use super::RenderArtifacts;
use crate::raw::{CacheState, DRAWN, RawPage};

/// Headers that are of the bytes that were sent, which the drawn page is not. With a validator the cache would ask
/// whether the shell has changed, and take its contents for unchanged with it.
const OF_THE_BYTES: [http::HeaderName; 5] =
    [CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING, ETAG, LAST_MODIFIED];

/// A drawn page.
#[derive(Debug)]
pub(crate) struct RawRenderedPage {
    pub(crate) page: RawPage,
    /// What the host sent is markup. Around anything else the browser puts markup of its own.
    pub(crate) is_markup: bool,
    /// What the page left in its profile, when that is to be kept.
    pub(crate) state: Option<State>,
    /// The last file that an action led to.
    pub(crate) file: Option<Download>,
}

/// Returns what a browser drew as a page.
pub(crate) fn to_raw_page(
    source_url: &Url,
    rendered: RenderedPage,
    proxy_used: ProxyUsed,
) -> RawRenderedPage {
    let RenderedPage {
        url,
        status,
        headers,
        html,
        cookies: _its_own,
        screenshot,
        screenshots,
        scrapes,
        returns,
        pdfs,
        mut downloads,
        mut warnings,
        refused,
        unverified,
        state,
    } = rendered;
    warnings.extend(blocked_hosts_warning(&refused));
    let last = downloads.iter().rposition(|download| download.cause == DownloadCause::Action);
    let file = last.map(|place| downloads.remove(place));
    warnings.extend(downloads.iter().map(|download| {
        format!("the page started a download of {:?}, which was refused", shortened(&download.name))
    }));
    let is_markup = is_markup(&headers);
    let takings = RenderArtifacts { screenshot, screenshots, scrapes, returns, pdfs };
    // A page may end at `about:blank` or with an address of its scripts' making.
    let url = Url::parse(&url).ok().filter(Url::has_host).unwrap_or_else(|| source_url.clone());
    let page = RawPage {
        source_url: source_url.clone(),
        url: without_credentials(&url),
        status: status.and_then(|status| StatusCode::from_u16(status).ok()).unwrap_or(StatusCode::OK),
        headers: drawn_headers(headers),
        body: html.into(),
        truncated: false,
        warnings,
        proxy_used,
        unverified,
        sent_credentials: has_credentials(source_url) || has_credentials(&url),
        cache_state: CacheState::Miss,
        took: Duration::ZERO,
        takings: (!takings.is_empty()).then(|| Box::new(takings)),
    };
    RawRenderedPage { page, is_markup, state, file }
}

/// Returns as much of a name as a warning has room for.
pub(crate) fn shortened(name: &str) -> String {
    name.chars().take(100).collect()
}

fn is_markup(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_none_or(|kind| {
        let kind = kind.split(';').next().unwrap_or(kind).trim().to_ascii_lowercase();
        kind.is_empty() || kind.ends_with("html") || kind.ends_with("+xml")
    })
}

fn drawn_headers(mut headers: HeaderMap) -> HeaderMap {
    for name in OF_THE_BYTES {
        headers.remove(name);
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(DRAWN, HeaderValue::from_static("1"));
    headers
}

/// Says which hosts the page could not reach: it may lack what it wanted from there.
fn blocked_hosts_warning(refused: &[Refusal]) -> Option<String> {
    let mut hosts: Vec<&str> = refused.iter().map(|refusal| refusal.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    match hosts.as_slice() {
        [] => None,
        [host] => Some(format!("the page was refused a connection to {host}")),
        [host, others @ ..] => {
            Some(format!("the page was refused connections to {host} and {} more hosts", others.len()))
        }
    }
}
