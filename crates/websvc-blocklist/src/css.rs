//! Style sheets that hide elements.

use std::fmt::Write as _;

/// What hides an element; a page's own style must not win.
const HIDDEN: &str = "{display:none!important}";

/// Pages that wait for an answer stop to scroll, and screenshots of the whole page are then one window high.
const SCROLLING: &str = "html.sp-message-open,body.didomi-popup-open,body.cookie-modal-open{overflow:auto!important;position:static!important}";

/// Elements in which products ask about cookies, one selector a line.
const BANNERS: &str = include_str!("../lists/banners.txt");

/// Returns the style sheet that hides questions about cookies anywhere.
pub(crate) fn banners() -> String {
    let selectors = BANNERS.lines().filter(|line| !line.is_empty() && !line.starts_with('!'));
    let mut css = SCROLLING.to_owned();
    hide(&mut css, selectors);
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
    fn every_bundled_selector_is_used() {
        let rules = banners().matches(HIDDEN).count();
        let lines = BANNERS.lines().filter(|line| !line.is_empty() && !line.starts_with('!')).count();
        assert_eq!(rules, lines);
        assert!(lines > 40);
    }
}
