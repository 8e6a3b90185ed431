//! What is stored of a document for showing it: the card.
//!
//! A hit shows one passage of a text that may have hundreds of kilobytes, so the body is kept as small blocks that
//! are compressed one by one, with a table that leads from the position of a word to its passage. Showing a passage
//! then costs the decompression of one block, however long the page is.

/// How many bytes of text a block holds at least.
const BLOCK_BYTES: usize = 1_536;

/// A passage is at least this long, if the text allows, ...
const MIN_PASSAGE_BYTES: usize = 40;
/// ... and at most this long.
const MAX_PASSAGE_BYTES: usize = 280;

/// The fields of a card that are read whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Head<'a> {
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
pub(crate) struct Card<'a> {
    pub(crate) head: Head<'a>,
    blocks: Vec<Block>,
    data: &'a [u8],
}

#[derive(Debug, Clone, Copy)]
struct Block {
    /// The position of the first word, counted from the start of the body.
    first_word: u32,
    words: u32,
    start: usize,
    len: usize,
}

/// A block of text that was decompressed.
pub(crate) struct OpenBlock {
    pub(crate) text: String,
    /// For each passage: position of its first word, byte offset of its end.
    pub(crate) passages: Vec<(u32, usize)>,
}

/// Writes a card. `on_passage` gets every passage in order and returns how many words it has.
pub(crate) fn encode(head: &Head<'_>, body: &str, mut on_passage: impl FnMut(&str) -> u32) -> Vec<u8> {
    let mut out = Vec::with_capacity(256 + body.len() / 2);
    for text in [head.url, head.title, head.description, head.language, head.image, head.linked] {
        put(&mut out, text.len() as u64);
        out.extend_from_slice(text.as_bytes());
    }
    for time in [head.published, head.date] {
        put(&mut out, time.map_or(0, |at| zigzag(at) + 1));
    }
    for side in [head.width, head.height] {
        put(&mut out, side.map_or(0, |side| u64::from(side) + 1));
    }

    let (mut directory, mut data, mut count) = (Vec::new(), Vec::new(), 0);
    let mut block = Pending::default();
    for passage in passages(body) {
        block.add(passage, on_passage(passage));
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
struct Pending {
    text: String,
    table: Vec<u8>,
    passages: u64,
    words: u32,
}

impl Pending {
    fn add(&mut self, passage: &str, words: u32) {
        let before = self.text.len();
        if before > 0 {
            self.text.push(' ');
        }
        self.text.extend(passage.split_whitespace().flat_map(|word| [word, " "]));
        self.text.pop();
        put(&mut self.table, u64::from(words));
        put(&mut self.table, (self.text.len() - before) as u64);
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

impl<'a> Card<'a> {
    /// Reads everything but the body from bytes that end with a card; `None` when they are damaged.
    ///
    /// What the engine writes before its only stored field need not be understood, and nothing is copied: its own
    /// way of reading goes byte by byte.
    pub(crate) fn decode(stored: &'a [u8]) -> Option<Self> {
        let (stored, len) = stored.split_last_chunk()?;
        let start = stored.len().checked_sub(u32::from_le_bytes(*len) as usize)?;
        let mut rest = &stored[start..];
        let mut text = || {
            let len = usize::try_from(take(&mut rest)?).ok()?;
            let (text, tail) = rest.split_at_checked(len)?;
            rest = tail;
            std::str::from_utf8(text).ok()
        };
        let (url, title, description, language) = (text()?, text()?, text()?, text()?);
        let (image, linked) = (text()?, text()?);
        let mut number = || Some(take(&mut rest)?.checked_sub(1));
        let (published, date) = (number()?.map(unzigzag), number()?.map(unzigzag));
        let side = |number: Option<u64>| number.and_then(|side| u32::try_from(side).ok());
        let (width, height) = (side(number()?), side(number()?));
        let head = Head { url, title, description, language, published, date, image, width, height, linked };
        let count = usize::try_from(take(&mut rest)?).ok()?;
        let mut blocks = Vec::with_capacity(count.min(rest.len()));
        let (mut first_word, mut start) = (0, 0);
        for _ in 0..count {
            let words = u32::try_from(take(&mut rest)?).ok()?;
            let len = usize::try_from(take(&mut rest)?).ok()?;
            blocks.push(Block { first_word, words, start, len });
            first_word = first_word.checked_add(words)?;
            start = start.checked_add(len)?;
        }
        Some(Self { head, blocks, data: rest })
    }

    /// Returns how many words the body has.
    pub(crate) fn body_words(&self) -> u32 {
        self.blocks.last().map_or(0, |block| block.first_word + block.words)
    }

    /// Opens the block that holds the word at `position`, or the first one beyond the end.
    pub(crate) fn block_at(&self, position: u32) -> Option<OpenBlock> {
        let at = self.blocks.partition_point(|block| block.first_word + block.words <= position);
        self.open(self.blocks.get(at)?)
    }

    /// Opens the first block.
    pub(crate) fn first_block(&self) -> Option<OpenBlock> {
        self.open(self.blocks.first()?)
    }

    fn open(&self, block: &Block) -> Option<OpenBlock> {
        let mut bytes = self.data.get(block.start..block.start + block.len)?;
        let count = usize::try_from(take(&mut bytes)?).ok()?;
        let mut passages = Vec::with_capacity(count.min(bytes.len()));
        let (mut word, mut end) = (block.first_word, 0);
        for _ in 0..count {
            let words = u32::try_from(take(&mut bytes)?).ok()?;
            end += usize::try_from(take(&mut bytes)?).ok()?;
            passages.push((word, end));
            word += words;
        }
        let len = usize::try_from(take(&mut bytes)?).ok().filter(|&len| len <= 64 * BLOCK_BYTES)?;
        let text = String::from_utf8(lz4_flex::block::decompress(bytes, len).ok()?).ok()?;
        Some(OpenBlock { text, passages })
    }
}

/// Cuts a text into passages: at line ends and sentence ends, and hard at a space when one gets too long.
pub(crate) fn passages(body: &str) -> impl Iterator<Item = &str> {
    let mut rest = body.trim();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (passage, tail) = rest.split_at(passage_end(rest));
        rest = tail.trim_start();
        Some(passage.trim_end())
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

fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
