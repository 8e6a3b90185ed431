//! Comparison of the texts that a language model named in a text with the findings of the rules in it.
//!
//! The rules for mail addresses, numbers and secrets are nearly never wrong, so that a model that did not name what they find
//! did not read the text.

use std::collections::HashSet;
use std::ops::Range;

use crate::cjk::is_cjk;
use crate::finding::Finding;
use crate::kind::{Kind, Kinds};
use crate::lexicon::{WordSense, senses};
use crate::named::{NamedPart, NamedText, redact_named};
use crate::options::{Options, RedactMode, ReplacementStyle, Syntax};
use crate::redaction::redact;

/// The kinds whose rules are nearly never wrong.
const CERTAIN: [Kind; 4] = [Kind::Secret, Kind::Email, Kind::Financial, Kind::Phone];

/// Number of letters and digits from which a text has so much else that nearly all of it is not personal data.
const MIN_LETTERS: usize = 200;

/// The number of pieces of personal data that the rules find in a text, except places, and that a model named and missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comparison {
    /// The number of findings of the rules.
    pub found: usize,
    /// The number of those that the model named.
    pub named: usize,
    /// The number of mail addresses, telephone and financial numbers and secrets that it did not name.
    pub missed: usize,
    /// True if it named more than half of a longer text, and the rules find less than half of that.
    pub is_nearly_everything: bool,
    /// True if the rules find nothing, places included.
    pub is_without_findings: bool,
}

impl Comparison {
    /// Returns whether the model found at least half of what the rules find.
    #[must_use]
    pub const fn is_mostly_named(&self) -> bool {
        2 * self.named >= self.found
    }
}

/// Compares the texts that a model named in a text with the findings of the rules of these kinds. The work is linear in the
/// text.
#[must_use]
pub fn compare(text: &str, syntax: Syntax, kinds: Kinds, texts: &[NamedText]) -> Comparison {
    let options = Options { mode: RedactMode::Fast, kinds, style: ReplacementStyle::Tag };
    let parts = [NamedPart { range: 0..text.len(), texts: texts.to_vec() }];
    let named = redact_named(text, syntax, &options, &parts).findings;
    let all = redact(text, syntax, &options).findings;
    let letters = |findings: &[Finding]| -> usize {
        findings.iter().map(|finding| letters(&text[finding.range.clone()])).sum()
    };
    let (total, of_model, of_rules) = (self::letters(text), letters(&named), letters(&all));
    // Whether a place belongs to a person is a question of the context.
    let found: Vec<&Finding> = all.iter().filter(|finding| finding.kind != Kind::Location).collect();
    let is_named = |finding: &Finding| {
        let range = bare(text, finding.range.clone());
        // Findings do not overlap, and are sorted.
        let next = named.partition_point(|other| other.range.end < range.end);
        named.get(next).is_some_and(|other| other.range.start <= range.start)
    };
    let missed: Vec<&Finding> = found.iter().filter(|finding| !is_named(finding)).copied().collect();
    Comparison {
        found: found.len(),
        named: found.len() - missed.len(),
        missed: missed.iter().filter(|finding| CERTAIN.contains(&finding.kind)).count(),
        is_nearly_everything: total >= MIN_LETTERS && 2 * of_model > total && of_model > 2 * of_rules,
        is_without_findings: all.is_empty(),
    }
}

