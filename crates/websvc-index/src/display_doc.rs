//! Display documents: the stored fields that a result shows.
//!
//! A hit shows one passage of a text that may have hundreds of kilobytes, so the body is kept as small blocks that
//! are compressed one by one, with a table that leads from the position of a word to its passage. Showing a passage
//! then costs the decompression of one block, however long the page is. The blocks hold the text as it came; white
//! space is collapsed in what is shown of one.

use std::ops::RangeInclusive;

use crate::analysis::head;
use crate::bytes::{ByteReader, put, put_dimension, put_seconds, put_text};

/// How many bytes of text a block holds at least.
const BLOCK_BYTES: usize = 1_536;

/// Stands after a heading in what is shown of a text: "Paris \u{b7} Paris is the capital".
const SEPARATOR: &str = " \u{b7} ";

/// Lines that are longer may be broken within a sentence.
const WRAPPED_CHARS: usize = 60;

/// More bytes than a block can have: a passage has at most four times its greatest length, and white space.
const MAX_BLOCK_BYTES: usize = 16 * BLOCK_BYTES;

/// A passage is at least this long, if the text allows, ...
const MIN_PASSAGE_BYTES: usize = 40;
/// ... and at most this long.
const MAX_PASSAGE_BYTES: usize = 280;

/// White space between passages is cut into pieces of this size, so that no block grows without bound.
const MAX_SPACE_BYTES: usize = 1_024;

/// The fields of a card that are read whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct DisplayDocHeader<'a> {
    pub(crate) url: &'a str,
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    pub(crate) language: &'a str,
    pub(crate) published: Option<i64>,
    /// When it was published, else modified, else first seen.
    pub(crate) date: Option<i64>,
    /// The URL of the image, or of the picture of a piece of news; empty when there is none.
    pub(crate) image: &'a str,
    pub(crate) width: Option<u32>,
    pub(crate) height: Option<u32>,
    /// The hosts that the page links to, with a space between two.
    pub(crate) linked: &'a str,
}

/// A stored card; reading it never panics, damaged bytes give empty texts.
pub(crate) struct DisplayDoc<'a> {
    pub(crate) head: DisplayDocHeader<'a>,
    blocks: Vec<Block>,
    data: &'a [u8],
    /// The cache of tantivy holds whole blocks, limited by count and not by size, and reading one copies the whole
    /// document. A search reads the display documents of a few dozen candidates, and popular ones recur.
    before: &'a [u8],
}

#[derive(Debug, Clone, Copy)]
struct Block {
    /// The position of the first word, counted from the start of the body.
    first_word: u32,
    words: u32,
    start: usize,
    len: usize,
}

/// A block of text that was decompressed, as it came.
pub(crate) struct DecodedBlock {
    pub(crate) text: String,
    /// For each passage: position of its first word, byte offset of its end.
    passages: Vec<(u32, usize)>,
}

impl DecodedBlock {
    /// Returns the passages as they came.
    pub(crate) fn passages(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.passages.len()).map(|at| self.passage(at))
    }

    /// Returns the number of the passage that holds the word at `position`, or of the nearest one.
    pub(crate) fn passage_of(&self, position: u32) -> usize {
        self.passages.partition_point(|&(start, _)| start <= position).saturating_sub(1)
    }

    /// Returns the words of passages with one space between two, and a separator after headings and items of lists.
    pub(crate) fn collapsed(&self, passages: RangeInclusive<usize>) -> String {
        collapsed(&self.text[self.start(*passages.start())..self.passages[*passages.end()].1])
    }

    /// Tells whether words stand before a passage.
    pub(crate) fn has_words_before(&self, passage: usize) -> bool {
        self.passages().take(passage).any(|passage| !passage.trim_start().is_empty())
    }

    fn passage(&self, at: usize) -> &str {
        &self.text[self.start(at)..self.passages[at].1]
    }

    fn start(&self, at: usize) -> usize {
        at.checked_sub(1).map_or(0, |before| self.passages[before].1)
    }
}

