//! What words call a part of a site, and the patterns of its pages.

use url::Url;

/// The parts of sites that words name, by the segment of the path that they usually have.
const SECTIONS: &[(&str, &[&str])] = &[
    ("about", &["about"]),
    ("api", &["api"]),
    ("blog", &["blog", "blogs", "blogposts"]),
    ("careers", &["careers"]),
    ("changelog", &["changelog", "changelogs"]),
    ("docs", &["doc", "docs", "documentation", "documentations"]),
    ("examples", &["examples"]),
    ("faq", &["faq", "faqs"]),
    ("forum", &["forum", "forums"]),
    ("guides", &["guides"]),
    ("help", &["help-center", "helpcenter"]),
    ("news", &["news"]),
    ("pricing", &["pricing"]),
    ("tutorials", &["tutorials"]),
    ("wiki", &["wiki"]),
];

/// What follows the name of a part of a site, whatever the name.
const PARTS: &[&str] =
    &["section", "sections", "directory", "directories", "folder", "folders", "area", "category", "subtree"];

/// Words before these that are no names.
const NO_NAMES: &[&str] = &[
    "a",
    "all",
    "an",
    "any",
    "each",
    "every",
    "first",
    "following",
    "last",
    "main",
    "other",
    "same",
    "some",
    "that",
    "the",
    "these",
    "this",
    "those",
    "which",
    "whole",
    "entire",
    "and",
    "or",
    "of",
    "in",
    "their",
    "its",
    "new",
];

/// Returns the patterns of the part of a site that a word names; `next` is the word after it, in lower case.
pub(super) fn named(word: &str, next: Option<&str>) -> Option<Vec<String>> {
    if let Some((segment, _)) = SECTIONS.iter().find(|(_, names)| names.contains(&word)) {
        return Some(below(segment));
    }
    let is_name = word.chars().all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_'))
        && word.starts_with(|sign: char| sign.is_ascii_alphabetic())
        && !NO_NAMES.contains(&word);
    let is_part = next.is_some_and(|next| PARTS.contains(&next));
    (is_name && is_part).then(|| below(word))
}

/// Returns the patterns of a segment: what is below it, and its own page.
fn below(segment: &str) -> Vec<String> {
    vec![format!("{segment}/.*"), format!("/{segment}$")]
}

/// Returns the pattern of a path that is spelt out, such as `/docs/api/*`; of a URL, its path.
pub(super) fn path(text: &str) -> Option<String> {
    let url = if text.contains("://") { Url::parse(text).ok() } else { None };
    let path = match &url {
        Some(url) => url.path(),
        None => text,
    };
    let path = path.trim_end_matches(['*', '/']);
    let is_path = path.len() > 1 && path.starts_with('/') && !path.starts_with("//");
    is_path.then(|| format!("{}(/|$)", escaped(path)))
}

/// Escapes what regular expressions take for more than itself; an asterisk stands for any part of a path.
fn escaped(path: &str) -> String {
    let mut pattern = String::with_capacity(path.len() + 8);
    for sign in path.chars() {
        match sign {
            '*' => pattern.push_str("[^/]*"),
            '.' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '^' | '$' | '|' | '\\' | '#' | '&'
            | '~' => {
                pattern.push('\\');
                pattern.push(sign);
            }
            _ => pattern.push(sign),
        }
    }
    pattern
}
