//! Tests of prompts as a whole: with a model that fills in every option as wide as possible, with one that finds nothing, and
//! with one that understands.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_model::{CompletionContent, FakeModel};

use super::*;

#[test]
fn prompt_without_options_fails_with_the_understood_phrases() {
    let error = by_words("please be nice", "no language model is configured ([llm])").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("[llm]") && text.contains("up to 50 pages"), "{text}");
}

#[test]
fn options_that_violate_a_rule_are_rejected() {
    assert!(by_words("up to 0 pages", "reason").is_err());
}

#[test]
fn warning_names_the_options_that_were_read() {
    let options = by_words("only the blog, up to 5 pages", "reason").unwrap();
    assert_eq!(options.warnings, ["prompt: reason; simple rules read includePaths, limit from it"]);
}

/// A prompt, the options that its words ask for, the answer of a model that understands, and the options with it.
struct Case {
    prompt: &'static str,
    /// Null if no rule reads an option.
    words: Value,
    answer: Value,
    options: Value,
}

fn case(prompt: &'static str, words: Value, answer: Value, options: Value) -> Case {
    Case { prompt, words, answer, options }
}

/// Returns a case in which the model adds nothing to the words.
fn same(prompt: &'static str, words: &Value) -> Case {
    case(prompt, words.clone(), words.clone(), words.clone())
}

fn blog() -> Value {
    json!(["blog/.*", "/blog$"])
}

fn cases() -> Vec<Case> {
    let docs = json!(["docs/.*", "/docs$"]);
    vec![
        same("only the blog", &json!({ "includePaths": blog() })),
        same("the blog, up to 50 pages", &json!({ "includePaths": blog(), "limit": 50 })),
        same("everything except /archive", &json!({ "excludePaths": ["/archive(/|$)"] })),
        same("2 levels deep", &json!({ "maxDiscoveryDepth": 2 })),
        same("the entire site", &json!({ "crawlEntireDomain": true })),
        same("the docs with subdomains", &json!({ "includePaths": docs, "allowSubdomains": true })),
        same(
            "do not use the sitemap, follow external links",
            &json!({ "sitemap": "skip", "allowExternalLinks": true }),
        ),
        same("no external links", &json!({ "allowExternalLinks": false })),
        same("wait 2 seconds between pages", &json!({ "delay": 2.0 })),
        same("ignore query parameters", &json!({ "ignoreQueryParameters": true })),
        same("at most 20000 pages", &json!({ "limit": 20_000 })),
        same("ten pages about green tea", &json!({ "limit": 10 })),
        // Prompts that no rule reads.
        case("everything about green tea", Value::Null, json!({}), Value::Null),
        case("please be nice", Value::Null, json!({}), Value::Null),
        case(
            "only the job openings",
            Value::Null,
            json!({ "includePaths": ["careers/.*"] }),
            json!({ "includePaths": ["careers/.*"] }),
        ),
        case(
            "nur die Stellenangebote und Produkte",
            Value::Null,
            json!({ "includePaths": ["karriere/.*", "produkte/.*"] }),
            json!({ "includePaths": ["karriere/.*", "produkte/.*"] }),
        ),
        case(
            "a few of the recipes",
            Value::Null,
            json!({ "limit": 5, "includePaths": ["recipes/.*"] }),
            json!({
                "limit": 5, "includePaths": ["recipes/.*"],
            }),
        ),
        case("crawl slowly", Value::Null, json!({ "delay": 3.0 }), json!({ "delay": 3.0 })),
        case(
            "go to pages of another website, too",
            Value::Null,
            json!({ "allowExternalLinks": true }),
            json!({ "allowExternalLinks": true }),
        ),
        // A model is more exact than the rules, or adds to them.
        case(
            "the docs of v2",
            json!({ "includePaths": docs }),
            json!({ "includePaths": ["docs/v2/.*"] }),
            json!({ "includePaths": ["docs/v2/.*"] }),
        ),
        case(
            "the blog, but none of the drafts, without press",
            json!({ "includePaths": blog() }),
            json!({ "includePaths": ["blog/.*"], "excludePaths": ["press/.*"] }),
            json!({ "includePaths": ["blog/.*"], "excludePaths": ["press/.*"] }),
        ),
    ]
}

async fn converted(prompt: &str, answer: Value) -> Result<PromptOptions, PromptError> {
    let model = FakeModel::new(move |_| Ok(CompletionContent::Json(answer.clone())));
    let (url, deadline) = ("http://a.test/".parse().unwrap(), Instant::now() + Duration::from_secs(60));
    convert(Some(&model), &StageTimes::default(), &url, prompt, deadline).await
}

#[track_caller]
fn check(case: &Case, result: Result<PromptOptions, PromptError>, expected: &Value) -> Vec<String> {
    let (params, warnings) = match result {
        Ok(PromptOptions { params, warnings }) => (serde_json::to_value(params).unwrap(), warnings),
        Err(_) => (Value::Null, Vec::new()),
    };
    assert_eq!(params, *expected, "{}", case.prompt);
    warnings
}

/// Every option as wide as possible, or as useless.
fn widest() -> Value {
    json!({
        "includePaths": [".*", "blog/.*", "docs/.*"], "excludePaths": ["careers/.*"], "maxDiscoveryDepth": 100,
        "limit": 1_000_000, "crawlEntireDomain": true, "allowExternalLinks": true, "allowSubdomains": true,
        "sitemap": "only", "ignoreQueryParameters": true, "delay": 0.5,
    })
}

#[tokio::test]
async fn model_that_fills_in_every_option_never_widens_a_crawl() {
    for case in cases() {
        // What the words of another language support is not wide for them.
        let expected = match case.prompt {
            "go to pages of another website, too" => &json!({ "allowExternalLinks": true }),
            "crawl slowly" => &json!({ "delay": 0.5 }),
            _ => &case.words,
        };
        let warnings = check(&case, converted(case.prompt, widest()).await, expected);
        if expected.is_object() {
            let said =
                warnings.iter().any(|warning| warning.contains("limit") && warning.contains("which count"));
            assert!(said, "{}: {warnings:?}", case.prompt);
        }
    }
}

#[tokio::test]
async fn model_that_finds_nothing_leaves_the_rules() {
    for case in cases() {
        let defaults = json!({
            "includePaths": [], "excludePaths": [], "limit": null, "crawlEntireDomain": null, "sitemap": null,
        });
        for answer in [json!({}), defaults] {
            let warnings = check(&case, converted(case.prompt, answer).await, &case.words);
            assert!(case.words.is_null() || warnings[0].contains("simple rules read"), "{warnings:?}");
        }
    }
}

#[tokio::test]
async fn model_that_understands_is_followed() {
    for case in cases() {
        let warnings = check(&case, converted(case.prompt, case.answer.clone()).await, &case.options);
        assert!(case.answer == json!({}) || warnings.is_empty(), "{}: {warnings:?}", case.prompt);
    }
}

#[tokio::test]
async fn default_values_of_a_model_do_not_count() {
    let answer = json!({
        "includePaths": ["blog/.*"], "limit": 10_000, "crawlEntireDomain": false, "allowExternalLinks": false,
        "allowSubdomains": false, "sitemap": "include", "ignoreQueryParameters": false,
    });
    let PromptOptions { params, warnings } = converted("only the blog", answer).await.unwrap();
    assert_eq!(serde_json::to_value(params).unwrap(), json!({ "includePaths": ["blog/.*"] }));
    assert!(warnings.is_empty(), "{warnings:?}");
}
