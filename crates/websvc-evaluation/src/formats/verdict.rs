//! Decides whether a result of a feature is right.

use regex::Regex;
use serde_json::Value;

use super::feature::Feature;
use super::page::{CrawlPrompt, DataTask, FormatPage, Question};
use crate::score::score;

/// A property of a result that is right or wrong, such as "no personal data left".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Check {
    /// The name of the property, which begins a row of the report after the feature.
    pub name: &'static str,
    /// True if the result has the property.
    pub is_right: bool,
}

impl Check {
    fn new(name: &'static str, is_right: bool) -> Self {
        Self { name, is_right }
    }
}

/// The name of the only check of a feature.
const RIGHT: &str = "right";

/// The name of the check that a crawl is bounded.
const NOT_WIDER: &str = "not wider than asked";

/// The maximum length of a summary, in words: the 150 words of the service's own instructions, and some more.
const SUMMARY_WORDS: usize = 180;

/// The defaults of the options of a crawl.
const CRAWL_LIMIT: f64 = 10_000.0;

/// Judges a result that is right or not.
pub(crate) fn right(is_right: bool) -> Vec<Check> {
    vec![Check::new(RIGHT, is_right)]
}

/// Returns the checks of a task without a result: all of them are wrong, except that a crawl is not wider than asked.
pub(crate) fn none(feature: Feature, page: Option<&FormatPage>) -> Vec<Check> {
    let checks = match (feature, page) {
        (Feature::CrawlPrompt, _) => return vec![Check::new(RIGHT, false), Check::new(NOT_WIDER, true)],
        (Feature::Clean, Some(page)) => cleaned(page, "", false),
        (Feature::RedactAccurate | Feature::RedactFast, Some(page)) => redacted(page, ""),
        _ => right(false),
    };
    checks.into_iter().map(|check| Check::new(check.name, false)).collect()
}

/// Judges the data of a schema: all expected values, and no others.
pub(crate) fn data(task: &DataTask, data: &Value) -> Vec<Check> {
    right(score(&chosen(&task.expected, data), Some(data), true).is_perfect())
}

/// Returns the expected data, with the alternative that the data has in place of each `oneOf`.
pub(crate) fn chosen(expected: &Value, data: &Value) -> Value {
    if let Some(alternatives) = expected["oneOf"].as_array() {
        let is_equal = |other: &&Value| score(other, Some(data), true).is_perfect();
        return alternatives.iter().find(is_equal).or(alternatives.first()).cloned().unwrap_or_default();
    }
    match expected {
        Value::Object(fields) => {
            let field =
                |(name, field): (&String, &Value)| (name.clone(), chosen(field, &data[name.as_str()]));
            Value::Object(fields.iter().map(field).collect())
        }
        other => other.clone(),
    }
}

/// Judges the answer to a question.
pub(crate) fn answer(question: &Question, answer: &str) -> Vec<Check> {
    let answer = answer.to_lowercase();
    let has_any = |texts: &[String]| texts.iter().any(|text| answer.contains(text.as_str()));
    right(has_any(&question.accepted) && !has_any(&question.refused))
}

/// Judges a summary: it has the words of the page, no number that the page does not have, and its length.
pub(crate) fn summary(page: &FormatPage, summary: &str) -> Vec<Check> {
    let text = summary.to_lowercase();
    let has_words =
        page.tasks.summary.iter().all(|words| words.iter().any(|word| text.contains(word.as_str())));
    let invented = numbers(summary).into_iter().any(|number| !numbers(page.html).contains(&number));
    right(has_words && !invented && summary.split_whitespace().count() <= SUMMARY_WORDS)
}

/// Returns the numbers of a text, without separators.
fn numbers(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_digit() && c != '.' && c != ',');
    let words = words.map(|word| word.trim_matches(['.', ',']).replace(',', ""));
    words.filter(|word| word.contains(|c: char| c.is_ascii_digit())).collect()
}

/// Judges chosen passages: the answer is among them, and they are at most half of the page.
pub(crate) fn highlights(expected: &str, highlights: &str, markdown: &str) -> Vec<Check> {
    let is_choice = highlights.chars().count() * 2 <= markdown.chars().count();
    right(is_choice && plain(highlights).contains(&plain(expected)))
}

