//! Recognizes the response of a server to a request that is too long for its model, and reads its numbers.
//!
//! Some servers have a code for it. Others have a text only, and the status of any other wrong request.

use serde_json::Value;

/// The values of `code` or `type` of such an error: of OpenAI and most other services and gateways, of the server of
/// llama.cpp, and of servers like it.
const CODES: &[&str] = &["context_length_exceeded", "exceed_context_size_error", "context_exceeded"];

/// Parts of the messages of servers without a code, in lower case: vLLM; SGLang; Ollama; LM Studio and older versions of
/// llama.cpp; Text Generation Inference.
const TEXTS: &[&str] = &[
    "maximum context length",
    "longer than the model's context length",
    "exceeds the context length",
    "exceeded max context length",
    "greater than the context length",
    "with context length of only",
    "exceeds the available context size",
    "context size has been exceeded",
    "`inputs` must have less than",
    "`inputs` tokens + `max_new_tokens` must be",
];

/// The texts before the tokens of the context, in lower case.
const BEFORE_CONTEXT: &[&str] = &[
    "maximum context length is",
    "maximum context length of",
    "model's context length (",
    "available context size (",
    "n_ctx:",
    "n_ctx =",
    "context length of only",
    "must have less than",
    "must be <=",
];

/// The texts before the tokens of the prompt, in lower case, the more certain first.
const BEFORE_PROMPT: &[&str] = &[
    "your messages resulted in",
    "your request has",
    "you passed",
    "prompt contains at least",
    "prompt contains",
    "the input (",
    "the request (",
    "request (",
    "n_keep:",
    "the first",
    "given:",
];

/// The texts after the tokens of the prompt in a list of the parts of a request, in lower case.
const AFTER_PROMPT: &[&str] =
    &[" in the messages", " in the prompt", " of text input", " input tokens", " from the input"];

/// The maximum size of a body that is read, in bytes. Such errors are short.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// The length of a message that is searched, in characters. After its reason, a message may repeat the request, which has
/// texts of pages.
const MAX_TEXT_CHARS: usize = 300;

/// The tokens that a prompt or a context may have. Other numbers are something else.
const PLAUSIBLE_TOKENS: std::ops::RangeInclusive<u32> = 128..=100_000_000;

/// How much too long a request is, as far as the server says it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Excess {
    /// The tokens of the prompt.
    pub(super) prompt_tokens: Option<u32>,
    /// The tokens of the context.
    pub(super) context_tokens: Option<u32>,
}

/// Returns how much too long the request is, if the body of an error response says that it is too long.
pub(super) fn excess(body: &[u8]) -> Option<Excess> {
    if body.len() > MAX_BODY_BYTES {
        return None;
    }
    let response = serde_json::from_slice::<Value>(body).ok()?;
    // The error is an object in `error`, or the whole response; or `error` is the message.
    let error = response.get("error").filter(|error| !error.is_null()).unwrap_or(&response);
    let is_code =
        |name: &str| error.get(name).and_then(Value::as_str).is_some_and(|code| CODES.contains(&code));
    let message = error.as_str().or_else(|| error.get("message")?.as_str()).unwrap_or_default();
    let message = message.chars().take(MAX_TEXT_CHARS).collect::<String>().to_lowercase();
    if !(is_code("code") || is_code("type") || TEXTS.iter().any(|text| message.contains(text))) {
        return None;
    }
    let field = |name: &str| plausible(error.get(name)?.as_u64()?);
    Some(Excess {
        prompt_tokens: field("n_prompt_tokens").or_else(|| prompt_tokens(&message)),
        context_tokens: field("n_ctx").or_else(|| first_after(&message, BEFORE_CONTEXT)),
    })
}

/// Returns the tokens of the prompt in a message.
fn prompt_tokens(message: &str) -> Option<u32> {
    let before = AFTER_PROMPT.iter().find_map(|text| number_before(message, text));
    before.or_else(|| first_after(message, BEFORE_PROMPT))
}

/// Returns the number that follows the first of the texts that a number follows.
fn first_after(message: &str, texts: &[&str]) -> Option<u32> {
    texts.iter().find_map(|text| {
        message
            .match_indices(text)
            .find_map(|(at, text)| number_at_start(message[at + text.len()..].trim_start()))
    })
}

/// Returns the number at the start of a text.
fn number_at_start(text: &str) -> Option<u32> {
    let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    plausible(text[..end].parse().ok()?)
}

/// Returns the number that ends where a text begins.
fn number_before(message: &str, text: &str) -> Option<u32> {
    let before = &message[..message.find(text)?];
    let digits = before.len() - before.bytes().rev().take_while(u8::is_ascii_digit).count();
    plausible(before[digits..].parse().ok()?)
}

