//! Reads the outline (bookmarks) of a document, which identifies headings and their levels.

use std::collections::{HashMap, HashSet};

use hayro_syntax::Pdf;
use hayro_syntax::object::{Dict, ObjRef, String as PdfString};

use super::strings;

/// The maximum number of bookmarks that are read.
const MAX_ENTRIES: usize = 20_000;
/// The maximum nesting depth of bookmarks that are read.
const MAX_DEPTH: u32 = 16;

/// The titles of the bookmarks with their 1-based levels.
#[derive(Debug, Default)]
pub(super) struct Outline {
    levels: HashMap<String, u32>,
}

impl Outline {
    pub(super) fn read(pdf: &Pdf) -> Self {
        let mut outline = Self::default();
        let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id());
        let Some(root) = catalog.and_then(|catalog| catalog.get::<Dict<'_>>(b"Outlines")) else {
            return outline;
        };
        let mut seen: HashSet<ObjRef> = HashSet::new();
        let mut pending: Vec<(Dict<'_>, u32)> =
            root.get::<Dict<'_>>(b"First").map(|first| (first, 1)).into_iter().collect();
        while let Some((entry, level)) = pending.pop() {
            if outline.levels.len() >= MAX_ENTRIES || pending.len() > MAX_ENTRIES {
                break;
            }
            if let Some(title) = entry.get::<PdfString<'_>>(b"Title") {
                let key = key(&strings::decode_text(title.as_bytes()));
                if !key.is_empty() {
                    outline.levels.entry(key).or_insert(level);
                }
            }
            for (name, level) in [(&b"Next"[..], level), (&b"First"[..], level + 1)] {
                let is_new = entry.get_ref(name).is_some_and(|reference| seen.insert(reference));
                if is_new
                    && level <= MAX_DEPTH
                    && let Some(next) = entry.get::<Dict<'_>>(name)
                {
                    pending.push((next, level));
                }
            }
        }
        outline
    }

    /// Returns the level of the bookmark with this title; `None` if there is none.
    pub(super) fn level(&self, text: &str) -> Option<u32> {
        if self.levels.is_empty() {
            return None;
        }
        let text = key(text);
        self.levels.get(&text).or_else(|| self.levels.get(without_number(&text))).copied()
    }
}

/// Returns the letters and digits of a title in lower case, for comparison. Bookmarks often omit spaces and
/// punctuation.
fn key(text: &str) -> String {
    let mut key = String::new();
    for character in text.chars() {
        strings::normalize(character, |character| {
            if character.is_alphanumeric() {
                key.extend(character.to_lowercase());
            }
        });
    }
    key
}

/// Returns a key without its leading chapter number, which bookmarks often omit.
fn without_number(key: &str) -> &str {
    let unprefixed = key.strip_prefix("chapter").or_else(|| key.strip_prefix("appendix")).unwrap_or(key);
    unprefixed.trim_start_matches(|character: char| character.is_ascii_digit())
}