/// Writes a card. `on_passage` gets every passage in order and returns how many words it has.
pub(crate) fn encode(
    head: &DisplayDocHeader<'_>,
    body: &str,
    mut on_passage: impl FnMut(&str) -> u32,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(256 + body.len() / 2);
    for text in [head.url, head.title, head.description, head.language, head.image, head.linked] {
        put_text(&mut out, text);
    }
    for time in [head.published, head.date] {
        put_seconds(&mut out, time);
    }
    for side in [head.width, head.height] {
        put_dimension(&mut out, side);
    }

    let (mut directory, mut data, mut count) = (Vec::new(), Vec::new(), 0);
    let mut block = BlockBuilder::default();
    for passage in passages(body) {
        block.add(passage, on_passage(passage.trim()));
        if block.text.len() >= BLOCK_BYTES {
            block.finish(&mut directory, &mut data);
            count += 1;
        }
    }
    if !block.text.is_empty() {
        block.finish(&mut directory, &mut data);
        count += 1;
    }
    put(&mut out, count);
    out.extend_from_slice(&directory);
    out.extend_from_slice(&data);
    let len = u32::try_from(out.len()).expect("a card is smaller than its document, which is bounded");
    out.extend_from_slice(&len.to_le_bytes());
    out
}

#[derive(Default)]
struct BlockBuilder {
    text: String,
    table: Vec<u8>,
    passages: u64,
    words: u32,
}

impl BlockBuilder {
    fn add(&mut self, passage: &str, words: u32) {
        self.text.push_str(passage);
        put(&mut self.table, u64::from(words));
        put(&mut self.table, passage.len() as u64);
        self.passages += 1;
        self.words += words;
    }

    fn finish(&mut self, directory: &mut Vec<u8>, data: &mut Vec<u8>) {
        let start = data.len();
        put(data, self.passages);
        data.append(&mut self.table);
        put(data, self.text.len() as u64);
        data.extend_from_slice(&lz4_flex::block::compress(self.text.as_bytes()));
        put(directory, u64::from(self.words));
        put(directory, (data.len() - start) as u64);
        *self = Self::default();
    }
}

/// Returns the bytes of the card alone, from which [`DisplayDoc::decode`] reads the same; all of them when they are damaged.
pub(crate) fn part(stored: &[u8]) -> &[u8] {
    split(stored).map_or(stored, |(before, _)| &stored[before.len()..])
}

/// Splits stored bytes into what stands before the card, and the card without its length.
fn split(stored: &[u8]) -> Option<(&[u8], &[u8])> {
    let (stored, len) = stored.split_last_chunk()?;
    let start = stored.len().checked_sub(u32::from_le_bytes(*len) as usize)?;
    Some(stored.split_at(start))
}

impl<'a> DisplayDoc<'a> {
    /// Reads everything but the body from bytes that end with a card; `None` when they are damaged.
    ///
    /// Decodes without understanding the framing that tantivy writes before its only stored field, and copies
    /// nothing: tantivy's own decoder goes byte by byte.
    pub(crate) fn decode(stored: &'a [u8]) -> Option<Self> {
        let (before, card) = split(stored)?;
        let mut rest = ByteReader(card);
        let (url, title, description, language) = (rest.text()?, rest.text()?, rest.text()?, rest.text()?);
        let (image, linked) = (rest.text()?, rest.text()?);
        let (published, date) = (rest.seconds()?, rest.seconds()?);
        let (width, height) = (rest.side()?, rest.side()?);
        let head = DisplayDocHeader {
            url,
            title,
            description,
            language,
            published,
            date,
            image,
            width,
            height,
            linked,
        };
        let count = rest.count()?;
        let mut blocks = Vec::with_capacity(count);
        let (mut first_word, mut start) = (0, 0);
        for _ in 0..count {
            let words = u32::try_from(rest.number()?).ok()?;
            let len = usize::try_from(rest.number()?).ok()?;
            blocks.push(Block { first_word, words, start, len });
            first_word = first_word.checked_add(words)?;
            start = start.checked_add(len)?;
        }
        Some(Self { head, blocks, data: rest.0, before })
    }

