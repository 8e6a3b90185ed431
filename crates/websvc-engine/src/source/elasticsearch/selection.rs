//! The pages that a deletion applies to.

use url::{Host, Url};

use super::bulk::{document_id, read_id};
use crate::domain::is_in_domain;

/// The pages that a deletion applies to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageSelection {
    /// Hosts, each with its subdomains.
    pub hosts: Vec<String>,
    /// Single pages, in any spelling of their URLs.
    pub urls: Vec<Url>,
}

/// A selection in the form that pages are compared with.
pub(super) struct PageSelector {
    sites: Vec<String>,
    ids: Vec<String>,
}

impl PageSelection {
    pub(super) fn selector(&self) -> PageSelector {
        PageSelector { sites: sites(self), ids: ids(self) }
    }
}

impl PageSelector {
    /// Returns whether the selection has the page with this ID and URL.
    pub(super) fn selects(&self, id: &str, url: &str) -> bool {
        let url = Url::parse(url);
        let host = url.as_ref().ok().and_then(Url::host_str).unwrap_or_default().trim_end_matches('.');
        let (_owner, id) = read_id(id);
        self.ids.iter().any(|selected| selected == id)
            || self.sites.iter().any(|site| is_in_domain(host, site))
    }
}

/// Returns the IDs of the single pages.
pub(super) fn ids(pages: &PageSelection) -> Vec<String> {
    pages.urls.iter().map(|url| document_id(url.as_str())).collect()
}

/// Returns the hosts as they are stored.
pub(super) fn sites(pages: &PageSelection) -> Vec<String> {
    let normalized = |host: &String| Host::parse(host.trim_end_matches('.')).map(|host| host.to_string());
    pages.hosts.iter().map(|host| normalized(host).unwrap_or_else(|_| host.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selection_has_subdomains_and_every_spelling_of_a_url() {
        let pages = PageSelection {
            hosts: vec!["Tea.test.".to_owned()],
            urls: vec!["http://a.test/x".parse().unwrap()],
        };
        let selector = pages.selector();
        let selects = |url: &str| selector.selects(&document_id(url), url);
        for url in ["http://tea.test/", "https://www.tea.test./x", "https://www.a.test/x/?utm_source=b"] {
            assert!(selects(url), "{url}");
        }
        for url in ["http://notea.test/", "http://a.test/y", "http://test/"] {
            assert!(!selects(url), "{url}");
        }
    }
}
