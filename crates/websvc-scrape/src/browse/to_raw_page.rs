//! Conversion of a rendered page to a [`RawPage`], the form of a page as received.

use std::sync::OnceLock;
use std::time::Duration;

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, LAST_MODIFIED, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue, StatusCode};
use url::Url;
use websvc_browser::{Download, DownloadCause, Refusal, RenderedPage, State};
use websvc_transport::{has_credentials, without_credentials};
use websvc_types::{Format, ProxyUsed, counted};
use websvc_validate::ScrapePlan;

use super::RenderArtifacts;
use crate::raw::{CacheState, RawPage};

/// Headers that describe the bytes that the host sent, which differ from the rendered page. With a validator, the cache
/// would revalidate the shell page and take the rendered content for unchanged too.
const BODY_HEADERS: [http::HeaderName; 5] =
    [CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING, ETAG, LAST_MODIFIED];

/// A rendered page as a [`RawPage`], with the other results of the browser.
#[derive(Debug)]
pub(crate) struct RawRenderedPage {
    pub(crate) page: RawPage,
    /// True if the host sent markup. Around any other file the browser puts markup of its own.
    pub(crate) is_markup: bool,
    /// The state that the page left in its profile, if it is to be saved.
    pub(crate) state: Option<State>,
    /// The last download that an action started.
    pub(crate) file: Option<Download>,
}

/// Converts a rendered page.
pub(crate) fn to_raw_page(
    source_url: &Url,
    plan: &ScrapePlan,
    rendered: RenderedPage,
    proxy_used: ProxyUsed,
) -> RawRenderedPage {
    let RenderedPage {
        url,
        status,
        headers,
        html,
        cookies,
        styles,
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
    let last_action = downloads.iter().rposition(|download| download.cause == DownloadCause::Action);
    let file = last_action.map(|position| downloads.remove(position));
    warnings.extend(downloads.iter().map(|download| {
        format!("the page started a download of {:?}, which was blocked", shortened(&download.name))
    }));
    let is_markup = is_markup(&headers);
    let cookies = if wants_media(plan) { cookies } else { Vec::new() };
    let artifacts = RenderArtifacts { styles, screenshot, screenshots, scrapes, returns, pdfs, cookies };
    // A page may end at `about:blank` or at a URL that its scripts created.
    let url = Url::parse(&url).ok().filter(Url::has_host).unwrap_or_else(|| source_url.clone());
    let page = RawPage {
        source_url: source_url.clone(),
        url: without_credentials(&url),
        status: status.and_then(|status| StatusCode::from_u16(status).ok()).unwrap_or(StatusCode::OK),
        headers: rendered_headers(headers),
        body: html.into(),
        truncated: false,
        is_rendered: true,
        warnings,
        proxy_used,
        unverified,
        sent_credentials: has_credentials(source_url) || has_credentials(&url),
        depends_on_cookies: false,
        cache_state: CacheState::Miss,
        elapsed: Duration::ZERO,
        artifacts: (!artifacts.is_empty()).then(|| Box::new(artifacts)),
        is_shell: OnceLock::new(),
    };
    RawRenderedPage { page, is_markup, state, file }
}

/// Returns whether a plan downloads media, with the cookies of the page.
fn wants_media(plan: &ScrapePlan) -> bool {
    plan.formats.iter().any(|format| matches!(format, Format::Audio(_) | Format::Video(_)))
}

/// Returns the first 100 characters of a name, for a warning.
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

fn rendered_headers(mut headers: HeaderMap) -> HeaderMap {
    for name in BODY_HEADERS {
        headers.remove(name);
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers
}

/// Returns the warning that names the hosts that the page was not allowed to connect to: it may lack content from
/// there.
fn blocked_hosts_warning(refused: &[Refusal]) -> Option<String> {
    let mut hosts: Vec<&str> = refused.iter().map(|refusal| refusal.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    match hosts.as_slice() {
        [] => None,
        [host] => Some(format!("a connection of the page to {host} was blocked")),
        [host, others @ ..] => {
            let others = counted(others.len(), "more host", "more hosts");
            Some(format!("connections of the page to {host} and {others} were blocked"))
        }
    }
}
