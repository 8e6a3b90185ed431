//! Bodies of the endpoint's responses.

use serde_json::Value;

use crate::error::ModelError;
use crate::model::{Completion, CompletionContent, RankedText, Ranking, Usage};

/// Between these a model that thinks aloud does so.
const THOUGHTS_BEGIN: &str = "<think>";
const THOUGHTS_END: &str = "</think>";

fn bad(what: &'static str) -> ModelError {
    ModelError::BadAnswer { what }
}

/// Reads an answer to a question.
pub(super) fn of_completion(
    answer: &Value,
    wants_json: bool,
    is_content_cut: bool,
) -> Result<Completion, ModelError> {
    let choice = answer.pointer("/choices/0").ok_or_else(|| bad("no `choices`"))?;
    let text = text_of(&choice["message"]["content"]).ok_or_else(|| bad("no text"))?;
    let text = text.trim();
    // Half of an answer is none: a text breaks off in the middle, and of data something is missing.
    if choice["finish_reason"] == "length" {
        return Err(bad("it was cut off at its greatest length"));
    }
    let answer_of = if wants_json {
        CompletionContent::Json(json_in(text)?)
    } else {
        CompletionContent::Text(without_thoughts(text)?.to_owned())
    };
    let count = |name: &str| answer["usage"][name].as_u64().unwrap_or_default();
    let usage = Usage { input_tokens: count("prompt_tokens"), output_tokens: count("completion_tokens") };
    Ok(Completion { answer: answer_of, usage, is_content_cut })
}

/// Returns the text of a message, which some servers give in parts.
fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => Some(parts.iter().filter_map(|part| part["text"].as_str()).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Leaves out what a model thought aloud before its answer: all up to where it says that it has done so. Where templates begin the
/// thoughts by themselves, only their end is in the answer.
fn without_thoughts(text: &str) -> Result<&str, ModelError> {
    let text = text.rsplit_once(THOUGHTS_END).map_or(text, |(_, answer)| answer).trim();
    if text.starts_with(THOUGHTS_BEGIN) {
        return Err(bad("its thoughts have no end"));
    }
    if text.is_empty() { Err(bad("an empty text")) } else { Ok(text) }
}

/// Returns the JSON of a text: all of it, or what begins with the first brace or bracket in it. Where that is no JSON, there is none:
/// what is in a value that breaks off, or is written wrongly, is a part of it and not the answer.
fn json_in(text: &str) -> Result<Value, ModelError> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let text = without_thoughts(text)?;
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let beginning = text.find(['{', '[']).ok_or_else(|| bad("no JSON in it"))?;
    let first = serde_json::Deserializer::from_str(&text[beginning..]).into_iter::<Value>().next();
    match first {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) if error.is_eof() => Err(bad("its JSON has no end")),
        Some(Err(_)) | None => Err(bad("its JSON is not valid")),
    }
}

/// Reads the order of texts, in the shape of Jina's.
pub(super) fn of_ranking(answer: &Value, texts: usize, most: usize) -> Result<Ranking, ModelError> {
    let results = answer["results"].as_array().ok_or_else(|| bad("no list `results`"))?;
    let mut seen = vec![false; texts];
    let mut ordered = Vec::with_capacity(results.len().min(texts));
    for result in results {
        let index = result["index"].as_u64().and_then(|index| usize::try_from(index).ok());
        let index = index.filter(|index| *index < texts).ok_or_else(|| bad("an `index` of no text"))?;
        let score = result["relevance_score"].as_f64().ok_or_else(|| bad("no number `relevance_score`"))?;
        if std::mem::replace(&mut seen[index], true) {
            return Err(bad("a text twice"));
        }
        ordered.push(RankedText { index, score });
    }
    if ordered.len() < most.min(texts) {
        return Err(bad("texts are missing"));
    }
    ordered.sort_by(|a, b| b.score.total_cmp(&a.score));
    ordered.truncate(most);
    Ok(Ranking { texts: ordered, total_tokens: answer["usage"]["total_tokens"].as_u64() })
}

