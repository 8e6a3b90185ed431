//! What this installation can do: a request is never answered as if an option had been honoured that was not.

use websvc_model::Model;
use websvc_scrape::Scraper;
use websvc_types::limits::COUNTRY_DEFAULT;
use websvc_types::{ErrorCode, Format, RedactMode, Violation, ViolationCode};
use websvc_validate::{ScrapePlan, SearchPlan};

use crate::error::EngineError;

/// What a plan asks for beyond what is there, and may be left out with a word.
#[derive(Debug, Default)]
pub(crate) struct FeatureCheck {
    pub(crate) warnings: Vec<String>,
}

/// Compares a plan with what is there.
///
/// # Errors
/// [`EngineError::NotSupported`] for what may not be left out: actions and profiles change what the
/// caller may do with the content, so content without them would be wrong.
pub(crate) fn check_search_features(
    plan: &SearchPlan,
    scraper: &Scraper,
    model: Option<&dyn Model>,
) -> Result<FeatureCheck, EngineError> {
    let mut review = FeatureCheck::default();
    let mut missing = UnsupportedFeatures::default();
    let scrape = plan.scrape();
    if let Some(scrape) = scrape {
        missing.scrape("/scrapeOptions", scrape, scraper);
        review.scrape(scrape, scraper, model);
    }
    missing.finish()?;
    Ok(review)
}

/// Compares the plan of a single page with what is there.
///
/// # Errors
/// As [`review`].
pub(crate) fn check_page_features(
    plan: &ScrapePlan,
    scraper: &Scraper,
    model: Option<&dyn Model>,
) -> Result<FeatureCheck, EngineError> {
    let mut missing = UnsupportedFeatures::default();
    missing.scrape("", plan, scraper);
    missing.finish()?;
    let mut review = FeatureCheck::default();
    review.scrape(plan, scraper, model);
    Ok(review)
}

impl FeatureCheck {
    fn leave_out(&mut self, what: &str, why: &str) {
        self.warnings.push(format!("{what}: {why}"));
    }

    fn scrape(&mut self, plan: &ScrapePlan, scraper: &Scraper, model: Option<&dyn Model>) {
        let (lacks_browser, proxies) = (lacks_browser(plan, scraper), scraper.proxies());
        for format in plan.formats() {
            if let Some(why) = why_missing(format, lacks_browser, model) {
                self.leave_out(&format!("format {}", format.name()), why);
            }
        }
        if plan.only_clean_content() && model.is_none() {
            self.leave_out(
                "onlyCleanContent",
                "no language model is configured; the markdown is as extracted",
            );
        }
        if let Some(redact) = plan.redact_pii() {
            match redact.mode.unwrap_or(RedactMode::Accurate) {
                RedactMode::Accurate => self.leave_out(
                    "redactPII mode accurate",
                    "no language model redacts in this version; the rules of mode fast were used",
                ),
                RedactMode::Aggressive => self.leave_out(
                    "redactPII mode aggressive",
                    "no language model redacts in this version; its rules were used alone",
                ),
                RedactMode::Fast => {}
            }
        }
        if !plan.wait_for().is_zero() && lacks_browser {
            self.leave_out("waitFor", "no browser is installed; pages are read as served");
        }
        let country = plan.location().country();
        if country != COUNTRY_DEFAULT && !proxies.reaches_from(country) {
            let why = format!("no proxies in {country} are configured ([proxy] by_country)");
            self.leave_out("scrapeOptions.location.country", &why);
        }
        if plan.wants_enhanced_proxy() && !proxies.has_enhanced() {
            self.leave_out("proxy enhanced", "no enhanced proxy is configured; the basic way was used");
        }
    }
}

/// Returns whether a plan asks for what only a browser gives, and there is none. The program is looked for only then: that
/// asks the file system.
fn lacks_browser(plan: &ScrapePlan, scraper: &Scraper) -> bool {
    let pictures = plan.formats().iter().any(|format| matches!(format, Format::Screenshot(_)));
    let does = !plan.actions().is_empty() || plan.profile().is_some();
    (pictures || does || !plan.wait_for().is_zero()) && scraper.browser().is_none()
}

/// Returns why a format cannot be had, or `None` when it can.
fn why_missing(format: &Format, lacks_browser: bool, model: Option<&dyn Model>) -> Option<&'static str> {
    match format {
        Format::Markdown(_) | Format::Html(_) | Format::RawHtml(_) | Format::Links(_) | Format::Images(_) => {
            None
        }
        Format::Screenshot(_) => lacks_browser.then_some("no browser is installed"),
        Format::Branding(_) => Some("this version does not read the design of pages yet"),
        Format::Summary(_) | Format::Json(_) | Format::Question(_) => {
            model.is_none().then_some("no language model is configured")
        }
        Format::Highlights(_) => model
            .is_none()
            .then_some("no language model is configured; the passages were chosen by the words of the query"),
        Format::Product(_) | Format::Menu(_) => Some("this version does not read products and menus yet"),
        Format::ChangeTracking(_) => Some("this version keeps no history of pages yet"),
        Format::Audio(_) | Format::Video(_) => Some("no media extractor is installed"),
    }
}

/// What a plan asks for beyond what is there, and may not be left out.
#[derive(Debug, Default)]
struct UnsupportedFeatures {
    violations: Vec<Violation>,
    actions: bool,
}

impl UnsupportedFeatures {
    fn refuse(&mut self, path: &str, message: &str) {
        let (path, message) = (path.to_owned(), message.to_owned());
        self.violations.push(Violation { path, code: ViolationCode::NotSupported, message });
    }

    fn scrape(&mut self, at: &str, plan: &ScrapePlan, scraper: &Scraper) {
        if plan.profile().is_some() && lacks_browser(plan, scraper) {
            self.refuse(&format!("{at}/profile"), "profile is not available: no browser is installed");
        }
        if !plan.actions().is_empty() && lacks_browser(plan, scraper) {
            self.actions = true;
            self.refuse(&format!("{at}/actions"), "actions are not available: no browser is installed");
        }
    }

    fn finish(self) -> Result<(), EngineError> {
        let Self { violations, actions } = self;
        if violations.is_empty() {
            return Ok(());
        }
        let code = if actions { ErrorCode::ScrapeActionsNotSupported } else { ErrorCode::BadRequest };
        Err(EngineError::NotSupported { code, violations })
    }
}
