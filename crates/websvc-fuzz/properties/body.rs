//! Properties of any body, of a search or of scrape options.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use websvc_validate::{Checked, FeaturePolicy, Policy, Rejection, ThreatOverride, ThreatPolicy};

/// Keys that are read as others, so that the typed request, which does not know them, says something else.
const TRANSLATED: &[&str] = &["ignoreInvalidUrls", "jsonOptions"];

/// Checks that a body is answered by `read_bytes`, and that the typed request that serde makes of it says the same
/// there, and to `check_value`.
pub(crate) fn check<T, P>(
    data: &[u8],
    read_bytes: fn(&[u8], &Policy) -> Result<Checked<P>, Rejection>,
    check_value: fn(T, &Policy) -> Result<Checked<P>, Rejection>,
) where
    T: Serialize + DeserializeOwned + Clone + PartialEq + Debug,
    P: PartialEq + Debug,
{
    let generous = Policy {
        zdr: FeaturePolicy::Allowed,
        anon: FeaturePolicy::Allowed,
        threat: ThreatPolicy::On,
        threat_override: ThreatOverride::Allowed,
        ..Policy::default()
    };
    for policy in [Policy::default(), generous] {
        let read = read_bytes(data, &policy);
        if let Err(rejection) = &read {
            check_rejection(rejection);
        }
        let Ok(request) = serde_json::from_slice::<T>(data) else { continue };
        let body = serde_json::to_vec(&request).expect("a request can be written");
        let again: T = serde_json::from_slice(&body).expect("what was written can be read");
        assert_eq!(again, request, "written as {}", String::from_utf8_lossy(&body));
        let checked = check_value(request, &policy);
        assert_eq!(read_bytes(&body, &policy), checked, "both entries agree");
        // Fewer bodies are accepted as bytes: the shape of a body says more than its type.
        if let Ok(read) = read
            && !is_translated(data)
        {
            let checked = checked.expect("what is accepted as bytes is accepted as a value");
            assert_eq!(checked.plan, read.plan, "both entries agree");
        }
    }
}

fn check_rejection(rejection: &Rejection) {
    match rejection {
        Rejection::Json { message, .. }
        | Rejection::Forbidden { message }
        | Rejection::Exhausted { message } => assert!(!message.is_empty()),
        Rejection::Invalid(violations) => {
            assert!(!violations.is_empty(), "a refusal has a reason");
            for violation in violations {
                assert!(violation.path.is_empty() || violation.path.starts_with('/'), "{violation:?}");
                assert!(!violation.message.is_empty(), "{violation:?}");
            }
        }
    }
}

fn is_translated(data: &[u8]) -> bool {
    fn any(value: &Value, found: fn(&str) -> bool) -> bool {
        match value {
            Value::Object(fields) => fields.iter().any(|(key, value)| found(key) || any(value, found)),
            Value::Array(items) => items.iter().any(|item| any(item, found)),
            Value::String(text) => found(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
    serde_json::from_slice(data).is_ok_and(|body| any(&body, |text| TRANSLATED.contains(&text)))
}
