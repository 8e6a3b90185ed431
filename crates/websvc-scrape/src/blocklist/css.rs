//! Style sheets that hide elements.

use std::fmt::Write as _;

use crate::blocklist::cookie_banners::{self, CookieBannerRule};

/// The declaration that hides an element, with priority over the styles of the page.
const HIDDEN: &str = "{display:none!important}";

/// Elements that no cookie banner contains.
const CONTENT: &str = "main,article,h1";

/// Returns the style sheet that hides cookie banners on all sites. It also makes pages scroll that wait for consent;
/// otherwise a screenshot of the whole page is only one window high.
pub(crate) fn banner_css() -> String {
    let selectors: Vec<&str> = cookie_banners::all().map(CookieBannerRule::selector).collect();
    let selectors = selectors.join(",");
    let mut css = format!(
        "html:has({selectors}),html:has({selectors})>body{{overflow-y:visible!important}}\nhtml:has({selectors})>body[style*=\"fixed\"]{{position:static!important}}"
    );
    for rule in cookie_banners::all() {
        // Writing to a string cannot fail.
        let _ = write!(css, "\n{}:not(:has({CONTENT})){HIDDEN}", rule.selector());
    }
    css
}

/// Appends a rule that hides each selector. The rules are separate because a selector that the browser does not support
/// invalidates its rule.
pub(crate) fn append_rules<'a>(css: &mut String, selectors: impl Iterator<Item = &'a str>) {
    for selector in selectors.filter(|selector| is_selector(selector)) {
        // Writing to a string cannot fail.
        let _ = write!(css, "\n{selector}{HIDDEN}");
    }
}

/// Returns whether a text cannot end its rule and start something else. Lists are untrusted.
fn is_selector(text: &str) -> bool {
    !text.is_empty() && !text.contains(['{', '}', '<', ';', '@', '\\', '\n', '\r']) && !text.contains("/*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn append_rules_writes_one_rule_per_selector() {
        let mut css = String::new();
        append_rules(&mut css, ["#a", ".b > i[href^=\"x\"]"].into_iter());
        assert_eq!(css, "\n#a{display:none!important}\n.b > i[href^=\"x\"]{display:none!important}");
    }

    #[test]
    fn append_rules_skips_selectors_that_could_end_their_rule() {
        let mut css = String::new();
        append_rules(
            &mut css,
            ["a{}body", "a}b", "</style><script>", "@import 'x'", "a\\7b b", "a/*", ""].into_iter(),
        );
        assert_eq!(css, "");
    }

    #[test]
    fn banner_css_hides_every_banner() {
        assert_eq!(banner_css().matches(HIDDEN).count(), cookie_banners::all().count());
    }
}
