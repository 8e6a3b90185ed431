//! The render mode of a request: the decision from its options alone whether it needs the browser.

use websvc_types::Format;
use websvc_types::limits::COUNTRY_DEFAULT;
use websvc_validate::ScrapePlan;

/// The use of the browser that a plan requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RenderMode {
    /// Render the page only if it is a shell page.
    IfShell,
    /// Render the page; a cached rendered page may be served.
    Render,
    /// Render the page now, for a screenshot, its design, actions or a profile; a cached page does not suffice.
    RenderUncached,
}

impl RenderMode {
    pub(crate) fn from_plan(plan: &ScrapePlan) -> Self {
        if wants_screenshot(plan)
            || wants_branding(plan)
            || !plan.actions.is_empty()
            || plan.profile.is_some()
        {
            return Self::RenderUncached;
        }
        let location = &plan.location;
        let has_location = location.country != COUNTRY_DEFAULT || !location.languages.is_empty();
        if has_location || !plan.wait_for.is_zero() {
            return Self::Render;
        }
        Self::IfShell
    }
}

/// Returns whether a plan requests a screenshot of the page.
pub(crate) fn wants_screenshot(plan: &ScrapePlan) -> bool {
    plan.formats.iter().any(|format| matches!(format, Format::Screenshot(_)))
}

/// Returns whether a plan requests the design of the page.
pub(crate) fn wants_branding(plan: &ScrapePlan) -> bool {
    plan.formats.iter().any(|format| matches!(format, Format::Branding(_)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use websvc_types::ScrapeOptions;
    use websvc_validate::{Policy, read_request};

    use super::*;

    #[test]
    fn render_mode_depends_on_the_options() {
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
            (json!({"formats": ["branding"], "maxAge": 60_000}), RenderMode::RenderUncached),
            (json!({"actions": [{"type": "scrape"}]}), RenderMode::RenderUncached),
            (json!({"profile": {"name": "a"}}), RenderMode::RenderUncached),
        ] {
            assert_eq!(render_mode(&options), expected, "{options}");
        }
    }

    fn render_mode(options: &Value) -> RenderMode {
        let read = read_request::<ScrapeOptions>(options.to_string().as_bytes(), &Policy::default());
        RenderMode::from_plan(&read.unwrap().plan)
    }
}
