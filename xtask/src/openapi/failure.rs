//! Failed responses, which operations refer to by name.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use websvc_types::ErrorCode;

use super::headers;
use crate::Result;

/// The failed responses of the document.
#[derive(Debug)]
pub(super) struct Failures {
    failures: Vec<(String, Failure)>,
    /// An example of the body by error code, without `success` and `code`.
    examples: Map<String, Value>,
}

/// A failed response.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Failure {
    codes: Vec<String>,
    /// Names of additional headers.
    #[serde(default)]
    headers: Vec<String>,
    /// The response has the headers of the rate limit.
    #[serde(default = "yes")]
    rate_limit: bool,
}

fn yes() -> bool {
    true
}

impl Failures {
    /// Takes the failures and the examples of errors out of the frame of the document.
    pub(super) fn take(frame: &mut Value) -> Result<Self> {
        let frame = frame.as_object_mut().ok_or("the frame is not an object")?;
        let mut take = |name: &str| match frame.shift_remove(name) {
            Some(Value::Object(object)) => Ok(object),
            _ => Err(format!("{name} is not an object")),
        };
        let (failures, examples) = (take("failures")?, take("errors")?);
        let failures = failures
            .into_iter()
            .map(|(name, failure)| match serde_json::from_value(failure) {
                Ok(failure) => Ok((name, failure)),
                Err(error) => Err(format!("failure {name}: {error}")),
            })
            .collect::<std::result::Result<_, _>>()?;
        Ok(Self { failures, examples })
    }

    /// Returns the status of a failure, and a reference to it.
    pub(super) fn reference(&self, name: &str) -> Result<(u16, Value)> {
        let (_, failure) = self
            .failures
            .iter()
            .find(|(known, _)| known == name)
            .ok_or_else(|| format!("the failure {name} is unknown"))?;
        let first = failure.codes.first().ok_or_else(|| format!("the failure {name} has no codes"))?;
        Ok((error_code(first)?.status(), json!({ "$ref": format!("#/components/responses/{name}") })))
    }

    /// Returns the components that references point to.
    pub(super) fn responses(&self) -> Result<Map<String, Value>> {
        let responses = self.failures.iter().map(|(name, failure)| {
            let response = self.response(failure).map_err(|error| format!("failure {name}: {error}"))?;
            Ok((name.clone(), response))
        });
        responses.collect()
    }

    fn response(&self, failure: &Failure) -> Result<Value> {
        let codes: Vec<ErrorCode> =
            failure.codes.iter().map(|code| error_code(code)).collect::<Result<_>>()?;
        if codes.windows(2).any(|pair| pair[0].status() != pair[1].status()) {
            return Err("its codes have different statuses".into());
        }
        let meanings: Vec<String> =
            codes.iter().map(|code| format!("`{code}`: {}", code.meaning())).collect();
        let examples: Map<String, Value> =
            codes.iter().map(|code| self.example(*code)).collect::<Result<_>>()?;
        let schema = json!({ "allOf": [{ "$ref": "#/components/schemas/Error" }, codes_schema(&codes)] });
        Ok(json!({
            "description": meanings.join(" "),
            "headers": headers(failure.rate_limit, &failure.headers),
            "content": { "application/json": { "schema": schema, "examples": examples } },
        }))
    }

    fn example(&self, code: ErrorCode) -> Result<(String, Value)> {
        let name = code.as_str();
        let Some(Value::Object(fields)) = self.examples.get(name) else {
            return Err(format!("errors has no example of {name}").into());
        };
        let mut value = fields.clone();
        value.insert("success".to_owned(), false.into());
        // The specification gives the body of a 408 without a code (section 4.1).
        if code != ErrorCode::RequestTimeout {
            value.insert("code".to_owned(), name.into());
        }
        Ok((name.to_owned(), json!({ "summary": code.meaning(), "value": value })))
    }
}

fn error_code(name: &str) -> Result<ErrorCode> {
    let code = ErrorCode::ALL.iter().find(|code| code.as_str() == name);
    code.copied().ok_or_else(|| format!("{name} is not an error code").into())
}

/// Returns the schema of `code` in a body. The specification defines the body of a 408 without it (section 4.1).
fn codes_schema(codes: &[ErrorCode]) -> Value {
    if codes == [ErrorCode::RequestTimeout] {
        return json!({ "properties": { "code": false } });
    }
    let named = codes.iter().filter(|code| **code != ErrorCode::RequestTimeout);
    let names: Vec<&str> = named.map(|code| code.as_str()).collect();
    if names.len() < codes.len() {
        return json!({ "properties": { "code": { "enum": names } } });
    }
    json!({ "properties": { "code": { "enum": names } }, "required": ["code"] })
}
