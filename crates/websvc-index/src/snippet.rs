//! Snippets: the passages that hits display.

use crate::display_doc::{DecodedBlock, DisplayDoc};
use crate::rank::ScoredWord;
use crate::schema::BODY_START;

/// Maximum positions of a window, in which words can be displayed together.
const WINDOW: u32 = 28;

/// Minimum characters of a snippet, if the text is long enough.
const MIN_CHARS: usize = 160;
/// Maximum characters of a snippet.
const MAX_CHARS: usize = 300;

/// Returns the passage with the most and rarest query words; without such a passage, the description of the page.
pub(crate) fn snippet(doc: &DisplayDoc<'_>, positions: &[(u32, u16)], words: &[ScoredWord]) -> String {
    let Some((first, last)) = best_body_window(doc, positions, words) else {
        return page_description(doc);
    };
    doc.block_at(first).map_or_else(|| page_description(doc), |block| excerpt(&block, first, last))
}

/// Returns the positions of the first and last word of the best window in the body, counted from the start of the body.
pub(crate) fn best_body_window(
    doc: &DisplayDoc<'_>,
    positions: &[(u32, u16)],
    words: &[ScoredWord],
) -> Option<(u32, u32)> {
    let end = doc.body_words().saturating_add(BODY_START);
    let from = positions.partition_point(|&(position, _)| position < BODY_START);
    let to = positions.partition_point(|&(position, _)| position < end);
    let (first, last) = best_window(&positions[from..to], words)?;
    Some((first - BODY_START, last - BODY_START))
}

/// Returns the description of the page; without one, the beginning of its text.
pub(crate) fn page_description(doc: &DisplayDoc<'_>) -> String {
    if !doc.header.description.trim().is_empty() {
        let text = doc.header.description.split_whitespace().collect::<Vec<_>>().join(" ");
        return shortened(&text);
    }
    doc.first_block().map(|block| excerpt(&block, 0, 0)).unwrap_or_default()
}

/// Returns the first and last position of the window with the highest weight, which is the sum of the inverse document
/// frequencies of its words; of several such windows, the first one.
fn best_window(positions: &[(u32, u16)], words: &[ScoredWord]) -> Option<(u32, u32)> {
    /// Weight of a repeated word, relative to its first occurrence in the window.
    const REPEATED: f32 = 0.02;
    let mut counts = vec![0u32; words.len()];
    let (mut weight, mut best, mut found, mut start) = (0.0, 0.0, None, 0);
    for &(position, word) in positions {
        let idf = words[usize::from(word)].idf;
        let count = &mut counts[usize::from(word)];
        weight += if *count == 0 { idf } else { REPEATED * idf };
        *count += 1;
        while positions[start].0 + WINDOW < position {
            let (_, old) = positions[start];
            let idf = words[usize::from(old)].idf;
            let count = &mut counts[usize::from(old)];
            *count -= 1;
            weight -= if *count == 0 { idf } else { REPEATED * idf };
            start += 1;
        }
        if weight > best * 1.001 {
            best = weight;
            found = Some((positions[start].0, position));
        }
    }
    found
}

/// Returns the passages with the words `first..=last`, and the passages around them until the text is long enough.
fn excerpt(block: &DecodedBlock, first: u32, last: u32) -> String {
    let count = block.passages().len();
    if count == 0 {
        return String::new();
    }
    let (mut from, mut to) = (block.passage_of(first), block.passage_of(last));
    let mut text = block.collapsed(from..=to);
    // The white space before the first passage counts as one character.
    let length =
        |from: usize, text: &str| chars(text) + usize::from(!text.is_empty() && block.has_words_before(from));
    let fitting = |from: usize, to: usize| {
        let text = block.collapsed(from..=to);
        (length(from, &text) <= MAX_CHARS).then_some(text)
    };
    while length(from, &text) < MIN_CHARS {
        if let Some(longer) = (to + 1 < count).then(|| fitting(from, to + 1)).flatten() {
            (text, to) = (longer, to + 1);
        } else if let Some(longer) = (from > 0).then(|| fitting(from - 1, to)).flatten() {
            (text, from) = (longer, from - 1);
        } else {
            break;
        }
    }
    shortened(&text)
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

/// Truncates a text that is too long at the end of a word, and appends an ellipsis.
fn shortened(text: &str) -> String {
    let Some((limit, _)) = text.char_indices().nth(MAX_CHARS) else {
        return text.to_owned();
    };
    let prefix = &text[..limit];
    let end = prefix.rfind(char::is_whitespace).filter(|&end| end > limit / 2).unwrap_or(limit);
    let prefix = prefix[..end].trim_end_matches(|c: char| c.is_whitespace() || c.is_ascii_punctuation());
    format!("{prefix}\u{2026}")
}
