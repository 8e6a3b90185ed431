//! The parameters of completions that the operator configures.

use serde_json::{Map, Value, json};

use super::OpenAiError;

/// The parameters that the client sets itself, each with the configuration key that changes it, if there is one.
const OWN: &[(&str, Option<&str>)] = &[
    ("model", Some("model")),
    ("messages", None),
    ("stream", None),
    ("stream_options", None),
    ("response_format", None),
    ("max_tokens", Some("max_output_tokens")),
    ("max_completion_tokens", Some("max_output_tokens")),
    ("temperature", Some("temperature")),
    ("seed", Some("seed")),
    ("reasoning_effort", Some("reasoning_effort")),
    ("n", None),
    ("tools", None),
    ("tool_choice", None),
    ("functions", None),
    ("function_call", None),
];

/// The maximum length of the additional parameters as JSON, in bytes. They are a part of every request.
const MAX_EXTRA_BYTES: usize = 16 * 1024;

/// The maximum temperature of the OpenAI interface.
const MAX_TEMPERATURE: f64 = 2.0;

/// The configured parameters.
#[derive(Clone)]
pub(super) struct Parameters {
    temperature: Value,
    seed: Option<u32>,
    extra_body: Map<String, Value>,
}

impl Parameters {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`OpenAiError`] if a value is out of its range, or the client sets a parameter itself.
    pub(super) fn new(
        temperature: f64,
        seed: Option<u32>,
        extra_body: Map<String, Value>,
    ) -> Result<Self, OpenAiError> {
        if !(0.0..=MAX_TEMPERATURE).contains(&temperature) {
            return Err(OpenAiError::Temperature);
        }
        let mut own = OWN.iter().filter(|(name, _)| extra_body.contains_key(*name));
        if let Some((name, key)) = own.next() {
            return Err(OpenAiError::ExtraParameter { name, key: *key });
        }
        if Value::Object(extra_body.clone()).to_string().len() > MAX_EXTRA_BYTES {
            return Err(OpenAiError::ExtraBody);
        }
        Ok(Self { temperature: json_number(temperature), seed, extra_body })
    }

    /// Adds the parameters to the body of a completion. The temperature is only set if the form of the request has one.
    pub(super) fn apply(&self, body: &mut Value) {
        let Self { temperature, seed, extra_body } = self;
        if let Some(value) = body.get_mut("temperature") {
            value.clone_from(temperature);
        }
        if let Some(seed) = seed {
            body["seed"] = json!(seed);
        }
        for (name, value) in extra_body {
            body[name.as_str()] = value.clone();
        }
    }
}

/// Returns a number as JSON: a whole one without a fraction, because 0 is what servers document.
fn json_number(number: f64) -> Value {
    if number == 0.0 { json!(0) } else { json!(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { panic!("{value}") };
        object
    }

    #[test]
    fn parameters_that_the_client_sets_are_rejected() {
        for (name, key) in OWN {
            let found = Parameters::new(0.0, None, object(json!({ "top_k": 1, *name: 1 })));
            let shown = found.err().unwrap().to_string();
            assert!(shown.contains(&format!("`{name}`")), "{shown}");
            assert_eq!(shown.contains(" in its place"), key.is_some(), "{shown}");
        }
    }

    #[test]
    fn values_out_of_range_are_rejected() {
        for (temperature, is_valid) in
            [(0.0, true), (2.0, true), (-0.1, false), (2.1, false), (f64::NAN, false)]
        {
            assert_eq!(Parameters::new(temperature, None, Map::new()).is_ok(), is_valid, "{temperature}");
        }
        let long = object(json!({ "grammar": "x".repeat(MAX_EXTRA_BYTES) }));
        assert!(matches!(Parameters::new(0.0, None, long), Err(OpenAiError::ExtraBody)));
    }

    #[test]
    fn temperature_is_only_set_if_the_form_has_one() {
        let parameters = Parameters::new(0.5, Some(7), object(json!({ "top_k": 1 }))).ok().unwrap();
        let applied = |mut body: Value| {
            parameters.apply(&mut body);
            body
        };
        assert_eq!(
            applied(json!({ "temperature": 0 })),
            json!({ "temperature": 0.5, "seed": 7, "top_k": 1 })
        );
        assert_eq!(applied(json!({})), json!({ "seed": 7, "top_k": 1 }));
    }
}
