//! The JSON body of a request, which the service has received within the limit of the operation.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request};
use serde::de::DeserializeOwned;
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;
use websvc_validate::check_values;

use crate::response::ApiError;

/// Returns the JSON body of a request.
///
/// # Errors
/// 415 for another media type.
pub(crate) fn read(request: Request<ServerBody>) -> Result<Bytes, ApiError> {
    if let Some(value) = request.headers().get(CONTENT_TYPE) {
        let declared = value.to_str().unwrap_or_default();
        if !is_json(declared) {
            let text = format!("Unsupported media type {declared:?}, use application/json");
            return Err(ApiError::new(ErrorCode::UnsupportedMediaType, text));
        }
    }
    Ok(request.into_body().into_received())
}

/// Parses the body of a request that only the pages of this service send.
///
/// # Errors
/// 400 if it has too many values, or does not have the type `T`.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    check_values(body)?;
    serde_json::from_slice(body)
        .map_err(|error| ApiError::new(ErrorCode::BadRequest, format!("Bad request: {error}")))
}

/// Returns whether the declared media type of a body is JSON.
pub(crate) fn declares_json(request: &Request<ServerBody>) -> bool {
    let declared = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    declared.is_some_and(is_json)
}

/// Returns whether a body is declared as a form whose fields are encoded as in an address.
pub(crate) fn declares_form(headers: &HeaderMap) -> bool {
    let declared = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = declared.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_media_type_may_have_parameters_and_a_suffix() {
        assert!(is_json("application/json"));
        assert!(is_json("Application/JSON; charset=utf-8"));
        assert!(is_json("application/problem+json"));
        assert!(!is_json("text/plain"));
        assert!(!is_json("application/x-www-form-urlencoded"));
    }
}
