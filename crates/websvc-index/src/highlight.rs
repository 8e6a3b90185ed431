//! What a hit shows of its page.

use crate::card::{Card, OpenBlock};
use crate::rank::ScoredWord;
use crate::schema::BODY_AT;

/// Words within this many positions can be shown together.
const WINDOW: u32 = 28;

const MIN_CHARS: usize = 160;
const MAX_CHARS: usize = 300;

/// Returns the passage with the most and rarest query words, else what the page says about itself.
pub(crate) fn passage(card: &Card<'_>, observed: &[(u32, u16)], words: &[ScoredWord]) -> String {
    let Some((first, last)) = best_place(card, observed, words) else {
        return page_description(card);
    };
    card.block_at(first).map_or_else(|| page_description(card), |block| cut(&block, first, last))
}

/// Returns the part of the body with the most and rarest query words, else its beginning.
pub(crate) fn best_block(
    card: &Card<'_>,
    observed: &[(u32, u16)],
    words: &[ScoredWord],
) -> Option<OpenBlock> {
    best_place(card, observed, words).map_or_else(|| card.first_block(), |(first, _)| card.block_at(first))
}

/// Returns the first and the last word of the best window in the body, counted from its beginning.
fn best_place(card: &Card<'_>, observed: &[(u32, u16)], words: &[ScoredWord]) -> Option<(u32, u32)> {
    let end = card.body_words().saturating_add(BODY_AT);
    let from = observed.partition_point(|&(position, _)| position < BODY_AT);
    let to = observed.partition_point(|&(position, _)| position < end);
    let (first, last) = best_window(&observed[from..to], words)?;
    Some((first - BODY_AT, last - BODY_AT))
}

/// Returns the page's own description, else the beginning of its text.
pub(crate) fn page_description(card: &Card<'_>) -> String {
    if !card.head.description.trim().is_empty() {
        let text = card.head.description.split_whitespace().collect::<Vec<_>>().join(" ");
        return shortened(&text);
    }
    card.first_block().map(|block| cut(&block, 0, 0)).unwrap_or_default()
}

/// Returns the first and the last position of the window whose words weigh most; the earliest of equals.
fn best_window(seen: &[(u32, u16)], words: &[ScoredWord]) -> Option<(u32, u32)> {
    /// What an occurrence adds when its word is already in the window.
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
fn cut(block: &OpenBlock, first: u32, last: u32) -> String {
    let OpenBlock { text, passages } = block;
    let index = |position: u32| passages.partition_point(|&(start, _)| start <= position).saturating_sub(1);
    let start_of = |at: usize| if at == 0 { 0 } else { passages[at - 1].1 };
    let end_of = |at: usize| passages[at].1;
    if passages.is_empty() {
        return String::new();
    }
    let (mut from, mut to) = (index(first), index(last));
    while chars(&text[start_of(from)..end_of(to)]) < MIN_CHARS {
        if to + 1 < passages.len() && chars(&text[start_of(from)..end_of(to + 1)]) <= MAX_CHARS {
            to += 1;
        } else if from > 0 && chars(&text[start_of(from - 1)..end_of(to)]) <= MAX_CHARS {
            from -= 1;
        } else {
            break;
        }
    }
    shortened(text[start_of(from)..end_of(to)].trim())
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
