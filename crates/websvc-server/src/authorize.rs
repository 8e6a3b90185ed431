//! Stage 3, second half: checks whether the key of a caller may request an operation and the formats of its pages.

use websvc_store::{Caller, KeyScope};
use websvc_types::{Action, ErrorCode};
use websvc_validate::ScrapePlan;

use crate::response::ApiError;
use crate::route::Endpoint;

/// Checks that a caller may request operations of a scope. Without authentication every caller may.
///
/// # Errors
/// 403 that names the scope.
pub(crate) fn authorize(caller: Option<&Caller>, scope: KeyScope) -> Result<(), ApiError> {
    match caller {
        Some(caller) if !caller.rights.allows_scope(scope) => {
            let text = format!("Forbidden: the key does not have the scope \"{scope}\"");
            Err(ApiError::new(ErrorCode::Forbidden, text))
        }
        Some(_) | None => Ok(()),
    }
}

/// Checks that a caller may send requests to an endpoint: its scope, and the formats of all its responses.
///
/// # Errors
/// 403 that names the scope or the format.
pub(crate) fn authorize_endpoint(caller: Option<&Caller>, endpoint: &Endpoint) -> Result<(), ApiError> {
    authorize_rights(caller, endpoint.scope, endpoint.formats)
}

/// Checks that a caller has a scope and may have formats.
///
/// # Errors
/// 403 that names the scope or the format.
pub(crate) fn authorize_rights(
    caller: Option<&Caller>,
    scope: Option<KeyScope>,
    formats: &[&str],
) -> Result<(), ApiError> {
    if let Some(scope) = scope {
        authorize(caller, scope)?;
    }
    formats.iter().try_for_each(|format| authorize_format(caller, format, ""))
}

/// Checks that a caller may administer the installation.
///
/// # Errors
/// 403 if the key is not an admin key.
pub(crate) fn authorize_admin(caller: &Caller) -> Result<(), ApiError> {
    if caller.rights.admin {
        return Ok(());
    }
    let text = "Forbidden: this needs an admin key (`websvc keys create --team NAME --admin`)";
    Err(ApiError::new(ErrorCode::Forbidden, text))
}

/// Checks that a caller may have what a scrape returns: its formats, the results of its actions, and the pages of
/// documents.
///
/// # Errors
/// 403 that names the first format that the key does not allow.
pub(crate) fn authorize_page(caller: Option<&Caller>, scrape: &ScrapePlan) -> Result<(), ApiError> {
    for format in &scrape.formats {
        authorize_format(caller, format.name(), "")?;
    }
    for action in &scrape.actions {
        if let Some(format) = format_of_action(action) {
            authorize_format(caller, format, &format!(", which the action {} needs", action.name()))?;
        }
    }
    for parser in &scrape.parsers {
        if parser.pages == Some(true) || parser.blocks == Some(true) {
            authorize_format(caller, "markdown", ", which pages and blocks of a parser need")?;
        }
    }
    Ok(())
}

/// Returns the format that a key needs for the result of an action; `None` for an action without a result.
fn format_of_action(action: &Action) -> Option<&'static str> {
    match action {
        // A PDF is a picture of the page, too.
        Action::Screenshot(_) | Action::Pdf(_) => Some("screenshot"),
        // A script can return the source of the page, and can put it into any other format.
        Action::Scrape(_) | Action::ExecuteJavascript(_) => Some("rawHtml"),
        Action::Wait(_) | Action::Click(_) | Action::Write(_) | Action::Press(_) | Action::Scroll(_) => None,
    }
}

/// Checks that the key of a caller allows a format.
fn authorize_format(caller: Option<&Caller>, format: &str, use_of_it: &str) -> Result<(), ApiError> {
    match caller {
        Some(caller) if !caller.rights.allows_format(format) => {
            let text = format!("Forbidden: the key does not allow the format \"{format}\"{use_of_it}");
            Err(ApiError::new(ErrorCode::Forbidden, text))
        }
        Some(_) | None => Ok(()),
    }
}
