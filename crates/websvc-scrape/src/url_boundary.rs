//! The boundary of a request: the URLs that it may load at all, whatever its pages ask for.

use std::fmt;
use std::sync::Arc;

use url::Url;
use websvc_browser::{BlockRule, HostRule, RenderRequest};
use websvc_transport::UrlPolicy;

use crate::scraper::Scraper;
use crate::url_check::RedirectRule;

type PageFn = dyn Fn(&Url) -> bool + Send + Sync;
type HostFn = dyn Fn(&str) -> bool + Send + Sync;

/// The reason of a refused redirect or navigation.
const REFUSAL: &str = "it is outside the URLs that the request may read";

/// The URLs that a request may load. It applies to redirects, refreshes and navigations, and to everything that a rendered
/// page loads. The address guard and threat protection apply as well.
#[derive(Clone)]
pub struct UrlBoundary {
    /// Returns true for the URLs of pages that may be loaded, also in frames.
    pub page: Arc<PageFn>,
    /// Returns true for the hosts from which a rendered page may load scripts, images and the like.
    pub host: Arc<HostFn>,
}

impl fmt::Debug for UrlBoundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UrlBoundary")
    }
}

impl UrlBoundary {
    /// Returns the rule for redirects and navigations.
    fn url_policy(&self) -> UrlPolicy {
        let page = Arc::clone(&self.page);
        UrlPolicy::new(move |url| {
            let is_allowed = page(&url);
            async move { if is_allowed { Ok(()) } else { Err(REFUSAL.to_owned()) } }
        })
    }

    /// Returns whether a rendered page may not send a request of this resource type of CDP.
    fn blocks(&self, url: &str, kind: &str) -> bool {
        let Ok(url) = Url::parse(url) else { return true };
        match url.scheme() {
            // They cause no connection.
            "data" | "blob" | "about" => false,
            "http" | "https" if kind == "Document" => !(self.page)(&url),
            _ => !url.host_str().is_some_and(|host| (self.host)(host)),
        }
    }

    /// Adds the boundary to the rules of a page to render.
    pub(crate) fn apply(&self, request: &mut RenderRequest) {
        request.hosts = Some(HostRule(Arc::clone(&self.host)));
        let (boundary, other) = (self.clone(), request.block.take());
        request.block = Some(BlockRule(Arc::new(move |url: &str, page: &Url, kind: &str| {
            boundary.blocks(url, kind)
                || other.as_ref().is_some_and(|BlockRule(blocks)| blocks(url, page, kind))
        })));
    }
}

impl Scraper {
    /// Returns a scraper for one request that loads nothing outside a boundary. Boundaries with the same `name` must decide
    /// alike. It replaces a redirect rule.
    #[must_use]
    pub fn with_url_boundary(&self, name: &'static str, boundary: UrlBoundary) -> Self {
        let rule = boundary.url_policy();
        Self {
            redirect_rule: Some(RedirectRule { name: name.into(), rule, boundary: Some(boundary) }),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boundary() -> UrlBoundary {
        UrlBoundary {
            page: Arc::new(|url| url.as_str() == "http://a.test/x"),
            host: Arc::new(|host| host == "a.test"),
        }
    }

    #[test]
    fn rendered_page_loads_files_of_allowed_hosts_and_only_allowed_documents() {
        for (url, kind, is_blocked) in [
            ("http://a.test/x", "Document", false),
            ("http://a.test/y", "Document", true),
            ("http://a.test/y.js", "Script", false),
            ("wss://a.test/y", "WebSocket", false),
            ("http://b.test/y.js", "Script", true),
            ("wss://b.test/", "WebSocket", true),
            ("file:///etc/passwd", "Image", true),
            ("data:text/html,x", "Document", false),
            ("no URL", "Script", true),
        ] {
            assert_eq!(boundary().blocks(url, kind), is_blocked, "{url} {kind}");
        }
    }

    #[tokio::test]
    async fn redirects_and_navigations_leave_no_allowed_page() {
        let policy = boundary().url_policy();
        assert_eq!(policy.check(&"http://a.test/x".parse().unwrap()).await, Ok(()));
        assert_eq!(policy.check(&"http://a.test/y".parse().unwrap()).await, Err(REFUSAL.to_owned()));
    }
}
