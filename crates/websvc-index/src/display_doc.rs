//! Display documents: the stored fields that a search result displays.
//!
//! A hit displays one passage of a body that may have hundreds of kilobytes. So the body is stored as small blocks that
//! are compressed separately, with a table that maps word positions to passages. Reading a passage decompresses one
//! block, independent of the length of the page. The blocks have the original text; white space is collapsed when a
//! passage is displayed.

use std::ops::RangeInclusive;

use crate::analysis::head;
use crate::bytes::{ByteReader, put, put_dimension, put_seconds, put_text};

/// Minimum bytes of text in a block, except in the last one.
const BLOCK_BYTES: usize = 1_536;

/// Separator after a heading in a displayed text: "Paris \u{b7} Paris is the capital".
const SEPARATOR: &str = " \u{b7} ";

/// Length from which a line may be broken within a sentence.
const WRAPPED_CHARS: usize = 60;

/// Upper bound of the bytes of a block: a passage has at most four times [`MAX_PASSAGE_BYTES`], and white space.
const MAX_BLOCK_BYTES: usize = 16 * BLOCK_BYTES;

/// Minimum bytes of a passage, if the text is long enough.
const MIN_PASSAGE_BYTES: usize = 40;
/// Maximum bytes of a passage in a text with spaces.
const MAX_PASSAGE_BYTES: usize = 280;

/// Maximum bytes of a run of white space in a passage. Longer runs are split, so that the size of a block is bounded.
const MAX_SPACE_BYTES: usize = 1_024;

/// The fields of a display document that are always decoded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct DisplayDocHeader<'a> {
    pub(crate) url: &'a str,
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    pub(crate) language: &'a str,
    pub(crate) published: Option<i64>,
    /// The first known of: time of publication, of modification, first seen.
    pub(crate) date: Option<i64>,
    /// The URL of the image, or of the image of a news article; empty if there is none.
    pub(crate) image: &'a str,
    pub(crate) width: Option<u32>,
    pub(crate) height: Option<u32>,
    /// The hosts that the page links to, separated by spaces.
    pub(crate) linked: &'a str,
}

/// A stored display document. Reading it never panics; damaged bytes result in `None`.
pub(crate) struct DisplayDoc<'a> {
    pub(crate) header: DisplayDocHeader<'a>,
    blocks: Vec<Block>,
    data: &'a [u8],
    /// The stored bytes before the display document.
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

/// A decompressed block of the original text with its passages.
pub(crate) struct DecodedBlock {
    pub(crate) text: String,
    /// Of each passage, the position of its first word and the byte offset of its end.
    passages: Vec<(u32, usize)>,
}

impl DecodedBlock {
    /// Returns the passages of the original text.
    pub(crate) fn passages(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.passages.len()).map(|index| self.passage(index))
    }

    /// Returns the index of the passage with the word at `position`, or of the nearest passage.
    pub(crate) fn passage_of(&self, position: u32) -> usize {
        self.passages.partition_point(|&(start, _)| start <= position).saturating_sub(1)
    }

    /// Returns the text of passages with collapsed white space, and a separator after headings and list items.
    pub(crate) fn collapsed(&self, passages: RangeInclusive<usize>) -> String {
        collapsed(&self.text[self.start(*passages.start())..self.passages[*passages.end()].1])
    }

    /// Returns true if the block has words before a passage.
    pub(crate) fn has_words_before(&self, passage: usize) -> bool {
        self.passages().take(passage).any(|passage| !passage.trim_start().is_empty())
    }

    fn passage(&self, index: usize) -> &str {
        &self.text[self.start(index)..self.passages[index].1]
    }

    fn start(&self, index: usize) -> usize {
        index.checked_sub(1).map_or(0, |previous| self.passages[previous].1)
    }
}

