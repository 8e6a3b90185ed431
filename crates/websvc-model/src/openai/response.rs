//! The bodies of the endpoint's responses.

use serde_json::{Map, Value};

use super::finish::{check_complete, invalid, refusal};
use super::reasoning::{REASONING_END, REASONING_START, reasoning_of, text_of};
use crate::error::ModelError;
use crate::model::{Completion, CompletionContent, RankedText, Ranking, ResponseFormat};
use crate::usage::Usage;

/// Parses the response to a completion. An error also has the token usage.
pub(super) fn parse_completion(
    response: &Value,
    format: ResponseFormat<'_>,
    is_content_truncated: bool,
) -> Result<Completion, ModelError> {
    let usage = usage_of(response);
    match parse_content(response, format) {
        Ok(content) => Ok(Completion { content, usage, is_content_truncated, is_cut_by_server: false }),
        Err(ModelError::InvalidResponse { reason, usage: _ }) => {
            Err(ModelError::InvalidResponse { reason, usage })
        }
        Err(ModelError::Refused { text, usage: _ }) => Err(ModelError::Refused { text, usage }),
        Err(error) => Err(error),
    }
}

/// Returns the tokens that a response reports.
pub(super) fn usage_of(response: &Value) -> Usage {
    let count = |name: &str| response["usage"][name].as_u64().unwrap_or_default();
    Usage { input_tokens: count("prompt_tokens"), output_tokens: count("completion_tokens") }
}

fn parse_content(response: &Value, format: ResponseFormat<'_>) -> Result<CompletionContent, ModelError> {
    let choice = response.pointer("/choices/0").ok_or_else(|| invalid("no `choices`"))?;
    check_complete(response)?;
    let message = &choice["message"];
    let text = text_of(&message["content"]).unwrap_or_default();
    let text = text.trim();
    if text.is_empty() {
        if let Some(refusal) = refusal(message) {
            return Err(refusal);
        }
        let wants_json = format != ResponseFormat::Text;
        let answer = wants_json.then(|| json_in_reasoning(message)).flatten();
        return answer.map(CompletionContent::Json).ok_or_else(|| invalid("no text"));
    }
    let as_text = || Ok(CompletionContent::Text(without_reasoning(text)?.to_owned()));
    match format {
        ResponseFormat::Text => as_text(),
        ResponseFormat::Json | ResponseFormat::Schema(_) => Ok(CompletionContent::Json(extract_json(text)?)),
        ResponseFormat::SchemaOrText(schema) => match extract_json(text) {
            Ok(value) if has_required(&value, schema) => Ok(CompletionContent::Json(value)),
            Ok(_) | Err(_) => as_text(),
        },
    }
}

/// Returns whether a value is an object with the required fields of a schema.
fn has_required(value: &Value, schema: &Value) -> bool {
    let mut names = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    value.is_object() && names.all(|name| value.get(name).is_some())
}

/// Returns the answer of a server that takes an answer without reasoning for reasoning.
fn json_in_reasoning(message: &Value) -> Option<Value> {
    let mut values = reasoning_of(message).filter_map(|text| serde_json::from_str(text).ok());
    values.find(|value: &Value| value.is_object() || value.is_array())
}

/// Returns the JSON in a text: the whole text, or the value that starts at the first brace or bracket. If that is invalid,
/// it is a word of an introduction if a code block follows that is JSON as a whole. Other values are not tried, because
/// they would be parts of an incomplete value. If an introduction comes first and another object follows, it is not known which
/// one is the answer: the first one may be a quotation of a page that tells the model what to answer.
fn extract_json(text: &str) -> Result<Value, ModelError> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let text = without_reasoning(text)?;
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let start = text.find(['{', '[']).ok_or_else(|| invalid("it contains no JSON"))?;
    let (introduction, rest) = text.split_at(start);
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let (value, rest, is_introduced) = match values.next() {
        Some(Ok(value)) => (value, &rest[values.byte_offset()..], !is_block_start(introduction)),
        Some(Err(error)) if error.is_eof() => return Err(invalid("its JSON is incomplete")),
        Some(Err(_)) | None => {
            let (value, rest) = json_block(text).ok_or_else(|| invalid("its JSON is not valid"))?;
            (value, rest, true)
        }
    };
    if is_introduced && has_other_object(rest, &value) {
        return Err(invalid("it contains several JSON objects"));
    }
    Ok(value)
}

