//! Which URLs belong to a map, and how they are written.

use url::{Host, Url};
use websvc_address::{PageIdentity, strip_tracking_params};
use websvc_types::limits::URL_MAX_CHARS;
use websvc_validate::{MapPlan, PathFilter};

/// Names of files after which a path is that of its directory: they have nothing below them.
const PAGES: &[&str] = &["asp", "aspx", "htm", "html", "jsp", "php", "shtml", "xhtml"];

/// The site of a map.
#[derive(Debug, Clone)]
pub(super) struct MapScope {
    /// Without `www.`, each with its port when that is not the usual one.
    hosts: Vec<String>,
    /// Paths without the slash at the end, of which the URLs are below one; all when there is none.
    below: Vec<String>,
    subdomains: bool,
    other_sites: bool,
    queries: bool,
    paths: PathFilter,
}

impl MapScope {
    pub(super) fn of(plan: &MapPlan) -> Self {
        let mut site = Self {
            hosts: vec![host(plan.url())],
            below: Vec::new(),
            subdomains: plan.subdomains(),
            other_sites: plan.other_sites(),
            queries: plan.includes_queries(),
            paths: plan.paths().clone(),
        };
        if plan.by_path() {
            site.below.extend(directory(plan.url()));
        }
        site
    }

    /// Adds a host.
    pub(super) fn add_host(&mut self, url: &Url) {
        let host = host(url);
        if !self.hosts.contains(&host) {
            self.hosts.push(host);
        }
    }

    /// Takes over where the start page leads: that is where the site is.
    pub(super) fn follow_start_redirect(&mut self, url: &Url) {
        self.add_host(url);
        // A start page that leads to the top, such as to a sign-in, does not open the whole site.
        if !self.below.is_empty()
            && let Some(path) = directory(url)
            && !self.below.contains(&path)
        {
            self.below.push(path);
        }
    }

    /// Returns the path below which URLs are listed, as it was asked for; empty for the whole site.
    pub(super) fn path(&self) -> &str {
        self.below.first().map_or("", String::as_str)
    }

    /// Returns whether a URL is one of the site's hosts, a subdomain or not.
    pub(super) fn is_of_host(&self, url: &Url) -> bool {
        let host = host(url);
        let is_below =
            |known: &String| host.strip_suffix(known.as_str()).is_some_and(|before| before.ends_with('.'));
        self.hosts.contains(&host) || (!is_address(url) && self.hosts.iter().any(is_below))
    }

    /// Returns a URL as it is listed; `None` when it is not of the map.
    pub(super) fn normalize(&self, url: Url) -> Option<Url> {
        if !matches!(url.scheme(), "http" | "https") || url.as_str().len() > URL_MAX_CHARS as usize {
            return None;
        }
        let is_ours = self.other_sites
            || if self.subdomains { self.is_of_host(&url) } else { self.hosts.contains(&host(&url)) };
        if !is_ours || !self.is_below(&url) || !self.paths.matches(&url) {
            return None;
        }
        Some(self.written(url))
    }

    fn is_below(&self, url: &Url) -> bool {
        let path = url.path();
        self.below.is_empty()
            || self.below.iter().any(|below| {
                path.strip_prefix(below.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
    }

    fn written(&self, url: Url) -> Url {
        let mut url = strip_tracking_params(url);
        if !self.queries {
            url.set_query(None);
        }
        // Only URLs without a host refuse this, and they have no user.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url
    }
}

/// Returns the host without `www.`, with its port when that is not the usual one.
pub(super) fn host(url: &Url) -> String {
    let host = PageIdentity::of_url(url).host().to_owned();
    match url.port() {
        Some(port) if !matches!(port, 80 | 443) => format!("{host}:{port}"),
        Some(_) | None => host,
    }
}

fn is_address(url: &Url) -> bool {
    !matches!(url.host(), Some(Host::Domain(_)))
}

/// Returns the path of a start page without the slash at the end, of a file that of its directory; `None` for the top.
fn directory(url: &Url) -> Option<String> {
    let path = url.path();
    let (above, name) = path.rsplit_once('/')?;
    let is_file = name.rsplit_once('.').is_some_and(|(_, ending)| PAGES.contains(&ending));
    let path = if is_file { above } else { path };
    let path = path.trim_end_matches('/');
    (!path.is_empty()).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use websvc_validate::{Policy, read_map};

    use super::*;

    /// Returns those of the URLs that are listed, as they are written.
    fn taken(body: &Value, urls: &[&str]) -> Vec<String> {
        let plan = read_map(body.to_string().as_bytes(), &Policy::default()).unwrap().plan;
        let site = MapScope::of(&plan);
        urls.iter().filter_map(|url| site.normalize(url.parse().unwrap())).map(String::from).collect()
    }

    #[test]
    fn a_site_is_its_host_and_its_subdomains() {
        let urls = [
            "https://www.a.test/x#part",
            "http://docs.a.test/",
            "http://ba.test/",
            "http://b.test/",
            "http://a.test:8080/",
            "mailto:x@a.test",
            "http://me:secret@a.test/y?utm_source=z&q=1",
        ];
        let own = ["https://www.a.test/x", "http://docs.a.test/", "http://a.test/y"];
        assert_eq!(taken(&json!({ "url": "a.test" }), &urls), own);
        let alone = json!({ "url": "http://www.a.test/", "includeSubdomains": false });
        assert_eq!(taken(&alone, &urls), [own[0], own[2]]);
        let queries = json!({ "url": "a.test", "ignoreQueryParameters": false });
        assert_eq!(taken(&queries, &urls)[2], "http://a.test/y?q=1");
        assert_eq!(taken(&json!({ "url": "a.test", "allowExternalLinks": true }), &urls).len(), 6);
        let urls = ["http://127.0.0.1/x", "http://27.0.0.1/"];
        assert_eq!(taken(&json!({ "url": "http://127.0.0.1" }), &urls), ["http://127.0.0.1/x"]);
    }

    #[test]
    fn a_path_is_kept_to() {
        let urls =
            ["http://a.test/docs", "http://a.test/docs/x", "http://a.test/docsearch", "http://a.test/"];
        for start in ["http://a.test/docs", "http://a.test/docs/", "http://a.test/docs/index.html"] {
            assert_eq!(taken(&json!({ "url": start }), &urls), urls[..2], "{start}");
            assert_eq!(taken(&json!({ "url": start, "filterByPath": false }), &urls), urls, "{start}");
            assert_eq!(taken(&json!({ "url": start, "crawlEntireDomain": true }), &urls), urls, "{start}");
        }
        assert_eq!(taken(&json!({ "url": "http://a.test/index.html" }), &urls), urls);
    }

    #[test]
    fn expressions_choose_by_path_or_by_url() {
        let urls = ["http://a.test/blog/1", "http://a.test/docs/1", "http://docs.a.test/docs/2"];
        assert_eq!(taken(&json!({ "url": "a.test", "includePaths": ["^/docs/"] }), &urls), urls[1..]);
        let excluded = json!({ "url": "a.test", "includePaths": ["docs"], "excludePaths": ["/[1]$"] });
        assert_eq!(taken(&excluded, &urls), urls[2..]);
        let whole = json!({ "url": "a.test", "includePaths": ["docs.*1$"], "regexOnFullURL": true });
        assert_eq!(taken(&whole, &urls), urls[1..2]);
    }
}
