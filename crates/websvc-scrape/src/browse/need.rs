//! Which requests need a browser, whatever the page is.

use websvc_types::Format;
use websvc_types::limits::COUNTRY_DEFAULT;
use websvc_validate::ScrapePlan;

/// What a plan asks of a browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing: a browser draws the page only if it is an empty shell without one.
    IfShell,
    /// The page as a browser draws it.
    Drawn,
    /// What only a browser that has the page open now can give: a picture, or what actions do.
    Now,
}

impl Need {
    pub(crate) fn of(plan: &ScrapePlan) -> Self {
        if wants_picture(plan) || !plan.actions().is_empty() || plan.profile().is_some() {
            return Self::Now;
        }
        let location = plan.location();
        let is_elsewhere = location.country() != COUNTRY_DEFAULT || !location.languages().is_empty();
        if is_elsewhere || !plan.wait_for().is_zero() {
            return Self::Drawn;
        }
        Self::IfShell
    }
}

/// Returns whether a plan asks for a picture of the page.
pub(crate) fn wants_picture(plan: &ScrapePlan) -> bool {
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
            (json!({}), Need::IfShell),
            (json!({"formats": ["markdown", "links"], "mobile": true, "blockAds": false}), Need::IfShell),
            (json!({"location": {"country": "US"}}), Need::IfShell),
            (json!({"location": {"country": "DE"}}), Need::Drawn),
            (json!({"location": {"languages": ["de"]}}), Need::Drawn),
            (json!({"waitFor": 1}), Need::Drawn),
            (json!({"formats": ["screenshot"]}), Need::Now),
            (json!({"actions": [{"type": "scrape"}]}), Need::Now),
            (json!({"profile": {"name": "a"}}), Need::Now),
        ] {
            assert_eq!(need(&options), expected, "{options}");
        }
    }

    fn need(options: &Value) -> Need {
        let read = read_scrape_options(options.to_string().as_bytes(), &Policy::default());
        Need::of(&read.unwrap().plan)
    }
}
