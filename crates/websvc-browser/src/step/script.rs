//! The action `executeJavascript`: in the page's own world, with nothing but what the page has.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::Failure;
use crate::connection::CallError;
use crate::page::{Outcome, Page};
use crate::rendered::Returned;

/// Runs a script and returns what it gives.
///
/// A script is an expression or statements. One that `return`s or `await`s at its top level is no script by itself,
/// so it is run as the body of a function.
pub(super) async fn run(page: &Page<'_>, script: &str) -> Result<Returned, Failure> {
    let result = match evaluate(page, script).await? {
        Outcome::Threw(what) if what.starts_with("SyntaxError") => {
            match evaluate(page, &format!("(async () => {{\n{script}\n}})()")).await? {
                Outcome::Returned(result) => result,
                // What is wrong with the script itself says more.
                Outcome::Threw(again) if again.starts_with("SyntaxError") => {
                    return Err(Failure::Reason(what));
                }
                Outcome::Threw(what) => return Err(Failure::Reason(what)),
            }
        }
        Outcome::Threw(what) => return Err(Failure::Reason(what)),
        Outcome::Returned(result) => result,
    };
    page.calm().await?;
    Ok(returned(result))
}

async fn evaluate(page: &Page<'_>, script: &str) -> Result<Outcome, Failure> {
    let left = page.soft_deadline.saturating_duration_since(Instant::now());
    let params = json!({
        "expression": script,
        "returnByValue": true,
        "awaitPromise": true,
        "userGesture": true,
        // A script that never ends is ended; the page stays.
        "timeout": left.as_millis().max(1),
    });
    page.evaluate(params).await.map_err(|error| match error {
        // Chromium calls it an internal error.
        CallError::Refused { .. } if Instant::now() >= page.soft_deadline => {
            Failure::Reason("it was terminated, because it did not end in time".to_owned())
        }
        CallError::Refused { message, .. } => Failure::Reason(message),
        error => error.into(),
    })
}

fn returned(mut result: Value) -> Returned {
    let value = match &result["unserializableValue"] {
        Value::Null => result["value"].take(),
        name => name.clone(),
    };
    let kind = match (result["type"].as_str().unwrap_or_default(), result["subtype"].as_str(), &value) {
        ("object", Some("null"), _) => "null",
        ("object", _, Value::Null) => "null",
        ("object", _, Value::Array(_)) => "array",
        (kind, _, _) => kind,
    };
    Returned { kind: kind.to_owned(), value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(result: Value, kind: &str, value: Value) {
        assert_eq!(returned(result), Returned { kind: kind.to_owned(), value });
    }

    #[test]
    fn values_have_the_names_of_their_types() {
        check(json!({"type": "number", "value": 5}), "number", json!(5));
        check(json!({"type": "number", "unserializableValue": "NaN"}), "number", json!("NaN"));
        check(json!({"type": "bigint", "unserializableValue": "5n"}), "bigint", json!("5n"));
        check(json!({"type": "undefined"}), "undefined", Value::Null);
        check(json!({"type": "object", "subtype": "null", "value": null}), "null", Value::Null);
        check(json!({"type": "object", "value": [1]}), "array", json!([1]));
        check(json!({"type": "object", "value": {"a": 1}}), "object", json!({"a": 1}));
    }
}