fn plausible(tokens: u64) -> Option<u32> {
    u32::try_from(tokens).ok().filter(|tokens| PLAUSIBLE_TOKENS.contains(tokens))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks the tokens of the prompt and of the context in an error about the length.
    #[track_caller]
    fn check(body: &Value, prompt_tokens: Option<u32>, context_tokens: Option<u32>) {
        let found = excess(body.to_string().as_bytes());
        assert_eq!(found, Some(Excess { prompt_tokens, context_tokens }), "{body}");
    }

    #[track_caller]
    fn check_other(body: &Value) {
        assert_eq!(excess(body.to_string().as_bytes()), None, "{body}");
    }

    #[test]
    fn errors_with_a_code_are_recognized_without_their_text() {
        // OpenAI, and vLLM since it has the code.
        check(
            &json!({ "error": {
                "message": "Your input is too much. Please adjust it and try again.", "type": "invalid_request_error",
                "param": "messages", "code": "context_length_exceeded",
            } }),
            None,
            None,
        );
        // llama.cpp.
        check(
            &json!({ "error": {
                "code": 400, "message": "the request (4476 tokens) does not fit", "type": "exceed_context_size_error",
                "n_prompt_tokens": 4477, "n_ctx": 4096,
            } }),
            Some(4_477),
            Some(4_096),
        );
    }

    #[test]
    fn errors_without_a_code_are_recognized_by_their_text() {
        let vllm = "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens \
                    (112946 in the messages, 10000 in the completion).";
        let error = json!({ "object": "error", "message": vllm, "type": "BadRequestError", "param": null, "code": 400 });
        check(&error, Some(112_946), Some(16_384));
        let error = json!({ "error": { "message": vllm, "type": "BadRequestError", "code": 400 } });
        check(&error, Some(112_946), Some(16_384));
        let sglang = "The input (61709 tokens) is longer than the model's context length (40960 tokens).";
        let error = json!({ "object": "error", "message": sglang, "type": "BadRequestError", "code": 400 });
        check(&error, Some(61_709), Some(40_960));
        let ollama = "the input length exceeds the context length";
        check(&json!({ "error": ollama }), None, None);
        let error =
            json!({ "error": { "message": ollama, "type": "api_error", "param": null, "code": null } });
        check(&error, None, None);
        let lm_studio = "The number of tokens to keep from the initial prompt is greater than the context length \
                         (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length.";
        check(&json!({ "error": lm_studio }), Some(13_055), Some(4_096));
        let tgi = "Input validation error: `inputs` must have less than 4096 tokens. Given: 4545";
        check(&json!({ "error": tgi, "error_type": "validation" }), Some(4_545), Some(4_096));
    }

    #[test]
    fn numbers_are_read_in_all_forms_of_a_message() {
        for (message, prompt, context) in [
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is 4096 \
                 tokens and your request has 3500 input tokens (1000 > 4096 - 3500).",
                Some(3_500),
                Some(4_096),
            ),
            (
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
                Some(9_001),
                Some(8_192),
            ),
            (
                "request (4476 tokens) exceeds the available context size (4096 tokens), try increasing it",
                Some(4_476),
                Some(4_096),
            ),
            (
                "Trying to keep the first 4545 tokens when context the overflows. However, the model is loaded with \
                 context length of only 4096 tokens, which is not enough.",
                Some(4_545),
                Some(4_096),
            ),
            (
                "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 3000 `inputs` tokens and 2000 \
                 `max_new_tokens`",
                Some(3_000),
                Some(4_096),
            ),
            (
                "This endpoint's maximum context length is 32768 tokens. However, you requested about 40100 tokens \
                 (36004 of text input, 4096 in the output).",
                Some(36_004),
                Some(32_768),
            ),
            ("maximum context length is 99999999999999999999 tokens", None, None),
            ("maximum context length is 4 tokens", None, None),
        ] {
            check(&json!({ "error": { "message": message } }), prompt, context);
        }
    }

    #[test]
    fn other_errors_are_not_of_the_length() {
        let format = "response_format json_schema is not supported";
        check_other(&json!({ "error": { "message": format, "code": "invalid_request", "type": "x" } }));
        check_other(&json!({ "error": { "message": "max_tokens is too large", "code": 400 } }));
        check_other(&json!({ "error": null, "detail": "no" }));
        check_other(&json!([]));
        assert_eq!(excess(b"maximum context length"), None, "it is not JSON");
        // A page in the request, which the message repeats, can have any text.
        let repeated = format!("wrong request: {} maximum context length", "x".repeat(MAX_TEXT_CHARS));
        check_other(&json!({ "error": { "message": repeated } }));
    }
}
