//! Checks of URLs by lists. They use only the host of a URL, and neither the network nor a clock.
//!
//! The host is the one that a browser would connect to: the crate `url` decodes escapes, international characters,
//! full-width dots and numeric addresses. Scheme, user, port and path are ignored.

use url::{Host, Url};
use websvc_validate::ThreatRules;

/// The decision of the lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListDecision {
    /// The host is on the whitelist, which takes precedence over everything else.
    Allowed,
    /// The host is on the blacklist.
    Blacklisted,
    /// The top-level domain is blocked.
    BlockedTld(String),
}

/// Returns the decision of the lists for a URL; `None` if it is on none of them.
pub(crate) fn look_up(rules: &ThreatRules, url: &Url) -> Option<ListDecision> {
    let host = host(url)?;
    if contains(rules.whitelist(), &host) {
        return Some(ListDecision::Allowed);
    }
    if contains(rules.blacklist(), &host) {
        return Some(ListDecision::Blacklisted);
    }
    let tld = top_level(url, &host)?;
    let is_blocked = rules.blocked_tlds().iter().any(|blocked| blocked == tld);
    is_blocked.then(|| ListDecision::BlockedTld(tld.to_owned()))
}

/// Returns the host in the form of the lists: lower case, ASCII, without a final dot.
pub(crate) fn host(url: &Url) -> Option<String> {
    let host = url.host_str()?.trim_end_matches('.').to_ascii_lowercase();
    (!host.is_empty()).then_some(host)
}

/// Returns the last label of a host name; `None` for an address.
fn top_level<'a>(url: &Url, host: &'a str) -> Option<&'a str> {
    match url.host()? {
        Host::Domain(_) => host.rsplit('.').next(),
        Host::Ipv4(_) | Host::Ipv6(_) => None,
    }
}

/// Returns whether a host matches an entry. A domain matches itself and all subdomains, as in `includeDomains` and
/// `excludeDomains`; `*.<domain>` matches the subdomains only.
fn contains(entries: &[String], host: &str) -> bool {
    let is_subdomain = |domain: &str| {
        host.strip_suffix(domain).is_some_and(|prefix| prefix.len() > 1 && prefix.ends_with('.'))
    };
    entries.iter().any(|entry| match entry.strip_prefix("*.") {
        Some(parent) => is_subdomain(parent),
        None => entry == host || is_subdomain(entry),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use websvc_types::{ScrapeOptions, ThreatProtection};
    use websvc_validate::{Policy, ThreatPolicy, check_request};

    use super::*;

    /// Returns the rules of a request with these lists.
    fn rules(whitelist: &[&str], blacklist: &[&str], tlds: &[&str]) -> ThreatRules {
        let list = |entries: &[&str]| Some(entries.iter().map(|&entry| entry.to_owned()).collect());
        let threat_protection = ThreatProtection {
            whitelist: list(whitelist),
            blacklist: list(blacklist),
            blocked_tlds: list(tlds),
            ..ThreatProtection::default()
        };
        let policy = Policy { threat: ThreatPolicy::On, threat_values: Arc::default(), ..Policy::default() };
        let options =
            ScrapeOptions { threat_protection: Some(threat_protection), ..ScrapeOptions::default() };
        let plan = check_request(&options, &policy).unwrap().plan;
        plan.protection.as_ref().unwrap().clone()
    }

    #[track_caller]
    fn check(rules: &ThreatRules, url: &str, expected: Option<&ListDecision>) {
        assert_eq!(look_up(rules, &url.parse().unwrap()).as_ref(), expected, "{url}");
    }

    #[test]
    fn plain_domain_covers_its_subdomains_and_wildcard_only_those() {
        let lists = rules(&[], &["bad.example", "*.evil.example"], &[]);
        for (url, is_blocked) in [
            ("http://bad.example/", true),
            ("https://bad.example/path?q=1#x", true),
            ("http://www.bad.example/", true),
            ("http://a.b.bad.example/", true),
            ("http://notbad.example/", false),
            ("http://bad.example.org/", false),
            ("http://good.example/bad.example", false),
            ("http://evil.example/", false),
            ("http://a.evil.example/", true),
            ("http://a.b.evil.example/", true),
            ("http://notevil.example/", false),
            ("http://x.notevil.example/", false),
        ] {
            check(&lists, url, is_blocked.then_some(&ListDecision::Blacklisted));
        }
    }

    #[test]
    fn every_spelling_of_a_host_is_matched() {
        let lists = rules(&[], &["bad.example", "*.b\u{fc}cher.example"], &[]);
        for url in [
            "http://BAD.Example/",
            "http://bad.example./",
            "http://bad.example:8080/",
            "http://user:secret@bad.example/",
            "http://good.example@bad.example/",
            "http://bad%2Eexample/",
            "http://b%61d.example/",
            "http://bad\u{3002}example/",
            "http://\u{ff42}ad.example/",
            "http:\\\\bad.example\\x",
            "ftp://bad.example/",
            "http://a.b\u{fc}cher.example/",
            "http://A.B\u{dc}CHER.example./",
            "http://a.xn--bcher-kva.example/",
        ] {
            check(&lists, url, Some(&ListDecision::Blacklisted));
        }
        for url in
            ["http://bad.example@good.example/", "http://good.example/?bad.example", "data:,bad.example"]
        {
            check(&lists, url, None);
        }
    }

    #[test]
    fn top_level_domain_is_the_last_label_of_a_name() {
        let lists = rules(&[], &[], &["zip", "\u{440}\u{444}"]);
        let [zip, rf] = ["zip", "xn--p1ai"].map(|tld| ListDecision::BlockedTld(tld.to_owned()));
        check(&lists, "http://a.zip/", Some(&zip));
        check(&lists, "http://a.b.ZIP.:81/", Some(&zip));
        check(&lists, "http://zip/", Some(&zip));
        check(&lists, "http://a.\u{440}\u{444}/", Some(&rf));
        check(&lists, "http://a.xn--p1ai/", Some(&rf));
        for url in ["http://a.gzip/", "http://zip.example/", "http://a.example/x.zip", "http://127.0.0.1/"] {
            check(&lists, url, None);
        }
    }

    #[test]
    fn whitelist_takes_precedence_over_other_lists() {
        let lists = rules(&["good.zip", "*.good.example"], &["*.example", "good.zip"], &["zip"]);
        check(&lists, "http://good.zip/", Some(&ListDecision::Allowed));
        check(&lists, "http://www.good.zip/", Some(&ListDecision::Allowed));
        check(&lists, "http://notgood.zip/", Some(&ListDecision::BlockedTld("zip".to_owned())));
        check(&lists, "http://a.good.example/", Some(&ListDecision::Allowed));
        check(&lists, "http://good.example/", Some(&ListDecision::Blacklisted));
    }

    #[test]
    fn blacklist_takes_precedence_over_top_level_domain() {
        let lists = rules(&[], &["bad.zip"], &["zip"]);
        check(&lists, "http://bad.zip/", Some(&ListDecision::Blacklisted));
    }

    #[test]
    fn empty_lists_match_nothing() {
        check(&rules(&[], &[], &[]), "http://a.example/", None);
    }
}
