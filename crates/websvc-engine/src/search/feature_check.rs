//! Compares a request with the features of this installation. An unsupported option becomes a warning or an error, and
//! is never ignored silently.

use websvc_model::Model;
use websvc_scrape::Scraper;
use websvc_types::limits::COUNTRY_DEFAULT;
use websvc_types::{ErrorCode, Format, RedactMode, Violation, ViolationCode};
use websvc_validate::{ScrapePlan, SearchPlan, TrackingPlan};

use crate::change_tracking::has_json_mode;
use crate::error::EngineError;
use crate::media::MediaTools;

/// The warning about mode json of the format changeTracking without a language model.
const NO_MODEL_FOR_JSON_MODE: &str = "no language model is configured for mode json";

/// The warning about the format branding without a language model.
const NO_MODEL_FOR_BRANDING: &str = "no language model is configured; rules chose the buttons, the colors and the logo, and personality and \
     confidence are left out";

/// The optional features of a plan that are not available, as warnings.
#[derive(Debug, Default)]
pub(crate) struct FeatureCheck {
    pub(crate) warnings: Vec<String>,
}

/// Checks the plan of a search.
///
/// # Errors
/// [`EngineError::NotSupported`] for features that must not be left out: actions and profiles determine the content
/// that the caller may get, so content without them would be wrong.
pub(crate) fn check_search_features(
    plan: &SearchPlan,
    scraper: &Scraper,
    model: Option<&dyn Model>,
    media: &MediaTools,
) -> Result<FeatureCheck, EngineError> {
    let mut check = FeatureCheck::default();
    let mut unsupported = UnsupportedFeatures::default();
    let scrape = plan.scrape.as_ref();
    if let Some(scrape) = scrape {
        unsupported.scrape("/scrapeOptions", scrape, scraper);
        check.scrape(scrape, scraper, model, media);
    }
    unsupported.finish()?;
    Ok(check)
}

/// Checks the plan of a single page.
///
/// # Errors
/// As [`check_search_features`].
pub(crate) fn check_page_features(
    plan: &ScrapePlan,
    scraper: &Scraper,
    model: Option<&dyn Model>,
    media: &MediaTools,
) -> Result<FeatureCheck, EngineError> {
    let mut unsupported = UnsupportedFeatures::default();
    unsupported.scrape("", plan, scraper);
    unsupported.finish()?;
    let mut check = FeatureCheck::default();
    check.scrape(plan, scraper, model, media);
    Ok(check)
}

impl FeatureCheck {
    fn leave_out(&mut self, option: &str, reason: &str) {
        self.warnings.push(format!("{option}: {reason}"));
    }

    fn scrape(
        &mut self,
        plan: &ScrapePlan,
        scraper: &Scraper,
        model: Option<&dyn Model>,
        media: &MediaTools,
    ) {
        let (lacks_browser, proxies) = (lacks_browser(plan, scraper), scraper.proxies());
        for format in &plan.formats {
            if let Some(reason) = reason_missing(format, plan, lacks_browser, model, media) {
                self.leave_out(&format!("format {}", format.name()), reason);
            }
        }
        if plan.only_clean_content && model.is_none() {
            self.leave_out(
                "onlyCleanContent",
                "no language model is configured; the markdown is as extracted",
            );
        }
        if let Some(redact) = plan.redact_pii.as_ref().filter(|_| model.is_none()) {
            match redact.mode.unwrap_or(RedactMode::Accurate) {
                RedactMode::Accurate => self.leave_out(
                    "redactPII mode accurate",
                    "no language model is configured; the rules of mode fast were used",
                ),
                RedactMode::Aggressive => self.leave_out(
                    "redactPII mode aggressive",
                    "no language model is configured; its rules were used alone",
                ),
                RedactMode::Fast => {}
            }
        }
        if !plan.wait_for.is_zero() && lacks_browser {
            self.leave_out("waitFor", "no browser is installed; pages are read as served");
        }
        let country = plan.location.country;
        if country != COUNTRY_DEFAULT && !proxies.reaches_from(country) {
            let reason = format!("no proxies in {country} are configured ([proxy] by_country)");
            self.leave_out("scrapeOptions.location.country", &reason);
        }
        if plan.wants_enhanced_proxy() && !proxies.has_enhanced() {
            self.leave_out("proxy enhanced", "no enhanced proxy is configured; the basic proxies were used");
        }
    }
}

