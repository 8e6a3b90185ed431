//! The path patterns of a model: whether the words of a prompt support them.

use crate::generated::is_word_form;

/// The side of a prompt on which a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Polarity {
    Included,
    Excluded,
}

/// Words that name the same section of a site, in several languages.
const SYNONYMS: &[&[&str]] = &[
    &["about", "company", "team", "us", "unternehmen", "empresa", "entreprise"],
    &["blog", "blogs", "post", "posts", "article", "articles", "artikel", "articulos", "stories"],
    &[
        "career",
        "careers",
        "job",
        "jobs",
        "vacancies",
        "openings",
        "positions",
        "hiring",
        "karriere",
        "stellen",
        "stellenangebote",
        "empleo",
        "emplois",
    ],
    &["changelog", "changes", "release", "releases", "versions", "whatsnew"],
    &["contact", "contacts", "kontakt", "contacto"],
    &[
        "doc",
        "docs",
        "documentation",
        "documents",
        "manual",
        "reference",
        "dokumentation",
        "documentaci\u{f3}n",
        "documentacion",
        "handbuch",
    ],
    &["event", "events", "calendar", "veranstaltungen", "eventos"],
    &["faq", "faqs", "questions", "fragen", "preguntas"],
    &["guide", "guides", "tutorial", "tutorials", "howto", "anleitungen", "gu\u{ed}as"],
    &["help", "support", "helpcenter", "hilfe", "ayuda", "aide"],
    &["news", "press", "announcements", "nachrichten", "noticias", "actualit\u{e9}s", "presse"],
    &["price", "prices", "pricing", "plans", "preise", "precios", "tarifs", "prix"],
    &[
        "product",
        "products",
        "shop",
        "store",
        "items",
        "catalog",
        "catalogue",
        "produkte",
        "productos",
        "produits",
    ],
    &["recipe", "recipes", "rezepte", "recetas", "recettes"],
];

/// The minimum length of a word in a pattern, in characters. Shorter ones are parts of the syntax or of languages.
const MIN_WORD_CHARS: usize = 2;

/// Returns whether words of a prompt on one side name everything that a pattern names. A pattern without words names nothing.
pub(super) fn supported(pattern: &str, words: &[(String, bool)], polarity: Polarity) -> bool {
    let named = named_words(pattern);
    let parts: Vec<&str> = words
        .iter()
        .filter(|(_, is_negated)| *is_negated == (polarity == Polarity::Excluded))
        .flat_map(|(word, _)| word.split(|c: char| !c.is_alphanumeric()))
        .collect();
    !named.is_empty() && named.iter().all(|word| parts.iter().any(|part| is_same(word, part)))
}

/// Returns whether one of the patterns has all words of a pattern of the rules.
pub(super) fn covers(patterns: &[String], rule: &str) -> bool {
    let wanted = named_words(rule);
    patterns.iter().any(|pattern| {
        let named = named_words(pattern);
        wanted.iter().all(|word| named.contains(word))
    })
}

fn is_same(one: &str, other: &str) -> bool {
    is_word_form(one, other) || SYNONYMS.iter().any(|group| group.contains(&one) && group.contains(&other))
}

/// Returns the words of a regular expression, in lower case: its letters outside of classes and escapes.
fn named_words(pattern: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut is_escaped, mut is_in_class) = (false, false);
    for c in pattern.chars() {
        let is_syntax = is_escaped || is_in_class;
        match c {
            '\\' if !is_escaped => is_escaped = true,
            _ if is_escaped => is_escaped = false,
            '[' => is_in_class = true,
            ']' => is_in_class = false,
            _ => {}
        }
        match words.last_mut() {
            Some(word) if c.is_alphanumeric() && !is_syntax => word.extend(c.to_lowercase()),
            Some(word) if word.is_empty() => {}
            Some(_) | None => words.push(String::new()),
        }
    }
    words.retain(|word| word.chars().count() >= MIN_WORD_CHARS && word.contains(char::is_alphabetic));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_pattern_are_its_letters() {
        for (pattern, expected) in [
            ("blog/.*", &["blog"][..]),
            ("^/docs/v2/[a-z]+\\d*\\.pdf$", &["docs", "v2", "pdf"]),
            ("(news|press)/.*", &["news", "press"]),
            (".*", &[]),
            ("/a/\\w+", &[]),
            ("release-notes", &["release", "notes"]),
        ] {
            assert_eq!(named_words(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn pattern_needs_a_word_of_its_side() {
        let words =
            [("jobs", false), ("release", false), ("notes", false), ("archive", true), ("/help/api", false)];
        let words: Vec<(String, bool)> =
            words.map(|(word, is_negated)| (word.to_owned(), is_negated)).to_vec();
        for (pattern, polarity, expected) in [
            ("careers/.*", Polarity::Included, true),
            ("release-notes/.*", Polarity::Included, true),
            ("help/.*", Polarity::Included, true),
            ("archives/.*", Polarity::Excluded, true),
            ("archive/.*", Polarity::Included, false),
            ("jobs/.*", Polarity::Excluded, false),
            ("blog/.*", Polarity::Included, false),
            ("jobs/blog/.*", Polarity::Included, false),
            (".*", Polarity::Included, false),
        ] {
            assert_eq!(supported(pattern, &words, polarity), expected, "{pattern}");
        }
    }

    #[test]
    fn patterns_cover_a_rule_with_the_same_words() {
        let patterns = ["docs/v2/.*".to_owned()];
        assert!(covers(&patterns, "docs/.*") && covers(&patterns, "/docs$") && !covers(&patterns, "blog/.*"));
    }
}
