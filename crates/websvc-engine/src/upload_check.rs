//! Checks the options of an uploaded file, which has no host and is not rendered.

use websvc_types::limits::COUNTRY_DEFAULT;
use websvc_types::{ErrorCode, Format, Proxy, Violation, ViolationCode};
use websvc_validate::ScrapePlan;

use crate::error::EngineError;

/// Checks that a plan has no option that does not apply to files. Options without effect, such as cache ages, are
/// accepted, because official clients send them with every request.
///
/// # Errors
/// [`EngineError::NotSupported`] with every option that does not apply.
pub(crate) fn check_upload_features(plan: &ScrapePlan) -> Result<(), EngineError> {
    let location = &plan.location;
    let options = [
        ("actions", !plan.actions.is_empty()),
        ("headers", !plan.headers.is_empty()),
        ("location", location.country != COUNTRY_DEFAULT || !location.languages.is_empty()),
        ("lockdown", plan.lockdown),
        ("minAge", plan.min_age.is_some()),
        ("mobile", plan.mobile),
        ("profile", plan.profile.is_some()),
        ("proxy", plan.proxy == Proxy::Enhanced),
        ("waitFor", !plan.wait_for.is_zero()),
    ];
    let mut violations: Vec<Violation> = options
        .into_iter()
        .filter(|(_, is_set)| *is_set)
        .map(|(name, _)| violation(format!("/{name}"), name))
        .collect();
    for format in &plan.formats {
        if needs_page(format) {
            violations.push(violation("/formats".to_owned(), &format!("the format {}", format.name())));
        }
    }
    if violations.is_empty() {
        return Ok(());
    }
    Err(EngineError::NotSupported { code: ErrorCode::ParseUnsupportedOptions, violations })
}

fn violation(path: String, option: &str) -> Violation {
    let message = format!("{option} does not apply to uploaded files");
    Violation { path, code: ViolationCode::NotSupported, message }
}

/// Returns whether a format needs a page of the web.
fn needs_page(format: &Format) -> bool {
    match format {
        Format::Screenshot(_)
        | Format::Branding(_)
        | Format::ChangeTracking(_)
        | Format::Audio(_)
        | Format::Video(_) => true,
        Format::Markdown(_)
        | Format::Html(_)
        | Format::RawHtml(_)
        | Format::RawBase64(_)
        | Format::Links(_)
        | Format::Images(_)
        | Format::Summary(_)
        | Format::Json(_)
        | Format::Question(_)
        | Format::Highlights(_)
        | Format::Attributes(_)
        | Format::Product(_)
        | Format::Menu(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use websvc_types::ParseOptions;
    use websvc_validate::{Policy, read_request};

    use super::*;

    #[track_caller]
    fn check(options: &Value, expected: &[&str]) {
        let plan =
            read_request::<ParseOptions>(options.to_string().as_bytes(), &Policy::default()).unwrap().plan;
        let found: Vec<String> = match check_upload_features(&plan.scrape) {
            Ok(()) => Vec::new(),
            Err(EngineError::NotSupported { code, violations }) => {
                assert_eq!(code, ErrorCode::ParseUnsupportedOptions);
                violations.into_iter().map(|violation| violation.path).collect()
            }
            Err(other) => panic!("{other}"),
        };
        assert_eq!(found, expected, "{options}");
    }

    #[test]
    fn options_that_do_not_apply_to_files_are_rejected() {
        check(&json!({}), &[]);
        check(
            &json!({
                "actions": [{ "type": "scrape" }],
                "headers": { "cookie": "a=b" },
                "location": { "country": "DE" },
                "lockdown": true,
                "minAge": 1,
                "mobile": true,
                "profile": { "name": "a" },
                "proxy": "stealth",
                "waitFor": 10,
                "formats": ["markdown", "screenshot", "branding", "changeTracking", "audio", "video"],
            }),
            &[
                "/actions",
                "/headers",
                "/location",
                "/lockdown",
                "/minAge",
                "/mobile",
                "/profile",
                "/proxy",
                "/waitFor",
                "/formats",
                "/formats",
                "/formats",
                "/formats",
                "/formats",
            ],
        );
    }

    #[test]
    fn options_that_clients_always_send_are_accepted() {
        check(
            &json!({
                "formats": ["markdown", "html", "rawHtml", "links", "images", "summary"],
                "onlyMainContent": false,
                "mobile": false,
                "waitFor": 0,
                "skipTlsVerification": true,
                "removeBase64Images": true,
                "fastMode": false,
                "blockAds": true,
                "storeInCache": true,
                "maxAge": 14_400_000,
                "location": { "country": "US" },
                "proxy": "auto",
                "actions": [],
                "parsers": [{ "type": "pdf", "maxPages": 3 }],
                "origin": "python-sdk@4.55.0",
            }),
            &[],
        );
    }
}
