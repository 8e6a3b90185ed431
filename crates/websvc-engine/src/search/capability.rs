//! What this installation can do: a request is never answered as if an option had been honoured that was not.

use websvc_types::{ErrorCode, Format, Violation, ViolationCode};
use websvc_validate::{ScrapePlan, SearchPlan};

use crate::error::EngineError;

/// What a plan asks for beyond what is there, and may be left out with a word.
#[derive(Debug, Default)]
pub(crate) struct Review {
    pub(crate) warnings: Vec<String>,
}

/// Compares a plan with what is there.
///
/// # Errors
/// [`EngineError::NotSupported`] for what may not be left out: actions, redaction and profiles change what the
/// caller may do with the content, so content without them would be wrong.
pub(crate) fn review(plan: &SearchPlan) -> Result<Review, EngineError> {
    let mut review = Review::default();
    if plan.safe() {
        review.leave_out("safe", "no classifier of explicit content is installed; results are not filtered");
    }
    if plan.location().is_some() || plan.country_given() {
        review.leave_out("country and location", "the embedded index does not rank by place yet");
    }
    require(plan)?;
    if let Some(scrape) = plan.scrape() {
        review.scrape(scrape);
    }
    Ok(review)
}

impl Review {
    fn leave_out(&mut self, what: &str, why: &str) {
        self.warnings.push(format!("{what}: {why}"));
    }

    fn scrape(&mut self, plan: &ScrapePlan) {
        for format in plan.formats() {
            if let Some(why) = missing(format) {
                self.leave_out(&format!("format {}", format.name()), why);
            }
        }
        if plan.only_clean_content() {
            self.leave_out(
                "onlyCleanContent",
                "no language model is configured; the markdown is as extracted",
            );
        }
        if !plan.wait_for().is_zero() {
            self.leave_out("waitFor", "no browser is installed; pages are read as served");
        }
        if plan.wants_enhanced_proxy() {
            self.leave_out("proxy enhanced", "no enhanced proxy is configured; the basic way was used");
        }
    }
}

/// Returns why a format cannot be had, or `None` when it can.
fn missing(format: &Format) -> Option<&'static str> {
    match format {
        Format::Markdown(_) | Format::Html(_) | Format::RawHtml(_) | Format::Links(_) | Format::Images(_) => {
            None
        }
        Format::Screenshot(_) | Format::Branding(_) => Some("no browser is installed"),
        Format::Summary(_)
        | Format::Json(_)
        | Format::Question(_)
        | Format::Highlights(_)
        | Format::Product(_)
        | Format::Menu(_) => Some("no language model is configured"),
        Format::ChangeTracking(_) => Some("this version keeps no history of pages yet"),
        Format::Audio(_) | Format::Video(_) => Some("no media extractor is installed"),
    }
}

fn require(plan: &SearchPlan) -> Result<(), EngineError> {
    let mut violations = Vec::new();
    let mut refuse = |path: &str, message: &str| {
        violations.push(Violation {
            path: path.to_owned(),
            code: ViolationCode::NotSupported,
            message: message.to_owned(),
        });
    };
    if plan.threat().is_some() {
        refuse("/threatProtection", "threatProtection is not available: this version has no scanner of URLs");
    }
    let scrape = plan.scrape();
    if scrape.is_some_and(|scrape| scrape.threat().is_some()) {
        refuse(
            "/scrapeOptions/threatProtection",
            "threatProtection is not available: this version has no scanner of URLs",
        );
    }
    if scrape.is_some_and(|scrape| scrape.redact_pii().is_some()) {
        refuse("/scrapeOptions/redactPII", "redactPII is not available: this version has no redaction");
    }
    if scrape.is_some_and(|scrape| scrape.profile().is_some()) {
        refuse("/scrapeOptions/profile", "profile is not available: no browser is installed");
    }
    let actions = scrape.is_some_and(|scrape| !scrape.actions().is_empty());
    if actions {
        refuse("/scrapeOptions/actions", "actions are not available: no browser is installed");
    }
    if violations.is_empty() {
        return Ok(());
    }
    let code = if actions { ErrorCode::ScrapeActionsNotSupported } else { ErrorCode::BadRequest };
    Err(EngineError::NotSupported { code, violations })
}
