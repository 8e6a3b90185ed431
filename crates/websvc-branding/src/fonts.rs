//! Font families: stacks of computed styles, names without the hashes of build tools, and their roles.

use websvc_types::branding::{BrandFont, FontRole};
use websvc_types::limits::{BRANDING_FONTS_MAX, BRANDING_TEXT_MAX_CHARS};

use crate::report::{Item, ItemKind, StyleReport, pixels};

/// The maximum number of families of a stack.
const MAX_STACK: usize = 12;

/// The size from which text counts as large.
const DISPLAY_PIXELS: f64 = 32.0;

/// Families that any system replaces by one of its own.
const GENERIC: [&str; 19] = [
    "serif",
    "sans-serif",
    "monospace",
    "cursive",
    "fantasy",
    "math",
    "emoji",
    "fangsong",
    "system-ui",
    "ui-serif",
    "ui-sans-serif",
    "ui-monospace",
    "ui-rounded",
    "-apple-system",
    "blinkmacsystemfont",
    "apple color emoji",
    "segoe ui emoji",
    "segoe ui symbol",
    "noto color emoji",
];

/// Parts of the names of icon fonts.
const ICON_FONTS: [&str; 10] = [
    "icon",
    "awesome",
    "glyph",
    "symbols",
    "fontello",
    "icomoon",
    "dashicons",
    "etmodules",
    "swiper",
    "slick",
];

/// Returns the families of a stack with clean names, generic ones included.
pub(crate) fn stack(computed: &str) -> Vec<String> {
    let mut families: Vec<String> = Vec::new();
    for name in split(computed).into_iter().filter_map(|name| clean(&name)).take(MAX_STACK) {
        if !families.contains(&name) {
            families.push(name);
        }
    }
    families
}

/// Returns the first family of a stack that is not generic; of a stack of generic ones the first.
pub(crate) fn family(computed: &str) -> Option<String> {
    let families = stack(computed);
    let first = families.first()?;
    // A stack that begins with the font of the system means that font, whatever follows.
    if is_generic(first) { Some(first.clone()) } else { families.into_iter().find(|name| !is_generic(name)) }
}

pub(crate) fn is_generic(name: &str) -> bool {
    GENERIC.iter().any(|generic| generic.eq_ignore_ascii_case(name))
}

fn is_icon_font(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ICON_FONTS.iter().any(|part| name.contains(part))
}

/// Splits a stack at its commas, outside of quotes.
fn split(computed: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut quote = None;
    for c in computed.chars().take(1_000) {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => push(&mut names, c),
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == ',' => names.push(String::new()),
            None => push(&mut names, c),
        }
    }
    names
}

fn push(names: &mut [String], c: char) {
    if let Some(name) = names.last_mut() {
        name.push(c);
    }
}

/// Removes the marks that build tools add to a name, such as `__Inter_abc123` of Next.js. `None` for an empty name and for
/// fallbacks that they create (`Inter Fallback`).
fn clean(name: &str) -> Option<String> {
    let mut name = name.trim().trim_start_matches('_').to_owned();
    while let Some((rest, suffix)) = name.rsplit_once(['_', '-']) {
        if rest.is_empty() || !(is_hash(suffix) || matches!(suffix, "module" | "font" | "subset")) {
            break;
        }
        name = rest.trim_end_matches(['_', '-']).to_owned();
    }
    let name = name.replace('_', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    let is_fallback = name.to_ascii_lowercase().ends_with("fallback");
    let name: String = name.chars().take(BRANDING_TEXT_MAX_CHARS).collect();
    (!name.is_empty() && !is_fallback).then_some(name)
}

/// Returns whether a part of a name is a hash: hexadecimal or alphanumeric with a digit, at least five characters.
fn is_hash(part: &str) -> bool {
    let has_digit = part.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = part.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_hexadecimal = part.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'));
    let is_lower = part.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase());
    (5..=40).contains(&part.len())
        && ((is_hexadecimal && (has_digit || part.len() >= 6)) || (has_digit && has_letter && is_lower))
}

