//! Which requests need a browser, whatever the page is.

use websvc_types::Format;
use websvc_types::limits::COUNTRY_DEFAULT;
use websvc_validate::ScrapePlan;

/// What a plan asks of a browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RenderMode {
    /// Nothing: a browser draws the page only if it is an empty shell without one.
    IfShell,
    /// The page as a browser draws it.
    Render,
    /// What only a browser that has the page open now can give: a picture, or what actions do.
    RenderUncached,
}

impl RenderMode {
    pub(crate) fn of(plan: &ScrapePlan) -> Self {
        if wants_screenshot(plan) || !plan.actions().is_empty() || plan.profile().is_some() {
            return Self::RenderUncached;
        }
        let location = plan.location();
        let is_elsewhere = location.country() != COUNTRY_DEFAULT || !location.languages().is_empty();
        if is_elsewhere || !plan.wait_for().is_zero() {
            return Self::Render;
        }
        Self::IfShell
    }
}

/// Returns whether a plan asks for a picture of the page.
pub(crate) fn wants_screenshot(plan: &ScrapePlan) -> bool {
    plan.formats().iter().any(|format| matches!(format, Format::Screenshot(_)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use websvc_validate::{Policy, read_scrape_options};

    use super::*;

    #[test]
    fn a_browser_is_needed_for_what_only_it_can_do() {
        for (options, expected) in [
            (json!({}), RenderMode::IfShell),
            (
                json!({"formats": ["markdown", "links"], "mobile": true, "blockAds": false}),
                RenderMode::IfShell,
            ),
            (json!({"location": {"country": "US"}}), RenderMode::IfShell),
            (json!({"location": {"country": "DE"}}), RenderMode::Render),
            (json!({"location": {"languages": ["de"]}}), RenderMode::Render),
            (json!({"waitFor": 1}), RenderMode::Render),
            (json!({"formats": ["screenshot"]}), RenderMode::RenderUncached),
            (json!({"actions": [{"type": "scrape"}]}), RenderMode::RenderUncached),
            (json!({"profile": {"name": "a"}}), RenderMode::RenderUncached),
        ] {
            assert_eq!(need(&options), expected, "{options}");
        }
    }

    fn need(options: &Value) -> RenderMode {
        let read = read_scrape_options(options.to_string().as_bytes(), &Policy::default());
        RenderMode::of(&read.unwrap().plan)
    }
}