/// Encodes a display document. `on_passage` gets every passage in order and returns its number of words.
pub(crate) fn encode(
    header: &DisplayDocHeader<'_>,
    body: &str,
    mut on_passage: impl FnMut(&str) -> u32,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(256 + body.len() / 2);
    for text in [header.url, header.title, header.description, header.language, header.image, header.linked] {
        put_text(&mut out, text);
    }
    for time in [header.published, header.date] {
        put_seconds(&mut out, time);
    }
    for dimension in [header.width, header.height] {
        put_dimension(&mut out, dimension);
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
    let len =
        u32::try_from(out.len()).expect("a display document is smaller than its document, which is bounded");
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

/// Returns the bytes of the display document alone, which [`DisplayDoc::decode`] accepts too; all bytes if they are
/// damaged.
pub(crate) fn without_record(stored: &[u8]) -> &[u8] {
    split(stored).map_or(stored, |(before, _)| &stored[before.len()..])
}

/// Splits stored bytes into the bytes before the display document, and the display document without its length.
fn split(stored: &[u8]) -> Option<(&[u8], &[u8])> {
    let (stored, len) = stored.split_last_chunk()?;
    let start = stored.len().checked_sub(u32::from_le_bytes(*len) as usize)?;
    Some(stored.split_at(start))
}

impl<'a> DisplayDoc<'a> {
    /// Decodes everything but the body from bytes that end with a display document; `None` if they are damaged.
    ///
    /// This ignores the framing that tantivy writes before its only stored field, and copies nothing. Tantivy's own
    /// decoder reads byte by byte.
    pub(crate) fn decode(stored: &'a [u8]) -> Option<Self> {
        let (before, doc) = split(stored)?;
        let mut rest = ByteReader(doc);
        let (url, title, description, language) = (rest.text()?, rest.text()?, rest.text()?, rest.text()?);
        let (image, linked) = (rest.text()?, rest.text()?);
        let (published, date) = (rest.seconds()?, rest.seconds()?);
        let (width, height) = (rest.dimension()?, rest.dimension()?);
        let header = DisplayDocHeader {
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
        Some(Self { header, blocks, data: rest.0, before })
    }

    /// Returns the stored bytes before the display document; those of a page end with its stored record (see
    /// [`crate::stored_record`]).
    pub(crate) fn before(&self) -> &'a [u8] {
        self.before
    }

    /// Returns the number of words of the body.
    pub(crate) fn body_words(&self) -> u32 {
        self.blocks.last().map_or(0, |block| block.first_word + block.words)
    }

    /// Decodes the block with the word at `position`; `None` after the end of the body.
    pub(crate) fn block_at(&self, position: u32) -> Option<DecodedBlock> {
        self.open(self.block_of(position)?)
    }

    /// Returns the position of the first word of the block with the word at `position`.
    pub(crate) fn block_start(&self, position: u32) -> Option<u32> {
        self.block_of(position).map(|block| block.first_word)
    }

    fn block_of(&self, position: u32) -> Option<&Block> {
        self.blocks.get(self.blocks.partition_point(|block| block.first_word + block.words <= position))
    }

    /// Decodes the first block.
    pub(crate) fn first_block(&self) -> Option<DecodedBlock> {
        self.open(self.blocks.first()?)
    }

    /// Returns the original body; `None` if it is damaged.
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

/// Returns the words of `raw` separated by single spaces, and by [`SEPARATOR`] after headings and list items.
fn collapsed(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut previous = "";
    for line in raw.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !text.is_empty() {
            text.push_str(if is_heading_or_item(previous, line) { SEPARATOR } else { " " });
        }
        if is_collapsed(line) {
            text.push_str(line);
        } else {
            push_words(line, &mut text);
        }
        previous = line;
    }
    text
}

fn push_words(line: &str, text: &mut String) {
    for (index, word) in line.split_whitespace().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        text.push_str(word);
    }
}

/// Returns true if a line is a heading or a list item, and false if its sentence continues in `next`.
///
/// Each block of a page is a line, but plain text also has line breaks within sentences. Such lines are long.
fn is_heading_or_item(line: &str, next: &str) -> bool {
    let ends_without_stop =
        line.chars().next_back().is_some_and(|c| c.is_alphanumeric() || matches!(c, ')' | ']' | '%'));
    let next_is_sentence_start = !next.starts_with(|c: char| c.is_lowercase() || c.is_ascii_punctuation());
    ends_without_stop && next_is_sentence_start && line.chars().nth(WRAPPED_CHARS).is_none()
}

/// Returns true if single spaces are the only white space of a trimmed text; may return false for some other texts too.
/// Most passages are collapsed, and checking bytes is much faster than checking characters.
fn is_collapsed(trimmed: &str) -> bool {
    // All white space beyond ASCII begins with one of these bytes.
    let may_be_space = |byte: u8| (byte < b' ') | (byte == 0xc2) | (byte.wrapping_sub(0xe1) < 3);
    let bytes = trimmed.as_bytes();
    let Some((first, rest)) = bytes.split_first() else { return true };
    // Without short-circuiting and slicing, so that the compiler vectorizes the loop.
    let is_suspect =
        |(&previous, &byte): (&u8, &u8)| may_be_space(byte) | ((previous == b' ') & (byte == b' '));
    !may_be_space(*first) & !bytes.iter().zip(rest).fold(false, |any, pair| any | is_suspect(pair))
}

/// The original text of a block with its passage table.
struct UnpackedBlock {
    text: String,
    /// Number of words and bytes of each passage.
    table: Vec<(u32, usize)>,
}

/// Splits a text into passages: at ends of lines and sentences, and at a space when a passage gets too long. Joined,
/// they are the whole text, because white space belongs to the passages around it.
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
    for (start, c) in text.char_indices() {
        let end = start + c.len_utf8();
        if start >= MIN_PASSAGE_BYTES {
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
        // A text without spaces (or a very long word) is split between characters.
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
    fn fast_and_slow_path_collapse_the_same_white_space() {
        let spaces: Vec<char> =
            (0..=0xffff).filter_map(char::from_u32).filter(|c| c.is_whitespace()).collect();
        assert!(spaces.len() > 20, "{spaces:?}");
        for space in spaces {
            let text = format!("one{space}two");
            assert_eq!(is_collapsed(&text), space == ' ', "{space:?}");
            let displayed = collapsed(&format!("{space}one{space}{space}two {space}"));
            assert_eq!(displayed, "one two", "{space:?}");
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
