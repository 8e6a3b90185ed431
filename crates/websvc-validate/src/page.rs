//! Rules of a scrape and of the conversion of an uploaded file.

use websvc_types::limits::{UPLOAD_FILE_NAME_MAX_CHARS, UPLOAD_MAX_BYTES, UPLOAD_MEDIA_TYPE_MAX_CHARS};
use websvc_types::{Format, ParseOptions, ScrapeRequest, UploadUrlRequest, ViolationCode};

use crate::bounds;
use crate::checked::Checked;
use crate::error::Rejection;
use crate::path::Path;
use crate::policy::{FeaturePolicy, Policy};
use crate::report::Report;
use crate::retention::RetentionMode;
use crate::scrape::{self, ScrapeContext};
use crate::scrape_plan::ScrapePlan;
use crate::target::{self, Target};

/// Plan of a scrape: all values are valid, all defaults are filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct PagePlan {
    pub(crate) target: Target,
    pub(crate) scrape: ScrapePlan,
}

impl PagePlan {
    /// Returns the page to scrape.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Returns the data retention of the request.
    #[must_use]
    pub fn retention(&self) -> RetentionMode {
        self.scrape.retention()
    }

    /// Returns the plan for scraping the page.
    #[must_use]
    pub fn scrape(&self) -> &ScrapePlan {
        &self.scrape
    }
}

/// Plan of the conversion of an uploaded file.
#[derive(Debug, Clone, PartialEq)]
pub struct FilePlan {
    pub(crate) scrape: ScrapePlan,
}

impl FilePlan {
    /// Returns the data retention of the request.
    #[must_use]
    pub fn retention(&self) -> RetentionMode {
        self.scrape.retention()
    }

    /// Returns the plan for converting the file. It is never stored in the cache.
    #[must_use]
    pub fn scrape(&self) -> &ScrapePlan {
        &self.scrape
    }
}

/// Checks a scrape request. Without formats, the format is markdown.
///
/// # Errors
/// [`Rejection`] lists every rule that the request breaks, or names the permission that the team lacks.
pub fn check_scrape(request: ScrapeRequest, policy: &Policy) -> Result<Checked<PagePlan>, Rejection> {
    let mut report = Report::default();
    let plan = check_page(&mut report, request, policy);
    finish(report, plan)
}

/// Checks a scrape request. `None` means that the report has a violation.
pub(crate) fn check_page(report: &mut Report, request: ScrapeRequest, policy: &Policy) -> Option<PagePlan> {
    let ScrapeRequest { url, zero_data_retention, options } = request;
    let target = target::check(report, &Path::Root.key("url"), &url);
    let retention = retention_of(report, zero_data_retention, policy);
    let mut scrape = check_with_default_format(report, options, policy, retention);
    let target = target?;
    scrape.authorize(target.credentials());
    Some(PagePlan { target, scrape })
}

/// Checks the options of an uploaded file. Without formats, the format is markdown.
pub(crate) fn check_file(report: &mut Report, request: ParseOptions, policy: &Policy) -> FilePlan {
    let ParseOptions { zero_data_retention, options } = request;
    let retention = retention_of(report, zero_data_retention, policy);
    let scrape = check_with_default_format(report, options, policy, retention);
    // A file has no URL under which the cache could find it.
    FilePlan { scrape: ScrapePlan { store_in_cache: false, ..scrape } }
}

/// Checks a request for an upload URL.
pub(crate) fn check_upload_url(report: &mut Report, request: &UploadUrlRequest, policy: &Policy) {
    let UploadUrlRequest { filename, content_type, declared_size_bytes } = request;
    if RetentionMode::requested_retention(policy) != RetentionMode::Normal {
        report.forbid(
            "upload URLs are not available with zero data retention or anonymized requests, because the file would be \
             stored until it is converted: send the file with POST /v2/parse",
        );
    }
    let path = Path::Root.key("filename");
    if !report.has(&path) {
        bounds::chars(report, &path, filename, 1, UPLOAD_FILE_NAME_MAX_CHARS);
    }
    if let Some(content_type) = content_type {
        let path = Path::Root.key("contentType");
        // It becomes a header of the response, and of the request that sends the file.
        if bounds::chars(report, &path, content_type, 1, UPLOAD_MEDIA_TYPE_MAX_CHARS)
            && !content_type.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        {
            report.violation(&path, ViolationCode::InvalidFormat, |name| {
                format!("{name} must be a media type of printable ASCII characters, such as application/pdf")
            });
        }
    }
    if let Some(bytes) = declared_size_bytes {
        bounds::number(report, &Path::Root.key("declaredSizeBytes"), *bytes, 1, UPLOAD_MAX_BYTES);
    }
}

/// Checks the options of a single page or file. Without formats, the format is markdown.
pub(crate) fn check_with_default_format(
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

/// Returns the plan.
///
/// # Errors
/// [`Rejection`] with the findings of the report.
pub(crate) fn finish(report: Report, plan: Option<PagePlan>) -> Result<Checked<PagePlan>, Rejection> {
    let Checked { plan, warnings } = report.finish(plan)?;
    let plan = plan.expect("a missing plan has a violation");
    Ok(Checked { plan, warnings })
}

fn retention_of(report: &mut Report, zero: Option<bool>, policy: &Policy) -> RetentionMode {
    let policy_retention = RetentionMode::requested_retention(policy);
    if zero != Some(true) {
        return policy_retention;
    }
    if policy.zdr == FeaturePolicy::Off {
        report.forbid("zeroDataRetention is not enabled for this team");
    }
    RetentionMode::Zero
}
