//! The hosts that get the headers of an extraction.
//!
//! The headers may be credentials of the caller. Pages of a search, and links of sites, lead to hosts that the caller did not
//! name; these get none of them. Another port of a named host is another server, and counts as a host of its own.

use url::Url;
use websvc_site::is_public_suffix;
use websvc_validate::{ExtractPlan, ExtractTarget};

/// The hosts of the URLs of a request.
pub(super) struct HeaderHosts<'a>(Vec<NamedHost<'a>>);

/// A host of a URL of a request.
struct NamedHost<'a> {
    /// The host without `www.`.
    name: &'a str,
    /// The port, also if it is the default one of the scheme.
    port: u16,
    /// True if the URL is of a site whose subdomains belong to it.
    includes_subdomains: bool,
    /// True if the URL is of https. Then headers are not sent in clear text.
    is_secure: bool,
}

impl<'a> HeaderHosts<'a> {
    pub(super) fn new(plan: &'a ExtractPlan) -> Self {
        let named = |target: &'a ExtractTarget| {
            let (url, is_site) = match target {
                ExtractTarget::Page(page) => (&page.url, false),
                ExtractTarget::Site(site) => (&site.url, true),
            };
            let name = without_www(url.host_str()?);
            Some(NamedHost {
                name,
                port: url.port_or_known_default()?,
                includes_subdomains: is_site && plan.include_subdomains && !has_foreign_subdomains(name),
                is_secure: url.scheme() == "https",
            })
        };
        Self(plan.targets.iter().filter_map(named).collect())
    }

    /// Returns whether the host of a URL gets the headers, at the port of the URL.
    pub(super) fn contains(&self, url: &Url) -> bool {
        self.0.iter().any(|named| named.is_host_of(url))
    }
}

impl NamedHost<'_> {
    fn is_host_of(&self, url: &Url) -> bool {
        let Self { name, port, includes_subdomains, is_secure } = self;
        let (Some(host), Some(port_of_url)) = (url.host_str(), url.port_or_known_default()) else {
            return false;
        };
        let below = host.strip_suffix(name).is_some_and(|labels| labels.ends_with('.'));
        let is_same_host = without_www(host) == *name || (*includes_subdomains && below);
        let is_https = url.scheme() == "https";
        // Sites move from http to https, each at its default port.
        let is_upgrade = *port == 80 && !is_secure && is_https && port_of_url == 443;
        is_same_host && (*port == port_of_url || is_upgrade) && (!is_secure || is_https)
    }
}

/// Returns a host without `www.`. `www.gov.uk` stays as it is: its subdomains and `gov.uk` are not part of it.
fn without_www(host: &str) -> &str {
    host.strip_prefix("www.").filter(|parent| !has_foreign_subdomains(parent)).unwrap_or(host)
}

/// Returns whether the subdomains of a domain belong to others.
fn has_foreign_subdomains(domain: &str) -> bool {
    let domain = domain.trim_end_matches('.');
    domain.is_empty() || is_public_suffix(domain)
}

#[cfg(test)]
mod tests {
    use websvc_types::extract::ExtractRequest;
    use websvc_validate::{Policy, check_request};

    use super::*;

    #[track_caller]
    fn check(named: &str, includes_subdomains: bool, expected: &[(&str, bool)]) {
        let request = ExtractRequest {
            urls: Some(vec![named.to_owned()]),
            include_subdomains: Some(includes_subdomains),
            ..ExtractRequest::default()
        };
        let plan = check_request(&request, &Policy::default()).unwrap().plan;
        let hosts = HeaderHosts::new(&plan);
        for (url, is_named) in expected {
            assert_eq!(hosts.contains(&Url::parse(url).unwrap()), *is_named, "{url} for {named}");
        }
    }

    #[test]
    fn page_names_its_host_with_and_without_www() {
        check(
            "https://a.test/x",
            true,
            &[
                ("https://a.test/y?z", true),
                ("https://www.a.test/", true),
                ("https://shop.a.test/", false),
                ("https://other.test/", false),
                ("https://a.test.other.test/", false),
                ("https://nota.test/", false),
                ("http://a.test/y", false),
            ],
        );
        check("www.a.test", true, &[("https://a.test/", true), ("http://a.test/", true)]);
    }

    #[test]
    fn other_port_of_a_named_host_is_not_named() {
        check(
            "http://a.test/*",
            true,
            &[
                ("http://a.test:80/x", true),
                ("https://a.test/x", true),
                ("https://www.a.test:443/x", true),
                ("http://a.test:81/x", false),
                ("http://a.test:443/x", false),
                ("https://a.test:8443/x", false),
                ("http://shop.a.test/", true),
                ("http://shop.a.test:81/", false),
            ],
        );
        check(
            "http://a.test:8080/*",
            true,
            &[
                ("http://a.test:8080/x", true),
                ("https://a.test:8080/x", true),
                ("http://shop.a.test:8080/x", true),
                ("http://a.test/x", false),
                ("https://a.test/x", false),
                ("http://shop.a.test/x", false),
            ],
        );
        check(
            "https://a.test/x",
            true,
            &[("https://a.test:443/", true), ("http://a.test:443/", false), ("https://a.test:444/", false)],
        );
        check("https://a.test:80/x", true, &[("https://a.test:80/", true), ("https://a.test/", false)]);
        check("http://127.0.0.1:8911/x", true, &[("http://127.0.0.1:8912/x", false)]);
    }

    #[test]
    fn site_names_its_subdomains_unless_they_are_excluded() {
        check("https://a.test/*", true, &[("https://shop.a.test/", true), ("https://nota.test/", false)]);
        check("https://www.a.test/*", true, &[("https://shop.a.test/", true)]);
        check("https://a.test/*", false, &[("https://shop.a.test/", false), ("https://a.test/x", true)]);
    }

    #[test]
    fn subdomains_of_a_public_suffix_are_not_named() {
        let gov_uk = ["https://other.gov.uk/", "https://gov.uk/", "https://www.other.gov.uk/"];
        check("https://www.gov.uk/*", true, &gov_uk.map(|url| (url, false)));
        check(
            "https://www.gov.uk/*",
            true,
            &[("https://www.gov.uk/tax", true), ("https://forms.www.gov.uk/", true)],
        );
        check("https://www.com/*", true, &[("https://www.com/x", true), ("https://other.com/", false)]);
        check(
            "https://github.io/*",
            true,
            &[("https://github.io/x", true), ("https://other.github.io/", false)],
        );
        check("https://www./*", true, &[("https://www./x", true), ("https://other.test./", false)]);
    }
}
