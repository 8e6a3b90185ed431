//! Cookie banners: the elements in which sites ask for consent.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// The banners of widely used products, one selector per line.
const PRODUCT_SELECTORS: &str = include_str!("../../lists/banners.txt");

/// Names of the banners that sites have written themselves.
const COMMON_NAMES: &str = include_str!("../../lists/banner_names.txt");

/// The condition for a common name: a box outside the content. Headings, links and articles about cookies have the same
/// names.
const OUTSIDE_CONTENT: &str = ":is(div,section,aside,dialog,form,footer):not(main *,article *)";

static RULES: LazyLock<CookieBannerRules> = LazyLock::new(CookieBannerRules::parse);

/// A selector for a cookie banner.
pub(crate) struct CookieBannerRule {
    selector: String,
    /// A text that is in the source of every page with such a banner.
    key: &'static str,
}

/// All rules, and a search for their keys.
struct CookieBannerRules {
    rules: Vec<CookieBannerRule>,
    keys: AhoCorasick,
}

impl CookieBannerRule {
    pub(crate) fn selector(&self) -> &str {
        &self.selector
    }
}

impl CookieBannerRules {
    fn parse() -> Self {
        let products = lines(PRODUCT_SELECTORS)
            .map(|line| CookieBannerRule { selector: line.to_owned(), key: key_of(line) });
        let names = lines(COMMON_NAMES)
            .map(|line| CookieBannerRule { selector: format!("{line}{OUTSIDE_CONTENT}"), key: key_of(line) });
        let rules: Vec<CookieBannerRule> = products.chain(names).collect();
        let keys = AhoCorasick::new(rules.iter().map(|rule| rule.key));
        Self { keys: keys.expect("a few short words make a small automaton"), rules }
    }
}

/// Returns all rules.
pub(crate) fn all() -> impl Iterator<Item = &'static CookieBannerRule> {
    RULES.rules.iter()
}

/// Returns the selectors of the cookie banners that a page with this source may contain. For most pages there are none.
///
/// The selectors use no pseudo-classes except `:is` and `:not`. An element that contains a `main`, an `article` or an `h1` is
/// not a banner, which the caller must check.
#[must_use]
pub fn banner_selectors(source: &[u8]) -> Vec<&'static str> {
    let mut indexes: Vec<usize> =
        RULES.keys.find_overlapping_iter(source).map(|hit| hit.pattern().as_usize()).collect();
    indexes.sort_unstable();
    indexes.dedup();
    indexes.into_iter().map(|index| RULES.rules[index].selector()).collect()
}

/// Returns the lines of a list without comments.
fn lines(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines().filter(|line| !line.is_empty() && !line.starts_with('!'))
}

/// Returns the last name in a selector.
fn key_of(selector: &'static str) -> &'static str {
    let is_name_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    selector.rsplit(|c| !is_name_char(c)).find(|name| !name.is_empty()).unwrap_or(selector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banner_selectors_returns_only_those_in_the_source() {
        assert_eq!(banner_selectors(b"<p>Words.</p>"), [""; 0]);
        let found = banner_selectors(b"<div id=\"onetrust-consent-sdk\"></div><div class='cookie-bar'>");
        let site_banner = format!(".cookie-bar{OUTSIDE_CONTENT}");
        assert_eq!(found, ["#onetrust-consent-sdk", &format!("#cookie-bar{OUTSIDE_CONTENT}"), &site_banner]);
    }

    #[test]
    fn key_of_selector_is_its_last_name() {
        assert_eq!(key_of("[id^=\"sp_message_container_\"]"), "sp_message_container_");
        assert_eq!(key_of(".klaro .cookie-notice"), "cookie-notice");
        assert_eq!(key_of(".cc-window.cc-banner"), "cc-banner");
    }
}
