//! The hosts that get the headers of an extraction.
//!
//! The headers may be credentials of the caller. Pages of a search, and links of sites, lead to hosts that the caller did not
//! name; these get none of them.

use url::Url;
use websvc_address::is_public_suffix;
use websvc_validate::{ExtractPlan, ExtractTarget, Target};

/// The hosts of the URLs of a request.
pub(super) struct HeaderHosts<'a>(Vec<NamedHost<'a>>);

/// A host of a URL of a request.
struct NamedHost<'a> {
    /// The host without `www.`.
    name: &'a str,
    /// True if the URL is of a site whose subdomains belong to it.
    includes_subdomains: bool,
    /// True if the URL is of https. Then headers are not sent in clear text.
    is_secure: bool,
}

impl<'a> HeaderHosts<'a> {
    pub(super) fn new(plan: &'a ExtractPlan) -> Self {
        let named = |target: &'a ExtractTarget| {
            let (url, is_site) = match target {
                ExtractTarget::Page(page) => (Target::url(page), false),
                ExtractTarget::Site(site) => (Target::url(site), true),
            };
            let name = without_www(url.host_str()?);
            Some(NamedHost {
                name,
                includes_subdomains: is_site && plan.include_subdomains && !has_foreign_subdomains(name),
                is_secure: url.scheme() == "https",
            })
        };
        Self(plan.targets.iter().filter_map(named).collect())
    }

    /// Returns whether the host of a URL gets the headers.
    pub(super) fn contains(&self, url: &Url) -> bool {
        let Some(host) = url.host_str() else { return false };
        let is_same = |named: &NamedHost<'_>| {
            let NamedHost { name, includes_subdomains, is_secure } = named;
            let below = host.strip_suffix(name).is_some_and(|labels| labels.ends_with('.'));
            (without_www(host) == *name || (*includes_subdomains && below))
                && (!is_secure || url.scheme() == "https")
        };
        self.0.iter().any(is_same)
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
    use websvc_validate::{Policy, check_extract};

    use super::*;

    #[track_caller]
    fn check(named: &str, includes_subdomains: bool, expected: &[(&str, bool)]) {
        let request = ExtractRequest {
            urls: Some(vec![named.to_owned()]),
            include_subdomains: Some(includes_subdomains),
            ..ExtractRequest::default()
        };
        let plan = check_extract(request, &Policy::default()).unwrap().plan;
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