/// Returns whether a plan needs a browser and there is none. The browser is looked up only for such a plan, because the
/// lookup accesses the file system.
fn lacks_browser(plan: &ScrapePlan, scraper: &Scraper) -> bool {
    let is_rendered = |format: &Format| matches!(format, Format::Screenshot(_) | Format::Branding(_));
    let has_rendered = plan.formats.iter().any(is_rendered);
    let is_interactive = !plan.actions.is_empty() || plan.profile.is_some();
    (has_rendered || is_interactive || !plan.wait_for.is_zero()) && scraper.browser().is_none()
}

/// Returns the reason why a format is not available, or `None` if it is.
fn reason_missing(
    format: &Format,
    plan: &ScrapePlan,
    lacks_browser: bool,
    model: Option<&dyn Model>,
    media: &MediaTools,
) -> Option<&'static str> {
    match format {
        Format::Markdown(_)
        | Format::Html(_)
        | Format::RawHtml(_)
        | Format::RawBase64(_)
        | Format::Links(_)
        | Format::Images(_)
        | Format::Product(_)
        | Format::Menu(_)
        | Format::Attributes(_) => None,
        Format::Screenshot(_) => lacks_browser.then_some("no browser is installed"),
        Format::Branding(_) if lacks_browser => Some("no browser is installed"),
        Format::Branding(_) => model.is_none().then_some(NO_MODEL_FOR_BRANDING),
        Format::Summary(_) | Format::Json(_) | Format::Question(_) => {
            model.is_none().then_some("no language model is configured")
        }
        Format::Highlights(_) => model
            .is_none()
            .then_some("no language model is configured; the passages were chosen by the words of the query"),
        Format::ChangeTracking(options) => reason_untracked(plan.tracking)
            .or_else(|| (has_json_mode(options) && model.is_none()).then_some(NO_MODEL_FOR_JSON_MODE)),
        Format::Audio(_) | Format::Video(_) => media.reason_missing(plan),
    }
}

/// Returns the reason why a page is not compared with its last scrape.
fn reason_untracked(tracking: TrackingPlan) -> Option<&'static str> {
    match tracking {
        TrackingPlan::Off | TrackingPlan::On => None,
        TrackingPlan::ZeroRetention => {
            Some("not possible with zero data retention, which keeps no history of pages")
        }
        TrackingPlan::Anonymous => {
            Some("not possible for anonymized requests, which keep no history of pages")
        }
        TrackingPlan::CacheOnly => {
            Some("not possible with minAge or lockdown: a page of the cache shows no new change")
        }
    }
}

/// The required features of a plan that are not available.
#[derive(Debug, Default)]
struct UnsupportedFeatures {
    violations: Vec<Violation>,
    actions: bool,
}

impl UnsupportedFeatures {
    fn reject(&mut self, path: &str, message: &str) {
        let (path, message) = (path.to_owned(), message.to_owned());
        self.violations.push(Violation { path, code: ViolationCode::NotSupported, message });
    }

    fn scrape(&mut self, parent: &str, plan: &ScrapePlan, scraper: &Scraper) {
        if plan.profile.is_some() && lacks_browser(plan, scraper) {
            self.reject(&format!("{parent}/profile"), "profile is not available: no browser is installed");
        }
        if !plan.actions.is_empty() && lacks_browser(plan, scraper) {
            self.actions = true;
            self.reject(&format!("{parent}/actions"), "actions are not available: no browser is installed");
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
