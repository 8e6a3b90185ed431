//! The action `executeJavascript`: runs a script with the rights of the page's own scripts.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::error::ActionError;
use crate::connection::CdpError;
use crate::page::{Page, ScriptOutcome};
use crate::rendered_page::ScriptValue;

const TIMED_OUT: &str = "the script was terminated: it did not end in time";

/// Serializes the value of a script in the page, because the protocol refuses cyclic values and returns `{}` for a date.
const SERIALIZE: &str = include_str!("serialize.js");

/// Runs a script and returns its value. A value that cannot be serialized completely adds a warning to the page.
///
/// A script is an expression or statements. With `return` or `await` at the top level, it is a syntax error, so it runs as
/// the body of an async function instead.
pub(super) async fn run(page: &Page<'_>, script: &str) -> Result<ScriptValue, ActionError> {
    let result = match evaluate(page, script).await? {
        ScriptOutcome::Threw(error) if error.starts_with("SyntaxError") => {
            match evaluate(page, &format!("(async () => {{\n{script}\n}})()")).await? {
                ScriptOutcome::Returned(result) => result,
                // The error of the script as written is more useful.
                ScriptOutcome::Threw(wrapped) if wrapped.starts_with("SyntaxError") => {
                    return Err(ActionError::Failed(error));
                }
                ScriptOutcome::Threw(error) => return Err(ActionError::Failed(error)),
            }
        }
        ScriptOutcome::Threw(error) => return Err(ActionError::Failed(error)),
        ScriptOutcome::Returned(result) => result,
    };
    let (value, warning) = match result["objectId"].as_str() {
        Some(object) => serialize(page, &result, object).await?,
        None => (primitive(result), None),
    };
    page.wait_idle_after_action().await?;
    if let Some(warning) = warning {
        page.warn(warning);
    }
    Ok(value)
}

/// Returns an object of the page as far as it can be serialized, with a warning if that is incomplete.
async fn serialize(
    page: &Page<'_>,
    result: &Value,
    object: &str,
) -> Result<(ScriptValue, Option<String>), ActionError> {
    let params = json!({"objectId": object, "functionDeclaration": SERIALIZE, "returnByValue": true});
    let call = page.call("Runtime.callFunctionOn", params);
    let response = tokio::time::timeout_at(page.soft_deadline, call).await;
    let mut response = match response.map_err(|_elapsed| ActionError::Failed(TIMED_OUT.to_owned()))? {
        Ok(response) => response,
        // The script navigated to another page, or its value is too large for a message.
        Err(CdpError::Refused { .. } | CdpError::TooLarge { .. }) => Value::Null,
        Err(error @ CdpError::Lost) => return Err(error.into()),
    };
    let kind = result["type"].as_str().unwrap_or_default().to_owned();
    let mut serialized = response["result"]["value"].take();
    let (Some(value), Some(cyclic), Some(cut)) = (
        serialized.get_mut("value").map(Value::take),
        serialized["cyclic"].as_bool(),
        serialized["cut"].as_bool(),
    ) else {
        let value = result["description"].as_str().map_or(Value::Null, Value::from);
        let warning = "the value of a script could not be serialized: only its description is returned";
        return Ok((ScriptValue { kind, value }, Some(warning.to_owned())));
    };
    let kind = if kind == "object" && value.is_array() { "array".to_owned() } else { kind };
    let warning = match (cut, cyclic) {
        (true, _) => {
            Some("the value of a script is too large or too deep: the rest is replaced by \"[Truncated]\"")
        }
        (false, true) => {
            Some("the value of a script refers to itself: each such reference is replaced by \"[Circular]\"")
        }
        (false, false) => None,
    };
    Ok((ScriptValue { kind, value }, warning.map(str::to_owned)))
}

async fn evaluate(page: &Page<'_>, script: &str) -> Result<ScriptOutcome, ActionError> {
    let remaining = page.soft_deadline.saturating_duration_since(Instant::now());
    let params = json!({
        "expression": script,
        "returnByValue": false,
        "awaitPromise": true,
        "userGesture": true,
        // Terminates a script that never ends, but not its page.
        "timeout": remaining.as_millis().max(1),
    });
    page.evaluate(params).await.map_err(|error| match error {
        // A terminated script is an internal error in Chromium.
        CdpError::Refused { .. } if Instant::now() >= page.soft_deadline => {
            ActionError::Failed(TIMED_OUT.to_owned())
        }
        CdpError::Refused { message, .. } => ActionError::Failed(message),
        error => error.into(),
    })
}

/// Returns a value that needs no serialization: anything but objects, functions and symbols.
fn primitive(mut result: Value) -> ScriptValue {
    let value = match &result["unserializableValue"] {
        Value::Null => result["value"].take(),
        name => name.clone(),
    };
    let kind = match (result["type"].as_str().unwrap_or_default(), &value) {
        ("object", Value::Null) => "null",
        (kind, _) => kind,
    };
    ScriptValue { kind: kind.to_owned(), value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(result: Value, kind: &str, value: Value) {
        assert_eq!(primitive(result), ScriptValue { kind: kind.to_owned(), value });
    }

    #[test]
    fn primitive_values_have_the_names_of_their_types() {
        check(json!({"type": "number", "value": 5}), "number", json!(5));
        check(json!({"type": "number", "unserializableValue": "NaN"}), "number", json!("NaN"));
        check(json!({"type": "bigint", "unserializableValue": "5n"}), "bigint", json!("5n"));
        check(json!({"type": "undefined"}), "undefined", Value::Null);
        check(json!({"type": "object", "subtype": "null", "value": null}), "null", Value::Null);
    }
}