/// Counts the families of the examined elements, the most used one first. Generic families are last.
pub(crate) fn fonts(report: &StyleReport) -> Vec<BrandFont> {
    let mut counts: Vec<(String, [u32; 4])> = Vec::new();
    for item in report.items().filter(|item| !item.font.is_empty()) {
        let Some(name) = family(&item.font).filter(|name| !is_icon_font(name)) else { continue };
        let column = match use_of(item) {
            Some(FontRole::Heading) => 0,
            Some(FontRole::Body) => 1,
            Some(FontRole::Monospace) => 2,
            Some(FontRole::Display) => 3,
            Some(FontRole::Unknown) | None => continue,
        };
        match counts.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(&name)) {
            Some((_, by_use)) => by_use[column] += 1,
            None => {
                let mut by_use = [0; 4];
                by_use[column] = 1;
                counts.push((name, by_use));
            }
        }
    }
    let total = |by_use: &[u32; 4]| by_use.iter().sum::<u32>();
    counts.sort_by(|one, other| {
        (is_generic(&one.0), total(&other.1)).cmp(&(is_generic(&other.0), total(&one.1)))
    });
    let named = counts.iter().any(|(name, _)| !is_generic(name));
    counts.retain(|(name, _)| !named || !is_generic(name));
    counts
        .into_iter()
        .take(BRANDING_FONTS_MAX)
        .map(|(family, by_use)| BrandFont { family, role: Some(role(by_use)), count: Some(total(&by_use)) })
        .collect()
}

fn role([heading, body, code, display]: [u32; 4]) -> FontRole {
    match (body, code, heading, display) {
        (0, 0, 0, 0) => FontRole::Unknown,
        (0, 0, 0, _) => FontRole::Display,
        (0, 0, _, _) => FontRole::Heading,
        (body, code, heading, _) if code > body + heading => FontRole::Monospace,
        _ => FontRole::Body,
    }
}

/// Returns the use of a font in an element; `None` for elements whose text is not that of the page.
fn use_of(item: &Item) -> Option<FontRole> {
    match item.kind {
        ItemKind::H1 | ItemKind::H2 | ItemKind::H3 => Some(FontRole::Heading),
        ItemKind::Code => Some(FontRole::Monospace),
        ItemKind::Text if pixels(&item.font_size).is_some_and(|size| size >= DISPLAY_PIXELS) => {
            Some(FontRole::Display)
        }
        ItemKind::Text | ItemKind::Link | ItemKind::Status => {
            (!item.text.is_empty()).then_some(FontRole::Body)
        }
        ItemKind::Root => (item.tag == "body").then_some(FontRole::Body),
        // Their fonts are often those of the browser, because they inherit none.
        ItemKind::Button | ItemKind::Input | ItemKind::Box => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_have_no_hashes() {
        for (computed, expected) in [
            ("__Inter_abc12345", "Inter"),
            ("\"__Inter_d65c78\", \"__Inter_Fallback_d65c78\", sans-serif", "Inter"),
            ("__Open_Sans_1a2b3c, Arial", "Open Sans"),
            ("__interVariable_aaf875", "interVariable"),
            ("Inter-8d9fab12", "Inter"),
            ("\"Source Sans 3\", Helvetica", "Source Sans 3"),
            ("'Playfair Display', serif", "Playfair Display"),
            ("\"IBM Plex Mono\"", "IBM Plex Mono"),
            ("inter_5972bc34-module", "inter"),
            ("Fira-Code", "Fira-Code"),
            ("-apple-system, \"Segoe UI\"", "-apple-system"),
            ("\"Inter Fallback\", Georgia", "Georgia"),
            ("sans-serif", "sans-serif"),
            ("Sofia_Pro", "Sofia Pro"),
            ("\"a, b\", c", "a, b"),
        ] {
            assert_eq!(family(computed).as_deref(), Some(expected), "{computed}");
        }
        assert_eq!(family(""), None);
    }

    proptest! {
        #[test]
        fn any_stack_has_a_limited_number_of_names(computed in "[-_\"', a-zé0-9]{0,200}") {
            prop_assert!(stack(&computed).len() <= MAX_STACK);
            let _ = family(&computed);
        }
    }

    #[test]
    fn stack_has_each_family_once() {
        assert_eq!(
            stack("__Inter_d65c78, __Inter_Fallback_d65c78, \"Helvetica Neue\", Arial, Arial"),
            ["Inter", "Helvetica Neue", "Arial"]
        );
    }
}
