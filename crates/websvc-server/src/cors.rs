//! Cross-origin access for browsers.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
};
use http::{HeaderMap, HeaderValue};

use crate::authenticate::Authentication;

/// Allows every origin if requests need a key. Without authentication no origin is allowed: otherwise any page that a
/// user visits could use the service on that user's machine.
pub(crate) fn allow(mode: Authentication, headers: &mut HeaderMap) {
    match mode {
        Authentication::Open => {}
        Authentication::Required => {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            let exposed = "retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset, ratelimit-policy, \
                           x-request-id";
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(exposed));
        }
    }
}

/// Adds the additional headers of a response to a preflight request.
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
