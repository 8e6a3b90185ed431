//! Detects pages that label themselves as explicit.
//!
//! Labels are `rating` meta tags (`adult`, `mature`, `restricted`, or the RTA label in any meta tag), and PICS labels
//! in the vocabularies of RSACi (nudity or sex of level 3 and 4) and ICRA (genitals and explicit acts, except in an
//! artistic, educational or medical context).

use crate::dom::{Dom, Tag};
use crate::meta_tags::MetaValue;
use std::collections::BTreeMap;

/// The label of the Association of Sites Advocating Child Protection: "restricted to adults".
const RTA: &str = "RTA-5042-1996-1400-1577-RTA";

/// Returns whether any label of the page marks it as explicit.
pub(crate) fn is_explicit(dom: &Dom, meta: &BTreeMap<String, MetaValue>) -> bool {
    let rating = meta.get("rating").is_some_and(|value| match value {
        MetaValue::One(text) => is_rating(text),
        MetaValue::Many(texts) => texts.iter().any(|text| is_rating(text)),
    });
    rating
        || http_equivalents(dom).any(|(name, content)| match name {
            Name::Rating => is_rating(content),
            Name::Pics => is_pics_explicit(content),
        })
}

enum Name {
    Rating,
    Pics,
}

fn http_equivalents(dom: &Dom) -> impl Iterator<Item = (Name, &str)> {
    dom.elements(Tag::Meta).filter_map(|id| {
        let name = dom.attribute(id, "http-equiv")?.trim();
        let name = if name.eq_ignore_ascii_case("pics-label") {
            Name::Pics
        } else if name.eq_ignore_ascii_case("rating") {
            Name::Rating
        } else {
            return None;
        };
        Some((name, dom.attribute(id, "content")?))
    })
}

fn is_rating(text: &str) -> bool {
    let text = text.trim();
    ["adult", "mature", "restricted", RTA].iter().any(|label| text.eq_ignore_ascii_case(label))
}

/// Returns whether a PICS label has explicit ratings: `(PICS-1.1 "service" ... r (n 4 s 4 v 0 l 0))`.
fn is_pics_explicit(label: &str) -> bool {
    let lower = label.to_ascii_lowercase();
    let after = |service: &str| lower.find(service).and_then(|at| ratings(&lower[at..]));
    let value = |ratings: &[(&str, u32)], name: &str| {
        ratings.iter().find(|(key, _)| *key == name).map_or(0, |(_, value)| *value)
    };
    let rsac = after("rsac.org").is_some_and(|found| value(&found, "n") >= 3 || value(&found, "s") >= 3);
    let icra = after("icra.org").is_some_and(|found| {
        let any = |names: &[&str]| names.iter().any(|name| value(&found, name) > 0);
        any(&["na", "nb", "nc", "nf"]) && !any(&["nr", "ns", "nt"])
    });
    rsac || icra
}

/// Returns the first ratings after the name of a service.
fn ratings(service: &str) -> Option<Vec<(&str, u32)>> {
    let start = ["r (", "r(", "ratings (", "ratings("].iter().find_map(|mark| {
        let at = service.find(&format!(" {mark}"))?;
        Some(at + 1 + mark.len())
    })?;
    let inner = service[start..].split(')').next()?;
    let words: Vec<&str> = inner.split_ascii_whitespace().collect();
    let (pairs, _) = words.as_chunks::<2>();
    Some(pairs.iter().filter_map(|[name, value]| Some((*name, value.parse().ok()?))).collect())
}
