//! The zones of a text that are not prose: code, URLs, and the targets of links.

use std::ops::Range;

use crate::options::Syntax;

/// The class of a part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ZoneClass {
    /// Prose: every rule applies.
    Text,
    /// Code, in a block or a span.
    Code,
    /// A URL.
    Url,
    /// The address of a `mailto:` link.
    Mail,
    /// The number of a `tel:` or `sms:` link.
    Tel,
}

/// A part that is not prose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Zone {
    pub(crate) class: ZoneClass,
    pub(crate) range: Range<usize>,
}

/// The bytes at which a zone may start or be recognized.
const TRIGGERS: [bool; 256] = {
    let mut triggers = [false; 256];
    let (marks, mut at) = (b"\\`]<:wW", 0);
    while at < marks.len() {
        triggers[marks[at] as usize] = true;
        at += 1;
    }
    triggers
};

/// The maximum length of a URL, in bytes.
const MAX_URL_BYTES: usize = 4096;

/// Returns the zones that are not prose, sorted and without overlaps.
pub(crate) fn zones(text: &str, syntax: Syntax) -> Vec<Zone> {
    let mut reader = Reader { bytes: text.as_bytes(), zones: Vec::new(), unclosed: [0; 32] };
    match syntax {
        Syntax::Plain => reader.urls(0, text.len()),
        Syntax::Markdown => reader.blocks(),
    }
    reader.zones
}

struct Reader<'a> {
    bytes: &'a [u8],
    zones: Vec<Zone>,
    /// By number of backticks: the position up to which no code span is closed, so that it is searched only once.
    unclosed: [usize; 32],
}

