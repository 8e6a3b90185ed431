//! Stage 3, second half: whether the key of a caller may ask for an operation, and for its formats.

use websvc_store::{Caller, KeyScope};
use websvc_types::{ErrorCode, Format};

use crate::response::ApiError;

/// Lets a caller ask for an operation that needs a scope. Where nobody is asked for a key, everybody may.
///
/// # Errors
/// 403 that names the scope.
pub(crate) fn authorize(caller: Option<&Caller>, scope: KeyScope) -> Result<(), ApiError> {
    match caller {
        Some(caller) if !caller.rights.allows_scope(scope) => {
            let text = format!("Forbidden: the key has not the scope \"{scope}\"");
            Err(ApiError::new(ErrorCode::Forbidden, text))
        }
        Some(_) | None => Ok(()),
    }
}

/// Lets a caller administer the installation.
///
/// # Errors
/// 403 for all but admin keys.
pub(crate) fn authorise_admin(caller: &Caller) -> Result<(), ApiError> {
    if caller.rights.admin {
        return Ok(());
    }
    let text = "Forbidden: this needs an admin key (`websvc keys create --team NAME --admin`)";
    Err(ApiError::new(ErrorCode::Forbidden, text))
}

/// Lets a caller ask for pages in these formats.
///
/// # Errors
/// 403 that names what the key has not: the scope `scrape`, or the first of the formats.
pub(crate) fn authorise_formats(caller: Option<&Caller>, formats: &[Format]) -> Result<(), ApiError> {
    if formats.is_empty() {
        return Ok(());
    }
    authorize(caller, KeyScope::Scrape)?;
    authorise_format_names(caller, formats)
}

/// Lets a caller who may have pages have them in these formats.
///
/// # Errors
/// 403 that names the first of the formats that the key has not.
pub(crate) fn authorise_format_names(caller: Option<&Caller>, formats: &[Format]) -> Result<(), ApiError> {
    let Some(caller) = caller else { return Ok(()) };
    match formats.iter().find(|format| !caller.rights.allows_format(format.name())) {
        None => Ok(()),
        Some(format) => {
            let text = format!("Forbidden: the key may not ask for the format \"{}\"", format.name());
            Err(ApiError::new(ErrorCode::Forbidden, text))
        }
    }
}
