//! Tests of the configured language models.

use websvc_model::Model;

use super::*;
use crate::output;

const VALID: &str = "[llm]\nbase_url = 'http://a.test/v1'\nmodel = 'm'\n";

#[track_caller]
fn check(text: &str, expected: Result<bool, &str>) {
    let config: Config = toml::from_str(text).unwrap();
    match (model(&config), expected) {
        (Ok(found), Ok(expected)) => assert_eq!(found.is_some(), expected, "{text}"),
        (Err(error), Err(expected)) => {
            let shown = output::causes(error.as_ref());
            assert!(shown.contains(expected), "{shown}");
            assert!(!shown.contains("s3cret"), "{shown}");
        }
        (found, _) => panic!("{text}: {found:?}"),
    }
    assert!(!format!("{config:?}").contains("s3cret"));
}

/// Checks a valid configuration with additional keys.
#[track_caller]
fn check_with(keys: &str, expected: Result<bool, &str>) {
    check(&format!("{VALID}{keys}"), expected);
}

#[test]
fn model_rejects_invalid_values() {
    check("", Ok(false));
    check("[llm]\nbase_url = 'http://127.0.0.1:8000/v1'\nmodel = 'm'", Ok(true));
    check("[llm]\nbase_url = 'http://127.0.0.1:8000/v1'\nrerank_model = 'm'", Ok(true));
    check("[llm]\nbase_url = 'http://127.0.0.1:8000/v1'", Err("llm.model is missing"));
    check("[llm]\nmodel = 'm'", Err("llm.base_url is missing"));
    check("[llm]\nbase_url = 'not a url'\nmodel = 'm'", Err("llm.base_url"));
    check("[llm]\nbase_url = 'http://u:s3cret@a.test/v1'\nmodel = 'm'", Err("without user"));
    check("[llm]\nbase_url = 'http://a.test/v1#s3cret'\nmodel = 'm'", Err("llm.base_url"));
    check(
        "[llm]\nbase_url = 'ftp://u:s3cret@a.test/s3cret?s3cret'\nmodel = 'm'",
        Err("neither http nor https"),
    );
    check("[llm]\nbase_url = 'http://a.test/v1?key=s3cret'\nmodel = 'm'", Ok(true));
    check_with("api_key = \"s3cret\\n\"", Err("llm.api_key: the key contains characters"));
    for key in ["timeout_ms", "concurrency", "max_input_chars", "context_tokens", "max_output_tokens"] {
        check(&format!("[llm]\n{key} = 0"), Err(key));
    }
    check_with("temperature = 1.5\nseed = 7", Ok(true));
    check_with("temperature = 2.5", Err("llm.temperature: the temperature must be from 0 to 2"));
}

#[test]
fn headers_that_the_client_sets_are_rejected() {
    check_with("headers = { 'api-key' = 's3cret', 'x-b' = '1' }", Ok(true));
    check_with("headers = { Authorization = 'Basic s3cret' }", Ok(true));
    check_with(
        "api_key = 's3cret'\nheaders = { Authorization = 's3cret' }",
        Err("authorization is set twice"),
    );
    for name in ["Host", "Content-Length", "Connection", "Transfer-Encoding", "Proxy-Authorization"] {
        check_with(&format!("headers = {{ {name} = 's3cret' }}"), Err("is set by the client itself"));
    }
    check_with("headers = { Content-Type = 's3cret' }", Err("llm.headers: the header content-type"));
    check_with("headers = { 'a b' = 's3cret' }", Err("llm.headers: invalid header name"));
    check_with("headers = { a = \"s3cret\\n\" }", Err("llm.headers: invalid value of header a"));
    check_with("headers = { a = '1', A = '2' }", Err("llm.headers: the header a is set twice"));
}

#[test]
fn parameters_that_the_client_sets_are_rejected() {
    check_with("extra_body = { chat_template_kwargs = { enable_thinking = false }, top_k = 1 }", Ok(true));
    check_with("extra_body = { model = 's3cret' }", Err("llm.extra_body: `model` is set by the client"));
    check_with("extra_body = { max_tokens = 1 }", Err("set `max_output_tokens` in its place"));
    check_with("extra_body = { a = [{ since = 2026-01-01 }] }", Err("llm.extra_body: since has a value"));
    check_with("extra_body = { a = inf }", Err("llm.extra_body: a has a value"));
}

