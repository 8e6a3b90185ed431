//! The rules of a request for one page, and of one for an uploaded file.

use websvc_types::{Format, ParseOptions, ScrapeRequest};

use crate::checked::Checked;
use crate::error::Rejection;
use crate::path::Path;
use crate::policy::{FeaturePolicy, Policy};
use crate::report::Report;
use crate::retention::RetentionMode;
use crate::scrape::{self, ScrapeContext};
use crate::scrape_plan::ScrapePlan;
use crate::target::{self, Target};

/// A checked request for one page.
#[derive(Debug, Clone, PartialEq)]
pub struct PagePlan {
    pub(crate) target: Target,
    pub(crate) retention: RetentionMode,
    pub(crate) scrape: ScrapePlan,
}

impl PagePlan {
    /// Returns which page it is.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Returns what may be kept of the request.
    #[must_use]
    pub fn retention(&self) -> RetentionMode {
        self.retention
    }

    /// Returns how the page is scraped.
    #[must_use]
    pub fn scrape(&self) -> &ScrapePlan {
        &self.scrape
    }
}

/// A checked request for an uploaded file.
#[derive(Debug, Clone, PartialEq)]
pub struct FilePlan {
    pub(crate) retention: RetentionMode,
    pub(crate) scrape: ScrapePlan,
}

impl FilePlan {
    /// Returns what may be kept of the request.
    #[must_use]
    pub fn retention(&self) -> RetentionMode {
        self.retention
    }

    /// Returns what is made of the file. It is never kept in the cache.
    #[must_use]
    pub fn scrape(&self) -> &ScrapePlan {
        &self.scrape
    }
}

/// Checks a request for one page, where no formats mean markdown.
///
/// # Errors
/// Every rule that the request breaks, or what the team may not do.
pub fn check_scrape(request: ScrapeRequest, policy: &Policy) -> Result<Checked<PagePlan>, Rejection> {
    let mut report = Report::default();
    let plan = check_page(&mut report, request, policy);
    finish(report, plan)
}

/// Checks a request for one page; no plan is a violation in the report.
pub(crate) fn check_page(report: &mut Report, request: ScrapeRequest, policy: &Policy) -> Option<PagePlan> {
    let ScrapeRequest { url, zero_data_retention, options } = request;
    let target = target::check(report, &Path::Root.key("url"), &url);
    let retention = retention_of(report, zero_data_retention, policy);
    let mut scrape = check_alone(report, options, policy, retention);
    let target = target?;
    scrape.authorize(target.credentials());
    Some(PagePlan { target, retention, scrape })
}

/// Checks the options of an uploaded file, where no formats mean markdown.
pub(crate) fn check_file(report: &mut Report, request: ParseOptions, policy: &Policy) -> FilePlan {
    let ParseOptions { zero_data_retention, options } = request;
    let retention = retention_of(report, zero_data_retention, policy);
    let scrape = check_alone(report, options, policy, retention);
    // It has no address under which it could be found again.
    FilePlan { retention, scrape: ScrapePlan { store_in_cache: false, ..scrape } }
}

/// Checks the options of what is scraped alone, where no formats mean markdown.
pub(crate) fn check_alone(
    report: &mut Report,
    options: websvc_types::ScrapeOptions,
    policy: &Policy,
    retention: RetentionMode,
) -> ScrapePlan {
    let mut plan =
        scrape::check(report, &Path::Root, options, ScrapeContext { policy, retention, threat: None });
    if plan.formats.is_empty() {
        plan.formats.push(Format::Markdown(websvc_types::format::Markdown {}));
    }
    plan
}

/// Returns the plan, if there is one.
///
/// # Errors
/// What speaks against it.
pub(crate) fn finish(report: Report, plan: Option<PagePlan>) -> Result<Checked<PagePlan>, Rejection> {
    let Checked { plan, warnings } = report.finish(plan)?;
    let plan = plan.expect("a page without a plan is a violation");
    Ok(Checked { plan, warnings })
}

fn retention_of(report: &mut Report, zero: Option<bool>, policy: &Policy) -> RetentionMode {
    let demanded = RetentionMode::requested_retention(policy);
    if zero != Some(true) {
        return demanded;
    }
    if policy.zdr == FeaturePolicy::Off {
        report.forbid("zeroDataRetention is not enabled for this team");
    }
    RetentionMode::Zero
}
