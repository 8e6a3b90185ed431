//! The scope of a map: the URLs that belong to it, and their normal form.

use url::{Host, Url};
use websvc_site::{PageIdentity, is_below_path, is_subdomain, is_web, strip_tracking_params};
use websvc_types::limits::URL_MAX_CHARS;
use websvc_validate::{MapPlan, PathFilter};

/// File name extensions of start pages whose directory is the path of the map, because nothing is below such a file.
const PAGE_EXTENSIONS: &[&str] = &["asp", "aspx", "htm", "html", "jsp", "php", "shtml", "xhtml"];

/// The hosts, paths and options of a map.
#[derive(Debug, Clone)]
pub(super) struct MapScope {
    /// The hosts without `www.`, each with its port unless that is a usual one.
    hosts: Vec<String>,
    /// The paths, without trailing slash, below which URLs are listed; empty for all paths.
    paths_below: Vec<String>,
    subdomains: bool,
    other_sites: bool,
    queries: bool,
    paths: PathFilter,
}

impl MapScope {
    pub(super) fn from_plan(plan: &MapPlan) -> Self {
        let mut scope = Self {
            hosts: vec![host(&plan.url)],
            paths_below: Vec::new(),
            subdomains: plan.subdomains,
            other_sites: plan.other_sites,
            queries: plan.includes_queries,
            paths: plan.paths.clone(),
        };
        if plan.by_path {
            scope.paths_below.extend(directory(&plan.url));
        }
        scope
    }

    /// Adds a host.
    pub(super) fn add_host(&mut self, url: &Url) {
        let host = host(url);
        if !self.hosts.contains(&host) {
            self.hosts.push(host);
        }
    }

    /// Adds the host and the path of a redirect target of the start page.
    pub(super) fn follow_start_redirect(&mut self, url: &Url) {
        self.add_host(url);
        // A redirect to the root, such as to a sign-in page, does not open the whole site.
        if !self.paths_below.is_empty()
            && let Some(path) = directory(url)
            && !self.paths_below.contains(&path)
        {
            self.paths_below.push(path);
        }
    }

    /// Returns the requested path below which URLs are listed; empty for the whole site.
    pub(super) fn path(&self) -> &str {
        self.paths_below.first().map_or("", String::as_str)
    }

    /// Returns whether a URL is on a host of the site, or on a subdomain of one.
    pub(super) fn is_site_host(&self, url: &Url) -> bool {
        let host = host(url);
        self.hosts.contains(&host)
            || (!is_ip_address(url) && self.hosts.iter().any(|known| is_subdomain(&host, known)))
    }

    /// Returns a URL in its normal form; `None` if it does not belong to the map.
    pub(super) fn normalize(&self, url: Url) -> Option<Url> {
        if !is_web(&url) || url.as_str().len() > URL_MAX_CHARS as usize {
            return None;
        }
        let is_in_site = self.other_sites
            || if self.subdomains { self.is_site_host(&url) } else { self.hosts.contains(&host(&url)) };
        if !is_in_site || !self.is_below_path(&url) || !self.paths.matches(&url) {
            return None;
        }
        Some(self.canonical_form(url))
    }

    fn is_below_path(&self, url: &Url) -> bool {
        self.paths_below.is_empty() || self.paths_below.iter().any(|parent| is_below_path(url.path(), parent))
    }

    fn canonical_form(&self, url: Url) -> Url {
        let mut url = strip_tracking_params(url);
        if !self.queries {
            url.set_query(None);
        }
        // This fails only for URLs without a host, which have no user.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url
    }
}

/// Returns the host without `www.`, with its port unless that is a usual one.
pub(super) fn host(url: &Url) -> String {
    let host = PageIdentity::of_url(url).host().to_owned();
    match url.port() {
        Some(port) if !matches!(port, 80 | 443) => format!("{host}:{port}"),
        Some(_) | None => host,
    }
}

