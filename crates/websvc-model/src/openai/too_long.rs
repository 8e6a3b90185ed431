//! Recognizes the response of a server to a request that is too long for its model.
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

/// The maximum size of a body that is read, in bytes. Such errors are short.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// The length of a message that is searched, in characters. After its reason, a message may repeat the request, which has
/// texts of pages.
const MAX_TEXT_CHARS: usize = 300;

/// Returns whether the body of an error response says that the request is too long.
pub(super) fn is_too_long(body: &[u8]) -> bool {
    if body.len() > MAX_BODY_BYTES {
        return false;
    }
    let Ok(response) = serde_json::from_slice::<Value>(body) else { return false };
    // The error is an object in `error`, or the whole response; or `error` is the message.
    let error = response.get("error").filter(|error| !error.is_null()).unwrap_or(&response);
    let is_code =
        |name: &str| error.get(name).and_then(Value::as_str).is_some_and(|code| CODES.contains(&code));
    if is_code("code") || is_code("type") {
        return true;
    }
    let message = error.as_str().or_else(|| error.get("message")?.as_str()).unwrap_or_default();
    let message = message.chars().take(MAX_TEXT_CHARS).collect::<String>().to_lowercase();
    TEXTS.iter().any(|text| message.contains(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(body: &Value, expected: bool) {
        assert_eq!(is_too_long(body.to_string().as_bytes()), expected, "{body}");
    }

    #[test]
    fn errors_with_a_code_are_recognized_without_their_text() {
        // OpenAI, and vLLM since it has the code.
        check(
            &json!({ "error": {
                "message": "Your input is too much. Please adjust it and try again.", "type": "invalid_request_error",
                "param": "messages", "code": "context_length_exceeded",
            } }),
            true,
        );
        // llama.cpp.
        check(
            &json!({ "error": {
                "code": 400, "message": "the request (4476 tokens) does not fit", "type": "exceed_context_size_error",
                "n_prompt_tokens": 4476, "n_ctx": 4096,
            } }),
            true,
        );
    }

    #[test]
    fn errors_without_a_code_are_recognized_by_their_text() {
        let vllm = "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens \
                    (112946 in the messages, 10000 in the completion).";
        let error = json!({ "object": "error", "message": vllm, "type": "BadRequestError", "param": null, "code": 400 });
        check(&error, true);
        check(&json!({ "error": { "message": vllm, "type": "BadRequestError", "code": 400 } }), true);
        let sglang = "The input (61709 tokens) is longer than the model's context length (40960 tokens).";
        check(&json!({ "object": "error", "message": sglang, "type": "BadRequestError", "code": 400 }), true);
        let ollama = "the input length exceeds the context length";
        check(&json!({ "error": ollama }), true);
        check(
            &json!({ "error": { "message": ollama, "type": "api_error", "param": null, "code": null } }),
            true,
        );
        let lm_studio = "The number of tokens to keep from the initial prompt is greater than the context length \
                         (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length.";
        check(&json!({ "error": lm_studio }), true);
        let tgi = "Input validation error: `inputs` must have less than 4096 tokens. Given: 4545";
        check(&json!({ "error": tgi, "error_type": "validation" }), true);
    }

    #[test]
    fn other_errors_are_not_of_the_length() {
        let format = "response_format json_schema is not supported";
        check(&json!({ "error": { "message": format, "code": "invalid_request", "type": "x" } }), false);
        check(&json!({ "error": { "message": "max_tokens is too large", "code": 400 } }), false);
        check(&json!({ "error": null, "detail": "no" }), false);
        check(&json!([]), false);
        assert!(!is_too_long(b"maximum context length"), "it is not JSON");
        // A page in the request, which the message repeats, can have any text.
        let repeated = format!("wrong request: {} maximum context length", "x".repeat(MAX_TEXT_CHARS));
        check(&json!({ "error": { "message": repeated } }), false);
    }
}
