//! Properties of the validation of any request body.

use std::fmt::Debug;

use serde_json::Value;
use websvc_validate::{
    FeaturePolicy, Policy, Rejection, Request, RobotsAgentPolicy, ThreatOverride, ThreatPolicy,
    check_request, read_request,
};

/// Keys and values of older clients that are translated while a body is read. The typed request does not have them.
const TRANSLATED: &[&str] = &["ignoreInvalidUrls", "jsonOptions"];

/// Checks that a body is accepted or rejected, and that the request that serde parses from it has the same outcome if it is
/// serialized and read, and if it is checked as a value.
pub(crate) fn check<R>(data: &[u8])
where
    R: for<'a> Request<Context<'a> = &'a Policy> + PartialEq + Debug,
    R::Plan: PartialEq + Debug,
{
    let permissive = Policy {
        zdr: FeaturePolicy::Allowed,
        anon: FeaturePolicy::Allowed,
        threat: ThreatPolicy::On,
        threat_override: ThreatOverride::Allowed,
        robots_agent: RobotsAgentPolicy::Allowed,
        ..Policy::default()
    };
    for policy in [Policy::default(), permissive] {
        let read = read_request::<R>(data, &policy);
        if let Err(rejection) = &read {
            check_rejection(rejection);
        }
        let Ok(request) = serde_json::from_slice::<R>(data) else { continue };
        let body = serde_json::to_vec(&request).expect("a request can be serialized");
        let again: R = serde_json::from_slice(&body).expect("a serialized request can be parsed");
        assert_eq!(again, request, "serialized as {}", String::from_utf8_lossy(&body));
        let checked = check_request(&request, &policy);
        assert_eq!(read_request::<R>(&body, &policy), checked, "both functions return the same");
        // Fewer bodies are accepted as bytes, because their shape is stricter than the type.
        if let Ok(read) = read
            && !is_translated(data)
        {
            let checked = checked.expect("a body that is accepted as bytes is accepted as a value");
            assert_eq!(checked.plan, read.plan, "both functions return the same");
        }
    }
}

fn check_rejection(rejection: &Rejection) {
    match rejection {
        Rejection::Json { message, .. }
        | Rejection::Forbidden { message }
        | Rejection::Exhausted { message } => assert!(!message.is_empty()),
        Rejection::Invalid(violations) => {
            assert!(!violations.is_empty(), "a rejection has violations");
            for violation in violations {
                assert!(violation.path.is_empty() || violation.path.starts_with('/'), "{violation:?}");
                assert!(!violation.message.is_empty(), "{violation:?}");
            }
        }
    }
}

/// Returns whether a body has keys or values that are translated.
fn is_translated(data: &[u8]) -> bool {
    fn any(value: &Value, matches: fn(&str) -> bool) -> bool {
        match value {
            Value::Object(fields) => fields.iter().any(|(key, value)| matches(key) || any(value, matches)),
            Value::Array(items) => items.iter().any(|item| any(item, matches)),
            Value::String(text) => matches(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
    serde_json::from_slice(data).is_ok_and(|body| any(&body, |text| TRANSLATED.contains(&text)))
}
