//! Sentences filled with generated personal data.

use std::ops::Range;

use websvc_redact::Kind;

use crate::generators::{Random, generate};

/// Fills a sentence. Returns it with the kinds and ranges of its personal data.
pub(crate) fn fill(template: &str, random: &mut Random) -> (String, Vec<(Kind, Range<usize>)>) {
    let (mut text, mut gold) = (String::new(), Vec::new());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let (slot, after) = after.split_once('}').unwrap();
        let kind = match slot {
            "P" => Kind::Person,
            "E" => Kind::Email,
            "T" => Kind::Phone,
            "L" => Kind::Location,
            "F" => Kind::Financial,
            _ => Kind::Secret,
        };
        let value = generate(kind, random);
        gold.push((kind, text.len()..text.len() + value.len()));
        text.push_str(&value);
        rest = after;
    }
    text.push_str(rest);
    (text, gold)
}
