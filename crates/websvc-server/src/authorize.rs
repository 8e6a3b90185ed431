//! Stage 3, second half: checks whether the key of a caller may request an operation and its formats.

use websvc_store::{Caller, KeyScope};
use websvc_types::{ErrorCode, Format};

use crate::response::ApiError;

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

/// Checks that a caller may request pages in these formats.
///
/// # Errors
/// 403 that names the scope `scrape`, or the first format that the key does not allow.
pub(crate) fn authorize_formats(caller: Option<&Caller>, formats: &[Format]) -> Result<(), ApiError> {
    if formats.is_empty() {
        return Ok(());
    }
    authorize(caller, KeyScope::Scrape)?;
    authorize_format_names(caller, formats)
}

/// Checks that a caller who may request pages may have them in these formats.
///
/// # Errors
/// 403 that names the first format that the key does not allow.
pub(crate) fn authorize_format_names(caller: Option<&Caller>, formats: &[Format]) -> Result<(), ApiError> {
    let Some(caller) = caller else { return Ok(()) };
    match formats.iter().find(|format| !caller.rights.allows_format(format.name())) {
        None => Ok(()),
        Some(format) => {
            let text = format!("Forbidden: the key does not allow the format \"{}\"", format.name());
            Err(ApiError::new(ErrorCode::Forbidden, text))
        }
    }
}
