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
    let is_own = |canonical: &Url| {
        canonical.host() == page.url.host()
            && canonical.port_or_known_default() == page.url.port_or_known_default()
    };
    let canonical = metadata.canonical.as_deref().and_then(|url| Url::parse(url).ok());
    OutLinks { links, canonical: canonical.filter(is_own) }
}

/// Returns the links of a page without `nofollow`, and the target of its refresh.
pub(crate) fn links(page: &RawPage, document: &Document) -> Vec<Url> {
    document.followed_links().into_iter().chain(refresh::target(page)).collect()
}
