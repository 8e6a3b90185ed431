//! Reads the JSON body of a request.

use bytes::Bytes;
use http::Request;
use http::header::CONTENT_TYPE;
use websvc_transport::{BodyTimeout, ServerBody};
use websvc_types::ErrorCode;
use websvc_types::limits::BODY_MAX_BYTES;

use crate::response::ApiError;

/// Reads the JSON body of a request.
///
/// # Errors
/// 415 for another media type, 413 for a body that is too large, 408 for one that does not arrive in time.
pub(crate) async fn read(request: Request<ServerBody>) -> Result<Bytes, ApiError> {
    if let Some(value) = request.headers().get(CONTENT_TYPE) {
        let declared = value.to_str().unwrap_or_default();
        if !is_json(declared) {
            let text = format!("Unsupported media type {declared:?}, use application/json");
            return Err(ApiError::new(ErrorCode::UnsupportedMediaType, text));
        }
    }
    Ok(request.into_body().read(BODY_MAX_BYTES, BodyTimeout::default()).await?)
}

/// Returns whether the declared media type of a body is JSON.
pub(super) fn declares_json(request: &Request<ServerBody>) -> bool {
    let declared = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    declared.is_some_and(is_json)
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