#[test]
fn models_of_features_are_checked() {
    check_with("models = { judge = 'small', redactpii = 'p', changeTracking = 'c' }", Ok(true));
    check_with(
        "models = { jugde = 'x' }",
        Err("llm.models.jugde: there is no such feature; the features are json, "),
    );
    check_with("models = { rerank = 'x' }", Err("llm.models.rerank: there is no such feature"));
    check_with("models = { judge = ' ' }", Err("llm.models.judge is empty"));
    check_with("models = { judge = 'a', Judge = 'b' }", Err("is set twice"));
    let without_model = "[llm]\nbase_url = 'http://a.test/v1'\nrerank_model = 'm'\nmodels = { judge = 'x' }";
    check(without_model, Err("llm.models is set, but llm.model is missing"));
}

#[test]
fn fallbacks_have_an_endpoint_each_and_a_maximum() {
    let fallback = "[[llm.fallback]]\nbase_url = 'http://b.test/v1'\nmodel = 'm'\n";
    check_with(&fallback.repeat(7), Ok(true));
    check_with(&fallback.repeat(8), Err("llm.fallback has 8 endpoints: the maximum is 7"));
    check(fallback, Err("llm.fallback is set, but llm.base_url is missing"));
    check_with("[[llm.fallback]]\nmodel = 'm'", Err("llm.fallback[0].base_url is missing"));
    check_with("[[llm.fallback]]\nconcurrency = 2", Err("llm.fallback[0].base_url is missing"));
    check_with(&format!("{fallback}combine = true"), Err("llm.fallback[0].combine is set"));
    check_with(&format!("{fallback}concurrency = 0"), Err("llm.fallback[0].concurrency is 0"));
    let headers = "headers = { host = 's3cret' }";
    check_with(&format!("{fallback}{fallback}{headers}"), Err("llm.fallback[1].headers: "));
    let extra = "extra_body = { stream = true }";
    check_with(&format!("{fallback}{extra}"), Err("llm.fallback[0].extra_body: `stream`"));
}

#[test]
fn limits_of_the_model_are_those_of_the_configuration() {
    let keys = "concurrency = 3\nmax_input_chars = 9000\n[[llm.fallback]]\nbase_url = 'http://b.test/v1'\nmodel = 'm'";
    let config: Config = toml::from_str(&format!("{VALID}{keys}")).unwrap();
    let found = model(&config).unwrap().unwrap();
    assert_eq!((found.concurrency(), found.max_input_chars(), found.can_rerank()), (3, 9_000, false));
    assert_eq!(found.models().count(), 2);
}

/// Returns the blocks of a page with TOML.
fn toml_blocks(page: &str) -> impl Iterator<Item = &str> {
    page.split("```toml\n").skip(1).filter_map(|rest| rest.split("\n```").next())
}

#[test]
fn recipes_of_the_manual_are_valid() {
    let page = include_str!("../../../../../docs/models.md");
    let directory = tempfile::tempdir().unwrap();
    let mut count = 0;
    for block in toml_blocks(page) {
        let file = directory.path().join("websvc.toml");
        std::fs::write(&file, block).unwrap();
        let config = crate::config::load(&[file], std::iter::empty()).map_err(|error| error.to_string());
        let config = config.unwrap_or_else(|error| panic!("{error}\n{block}"));
        let found = model(&config).unwrap_or_else(|error| panic!("{error:#}\n{block}"));
        assert!(found.is_some_and(|model| model.can_complete()), "{block}");
        count += 1;
    }
    assert!(count >= 10, "{count} recipes");
}

/// Returns the number after a text.
fn number_after(text: &str, before: &str) -> u64 {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before:?}"));
    rest.chars().map_while(|c| c.to_digit(10)).fold(0, |number, digit| number * 10 + u64::from(digit))
}

#[test]
fn recipes_have_the_context_and_the_places_of_their_server() {
    let page = include_str!("../../../../../docs/models.md");
    for (title, context, places, divisor) in [
        ("llama.cpp", " -c ", " -np ", " -np "),
        ("Ollama", "OLLAMA_CONTEXT_LENGTH=", "OLLAMA_NUM_PARALLEL=", ""),
        ("vLLM", "--max-model-len ", "--max-num-seqs ", ""),
        ("SGLang", "--context-length ", "--max-running-requests ", ""),
    ] {
        let (_, recipe) = page.split_once(&format!("\n### {title}\n")).unwrap();
        let recipe = recipe.split("\n###").next().unwrap();
        let parts = if divisor.is_empty() { 1 } else { number_after(recipe, divisor) };
        assert_eq!(
            number_after(recipe, "context_tokens = "),
            number_after(recipe, context) / parts,
            "{title}"
        );
        assert_eq!(number_after(recipe, "concurrency = "), number_after(recipe, places), "{title}");
    }
}
