//! Rules of all jobs.

use websvc_types::{ScrapeOptions, ViolationCode};

use crate::path::Path;
use crate::policy::Policy;
use crate::report::Report;
use crate::retention::RetentionMode;

/// Checks the data retention. A job is durable: its URLs and documents are stored until it expires, so that it outlives the
/// process and every replica can work on it. So it is not available with zero data retention or for anonymized requests,
/// whatever the team may.
pub(crate) fn check_retention(
    report: &mut Report,
    zero: Option<bool>,
    lockdown_path: &Path<'_>,
    options: &ScrapeOptions,
    policy: &Policy,
) {
    if zero == Some(true) || RetentionMode::requested_retention(policy) != RetentionMode::Normal {
        report.forbid(
            "jobs are not available with zero data retention (zeroDataRetention, or forced for the team) or anonymized \
             requests, because their URLs and documents are stored until they expire; scrape the pages one by one with \
             POST /v2/scrape",
        );
    }
    if options.lockdown == Some(true) {
        report.violation(lockdown_path, ViolationCode::NotSupported, |name| {
            format!(
                "{name} is not available in jobs: it counts as zero data retention, and their documents are stored"
            )
        });
    }
}
