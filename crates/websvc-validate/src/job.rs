//! The rules that all jobs share.

use websvc_types::limits::{JOB_CONCURRENCY_MAX, JOB_CONCURRENCY_MIN};
use websvc_types::{ScrapeOptions, ViolationCode};

use crate::bounds;
use crate::path::Path;
use crate::policy::{FeaturePolicy, Policy};
use crate::report::Report;
use crate::retention::RetentionMode;

/// Checks what may be kept: the documents of a job are kept until they are fetched, so that nobody who may leave nothing
/// can have one.
pub(crate) fn check_retention(
    report: &mut Report,
    zero: Option<bool>,
    lockdown: &Path<'_>,
    options: &ScrapeOptions,
    policy: &Policy,
) {
    let asked = zero == Some(true);
    if asked && policy.zdr == FeaturePolicy::Off {
        report.forbid("zeroDataRetention is not enabled for this team");
    } else if asked || RetentionMode::requested_retention(policy) != RetentionMode::Normal {
        report.forbid(
            "jobs are not available with zero data retention or anonymized requests: their results are kept until \
             they are fetched; use /v2/scrape, page by page",
        );
    }
    if options.lockdown == Some(true) {
        report.violation(lockdown, ViolationCode::NotSupported, |name| {
            format!("{name} is not available in jobs: it counts as zero data retention, and their results are kept")
        });
    }
}

/// Checks a number of pages at one time.
pub(crate) fn check_concurrency(report: &mut Report, given: Option<u32>) -> Option<usize> {
    let most = given?;
    let path = Path::Root;
    bounds::number(report, &path.key("maxConcurrency"), most, JOB_CONCURRENCY_MIN, JOB_CONCURRENCY_MAX);
    Some(most as usize)
}