fn is_ip_address(url: &Url) -> bool {
    !matches!(url.host(), Some(Host::Domain(_)))
}

/// Returns the path of a start page without trailing slash, or its directory if it is a file; `None` for the root.
fn directory(url: &Url) -> Option<String> {
    let path = url.path();
    let (above, name) = path.rsplit_once('/')?;
    let is_file = name.rsplit_once('.').is_some_and(|(_, extension)| PAGE_EXTENSIONS.contains(&extension));
    let path = if is_file { above } else { path };
    let path = path.trim_end_matches('/');
    (!path.is_empty()).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use websvc_types::map::MapRequest;
    use websvc_validate::{Policy, read_request};

    use super::*;

    /// Returns those of the URLs that belong to the map, in their normal form.
    fn normalized(body: &Value, urls: &[&str]) -> Vec<String> {
        let plan = read_request::<MapRequest>(body.to_string().as_bytes(), &Policy::default()).unwrap().plan;
        let scope = MapScope::from_plan(&plan);
        urls.iter().filter_map(|url| scope.normalize(url.parse().unwrap())).map(String::from).collect()
    }

    #[test]
    fn map_scope_is_the_host_with_its_subdomains() {
        let urls = [
            "https://www.a.test/x#part",
            "http://docs.a.test/",
            "http://ba.test/",
            "http://b.test/",
            "http://a.test:8080/",
            "mailto:x@a.test",
            "http://me:secret@a.test/y?utm_source=z&q=1",
        ];
        let expected = ["https://www.a.test/x", "http://docs.a.test/", "http://a.test/y"];
        assert_eq!(normalized(&json!({ "url": "a.test" }), &urls), expected);
        let alone = json!({ "url": "http://www.a.test/", "includeSubdomains": false });
        assert_eq!(normalized(&alone, &urls), [expected[0], expected[2]]);
        let queries = json!({ "url": "a.test", "ignoreQueryParameters": false });
        assert_eq!(normalized(&queries, &urls)[2], "http://a.test/y?q=1");
        assert_eq!(normalized(&json!({ "url": "a.test", "allowExternalLinks": true }), &urls).len(), 6);
        let urls = ["http://127.0.0.1/x", "http://27.0.0.1/"];
        assert_eq!(normalized(&json!({ "url": "http://127.0.0.1" }), &urls), ["http://127.0.0.1/x"]);
    }

    #[test]
    fn map_scope_is_limited_to_the_start_path() {
        let urls =
            ["http://a.test/docs", "http://a.test/docs/x", "http://a.test/docsearch", "http://a.test/"];
        for start in ["http://a.test/docs", "http://a.test/docs/", "http://a.test/docs/index.html"] {
            assert_eq!(normalized(&json!({ "url": start }), &urls), urls[..2], "{start}");
            assert_eq!(normalized(&json!({ "url": start, "filterByPath": false }), &urls), urls, "{start}");
            assert_eq!(
                normalized(&json!({ "url": start, "crawlEntireDomain": true }), &urls),
                urls,
                "{start}"
            );
        }
        assert_eq!(normalized(&json!({ "url": "http://a.test/index.html" }), &urls), urls);
    }

    #[test]
    fn path_patterns_match_the_path_or_the_full_url() {
        let urls = ["http://a.test/blog/1", "http://a.test/docs/1", "http://docs.a.test/docs/2"];
        assert_eq!(normalized(&json!({ "url": "a.test", "includePaths": ["^/docs/"] }), &urls), urls[1..]);
        let excluded = json!({ "url": "a.test", "includePaths": ["docs"], "excludePaths": ["/[1]$"] });
        assert_eq!(normalized(&excluded, &urls), urls[2..]);
        let whole = json!({ "url": "a.test", "includePaths": ["docs.*1$"], "regexOnFullURL": true });
        assert_eq!(normalized(&whole, &urls), urls[1..2]);
    }
}
