//! Configured headers of requests to external services.

use anyhow::{Context, Result, ensure};
use http::{HeaderMap, HeaderName, HeaderValue};
use websvc_transport::is_forbidden_header;

/// Adds a header with a secret value, in place of one with the same name, if there is any. Returns whether there was one.
///
/// # Errors
/// The header is invalid, or the client sets it itself. The errors begin with `from`, the key or the variable, and do not
/// contain the value.
pub(super) fn insert_secret(headers: &mut HeaderMap, name: &str, value: &str, from: &str) -> Result<bool> {
    let name = HeaderName::try_from(name).with_context(|| format!("{from}: invalid header name"))?;
    ensure!(!is_forbidden_header(&name), "{from}: the header {name} is set by the client itself");
    let mut value =
        HeaderValue::try_from(value).with_context(|| format!("{from}: invalid value of header {name}"))?;
    value.set_sensitive(true);
    Ok(headers.insert(name, value).is_some())
}
