//! Cross-origin access for browsers.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
};
use http::{HeaderMap, HeaderValue};

use crate::authenticate::Authentication;

/// Allows every origin where a key is needed anyway. Without authentication no origin is allowed: else any page
/// that a user visits could drive the service on that user's machine.
pub(crate) fn allow(mode: Authentication, headers: &mut HeaderMap) {
    match mode {
        Authentication::Open => {}
        Authentication::Required => {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            let readable = "retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset, ratelimit-policy, \
                            x-request-id";
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(readable));
        }
    }
}

/// Adds what the answer to a preflight request says beyond that.
pub(crate) fn preflight(mode: Authentication, headers: &mut HeaderMap) {
    match mode {
        Authentication::Open => {}
        Authentication::Required => {
            let allowed =
                HeaderValue::from_static("authorization, content-type, x-api-key, x-idempotency-key");
            headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
            headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
        }
    }
}
