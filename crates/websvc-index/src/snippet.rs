//! Snippet of a hit.

use crate::display_doc::{DecodedBlock, DisplayDoc};
use crate::rank::ScoredWord;
use crate::schema::BODY_AT;

/// Words within this many positions can be shown together.
const WINDOW: u32 = 28;

const MIN_CHARS: usize = 160;
const MAX_CHARS: usize = 300;

/// Returns the passage with the most and rarest query words, else what the page says about itself.
pub(crate) fn snippet(card: &DisplayDoc<'_>, observed: &[(u32, u16)], words: &[ScoredWord]) -> String {
    let Some((first, last)) = best_place(card, observed, words) else {
        return page_description(card);
    };
    card.block_at(first).map_or_else(|| page_description(card), |block| cut(&block, first, last))
}

/// Returns the first and the last word of the best window in the body, counted from its beginning.
pub(crate) fn best_place(
    card: &DisplayDoc<'_>,
    observed: &[(u32, u16)],
    words: &[ScoredWord],
) -> Option<(u32, u32)> {
    let end = card.body_words().saturating_add(BODY_AT);
    let from = observed.partition_point(|&(position, _)| position < BODY_AT);
    let to = observed.partition_point(|&(position, _)| position < end);
    let (first, last) = best_window(&observed[from..to], words)?;
    Some((first - BODY_AT, last - BODY_AT))
}

/// Returns the page's own description, else the beginning of its text.
pub(crate) fn page_description(card: &DisplayDoc<'_>) -> String {
    if !card.head.description.trim().is_empty() {
        let text = card.head.description.split_whitespace().collect::<Vec<_>>().join(" ");
        return shortened(&text);
    }
    card.first_block().map(|block| cut(&block, 0, 0)).unwrap_or_default()
}

/// Returns the first and the last position of the window whose words weigh most; the earliest of equals.
fn best_window(seen: &[(u32, u16)], words: &[ScoredWord]) -> Option<(u32, u32)> {
    /// Score that a repeated word adds to the window.
    const REPEATED: f32 = 0.02;
    let mut counts = vec![0u32; words.len()];
    let (mut weight, mut best, mut found, mut start) = (0.0, 0.0, None, 0);
    for &(position, word) in seen {
        let idf = words[usize::from(word)].idf;
        let count = &mut counts[usize::from(word)];
        weight += if *count == 0 { idf } else { REPEATED * idf };
        *count += 1;
        while seen[start].0 + WINDOW < position {
            let (_, old) = seen[start];
            let idf = words[usize::from(old)].idf;
            let count = &mut counts[usize::from(old)];
            *count -= 1;
            weight -= if *count == 0 { idf } else { REPEATED * idf };
            start += 1;
        }
        if weight > best * 1.001 {
            best = weight;
            found = Some((seen[start].0, position));
        }
    }
    found
}

/// Returns whole passages of the block around the words `first..=last`, as many as fit.
fn cut(block: &DecodedBlock, first: u32, last: u32) -> String {
    let count = block.passages().len();
    if count == 0 {
        return String::new();
    }
    let (mut from, mut to) = (block.passage_of(first), block.passage_of(last));
    let mut text = block.collapsed(from..=to);
    // The space before the first passage counts.
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

/// Cuts a text that is too long at the end of a word and marks the cut.
fn shortened(text: &str) -> String {
    let Some((limit, _)) = text.char_indices().nth(MAX_CHARS) else {
        return text.to_owned();
    };
    let head = &text[..limit];
    let end = head.rfind(char::is_whitespace).filter(|&end| end > limit / 2).unwrap_or(limit);
    format!(
        "{}\u{2026}",
        head[..end].trim_end_matches(|c: char| c.is_whitespace() || c.is_ascii_punctuation())
    )
}
