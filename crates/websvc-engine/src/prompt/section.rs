//! The sections of a site that a prompt names, and the path patterns of their pages.

use url::Url;

/// The sections that words name, by the path segment that they usually have.
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

/// Words that follow the name of a section, such as `section`.
const SECTION_WORDS: &[&str] =
    &["section", "sections", "directory", "directories", "folder", "folders", "area", "category", "subtree"];

/// Words before those of [`SECTION_WORDS`] that are not names.
const NOT_NAMES: &[&str] = &[
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

/// Words after `about` with which it names a page, as in `the about page`.
const AFTER_ABOUT: &[&str] = &["page", "pages", "section", "sections", "us", "and", "or", "area"];

/// Words before `about` with which it names a page at the end of a clause, as in `the blog and about`.
const BEFORE_ABOUT: &[&str] = &[
    "the",
    "and",
    "or",
    "only",
    "just",
    "their",
    "its",
    "include",
    "including",
    "skip",
    "except",
    "exclude",
    "without",
    "no",
];

/// Returns whether the word `about` names a page of a site. Otherwise a topic follows it.
pub(super) fn is_about_page(before: &str, next: Option<&str>) -> bool {
    match next {
        Some(next) => AFTER_ABOUT.contains(&next),
        None => BEFORE_ABOUT.contains(&before) || before.is_empty(),
    }
}

/// Returns the patterns of the section that a word names. `next` is the word after it, in lower case.
pub(super) fn named(word: &str, next: Option<&str>) -> Option<Vec<String>> {
    if let Some((segment, _)) = SECTIONS.iter().find(|(_, names)| names.contains(&word)) {
        return Some(below(segment));
    }
    let is_name = word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && !NOT_NAMES.contains(&word);
    let is_followed_by_section_word = next.is_some_and(|next| SECTION_WORDS.contains(&next));
    (is_name && is_followed_by_section_word).then(|| below(word))
}

/// Returns the patterns of a path segment: the pages below it, and its own page.
fn below(segment: &str) -> Vec<String> {
    vec![format!("{segment}/.*"), format!("/{segment}$")]
}

/// Returns the pattern of a literal path, such as `/docs/api/*`, or of the path of a URL.
pub(super) fn path(text: &str) -> Option<String> {
    let url = if text.contains("://") { Url::parse(text).ok() } else { None };
    let path = match &url {
        Some(url) => url.path(),
        None => text,
    };
    let path = path.trim_end_matches(['*', '/']);
    let is_path = path.len() > 1 && path.starts_with('/') && !path.starts_with("//");
    is_path.then(|| format!("{}(/|$)", escape(path)))
}

/// Escapes the special characters of regular expressions. An asterisk matches any part of a path segment.
fn escape(path: &str) -> String {
    let mut pattern = String::with_capacity(path.len() + 8);
    for c in path.chars() {
        match c {
            '*' => pattern.push_str("[^/]*"),
            '.' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '^' | '$' | '|' | '\\' | '#' | '&'
            | '~' => {
                pattern.push('\\');
                pattern.push(c);
            }
            _ => pattern.push(c),
        }
    }
    pattern
}