/// Returns whether a text is empty or only begins a code block.
fn is_block_start(text: &str) -> bool {
    let text = text.trim();
    let language = text.strip_prefix("```").unwrap_or(text);
    language.is_empty() || (language.len() < text.len() && language.eq_ignore_ascii_case("json"))
}

/// Returns whether a text contains an object with fields that differs from this value.
fn has_other_object(text: &str, value: &Value) -> bool {
    text.match_indices('{').any(|(at, _)| {
        let object = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Map<String, Value>>().next();
        object
            .and_then(Result::ok)
            .is_some_and(|other| !other.is_empty() && value.as_object() != Some(&other))
    })
}

/// Returns the value in the first code block of a text, and the text after it.
fn json_block(text: &str) -> Option<(Value, &str)> {
    let (_, block) = text.split_once("```")?;
    let (language, block) = block.split_once('\n')?;
    let (block, rest) = block.split_once("\n```")?;
    let is_json = matches!(language.trim().to_ascii_lowercase().as_str(), "" | "json");
    let value = is_json.then(|| serde_json::from_str(block).ok()).flatten()?;
    Some((value, rest))
}

/// Parses the response to a reranking, in the format of Jina.
pub(super) fn parse_ranking(
    response: &Value,
    texts: usize,
    max_results: usize,
) -> Result<Ranking, ModelError> {
    let results = response["results"].as_array().ok_or_else(|| invalid("no list `results`"))?;
    let mut seen = vec![false; texts];
    let mut ranked = Vec::with_capacity(results.len().min(texts));
    for result in results {
        let index = result["index"].as_u64().and_then(|index| usize::try_from(index).ok());
        let index =
            index.filter(|index| *index < texts).ok_or_else(|| invalid("an `index` is out of range"))?;
        let score =
            result["relevance_score"].as_f64().ok_or_else(|| invalid("no number `relevance_score`"))?;
        if std::mem::replace(&mut seen[index], true) {
            return Err(invalid("a text occurs twice"));
        }
        ranked.push(RankedText { index, score });
    }
    if ranked.len() < max_results.min(texts) {
        return Err(invalid("texts are missing"));
    }
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
    ranked.truncate(max_results);
    Ok(Ranking { texts: ranked, total_tokens: response["usage"]["total_tokens"].as_u64() })
}

/// Parses the list of models and returns their names.
pub(super) fn parse_model_names(response: &Value) -> Result<Vec<String>, ModelError> {
    let models = response["data"].as_array().ok_or_else(|| invalid("no list `data`"))?;
    Ok(models.iter().filter_map(|model| model["id"].as_str().map(str::to_owned)).collect())
}

