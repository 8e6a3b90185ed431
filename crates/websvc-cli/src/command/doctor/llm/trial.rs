//! A small completion with a schema, as the features of the service send them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_model::{
    AcceptedForm, CompletionRequest, Feature, Model, ModelError, OpenAi, ResponseFormat, Usage,
};

use crate::command::doctor::finding::Finding;

/// The time for the completion. A server may have to load the model first.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The maximum length of the response, in tokens.
const MAX_TOKENS: u32 = 100;

/// The result of the completion.
#[derive(Debug)]
pub(super) struct Trial {
    answer: Value,
    form: Option<AcceptedForm>,
    usage: Usage,
    elapsed: Duration,
}

/// Sends the completion to a model.
pub(super) async fn run(model: &OpenAi) -> Result<Trial, ModelError> {
    let schema = json!({
        "type": "object",
        "properties": {
            "color": { "type": "string", "maxLength": 20 },
            "number": { "type": "integer", "minimum": 0, "maximum": 100 },
        },
        "required": ["color", "number"],
        "additionalProperties": false,
    });
    let started = Instant::now();
    let request = CompletionRequest {
        feature: Feature::Json,
        instructions: "You extract data from the content.",
        user_prompt: "Extract the color of the boxes and their number.",
        content: Some("There are 3 blue boxes on the table."),
        format: ResponseFormat::Schema(&schema),
        max_tokens: MAX_TOKENS,
        deadline: started + TIMEOUT,
    };
    let completion = model.complete(&request).await?;
    Ok(Trial {
        answer: completion.content.into_json(),
        form: model.accepted_form(),
        usage: completion.usage,
        elapsed: started.elapsed(),
    })
}

impl Trial {
    /// Returns the finding: a warning if the answer does not follow the schema.
    pub(super) fn finding(&self, name: &str) -> Finding {
        let message = self.message();
        if self.answer["color"].is_string() && self.answer["number"].is_u64() {
            return Finding::ok(name, message);
        }
        Finding::warning(
            name,
            format!("{message}, but the answer to a small prompt does not follow its schema"),
        )
        .advice("use a server that supports `response_format: json_schema`, or another model")
    }

    fn message(&self) -> String {
        let Self { answer: _, form, usage, elapsed } = self;
        let form = form.as_ref().map_or_else(String::new, |AcceptedForm { response_format, dropped }| {
            let format = match *response_format {
                "none" => "without response_format".to_owned(),
                name => format!("with response_format {name}"),
            };
            let dropped =
                if dropped.is_empty() { String::new() } else { format!(", without {}", dropped.join(", ")) };
            format!(" {format}{dropped}")
        });
        format!("completes a prompt{form} in {:.1} s{}", elapsed.as_secs_f64(), speed(*usage, *elapsed))
    }
}

/// Returns the tokens, and those of the response per second, if the server reports them.
fn speed(usage: Usage, elapsed: Duration) -> String {
    let Usage { input_tokens, output_tokens } = usage;
    if output_tokens == 0 {
        return " (the server reports no tokens)".to_owned();
    }
    let seconds = elapsed.as_secs_f64().max(0.001);
    #[expect(clippy::cast_precision_loss, reason = "a response has few tokens")]
    let per_second = output_tokens as f64 / seconds;
    format!(" ({input_tokens} tokens read, {output_tokens} written, {per_second:.0} per second)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::doctor::finding::State;

    fn trial(answer: Value, form: Option<AcceptedForm>, output_tokens: u64) -> Trial {
        let usage = Usage { input_tokens: 90, output_tokens };
        Trial { answer, form, usage, elapsed: Duration::from_millis(500) }
    }

    #[test]
    fn finding_has_the_form_the_tokens_and_the_speed() {
        let form = AcceptedForm { response_format: "json_schema", dropped: Vec::new() };
        let found = trial(json!({ "color": "blue", "number": 3 }), Some(form), 12).finding("m");
        assert_eq!(found.state, State::Ok);
        assert_eq!(
            found.message,
            "completes a prompt with response_format json_schema in 0.5 s (90 tokens read, 12 written, 24 per second)"
        );
        let form = AcceptedForm { response_format: "none", dropped: vec!["temperature", "reasoning_effort"] };
        let found = trial(json!({ "color": "blue" }), Some(form), 0).finding("m");
        assert_eq!(found.state, State::Warning);
        assert_eq!(
            found.message,
            "completes a prompt without response_format, without temperature, reasoning_effort in 0.5 s (the server \
             reports no tokens), but the answer to a small prompt does not follow its schema"
        );
    }
}
