//! What an uploaded file cannot have: it is on no host, and no browser shows it.

use websvc_types::limits::COUNTRY_DEFAULT;
use websvc_types::{ErrorCode, Format, Proxy, Violation, ViolationCode};
use websvc_validate::ScrapePlan;

use crate::error::EngineError;

/// Compares the plan of an uploaded file with what a file can have. Options that ask for nothing beyond it, such as ages
/// in the cache, have no effect and are let through: official clients send them with every request.
///
/// # Errors
/// [`EngineError::NotSupported`] with every option that a file cannot have.
pub(crate) fn check_upload_features(plan: &ScrapePlan) -> Result<(), EngineError> {
    let location = plan.location();
    let options = [
        ("actions", !plan.actions().is_empty()),
        ("headers", !plan.headers().is_empty()),
        ("location", location.country() != COUNTRY_DEFAULT || !location.languages().is_empty()),
        ("lockdown", plan.lockdown()),
        ("minAge", plan.min_age().is_some()),
        ("mobile", plan.mobile()),
        ("profile", plan.profile().is_some()),
        ("proxy", plan.proxy() == Proxy::Enhanced),
        ("waitFor", !plan.wait_for().is_zero()),
    ];
    let mut violations: Vec<Violation> = options
        .into_iter()
        .filter(|(_, is_asked)| *is_asked)
        .map(|(name, _)| violation(format!("/{name}"), name))
        .collect();
    for format in plan.formats() {
        if needs_page(format) {
            violations.push(violation("/formats".to_owned(), &format!("the format {}", format.name())));
        }
    }
    if violations.is_empty() {
        return Ok(());
    }
    Err(EngineError::NotSupported { code: ErrorCode::ParseUnsupportedOptions, violations })
}

fn violation(path: String, what: &str) -> Violation {
    let message = format!("{what} means nothing for an uploaded file");
    Violation { path, code: ViolationCode::NotSupported, message }
}

/// Returns whether a format is of what only a page of the web has.
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
        | Format::Links(_)
        | Format::Images(_)
        | Format::Summary(_)
        | Format::Json(_)
        | Format::Question(_)
        | Format::Highlights(_)
        | Format::Product(_)
        | Format::Menu(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use websvc_validate::{Policy, read_parse_options};

    use super::*;

    #[track_caller]
    fn check(options: &Value, expected: &[&str]) {
        let plan = read_parse_options(options.to_string().as_bytes(), &Policy::default()).unwrap().plan;
        let found: Vec<String> = match check_upload_features(plan.scrape()) {
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
    fn what_a_file_cannot_have_is_named() {
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
    fn what_clients_send_with_every_request_is_let_through() {
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