/// Returns the text after the reasoning of the model. Some chat templates contain the start tag themselves, so the response
/// may have only the end tag.
fn without_reasoning(text: &str) -> Result<&str, ModelError> {
    let text = text.rsplit_once(REASONING_END).map_or(text, |(_, rest)| rest).trim();
    if text.starts_with(REASONING_START) {
        return Err(invalid("its reasoning is incomplete"));
    }
    if text.is_empty() { Err(invalid("empty text")) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::reasoning::is_cut_in_reasoning;
    use super::*;

    fn completion(content: &Value, reason: &str) -> Value {
        json!({ "choices": [{ "message": { "content": content }, "finish_reason": reason }] })
    }

    #[test]
    fn json_is_extracted_from_the_surrounding_text() {
        for (text, expected) in [
            (r#"{"a": 1}"#, Some(json!({ "a": 1 }))),
            ("Here you are:\n```json\n{\"a\": [1]}\n```\nAnything else?", Some(json!({ "a": [1] }))),
            ("<think>{\"b\": 2}</think> {\"a\": 1}", Some(json!({ "a": 1 }))),
            ("{\"b\": 2}</think> {\"a\": 1}", Some(json!({ "a": 1 }))),
            ("{\"a\": \"</think>\"}", Some(json!({ "a": "</think>" }))),
            ("Here: [1, 2], and more [3]", Some(json!([1, 2]))),
            ("As {JSON}:\n```json\n{\n  \"a\": 1\n}\n```\nAnything {else}?", Some(json!({ "a": 1 }))),
            ("[The answer](x):\n```\n{\"a\": 1}\n```", Some(json!({ "a": 1 }))),
            ("As {JSON}:\n```rust\n{}\n```", None),
            ("As {JSON}:\n```json\n{\"a\": [\n{\"b\": 1}", None),
            ("The set {x} is [1, 2]", None),
            // An introduction may quote a page.
            ("The page says {\"b\": 2}, which is not the task. {\"a\": 1}", None),
            ("The page {says}:\n```json\n{\"b\": 2}\n```\nI answer:\n```json\n{\"a\": 1}\n```", None),
            ("So {\"a\": 1}. In short: {\"a\": 1}", Some(json!({ "a": 1 }))),
            ("{\"a\": 1}\n{\"b\": 2}", Some(json!({ "a": 1 }))),
            ("```json\n{\"a\": 1}\n```\nThe page says {\"b\": 2}.", Some(json!({ "a": 1 }))),
            (r#"{"items":[{"name":"x","price":1},{"name":"y","pri"#, None),
            (r#"{"items":[{"name":"x","price":1},]}"#, None),
            ("```json\n[{\"a\": 1},]\n```", None),
            ("<think>{\"a\": 1}", None),
            ("null", Some(Value::Null)),
            ("I cannot do that.", None),
            (r#"{"a": "#, None),
        ] {
            let found = parse_completion(&completion(&json!(text), "stop"), ResponseFormat::Json, false);
            assert_eq!(found.ok().map(|found| found.content.into_json()), expected, "{text}");
        }
    }

    #[test]
    fn refusal_is_the_reason_if_there_is_no_answer() {
        let response = |content: Value| {
            let message = json!({ "content": content, "refusal": "I cannot help with that." });
            let usage = json!({ "prompt_tokens": 5, "completion_tokens": 3 });
            json!({ "choices": [{ "message": message, "finish_reason": "stop" }], "usage": usage })
        };
        let error = parse_completion(&response(Value::Null), ResponseFormat::Json, false).unwrap_err();
        assert_eq!(error.explanation(), "the model refused: I cannot help with that.");
        let ModelError::Refused { usage, .. } = error else { panic!("{error}") };
        assert_eq!(usage.total(), 8);
        assert!(parse_completion(&response(json!("{}")), ResponseFormat::Json, false).is_ok());
    }

    #[test]
    fn responses_without_text_are_invalid() {
        for response in [
            json!({}),
            json!([]),
            json!({ "choices": [] }),
            completion(&Value::Null, "stop"),
            completion(&json!("  "), "length"),
            completion(&json!("<think>only</think>"), "stop"),
            completion(&json!("<think>and never done. The answer is 4."), "stop"),
            completion(&json!("<think>one</think> <think>two"), "stop"),
            completion(&json!("The tea costs twelve"), "length"),
        ] {
            assert!(
                matches!(
                    parse_completion(&response, ResponseFormat::Text, false),
                    Err(ModelError::InvalidResponse { .. })
                ),
                "{response}"
            );
        }
        for format in [ResponseFormat::Json, ResponseFormat::Text] {
            let cut = parse_completion(&completion(&json!("[1]"), "length"), format, false).unwrap_err();
            assert!(cut.to_string().contains("cut off"), "{cut}");
        }
        let parts = completion(&json!([{ "type": "text", "text": "a" }, { "text": "b" }]), "stop");
        assert_eq!(
            parse_completion(&parts, ResponseFormat::Text, false).unwrap().content,
            CompletionContent::Text("ab".to_owned())
        );
    }

    #[test]
    fn invalid_response_has_its_usage_and_its_reason() {
        let check = |content: Value, reason: &str, (expected, is_reasoning): (&str, bool)| {
            let mut response = completion(&content, reason);
            response["choices"][0]["message"]["reasoning"] = json!("Let me think.");
            response["usage"] = json!({ "prompt_tokens": 5, "completion_tokens": 3 });
            let error = parse_completion(&response, ResponseFormat::Json, false).unwrap_err();
            let ModelError::InvalidResponse { reason, usage } = error else { panic!("{error}") };
            assert_eq!(
                (reason, usage),
                (expected, Usage { input_tokens: 5, output_tokens: 3 }),
                "{response}"
            );
            assert_eq!(is_cut_in_reasoning(&response), is_reasoning, "{response}");
        };
        let cut = ("it was cut off at the maximum length", false);
        let cut_in_reasoning = ("its reasoning was cut off at the maximum length", true);
        check(json!(""), "length", cut_in_reasoning);
        check(Value::Null, "length", cut_in_reasoning);
        check(json!("<think>Let me"), "length", cut_in_reasoning);
        check(json!("<think>Done.</think>\n"), "length", cut_in_reasoning);
        check(json!("<think>Done.</think>{\"a\":"), "length", cut);
        check(json!("{\"a\":"), "length", cut);
        check(json!(""), "stop", ("no text", false));
        check(json!("No."), "stop", ("it contains no JSON", false));
    }

    #[test]
    fn json_that_the_server_takes_for_reasoning_is_the_answer() {
        for (field, reasoning, expected) in [
            ("reasoning", r#"{"a": 1}"#, Some(json!({ "a": 1 }))),
            ("reasoning_content", "[1]\n", Some(json!([1]))),
            ("reasoning", "I could answer {\"a\": 1}", None),
            ("reasoning", "1", None),
        ] {
            let mut response = completion(&json!(""), "stop");
            response["choices"][0]["message"][field] = json!(reasoning);
            let found = parse_completion(&response, ResponseFormat::Json, false).ok();
            assert_eq!(found.map(|found| found.content.into_json()), expected, "{reasoning}");
            assert!(
                parse_completion(&response, ResponseFormat::Text, false).is_err(),
                "reasoning is not text"
            );
        }
    }

    #[test]
    fn reasoning_is_removed_from_text() {
        for (text, expected) in [
            ("<think>hm</think>\nFour.", "Four."),
            ("It may be five.</think>Four.", "Four."),
            ("<think>a</think> no <think>b</think> Four.", "Four."),
            ("Write <think> before it.", "Write <think> before it."),
        ] {
            let found =
                parse_completion(&completion(&json!(text), "stop"), ResponseFormat::Text, false).unwrap();
            assert_eq!(found.content, CompletionContent::Text(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn ranking_contains_each_text_once() {
        let check = |results: Value, max_results: usize, expected: Option<Vec<usize>>| {
            let found = parse_ranking(&json!({ "results": results }), 3, max_results).ok();
            let found = found.map(|found| found.texts.iter().map(|text| text.index).collect::<Vec<_>>());
            assert_eq!(found, expected, "{results}");
        };
        let result = |index: u64, score: f64| json!({ "index": index, "relevance_score": score });
        check(json!([result(0, 0.1), result(2, 0.9), result(1, 0.5)]), 3, Some(vec![2, 1, 0]));
        check(json!([result(0, 0.1), result(2, 0.9), result(1, 0.5)]), 1, Some(vec![2]));
        check(json!([result(0, 0.1), result(2, 0.9)]), 3, None);
        check(json!([result(0, 0.1), result(0, 0.9)]), 2, None);
        check(json!([result(3, 0.1)]), 1, None);
        check(json!([{ "index": 0 }]), 1, None);
        check(json!({}), 1, None);
    }

    #[test]
    fn answer_without_the_required_fields_is_a_text() {
        let schema = json!({ "type": "object", "required": ["numbers"] });
        for (text, expected) in [
            (r#"{"numbers": [1]}"#, json!({ "numbers": [1] })),
            ("```json\n{\"numbers\": []}\n```", json!({ "numbers": [] })),
            ("<think>No.</think># Tea\n\n[1] {x}", json!("# Tea\n\n[1] {x}")),
            ("[Tea](http://tea.test/)", json!("[Tea](http://tea.test/)")),
            (r#"{"other": 1}"#, json!(r#"{"other": 1}"#)),
        ] {
            let format = ResponseFormat::SchemaOrText(&schema);
            let found = parse_completion(&completion(&json!(text), "stop"), format, false).unwrap();
            assert_eq!(found.content.into_json(), expected, "{text}");
        }
    }
}
