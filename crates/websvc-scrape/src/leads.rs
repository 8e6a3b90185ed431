//! Where a page leads.

use url::Url;
use websvc_extract::Document;

use crate::raw::RawPage;
use crate::refresh;
use crate::robots::RobotsRules;

/// Where a page leads, for who follows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leads {
    /// Its links, without what it asks not to follow, and where it leads on to by itself.
    pub links: Vec<Url>,
    /// The URL on the same host that it names as its own.
    pub canonical: Option<Url>,
}

/// Returns where a page leads.
pub(crate) fn leads(page: &RawPage, document: &Document) -> Leads {
    if !page.status.is_success() || page.wall().is_some() {
        return Leads::default();
    }
    let follow = RobotsRules::of(&page.headers, Some(&document.metadata())).follow;
    let links = if follow { links(page, document) } else { Vec::new() };
    let is_own = |canonical: &Url| {
        canonical.host() == page.url.host()
            && canonical.port_or_known_default() == page.url.port_or_known_default()
    };
    Leads { links, canonical: document.canonical().filter(is_own) }
}

/// Returns the links of a page that asks nobody not to follow them.
pub(crate) fn links(page: &RawPage, document: &Document) -> Vec<Url> {
    let anchors = document.anchors().into_iter().filter(|anchor| !anchor.nofollow);
    anchors.map(|anchor| anchor.url).chain(refresh::target(page)).collect()
}
