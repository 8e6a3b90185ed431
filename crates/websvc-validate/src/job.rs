//! The rules that all jobs share.

use serde_json::Value;
use url::Url;
use websvc_types::limits::{JOB_CONCURRENCY_MAX, JOB_CONCURRENCY_MIN, JOB_URL_MAX_CHARS};
use websvc_types::{ScrapeOptions, ViolationCode};

use crate::bounds;
use crate::path::Path;
use crate::policy::{Allowance, Policy};
use crate::report::Report;
use crate::retention::Retention;

/// Reads the address of a page; one without a scheme is http. `None` for what is none.
pub(crate) fn address(given: &str) -> Option<Url> {
    let given = given.trim();
    if given.is_empty() || given.chars().count() > JOB_URL_MAX_CHARS as usize {
        return None;
    }
    let text = if has_scheme(given) { given.to_owned() } else { format!("http://{given}") };
    Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

/// Returns whether a text begins with a scheme: `host:80/path` has none, `mailto:someone` has one.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_name = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '+' | '-'));
    is_name && !rest.starts_with(|first: char| first.is_ascii_digit())
}

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
    if asked && policy.zdr == Allowance::Off {
        report.forbid("zeroDataRetention is not enabled for this team");
    } else if asked || Retention::demanded(policy) != Retention::Normal {
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

/// Refuses webhooks, which this version does not send: who asks for one relies on it.
pub(crate) fn check_webhook(report: &mut Report, given: Option<&Value>) {
    if given.is_some_and(|given| !given.is_null()) {
        report.violation(&Path::Root.key("webhook"), ViolationCode::NotSupported, |name| {
            format!("{name} is not available yet: ask for the state of the job instead")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_scheme_is_http() {
        for (given, expected) in [
            ("tea.test", Some("http://tea.test/")),
            ("  tea.test:8080/a?b#c ", Some("http://tea.test:8080/a?b#c")),
            ("HTTPS://Tea.test/A", Some("https://tea.test/A")),
            ("ftp://tea.test/", None),
            ("mailto:a@tea.test", None),
            ("http://", None),
            ("a b", None),
            ("", None),
        ] {
            assert_eq!(address(given).as_ref().map(Url::as_str), expected, "{given}");
        }
        assert_eq!(address(&"a".repeat(JOB_URL_MAX_CHARS as usize + 1)), None);
    }
}
