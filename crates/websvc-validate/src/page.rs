//! Rules of a scrape and of the conversion of an uploaded file.

use websvc_types::limits::{UPLOAD_FILE_NAME_MAX_CHARS, UPLOAD_MEDIA_TYPE_MAX_CHARS, UPLOAD_REF_MAX_CHARS};
use websvc_types::{ParseOptions, ParseUploadRequest, ScrapeRequest, UploadUrlRequest, ViolationCode};

use crate::path::Path;
use crate::policy::{FeaturePolicy, Policy};
use crate::report::Report;
use crate::retention::RetentionMode;
use crate::scrape_plan::ScrapePlan;
use crate::target::{self, Target};
use crate::{bounds, scrape};

/// Plan of a scrape: all values are valid, all defaults are filled in.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PagePlan {
    /// The page to scrape.
    pub target: Target,
    /// The plan for scraping the page.
    pub scrape: ScrapePlan,
}

/// Plan of the conversion of an uploaded file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FilePlan {
    /// The plan for converting the file. It is never stored in the cache.
    pub scrape: ScrapePlan,
}

/// Checks a scrape request. Without formats, the format is markdown. `None` means that the report has a violation.
pub(crate) fn check_page(report: &mut Report, request: ScrapeRequest, policy: &Policy) -> Option<PagePlan> {
    let ScrapeRequest { url, zero_data_retention, options } = request;
    let target = target::check(report, &Path::Root.key("url"), &url);
    let retention = retention_of(report, zero_data_retention, policy);
    let mut scrape = scrape::check_with_default_format(report, options, policy, retention);
    let target = target?;
    scrape.authorize(target.credentials());
    Some(PagePlan { target, scrape })
}

/// Checks the options of an uploaded file. Without formats, the format is markdown.
pub(crate) fn check_file(report: &mut Report, request: ParseOptions, policy: &Policy) -> FilePlan {
    let ParseOptions { zero_data_retention, options } = request;
    let retention = retention_of(report, zero_data_retention, policy);
    let scrape = scrape::check_with_default_format(report, options, policy, retention);
    // A file has no URL under which the cache could find it.
    FilePlan { scrape: ScrapePlan { store_in_cache: false, ..scrape } }
}

/// Checks a request to convert a file that was sent to an upload URL. Also returns the reference of the file, whose
/// signature is not checked.
pub(crate) fn check_uploaded_file(
    report: &mut Report,
    request: ParseUploadRequest,
    policy: &Policy,
) -> (String, FilePlan) {
    let ParseUploadRequest { upload_ref, zero_data_retention, options } = request;
    let path = Path::Root.key("uploadRef");
    if !report.has(&path) {
        bounds::chars(report, &path, &upload_ref, 1, UPLOAD_REF_MAX_CHARS);
    }
    (upload_ref, check_file(report, ParseOptions { zero_data_retention, options }, policy))
}

/// Checks a request for an upload URL, and returns it.
pub(crate) fn check_upload_url(
    report: &mut Report,
    request: UploadUrlRequest,
    policy: &Policy,
) -> UploadUrlRequest {
    let UploadUrlRequest { filename, content_type, declared_size_bytes: _ } = &request;
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
    request
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