    /// Returns what is stored before the card, which ends with the record of a page (see [`crate::record`]).
    pub(crate) fn before(&self) -> &'a [u8] {
        self.before
    }

    /// Returns how many words the body has.
    pub(crate) fn body_words(&self) -> u32 {
        self.blocks.last().map_or(0, |block| block.first_word + block.words)
    }

    /// Opens the block that holds the word at `position`; there is none beyond the end.
    pub(crate) fn block_at(&self, position: u32) -> Option<DecodedBlock> {
        self.open(self.block_of(position)?)
    }

    /// Returns the position of the first word in the block that holds the word at `position`.
    pub(crate) fn block_start(&self, position: u32) -> Option<u32> {
        self.block_of(position).map(|block| block.first_word)
    }

    fn block_of(&self, position: u32) -> Option<&Block> {
        self.blocks.get(self.blocks.partition_point(|block| block.first_word + block.words <= position))
    }

    /// Opens the first block.
    pub(crate) fn first_block(&self) -> Option<DecodedBlock> {
        self.open(self.blocks.first()?)
    }

    /// Returns the body as it came; `None` when it is damaged.
    pub(crate) fn body(&self) -> Option<String> {
        let mut body = String::new();
        for block in &self.blocks {
            body.push_str(&self.unpack(block)?.text);
        }
        Some(body)
    }

    fn open(&self, block: &Block) -> Option<DecodedBlock> {
        let UnpackedBlock { text, table } = self.unpack(block)?;
        let mut passages = Vec::with_capacity(table.len());
        let (mut word, mut end) = (block.first_word, 0);
        for (words, len) in table {
            end += len;
            if !text.is_char_boundary(end) {
                return None;
            }
            passages.push((word, end));
            word = word.checked_add(words)?;
        }
        Some(DecodedBlock { text, passages })
    }

    fn unpack(&self, block: &Block) -> Option<UnpackedBlock> {
        let mut bytes = ByteReader(self.data.get(block.start..block.start.checked_add(block.len)?)?);
        let count = bytes.count()?;
        let mut table = Vec::with_capacity(count);
        for _ in 0..count {
            let words = u32::try_from(bytes.number()?).ok()?;
            table.push((words, usize::try_from(bytes.number()?).ok().filter(|&len| len <= MAX_BLOCK_BYTES)?));
        }
        let len = usize::try_from(bytes.number()?).ok().filter(|&len| len <= MAX_BLOCK_BYTES)?;
        let text = String::from_utf8(lz4_flex::block::decompress(bytes.0, len).ok()?).ok()?;
        Some(UnpackedBlock { text, table })
    }
}

/// Returns the words of `raw` with one space between two, and [`SEPARATOR`] where a line stands for itself.
fn collapsed(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut before = "";
    for line in raw.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !text.is_empty() {
            text.push_str(if stands_alone(before, line) { SEPARATOR } else { " " });
        }
        if is_collapsed(line) {
            text.push_str(line);
        } else {
            push_words(line, &mut text);
        }
        before = line;
    }
    text
}

fn push_words(line: &str, text: &mut String) {
    for (at, word) in line.split_whitespace().enumerate() {
        if at > 0 {
            text.push(' ');
        }
        text.push_str(word);
    }
}

/// Reports whether a line is a heading or an item of a list rather than a part of the sentence that `next` goes on with.
///
/// Each block of a page is a line, but plain text is also broken within its sentences. There, lines are long.
fn stands_alone(line: &str, next: &str) -> bool {
    let ends_open =
        line.chars().next_back().is_some_and(|c| c.is_alphanumeric() || matches!(c, ')' | ']' | '%'));
    let begins_anew = !next.starts_with(|c: char| c.is_lowercase() || c.is_ascii_punctuation());
    ends_open && begins_anew && line.chars().nth(WRAPPED_CHARS).is_none()
}

