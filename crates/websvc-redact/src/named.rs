//! Redaction of texts that a language model named as personal data.
//!
//! A model may err, or obey a page. Only texts that occur in the page and have the form of their kind are replaced.

use std::borrow::Cow;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::finding::{Finding, resolve};
use crate::form::formed;
use crate::kind::Kind;
use crate::options::{Options, Syntax};
use crate::redaction::{Redaction, replace};
use crate::repeat::{find_repetitions, is_allowed, is_whole_word};
use crate::zone::zones;

/// A text that a model named, and its kind. It has the form of its kind: a telephone number has digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NamedText {
    kind: Kind,
    text: String,
}

impl NamedText {
    /// Returns the text without a label or the mark of a sentence around it; `None` if it cannot be of this kind: a name of a
    /// person has at most five words, and a telephone number has no time, date or price.
    #[must_use]
    pub fn new(kind: Kind, text: &str) -> Option<Self> {
        formed(kind, text).map(|text| Self { kind, text: text.to_owned() })
    }

    /// Returns the kind.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether it occurs in a text, as a whole word or not.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        text.contains(&self.text)
    }
}

/// Texts that were named for one part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPart {
    /// The part in bytes, on character boundaries.
    pub range: Range<usize>,
    /// Its texts.
    pub texts: Vec<NamedText>,
}

/// Replaces named texts wherever they occur in their part as whole words, and distinctive ones wherever they occur in the
/// text. Code and the targets of links stay as in [`redact`](crate::redact). The mode of the options has no effect.
pub fn redact_named<'t>(
    text: &'t str,
    syntax: Syntax,
    options: &Options,
    parts: &[NamedPart],
) -> Redaction<'t> {
    let zones = zones(text, syntax);
    let mut findings = Vec::new();
    for part in parts {
        let texts: Vec<&NamedText> =
            part.texts.iter().filter(|named| options.kinds.has(named.kind)).collect();
        let Some(content) = text.get(part.range.clone()) else { continue };
        let search = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(texts.iter().map(|named| &named.text));
        // Building fails only for too many or too long patterns, which the length of a response excludes.
        let Ok(search) = search else { continue };
        for hit in search.find_iter(content) {
            let range = part.range.start + hit.start()..part.range.start + hit.end();
            let kind = texts[hit.pattern().as_usize()].kind;
            if is_whole_word(text, range.start, range.end) && is_allowed(&zones, kind, range.start, range.end)
            {
                findings.push(Finding { kind, range });
            }
        }
    }
    let findings = find_repetitions(text, &zones, resolve(findings));
    let redacted = match findings.as_slice() {
        [] => Cow::Borrowed(text),
        findings => Cow::Owned(replace(text, findings, options.style)),
    };
    Redaction { text: redacted, findings, work: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::ReplacementStyle;

    fn named(kind: Kind, text: &str) -> NamedText {
        NamedText::new(kind, text).unwrap()
    }

    #[track_caller]
    fn check(text: &str, range: Range<usize>, texts: &[NamedText], expected: &str) {
        let parts = [NamedPart { range, texts: texts.to_vec() }];
        let redaction = redact_named(text, Syntax::Markdown, &Options::default(), &parts);
        assert_eq!(redaction.text, expected);
    }

    #[test]
    fn whole_words_are_replaced_in_their_part_and_distinctive_ones_everywhere() {
        let (may, doe) = (named(Kind::Person, "May"), named(Kind::Person, "Jo Doe"));
        let text = "Ask May, not Mayer.\n\nIn May, Jo Doe and Jo Doering came.";
        check(
            text,
            0..21,
            &[may.clone(), doe.clone()],
            "Ask <PERSON>, not Mayer.\n\nIn May, Jo Doe and Jo Doering came.",
        );
        let expected = "Ask May, not Mayer.\n\nIn <PERSON>, <PERSON> and Jo Doering came.";
        check(text, 21..text.len(), &[may, doe.clone()], expected);
        check("Jo Doe wrote.\n\nJo Doe left.", 0..14, &[doe], "<PERSON> wrote.\n\n<PERSON> left.");
    }

    #[test]
    fn code_and_targets_of_links_stay() {
        let texts = [named(Kind::Person, "Jo Doe"), named(Kind::Email, "jo@a.test")];
        let text = "`Jo Doe` [Jo Doe](https://a.test/Jo%20Doe) [mail](mailto:jo@a.test)";
        check(
            text,
            0..text.len(),
            &texts,
            "`Jo Doe` [<PERSON>](https://a.test/Jo%20Doe) [mail](mailto:<EMAIL>)",
        );
    }

    #[test]
    fn kinds_and_style_of_the_options_apply() {
        let text = "Jo Doe, +1 555 0100";
        let parts = [NamedPart {
            range: 0..text.len(),
            texts: vec![named(Kind::Person, "Jo Doe"), named(Kind::Phone, "+1 555 0100")],
        }];
        let kinds = [Kind::Phone].into_iter().collect();
        let options = Options { kinds, style: ReplacementStyle::Mask, ..Options::default() };
        assert_eq!(redact_named(text, Syntax::Plain, &options, &parts).text, "Jo Doe, ***********");
        let nothing = [NamedPart { range: 5..999, texts: Vec::new() }];
        assert_eq!(redact_named(text, Syntax::Plain, &options, &nothing).text, text);
    }
}