/// Judges cleaned markdown. A loss that a warning names is not silent.
pub(crate) fn cleaned(page: &FormatPage, markdown: &str, is_warned: bool) -> Vec<Check> {
    let markdown = plain(markdown);
    let has = |text: &String| markdown.contains(&plain(text));
    let keeps_all = page.tasks.clean.kept.iter().all(has);
    vec![
        Check::new("no real text lost without a warning", keeps_all || is_warned),
        Check::new("no real text lost", keeps_all),
        Check::new("boilerplate removed", !page.tasks.clean.boilerplate.iter().any(has)),
    ]
}

/// Judges redacted markdown.
pub(crate) fn redacted(page: &FormatPage, markdown: &str) -> Vec<Check> {
    let markdown = plain(markdown);
    let has = |text: &str| markdown.contains(&plain(text));
    let keeps_harmless = page.tasks.harmless.iter().all(|text| has(text));
    let harmless = Check::new("harmless text kept", keeps_harmless);
    if page.tasks.personal.is_empty() {
        return vec![harmless];
    }
    let is_clean = !page.tasks.personal.iter().any(|personal| has(&personal.text));
    vec![Check::new("no personal data left", is_clean), harmless]
}

/// Returns a text with single blanks and without the marks of Markdown.
fn plain(text: &str) -> String {
    let text: String = text.chars().filter(|c| !matches!(c, '*' | '`' | '\\' | '|' | '[' | ']')).collect();
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// Judges the judgment of a change.
pub(crate) fn judgment(page: &FormatPage, judgment: &Value) -> Vec<Check> {
    let reason = judgment["reason"].as_str().unwrap_or_default();
    let is_judged = judgment.is_object() && !reason.starts_with("The changes were not judged");
    vec![
        Check::new("judged", is_judged),
        Check::new(RIGHT, judgment["meaningful"] == page.tasks.change.matters),
    ]
}

/// Judges the options of a crawl.
pub(crate) fn crawl_options(task: &CrawlPrompt, options: &Value) -> Vec<Check> {
    let is_equal = DEFAULTS.iter().all(|(name, default)| {
        let (found, expected) = (value_of(options, name, *default), expected_of(task, name, *default));
        found == expected || task.free.iter().any(|free| free == name)
    });
    let selects =
        |paths: &[String], wanted: bool| paths.iter().all(|path| is_selected(options, path) == Some(wanted));
    let is_right = is_equal && selects(&task.visited, true) && selects(&task.left, false);
    let is_wider = WIDENING.iter().any(|(name, default)| {
        let is_free = task.free.iter().any(|free| free == name);
        !is_free && value_of(options, name, *default) > expected_of(task, name, *default)
    });
    vec![Check::new(RIGHT, is_right), Check::new(NOT_WIDER, !is_wider)]
}

/// Options with their defaults as numbers: false is 0, and no maximum is infinite.
const DEFAULTS: [(&str, f64); 8] = [
    ("limit", CRAWL_LIMIT),
    ("maxDiscoveryDepth", f64::INFINITY),
    ("crawlEntireDomain", 0.0),
    ("allowExternalLinks", 0.0),
    ("allowSubdomains", 0.0),
    ("sitemap", 1.0),
    ("ignoreQueryParameters", 0.0),
    ("delay", 0.0),
];

/// The options that let a crawl read more.
const WIDENING: [(&str, f64); 5] = [DEFAULTS[0], DEFAULTS[1], DEFAULTS[2], DEFAULTS[3], DEFAULTS[4]];

fn expected_of(task: &CrawlPrompt, name: &str, default: f64) -> f64 {
    value_of(&Value::Object(task.options.clone()), name, default)
}

/// Returns an option as a number.
fn value_of(options: &Value, name: &str, default: f64) -> f64 {
    match &options[name] {
        Value::Bool(value) => f64::from(u8::from(*value)),
        Value::String(mode) if mode == "skip" => 0.0,
        Value::String(mode) if mode == "only" => 2.0,
        other => other.as_f64().unwrap_or(default),
    }
}

/// Returns whether the patterns select a path; `None` if one of them cannot be read.
fn is_selected(options: &Value, path: &str) -> Option<bool> {
    let matches = |name: &str| -> Option<Option<bool>> {
        let Some(patterns) = options[name].as_array().filter(|patterns| !patterns.is_empty()) else {
            return Some(None);
        };
        let mut any = false;
        for pattern in patterns {
            any |= Regex::new(pattern.as_str()?).ok()?.is_match(path);
        }
        Some(Some(any))
    };
    Some(matches("includePaths")?.unwrap_or(true) && !matches("excludePaths")?.unwrap_or(false))
}

#[cfg(test)]
mod tests;