impl Reader<'_> {
    fn push(&mut self, class: ZoneClass, range: Range<usize>) {
        if !range.is_empty() {
            self.zones.push(Zone { class, range });
        }
    }

    /// Reads fenced blocks as code, and the text between them as paragraphs.
    fn blocks(&mut self) {
        let (mut at, mut prose_start) = (0, 0);
        while at < self.bytes.len() {
            let end = self.line_end(at);
            let Some((mark, length)) = fence(&self.bytes[at..end]) else {
                if self.bytes[at..end].iter().all(u8::is_ascii_whitespace) {
                    self.inline(prose_start, at);
                    prose_start = end;
                }
                at = end;
                continue;
            };
            self.inline(prose_start, at);
            let body = end;
            let mut close = end;
            at = end;
            while at < self.bytes.len() {
                close = at;
                at = self.line_end(at);
                if closes(&self.bytes[close..at], mark, length) {
                    break;
                }
                close = at;
            }
            self.push(ZoneClass::Code, body..close);
            prose_start = at;
        }
        self.inline(prose_start, self.bytes.len());
    }

    fn line_end(&self, at: usize) -> usize {
        self.bytes[at..].iter().position(|&b| b == b'\n').map_or(self.bytes.len(), |length| at + length + 1)
    }

    /// Reads a paragraph: code spans, targets of links, automatic links and bare URLs.
    fn inline(&mut self, start: usize, end: usize) {
        let mut at = start;
        loop {
            // Most bytes are not triggers, which costs one lookup in a table each.
            at += self.bytes[at.min(end)..end].iter().take_while(|b| !TRIGGERS[usize::from(**b)]).count();
            if at >= end {
                break;
            }
            at = match self.bytes[at] {
                b'\\' => at + 2,
                b'`' => self.code_span(at, end),
                b']' if self.bytes.get(at + 1) == Some(&b'(') => self.target(at + 2, end),
                b'<' => self.autolink(at + 1, end),
                b':' => self.bare_url(start, at, end),
                b'w' | b'W' => self.www(start, at, end),
                _ => at + 1,
            };
        }
    }

    fn urls(&mut self, start: usize, end: usize) {
        let mut at = start;
        while at < end {
            at = match self.bytes[at] {
                b':' => self.bare_url(start, at, end),
                b'w' | b'W' => self.www(start, at, end),
                _ => at + 1,
            };
        }
    }

    fn code_span(&mut self, at: usize, end: usize) -> usize {
        let ticks = self.ticks(at, end);
        let body = at + ticks;
        let Some(unclosed) = self.unclosed.get(ticks).copied().filter(|&unclosed| unclosed < end) else {
            return body;
        };
        debug_assert!(unclosed <= end, "the search ended at the end of a paragraph");
        let mut next = body;
        while next < end {
            if self.bytes[next] != b'`' {
                next += 1;
                continue;
            }
            let closing = self.ticks(next, end);
            if closing == ticks {
                self.push(ZoneClass::Code, body..next);
                return next + ticks;
            }
            next += closing;
        }
        self.unclosed[ticks] = end;
        body
    }

    fn ticks(&self, at: usize, end: usize) -> usize {
        self.bytes[at..end].iter().take_while(|&&b| b == b'`').count()
    }

    /// Reads the target of a link after its bracket.
    fn target(&mut self, at: usize, end: usize) -> usize {
        let mut depth = 0_u32;
        let mut close = at;
        let last = end.min(at + MAX_URL_BYTES);
        while close < last {
            match self.bytes[close] {
                b'(' => depth += 1,
                b')' if depth == 0 => break,
                b')' => depth -= 1,
                b' ' | b'\t' | b'\n' => break,
                b'\\' => close += 1,
                _ => {}
            }
            close += 1;
        }
        let close = close.min(end);
        self.url(at..close);
        close
    }

    /// Reads `<https://...>` after its bracket. A mail address in brackets is prose, where the rule for mail finds it.
    fn autolink(&mut self, at: usize, end: usize) -> usize {
        let last = end.min(at + MAX_URL_BYTES);
        let is_inside = |b: &u8| !matches!(b, b'<' | b'>' | b' ' | b'\t' | b'\n');
        let scheme = self.bytes[at..last.min(at + 32)].iter().take_while(|b| is_scheme(**b)).count();
        if scheme < 2 || self.bytes.get(at + scheme) != Some(&b':') {
            return at;
        }
        let length = self.bytes[at..last].iter().take_while(|b| is_inside(b)).count();
        if self.bytes.get(at + length) != Some(&b'>') {
            return at;
        }
        self.url(at..at + length);
        at + length
    }

    /// Reads a URL in prose from its colon.
    fn bare_url(&mut self, start: usize, colon: usize, end: usize) -> usize {
        if !self.bytes[colon..end].starts_with(b"://") {
            return colon + 1;
        }
        let from =
            self.zones.last().map_or(start, |zone| zone.range.end.max(start)).max(colon.saturating_sub(16));
        let scheme = self.bytes[from.min(colon)..colon].iter().rev().take_while(|b| is_scheme(**b)).count();
        if scheme < 2 {
            return colon + 3;
        }
        self.url_in_prose(colon - scheme, colon + 3, end)
    }

    /// Reads a URL in prose that starts with `www.`.
    fn www(&mut self, start: usize, at: usize, end: usize) -> usize {
        let is_in_word =
            at > start && (self.bytes[at - 1].is_ascii_alphanumeric() || self.bytes[at - 1] == b'@');
        let is_www = self.bytes[at..end].get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"www."));
        if is_in_word || !is_www { at + 1 } else { self.url_in_prose(at, at + 4, end) }
    }

    /// Reads a URL in prose up to its end, without the marks of the sentence.
    fn url_in_prose(&mut self, start: usize, at: usize, end: usize) -> usize {
        let last = end.min(at + MAX_URL_BYTES);
        let is_part =
            |b: &u8| b.is_ascii_alphanumeric() || *b >= 0x80 || b"-._~:/?#@!$&'()+,;=%[]".contains(b);
        let mut close = at + self.bytes[at..last].iter().take_while(|b| is_part(b)).count();
        while close > at && b".,;:!?')]_".contains(&self.bytes[close - 1]) {
            close -= 1;
        }
        while close > at && close < self.bytes.len() && self.bytes[close] & 0xC0 == 0x80 {
            close -= 1;
        }
        self.push(ZoneClass::Url, start..close);
        close.max(start + 1)
    }

    /// Records the target of a link by its scheme.
    fn url(&mut self, range: Range<usize>) {
        let url = &self.bytes[range.clone()];
        for (scheme, class) in [
            ("mailto:", ZoneClass::Mail),
            ("tel:", ZoneClass::Tel),
            ("sms:", ZoneClass::Tel),
            ("callto:", ZoneClass::Tel),
        ] {
            if url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes())) {
                let body = &url[scheme.len()..];
                let length = body.iter().position(|&b| matches!(b, b'?' | b'&')).unwrap_or(body.len());
                let start = range.start + scheme.len();
                self.push(ZoneClass::Url, range.start..start);
                self.push(class, start..start + length);
                self.push(ZoneClass::Url, start + length..range.end);
                return;
            }
        }
        self.push(ZoneClass::Url, range);
    }
}

fn is_scheme(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.')
}

/// Returns the mark and the length of a fence that a line opens, after the marks of quotes and lists.
fn fence(line: &[u8]) -> Option<(u8, usize)> {
    let line = without_block_marks(line);
    let mark = *line.first().filter(|mark| matches!(mark, b'`' | b'~'))?;
    let length = line.iter().take_while(|&&b| b == mark).count();
    let info = &line[length..];
    (length >= 3 && !(mark == b'`' && info.contains(&b'`'))).then_some((mark, length))
}

/// Returns whether a line closes a fence.
fn closes(line: &[u8], mark: u8, length: usize) -> bool {
    let line = without_block_marks(line);
    let marks = line.iter().take_while(|&&b| b == mark).count();
    marks >= length && line[marks..].iter().all(u8::is_ascii_whitespace)
}

fn without_block_marks(line: &[u8]) -> &[u8] {
    let marks = line.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'>')).count();
    let line = &line[marks..];
    match line {
        [b'-' | b'*' | b'+', b' ', rest @ ..] => rest.trim_ascii_start(),
        [b'0'..=b'9', b'.' | b')', b' ', rest @ ..] => rest.trim_ascii_start(),
        _ => line,
    }
}
