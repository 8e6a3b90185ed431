//! Style sheets that hide elements.

use std::fmt::Write as _;

use crate::cookie_banners::{self, CookieBannerRule};

/// Style that hides an element; the page's own style must not override it.
const HIDDEN: &str = "{display:none!important}";

/// Content that no cookie banner contains, whatever its name.
const CONTENT: &str = "main,article,h1";

/// Returns the style sheet that hides questions about cookies anywhere, and lets the pages scroll that wait for an
/// answer: screenshots of the whole page are one window high otherwise.
pub(crate) fn banners() -> String {
    let asking: Vec<&str> = cookie_banners::all().map(CookieBannerRule::selector).collect();
    let asking = asking.join(",");
    let mut css = format!(
        "html:has({asking}),html:has({asking})>body{{overflow-y:visible!important}}\nhtml:has({asking})>body[style*=\"fixed\"]{{position:static!important}}"
    );
    for banner in cookie_banners::all() {
        // Writing to a string cannot fail.
        let _ = write!(css, "\n{}:not(:has({CONTENT})){HIDDEN}", banner.selector());
    }
    css
}

/// Appends one rule for each selector, so that one which a browser does not understand hides nothing but itself.
pub(crate) fn hide<'a>(css: &mut String, selectors: impl Iterator<Item = &'a str>) {
    for selector in selectors.filter(|selector| is_selector(selector)) {
        // Writing to a string cannot fail.
        let _ = write!(css, "\n{selector}{HIDDEN}");
    }
}

/// Refuses what would end its rule and begin something else: lists are texts of others.
fn is_selector(text: &str) -> bool {
    !text.is_empty() && !text.contains(['{', '}', '<', ';', '@', '\\', '\n', '\r']) && !text.contains("/*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_selector_has_a_rule_of_its_own() {
        let mut css = String::new();
        hide(&mut css, ["#a", ".b > i[href^=\"x\"]"].into_iter());
        assert_eq!(css, "\n#a{display:none!important}\n.b > i[href^=\"x\"]{display:none!important}");
    }

    #[test]
    fn nothing_leaves_its_rule() {
        let mut css = String::new();
        hide(
            &mut css,
            ["a{}body", "a}b", "</style><script>", "@import 'x'", "a\\7b b", "a/*", ""].into_iter(),
        );
        assert_eq!(css, "");
    }

    #[test]
    fn every_banner_is_hidden() {
        assert_eq!(banners().matches(HIDDEN).count(), cookie_banners::all().count());
    }
}