/// Returns a range without the marks at its ends, such as the brackets around a mail address.
fn bare(text: &str, range: Range<usize>) -> Range<usize> {
    let is_mark = |c: char| !c.is_alphanumeric();
    let found = &text[range.clone()];
    let start = range.start + found.len() - found.trim_start_matches(is_mark).len();
    start..start + found.trim_matches(is_mark).len()
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

/// Returns the named texts without names of people and places that consist of words that the text also has in lower case:
/// they are ordinary words at the beginning of a sentence or in a heading.
#[must_use]
pub fn without_ordinary_words(text: &str, texts: Vec<NamedText>) -> Vec<NamedText> {
    let is_name = |named: &NamedText| {
        matches!(named.kind(), Kind::Person | Kind::Location)
            && !named.text().contains(|c: char| c.is_ascii_digit())
            && named.text().contains(char::is_uppercase)
    };
    if !texts.iter().any(is_name) {
        return texts;
    }
    let lower: HashSet<&str> = words(text).filter(|word| word.starts_with(char::is_lowercase)).collect();
    let is_ordinary =
        |named: &NamedText| words(named.text()).all(|word| lower.contains(word.to_lowercase().as_str()));
    texts.into_iter().filter(|named| !is_name(named) || !is_ordinary(named)).collect()
}

/// Returns whether a named text alone says nothing about a person: a place without a number, or one word that is not a known
/// name. Such texts are personal data only with others.
#[must_use]
pub fn is_doubtful_alone(named: &NamedText) -> bool {
    let text = named.text();
    let is_known = |word: &str| {
        let senses = senses(word);
        senses.is(WordSense::GIVEN) || senses.is(WordSense::FAMILY) || senses.is(WordSense::GIVEN_DOUBTFUL)
    };
    match named.kind() {
        Kind::Location => !text.contains(|c: char| c.is_ascii_digit()),
        Kind::Person => !text.contains(is_cjk) && !text.contains(char::is_whitespace) && !is_known(text),
        Kind::Secret | Kind::Email | Kind::Financial | Kind::Phone => false,
    }
}

/// Returns the words of a text without the marks around them. A mail address or a URL is one word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(texts: &[(Kind, &str)]) -> Vec<NamedText> {
        texts.iter().map(|(kind, text)| NamedText::new(*kind, text).unwrap()).collect()
    }

    #[track_caller]
    fn check(text: &str, texts: &[(Kind, &str)], expected: (usize, usize, usize)) {
        let Comparison { found, named, missed, is_nearly_everything, is_without_findings: _ } =
            compare(text, Syntax::Markdown, Kinds::ALL, &named(texts));
        assert_eq!(
            (found, named, missed, is_nearly_everything),
            (expected.0, expected.1, expected.2, false),
            "{text}"
        );
    }

    #[test]
    fn findings_of_the_rules_that_a_model_did_not_name_are_counted() {
        let text = "Dr. Jane Doe in Berlin: <jane@a.test>, tel. +1 212 555 0123";
        check(text, &[], (3, 0, 2));
        check(text, &[(Kind::Email, "jane@a.test"), (Kind::Phone, "+1 212 555 0123")], (3, 2, 0));
        // A part of a number does not count. The kind does not matter: the text is removed.
        check(text, &[(Kind::Phone, "212 555 0123"), (Kind::Email, "jane@a.test")], (3, 1, 1));
        check("Write to jane.doe@a.test.", &[(Kind::Person, "Jane Doe")], (1, 0, 1));
        check("Green tea from Japan.", &[], (0, 0, 0));
    }

    #[test]
    fn places_and_unknown_single_words_are_doubtful_alone() {
        let doubtful = [(Kind::Location, "Japan"), (Kind::Person, "Sencha")];
        let certain = [
            (Kind::Location, "Main Street 5"),
            (Kind::Person, "Anna"),
            (Kind::Person, "Qwlxi Vrtzk"),
            (Kind::Person, "王小明"),
            (Kind::Email, "jo@a.test"),
        ];
        assert!(named(&doubtful).iter().all(is_doubtful_alone));
        assert!(!named(&certain).iter().any(is_doubtful_alone));
        assert!(compare("Sencha grows on slopes.", Syntax::Plain, Kinds::ALL, &[]).is_without_findings);
        assert!(!compare("Ask jo@a.test", Syntax::Plain, Kinds::ALL, &[]).is_without_findings);
    }

    #[test]
    fn kinds_that_are_not_requested_are_not_missed() {
        let kinds = [Kind::Phone].into_iter().collect();
        assert_eq!(compare("jane@a.test", Syntax::Plain, kinds, &[]).missed, 0);
    }

    #[test]
    fn model_that_names_nearly_everything_is_recognized_and_a_list_of_contacts_is_not() {
        let heading = |index: u32| format!("Sencha Gyokuro {}", char::from_u32(64 + index).unwrap());
        let headings: Vec<String> = (1..25).map(heading).collect();
        let texts: Vec<(Kind, &str)> = headings.iter().map(|text| (Kind::Person, text.as_str())).collect();
        let junk = compare(&headings.join("\n\n"), Syntax::Markdown, Kinds::ALL, &named(&texts));
        assert!(junk.is_nearly_everything);
        let mails: Vec<String> = (0..25).map(|index| format!("person{index}@tea.test")).collect();
        let texts: Vec<(Kind, &str)> = mails.iter().map(|text| (Kind::Email, text.as_str())).collect();
        let list = compare(&mails.join("\n\n"), Syntax::Markdown, Kinds::ALL, &named(&texts));
        assert!(!list.is_nearly_everything && list.missed == 0, "{list:?}");
    }

    #[test]
    fn names_of_words_that_the_text_has_in_lower_case_are_dropped() {
        let text = "# Kettle Tea\n\nAnna Miller makes tea in a kettle. Write to anna@a.test (miller).";
        let texts =
            named(&[(Kind::Person, "Kettle Tea"), (Kind::Person, "Anna Miller"), (Kind::Location, "Kettle")]);
        let left: Vec<String> =
            without_ordinary_words(text, texts).into_iter().map(|named| named.text().to_owned()).collect();
        assert_eq!(left, ["Anna Miller"]);
    }
}
