//! Where a page leads.

use url::Url;
use websvc_extract::{Document, PageMetadata};

use crate::raw::RawPage;
use crate::refresh;
use crate::robots::RobotsRules;

/// Where a page leads, for who follows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutLinks {
    /// Its links, without what it asks not to follow, and where it leads on to by itself.
    pub links: Vec<Url>,
    /// The URL on the same host that it names as its own.
    pub canonical: Option<Url>,
}

/// Returns where a page leads that says this of itself.
pub(crate) fn out_links(page: &RawPage, document: &Document, metadata: &PageMetadata) -> OutLinks {
    if !page.status.is_success() || page.challenge_vendor().is_some() {
        return OutLinks::default();
    }
    let follow = RobotsRules::of(&page.headers, Some(metadata)).follow;
    let links = if follow { links(page, document) } else { Vec::new() };
    let is_own = |canonical: &Url| {
        canonical.host() == page.url.host()
            && canonical.port_or_known_default() == page.url.port_or_known_default()
    };
    let canonical = metadata.canonical.as_deref().and_then(|url| Url::parse(url).ok());
    OutLinks { links, canonical: canonical.filter(is_own) }
}

/// Returns the links of a page that asks nobody not to follow them.
pub(crate) fn links(page: &RawPage, document: &Document) -> Vec<Url> {
    document.followed_links().into_iter().chain(refresh::target(page)).collect()
}
