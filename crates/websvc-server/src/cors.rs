//! Cross-origin access for browsers.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
};
use http::{HeaderMap, HeaderValue};

use crate::authenticate::Authentication;

/// The methods of the routes that take a key. A test compares them with the table of routes.
const METHODS: &str = "GET, POST, PUT, PATCH, DELETE";

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
            headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
            headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::{AccessLevel, endpoints};

    #[test]
    fn preflight_allows_the_methods_of_all_routes_with_a_key() {
        let mut headers = HeaderMap::new();
        preflight(Authentication::Required, &mut headers);
        let allowed = headers[ACCESS_CONTROL_ALLOW_METHODS].to_str().unwrap();
        let mut allowed: Vec<_> = allowed.split(", ").collect();
        let routes = endpoints().filter(|route| route.access == AccessLevel::Key);
        let mut methods: Vec<_> = routes.map(|route| route.method.as_str()).collect();
        allowed.sort_unstable();
        methods.sort_unstable();
        methods.dedup();
        assert_eq!(allowed, methods);
    }
}
