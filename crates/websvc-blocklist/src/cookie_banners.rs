//! Questions about cookies: the elements in which sites ask them.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Elements in which products ask, one selector a line.
const PRODUCTS: &str = include_str!("../lists/banners.txt");

/// Names of elements in which sites ask by themselves.
const NAMES: &str = include_str!("../lists/banner_names.txt");

/// A name alone says little: headings, links and articles about cookies have such names, too.
const BESIDE_CONTENT: &str = ":is(div,section,aside,dialog,form,footer):not(main *,article *)";

static BANNERS: LazyLock<CookieBannerRules> = LazyLock::new(CookieBannerRules::read);

/// An element in which sites ask.
pub(crate) struct CookieBannerRule {
    selector: String,
    /// Part of the source of every page that has it.
    key: &'static str,
}

struct CookieBannerRules {
    list: Vec<CookieBannerRule>,
    keys: AhoCorasick,
}

impl CookieBannerRule {
    pub(crate) fn selector(&self) -> &str {
        &self.selector
    }
}

impl CookieBannerRules {
    fn read() -> Self {
        let products =
            lines(PRODUCTS).map(|line| CookieBannerRule { selector: line.to_owned(), key: key_of(line) });
        let names = lines(NAMES)
            .map(|line| CookieBannerRule { selector: format!("{line}{BESIDE_CONTENT}"), key: key_of(line) });
        let list: Vec<CookieBannerRule> = products.chain(names).collect();
        let keys = AhoCorasick::new(list.iter().map(|banner| banner.key));
        Self { keys: keys.expect("a few short words make a small automaton"), list }
    }
}

pub(crate) fn all() -> impl Iterator<Item = &'static CookieBannerRule> {
    BANNERS.list.iter()
}

/// Returns the selectors of questions about cookies that a page of this source may hold: none for most pages, so that
/// only few need be looked for. They have no pseudo-class beside `:is` and `:not`. What holds a `main`, an `article` or
/// an `h1` is no question, whatever it is called; that is for the caller to tell.
#[must_use]
pub fn banner_selectors(source: &[u8]) -> Vec<&'static str> {
    let mut found: Vec<usize> =
        BANNERS.keys.find_overlapping_iter(source).map(|hit| hit.pattern().as_usize()).collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|place| BANNERS.list[place].selector()).collect()
}

fn lines(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines().filter(|line| !line.is_empty() && !line.starts_with('!'))
}

/// Returns the last name of a selector.
fn key_of(selector: &'static str) -> &'static str {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    selector.rsplit(|c| !is_of_name(c)).find(|name| !name.is_empty()).unwrap_or(selector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_page_may_hold_is_looked_for() {
        assert_eq!(banner_selectors(b"<p>Words.</p>"), [""; 0]);
        let found = banner_selectors(b"<div id=\"onetrust-consent-sdk\"></div><div class='cookie-bar'>");
        let own = format!(".cookie-bar{BESIDE_CONTENT}");
        assert_eq!(found, ["#onetrust-consent-sdk", &format!("#cookie-bar{BESIDE_CONTENT}"), &own]);
    }

    #[test]
    fn the_key_is_the_last_name() {
        assert_eq!(key_of("[id^=\"sp_message_container_\"]"), "sp_message_container_");
        assert_eq!(key_of(".klaro .cookie-notice"), "cookie-notice");
        assert_eq!(key_of(".cc-window.cc-banner"), "cc-banner");
    }
}
