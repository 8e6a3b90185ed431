//! The action `executeJavascript`: in the page's own world, with nothing but what the page has.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::failure::Failure;
use crate::connection::CdpError;
use crate::page::{Outcome, Page};
use crate::rendered_page::Returned;

const NOT_IN_TIME: &str = "it was terminated, because it did not end in time";

/// Serializes the value of a script in its own page, because the protocol refuses what refers to itself and gives `{}`
/// for a date.
const SERIALIZE: &str = include_str!("serialize.js");

/// Runs a script and returns its value; a value that is not serialized as a whole is a warning of the page.
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
    let (returned, warning) = match result["objectId"].as_str() {
        Some(object) => serialized(page, &result, object).await?,
        None => (returned(result), None),
    };
    page.wait_idle_after_action().await?;
    if let Some(warning) = warning {
        page.warn(warning);
    }
    Ok(returned)
}

/// Returns an object of the page as far as it can be serialized, and what is not as it was.
async fn serialized(
    page: &Page<'_>,
    result: &Value,
    object: &str,
) -> Result<(Returned, Option<String>), Failure> {
    let params = json!({"objectId": object, "functionDeclaration": SERIALIZE, "returnByValue": true});
    let calling = page.call("Runtime.callFunctionOn", params);
    let answer = tokio::time::timeout_at(page.soft_deadline, calling).await;
    let mut answer = match answer.map_err(|_elapsed| Failure::Reason(NOT_IN_TIME.to_owned()))? {
        Ok(answer) => answer,
        // The script has led to another page, or its value is more than an answer has room for.
        Err(CdpError::Refused { .. } | CdpError::TooLarge { .. }) => Value::Null,
        Err(error @ CdpError::Lost) => return Err(error.into()),
    };
    let kind = result["type"].as_str().unwrap_or_default().to_owned();
    let mut answer = answer["result"]["value"].take();
    let (Some(value), Some(cyclic), Some(cut)) =
        (answer.get_mut("value").map(Value::take), answer["cyclic"].as_bool(), answer["cut"].as_bool())
    else {
        let value = result["description"].as_str().map_or(Value::Null, Value::from);
        let warning = "the value of a script could not be serialized: only its description is given";
        return Ok((Returned { kind, value }, Some(warning.to_owned())));
    };
    let kind = if kind == "object" && value.is_array() { "array".to_owned() } else { kind };
    let warning = match (cut, cyclic) {
        (true, _) => Some(
            "the value of a script is too large or too deep: what is beyond the limits is given as \"[Truncated]\"",
        ),
        (false, true) => {
            Some("the value of a script refers to itself: each such reference is given as \"[Circular]\"")
        }
        (false, false) => None,
    };
    Ok((Returned { kind, value }, warning.map(str::to_owned)))
}

async fn evaluate(page: &Page<'_>, script: &str) -> Result<Outcome, Failure> {
    let left = page.soft_deadline.saturating_duration_since(Instant::now());
    let params = json!({
        "expression": script,
        "returnByValue": false,
        "awaitPromise": true,
        "userGesture": true,
        // A script that never ends is ended; the page stays.
        "timeout": left.as_millis().max(1),
    });
    page.evaluate(params).await.map_err(|error| match error {
        // Chromium calls it an internal error.
        CdpError::Refused { .. } if Instant::now() >= page.soft_deadline => {
            Failure::Reason(NOT_IN_TIME.to_owned())
        }
        CdpError::Refused { message, .. } => Failure::Reason(message),
        error => error.into(),
    })
}

/// Returns a value that the protocol gives as it is: everything but objects, functions and symbols.
fn returned(mut result: Value) -> Returned {
    let value = match &result["unserializableValue"] {
        Value::Null => result["value"].take(),
        name => name.clone(),
    };
    let kind = match (result["type"].as_str().unwrap_or_default(), &value) {
        ("object", Value::Null) => "null",
        (kind, _) => kind,
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
    }
}