/// Tells whether single spaces are the only white space of a trimmed text; false where that takes a closer look. Most
/// passages are so, and looking at bytes takes a fraction of looking at characters.
fn is_collapsed(trimmed: &str) -> bool {
    // All white space beyond ASCII begins with one of these bytes.
    let is_odd = |byte: u8| (byte < b' ') | (byte == 0xc2) | (byte.wrapping_sub(0xe1) < 3);
    let bytes = trimmed.as_bytes();
    let Some((first, rest)) = bytes.split_first() else { return true };
    // No short cut and no slices, so that the compiler looks at many bytes at a time.
    let doubtful = |(&before, &byte): (&u8, &u8)| is_odd(byte) | ((before == b' ') & (byte == b' '));
    !is_odd(*first) & !bytes.iter().zip(rest).fold(false, |any, pair| any | doubtful(pair))
}

/// A block as it came.
struct UnpackedBlock {
    text: String,
    /// For each passage: its words, its bytes.
    table: Vec<(u32, usize)>,
}

/// Cuts a text into passages: at line ends and sentence ends, and hard at a space when one gets too long. Together
/// they are the whole text: white space stands at their beginnings and ends.
fn passages(body: &str) -> impl Iterator<Item = &str> {
    let mut rest = body;
    std::iter::from_fn(move || {
        let space = rest.len() - rest.trim_start().len();
        let end = match space {
            _ if rest.is_empty() => return None,
            MAX_SPACE_BYTES.. => head(rest, MAX_SPACE_BYTES).len(),
            space => space + passage_end(&rest[space..]),
        };
        let (passage, tail) = rest.split_at(end);
        rest = tail;
        Some(passage)
    })
}

fn passage_end(text: &str) -> usize {
    let mut last_space = None;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        if at >= MIN_PASSAGE_BYTES {
            let next_is_space = || text[end..].chars().next().is_none_or(char::is_whitespace);
            match c {
                '\n' | '。' | '！' | '？' => return end,
                '.' | '!' | '?' | '…' | '؟' | '।' if next_is_space() => return end,
                _ => {}
            }
        }
        if c.is_whitespace() || matches!(c, '、' | '，') {
            last_space = Some(end);
        }
        // A text without spaces (or one endless word) is cut between characters.
        let limit = if last_space.is_some() { MAX_PASSAGE_BYTES } else { 4 * MAX_PASSAGE_BYTES };
        if end > limit {
            return last_space.unwrap_or(end);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{collapsed, is_collapsed};

    #[test]
    fn white_space_is_collapsed_whichever_way_is_taken() {
        let spaces: Vec<char> =
            (0..=0xffff).filter_map(char::from_u32).filter(|c| c.is_whitespace()).collect();
        assert!(spaces.len() > 20, "{spaces:?}");
        for space in spaces {
            let text = format!("one{space}two");
            assert_eq!(is_collapsed(&text), space == ' ', "{space:?}");
            let shown = collapsed(&format!("{space}one{space}{space}two {space}"));
            assert_eq!(shown, "one two", "{space:?}");
        }
        for text in ["", "one", "\u{e9}t\u{e9} und \u{444}"] {
            assert!(is_collapsed(text), "{text}");
        }
        assert!(!is_collapsed("one  two"));
    }

    #[test]
    fn heading_is_separated_from_next_sentence() {
        let check = |raw: &str, expected: &str| assert_eq!(collapsed(raw), expected, "{raw:?}");
        check("Paris\nParis is the capital.", "Paris \u{b7} Paris is the capital.");
        check("Prices (2026)\n\n  Tea 3 EUR\nCoffee", "Prices (2026) \u{b7} Tea 3 EUR \u{b7} Coffee");
        check("東京\n東京は首都です。", "東京 \u{b7} 東京は首都です。");
        check("It is big.\nParis is old:\nvery", "It is big. Paris is old: very");
        check("a sentence that is broken\nin two", "a sentence that is broken in two");
        let wrapped = "A line of plain text that was broken where it became too long for";
        check(&format!("{wrapped}\nParis to read"), &format!("{wrapped} Paris to read"));
    }
}
