//! The out-links of a page: what a crawl follows.

use url::Url;
use websvc_extract::{Document, PageMetadata};

use crate::raw::RawPage;
use crate::refresh;
use crate::robots::RobotsRules;

/// The links of a page for a crawler.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutLinks {
    /// The links that may be followed (none with `nofollow`), and the target of a refresh.
    pub links: Vec<Url>,
    /// The canonical URL, if it is on the same host and port.
    pub canonical: Option<Url>,
}

/// Returns the out-links of a page with this metadata. A failed page and a challenge have none.
pub(crate) fn out_links(page: &RawPage, document: &Document, metadata: &PageMetadata) -> OutLinks {
    if !page.status.is_success() || page.challenge_vendor().is_some() {
        return OutLinks::default();
    }
    let follow = RobotsRules::from_headers(&page.headers, Some(metadata)).follow;
    let links = if follow { links(page, document) } else { Vec::new() };
    let canonical = metadata.canonical.as_deref().and_then(|url| Url::parse(url).ok());
    OutLinks { links, canonical: canonical.filter(|canonical| is_credible(canonical, &page.url)) }
}

/// Returns whether a page may have this canonical URL. It must be on the same host and port, because a page must not speak
/// for another site. Many sites name their home page on every page by mistake, so that is credible only for other
/// addresses of the home page.
pub(crate) fn is_credible(canonical: &Url, page: &Url) -> bool {
    let is_home = |url: &Url| url.path() == "/" && url.query().is_none();
    let may_be_home = |url: &Url| {
        let mut segments = url.path_segments().into_iter().flatten().filter(|segment| !segment.is_empty());
        let first = segments.next().unwrap_or_default().to_ascii_lowercase();
        let is_index = ["index", "default", "home"].iter().any(|name| {
            first.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        segments.next().is_none() && (first.is_empty() || is_index)
    };
    canonical.host() == page.host()
        && canonical.port_or_known_default() == page.port_or_known_default()
        && (!is_home(canonical) || may_be_home(page))
}

/// Returns the links of a page without `nofollow`, and the target of its refresh.
pub(crate) fn links(page: &RawPage, document: &Document) -> Vec<Url> {
    document.followed_links().into_iter().chain(refresh::target(page)).collect()
}
