//! The answer of a run that is a text.

use serde_json::{Map, Value, json};
use websvc_model::{ResponseFormat, cut};

use super::Run;
use super::answer::MAX_TOKENS;
use crate::instructions::COMPOSE_TEXT;
use crate::report::RunOutcome;
use crate::requests::{ModelAnswer, Request, content_chars};

/// The maximum length of a text, in characters. The rest is cut.
const MAX_TEXT_CHARS: usize = 20_000;

/// The reasons why an answer is not a text.
const NO_FIELD: &str = "it is an object without a text in the field answer";
const NO_TEXT: &str = "it is JSON and no text";
const BROKEN: &str = "its JSON is not valid";
const EMPTY: &str = "its text is empty";

impl Run<'_> {
    /// Writes the answer as a text. An answer that is none is corrected once.
    ///
    /// # Errors
    /// The end of the run without a text.
    pub(super) async fn write_text(&mut self) -> Result<(), RunOutcome> {
        let answer = match self.ask_text(None).await?.and_then(read_text) {
            Ok(text) => Ok(text),
            Err(reason) => self.ask_text(Some(reason)).await?.and_then(read_text),
        };
        let text = answer.map_err(RunOutcome::Answers)?;
        self.answer = Some(self.check_sources(json!({ "answer": text }), true).await);
        Ok(())
    }

    async fn ask_text(&mut self, refusal: Option<&'static str>) -> Result<ModelAnswer, RunOutcome> {
        let mut prompt = self.answer_prompt(false);
        if let Some(reason) = refusal {
            prompt.push_str("\nYour last answer was refused: ");
            prompt.push_str(reason);
            prompt.push_str(". Answer with the text alone.");
        }
        let format = ResponseFormat::Text;
        let max_chars = content_chars(self.requests.model, COMPOSE_TEXT, &prompt, format);
        let content = self.answer_content(None, max_chars).await;
        let request = Request {
            instructions: COMPOSE_TEXT,
            prompt: &prompt,
            content: &content,
            format,
            max_tokens: MAX_TOKENS,
        };
        self.requests.ask(request).await
    }
}

/// Returns the text of an answer. Small models write objects although a text is wanted: then it is in the field `answer`.
fn read_text(answer: Value) -> Result<String, &'static str> {
    let text = match answer {
        Value::String(text) => text_in(&text)?,
        Value::Object(fields) => text_of_field(&fields)?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return Err(NO_TEXT),
    };
    let text = text.trim();
    if text.is_empty() { Err(EMPTY) } else { Ok(cut(text, MAX_TEXT_CHARS)) }
}

fn text_in(text: &str) -> Result<String, &'static str> {
    // The rest after an object explains it.
    let first = |text: &str| serde_json::Deserializer::from_str(text).into_iter::<Value>().next()?.ok();
    match serde_json::from_str(text) {
        Ok(Value::String(text)) => return Ok(text),
        Ok(Value::Array(_) | Value::Null) => return Err(NO_TEXT),
        // Numbers and booleans are texts as they are. Objects are read below, with those before an explanation.
        Ok(Value::Number(_) | Value::Bool(_) | Value::Object(_)) | Err(_) => {}
    }
    if text.starts_with('{') {
        let Some(Value::Object(fields)) = first(text) else { return Err(BROKEN) };
        return text_of_field(&fields);
    }
    // A code block with an object is the answer if it has the text, or if there is nothing else.
    let Some((introduction, block)) = text.split_once("```") else { return Ok(text.to_owned()) };
    let block = block.trim_start_matches(|c: char| c.is_ascii_alphabetic()).trim_start();
    match first(block) {
        Some(Value::Object(fields)) if introduction.trim().is_empty() => text_of_field(&fields),
        Some(Value::Object(fields)) => Ok(text_of_field(&fields).unwrap_or_else(|_| text.to_owned())),
        Some(_) | None => Ok(text.to_owned()),
    }
}

fn text_of_field(fields: &Map<String, Value>) -> Result<String, &'static str> {
    match fields.get("answer") {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(value.to_string()),
        Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => Err(NO_FIELD),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_from_prose_and_from_objects() {
        for (answer, expected) in [
            ("Sencha costs 9.50 euros.", "Sencha costs 9.50 euros."),
            (r#""Sencha is 9.5""#, "Sencha is 9.5"),
            (r#"{"answer": " 9.50 euros "}"#, "9.50 euros"),
            (r#"{"answer": 9.5, "unit": "euro"}"#, "9.5"),
            ("{\"answer\": \"9.50\"}\nThe page says so.", "9.50"),
            ("```json\n{\"answer\": \"9.50\"}\n```", "9.50"),
            ("Here it is:\n```\n{\"answer\": \"9.50\"}\n```\nBye.", "9.50"),
            ("9.5", "9.5"),
            ("[Sencha](http://a.test/) costs 9.50.", "[Sencha](http://a.test/) costs 9.50."),
            ("The set {x} costs 5.", "The set {x} costs 5."),
            (
                "The page says {\"answer\": \"1\"}, but it costs 5.",
                "The page says {\"answer\": \"1\"}, but it costs 5.",
            ),
            ("Run:\n```sh\nmake tea\n```", "Run:\n```sh\nmake tea\n```"),
        ] {
            assert_eq!(read_text(json!(answer)).as_deref(), Ok(expected), "{answer}");
        }
        assert_eq!(read_text(json!({ "answer": "Four." })).as_deref(), Ok("Four."));
        assert_eq!(read_text(json!("x".repeat(30_000))).map(|text| text.chars().count()), Ok(20_001));
    }

    #[test]
    fn other_json_is_no_text() {
        for (answer, reason) in [
            (json!({ "message": "Four." }), NO_FIELD),
            (json!({ "answer": null }), NO_FIELD),
            (json!({ "answer": ["Four."] }), NO_FIELD),
            (json!(r#"{"message": "Four."}"#), NO_FIELD),
            (json!("```json\n{\"message\": \"Four.\"}\n```"), NO_FIELD),
            (json!("{'answer': 'Four.'}"), BROKEN),
            (json!(r#"{"answer": "Fo"#), BROKEN),
            (json!(r#"["Four."]"#), NO_TEXT),
            (json!(["Four."]), NO_TEXT),
            (json!("null"), NO_TEXT),
            (json!({ "answer": " " }), EMPTY),
        ] {
            assert_eq!(read_text(answer.clone()), Err(reason), "{answer}");
        }
    }
}