/// Reads the names of models.
pub(super) fn names(answer: &Value) -> Result<Vec<String>, ModelError> {
    let models = answer["data"].as_array().ok_or_else(|| bad("no list `data`"))?;
    Ok(models.iter().filter_map(|model| model["id"].as_str().map(str::to_owned)).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn completion(content: &Value, reason: &str) -> Value {
        json!({ "choices": [{ "message": { "content": content }, "finish_reason": reason }] })
    }

    #[test]
    fn json_is_cut_out_of_what_is_said_around_it() {
        for (text, expected) in [
            (r#"{"a": 1}"#, Some(json!({ "a": 1 }))),
            ("Here you are:\n```json\n{\"a\": [1]}\n```\nAnything else?", Some(json!({ "a": [1] }))),
            ("<think>{\"b\": 2}</think> {\"a\": 1}", Some(json!({ "a": 1 }))),
            ("{\"b\": 2}</think> {\"a\": 1}", Some(json!({ "a": 1 }))),
            ("{\"a\": \"</think>\"}", Some(json!({ "a": "</think>" }))),
            ("Here: [1, 2], and more [3]", Some(json!([1, 2]))),
            ("The set {x} is [1, 2]", None),
            (r#"{"items":[{"name":"x","price":1},{"name":"y","pri"#, None),
            (r#"{"items":[{"name":"x","price":1},]}"#, None),
            ("```json\n[{\"a\": 1},]\n```", None),
            ("<think>{\"a\": 1}", None),
            ("null", Some(Value::Null)),
            ("I cannot do that.", None),
            (r#"{"a": "#, None),
        ] {
            let found = of_completion(&completion(&json!(text), "stop"), true, false);
            assert_eq!(found.ok().map(|found| found.answer.into_json()), expected, "{text}");
        }
    }

    #[test]
    fn answers_without_a_text_are_bad() {
        for answer in [
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
                matches!(of_completion(&answer, false, false), Err(ModelError::BadAnswer { .. })),
                "{answer}"
            );
        }
        for wants_json in [true, false] {
            let cut = of_completion(&completion(&json!("[1]"), "length"), wants_json, false).unwrap_err();
            assert!(cut.to_string().contains("cut off"), "{cut}");
        }
        let parts = completion(&json!([{ "type": "text", "text": "a" }, { "text": "b" }]), "stop");
        assert_eq!(
            of_completion(&parts, false, false).unwrap().answer,
            CompletionContent::Text("ab".to_owned())
        );
    }

    #[test]
    fn thoughts_are_no_part_of_an_answer() {
        for (text, expected) in [
            ("<think>hm</think>\nFour.", "Four."),
            ("It may be five.</think>Four.", "Four."),
            ("<think>a</think> no <think>b</think> Four.", "Four."),
            ("Write <think> before it.", "Write <think> before it."),
        ] {
            let found = of_completion(&completion(&json!(text), "stop"), false, false).unwrap();
            assert_eq!(found.answer, CompletionContent::Text(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn an_order_has_each_text_once() {
        let check = |results: Value, most: usize, expected: Option<Vec<usize>>| {
            let found = of_ranking(&json!({ "results": results }), 3, most).ok();
            let found = found.map(|found| found.texts.iter().map(|text| text.index).collect::<Vec<_>>());
            assert_eq!(found, expected, "{results}");
        };
        let of = |index: u64, score: f64| json!({ "index": index, "relevance_score": score });
        check(json!([of(0, 0.1), of(2, 0.9), of(1, 0.5)]), 3, Some(vec![2, 1, 0]));
        check(json!([of(0, 0.1), of(2, 0.9), of(1, 0.5)]), 1, Some(vec![2]));
        check(json!([of(0, 0.1), of(2, 0.9)]), 3, None);
        check(json!([of(0, 0.1), of(0, 0.9)]), 2, None);
        check(json!([of(3, 0.1)]), 1, None);
        check(json!([{ "index": 0 }]), 1, None);
        check(json!({}), 1, None);
    }
}
