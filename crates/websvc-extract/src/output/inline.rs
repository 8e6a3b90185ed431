//! The text of one paragraph: white space is collapsed, markdown is escaped where it would be parsed as markup, and
//! emphasis and links are opened only around existing text.

use super::escape::is_entity;
use super::{code, math};
use crate::limits::MAX_OUTPUT_BYTES;
use crate::text::{is_dropped, is_idle_joiner, is_space, joins};

/// Markup around a part of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum InlineMark {
    Emphasis,
    Strong,
    Strike,
    /// A link, with its target.
    Link(String),
}

impl InlineMark {
    fn delimiter(&self) -> &'static str {
        match self {
            InlineMark::Emphasis => "*",
            InlineMark::Strong => "**",
            InlineMark::Strike => "~~",
            InlineMark::Link(_) => "[",
        }
    }
}

#[derive(Debug)]
struct OpenMark {
    mark: InlineMark,
    /// Offset of the delimiter, once text follows it.
    at: Option<usize>,
    /// True for a link that was written. A link is written once, even if blocks inside it split it into several
    /// paragraphs.
    is_written: bool,
    /// True for a link that a paragraph with images only does not use up, because its text comes later.
    wants_text: bool,
}

/// An emphasis that was closed, and whose delimiters the next character can still make invalid.
#[derive(Debug)]
struct ClosedMark {
    open_at: usize,
    close_at: usize,
    length: usize,
    mark: InlineMark,
}

/// How text is escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EscapeContext {
    Paragraph,
    TableCell,
}

/// One paragraph under construction.
#[derive(Debug)]
pub(super) struct Inline {
    text: String,
    space: bool,
    /// A pending line break. In a table cell it is written only before further text.
    line_break: bool,
    marks: Vec<OpenMark>,
    /// Marks that were closed last, with nothing between their delimiters.
    closed: Vec<ClosedMark>,
    /// Ranges to remove at the end: delimiters that turned out to be invalid.
    cancelled: Vec<(usize, usize)>,
    escape_context: EscapeContext,
}

impl Inline {
    pub(super) fn new(escape_context: EscapeContext) -> Inline {
        Inline {
            text: String::new(),
            space: false,
            line_break: false,
            marks: Vec::new(),
            closed: Vec::new(),
            cancelled: Vec::new(),
            escape_context,
        }
    }

    /// Opens a mark. A mark inside itself is ignored.
    pub(super) fn open(&mut self, mark: InlineMark) {
        self.marks.push(OpenMark { mark, at: None, is_written: false, wants_text: false });
    }

    /// Opens a link around text, which images without text do not use up.
    pub(super) fn open_link(&mut self, target: String) {
        let mark = InlineMark::Link(target);
        self.marks.push(OpenMark { mark, at: None, is_written: false, wants_text: true });
    }

    /// Returns whether the text is that of a table cell.
    pub(super) fn is_cell(&self) -> bool {
        self.escape_context == EscapeContext::TableCell
    }

    /// Closes the mark that was opened last.
    pub(super) fn close(&mut self) {
        let Some(open) = self.marks.pop() else { return };
        self.end(&open);
    }

    fn end(&mut self, open: &OpenMark) {
        let Some(at) = open.at else { return };
        // A line break at the end of a mark follows after it.
        let length = self.text.trim_end_matches('\n').len();
        let ends_in_break = length < self.text.len() && length > at + open.mark.delimiter().len();
        if ends_in_break {
            self.text.truncate(length);
        }
        self.write_end(open, at);
        if ends_in_break {
            self.resolve_closed(None);
            self.text.push('\n');
        }
    }

    fn write_end(&mut self, open: &OpenMark, at: usize) {
        // A link was opened with `[` and is closed with its target.
        if let InlineMark::Link(target) = &open.mark {
            self.resolve_closed(Some(']'));
            self.text.push_str("](");
            self.text.push_str(target);
            self.text.push(')');
            return;
        }
        if !self.is_directly_after_closed() {
            self.resolve_closed(Some('*'));
        }
        let close_at = self.text.len();
        let delimiter = open.mark.delimiter();
        let last = self.text.chars().next_back();
        self.text.push_str(delimiter);
        let length = delimiter.len();
        if last.is_none_or(char::is_whitespace) {
            self.cancel(at, close_at, length);
        } else {
            self.closed.push(ClosedMark { open_at: at, close_at, length, mark: open.mark.clone() });
        }
    }

    /// Returns whether the text ends with the delimiter of a closed mark.
    fn is_directly_after_closed(&self) -> bool {
        self.closed.last().is_some_and(|closed| closed.close_at + closed.length == self.text.len())
    }

    fn cancel(&mut self, open_at: usize, close_at: usize, length: usize) {
        self.cancelled.push((open_at, length));
        self.cancelled.push((close_at, length));
    }

    /// Decides whether the marks that were closed last are valid, now that the next character is known. Their
    /// delimiters are one run: the characters before and after it count.
    fn resolve_closed(&mut self, next: Option<char>) {
        let Some(first) = self.closed.first() else { return };
        let before = self.text[..first.close_at].chars().next_back();
        let is_followed_by_boundary =
            self.space || self.line_break || next.is_none_or(|c| c.is_whitespace() || is_punctuation(c));
        let is_valid = !before.is_some_and(is_punctuation) || is_followed_by_boundary;
        for closed in std::mem::take(&mut self.closed) {
            if !is_valid {
                self.cancel(closed.open_at, closed.close_at, closed.length);
            }
        }
    }

    /// Writes the pending space and the pending opening delimiters before text that begins with `first`.
    fn begin(&mut self, first: char) {
        self.resolve_or_continue(first);
        if std::mem::take(&mut self.line_break) && !self.text.is_empty() {
            self.text.push_str("<br>");
            self.space = false;
        }
        if self.space {
            if !self.text.is_empty() && !self.text.ends_with('\n') {
                self.text.push(' ');
            }
            self.space = false;
        }
        for index in 0..self.marks.len() {
            if self.marks[index].at.is_some() || self.marks[index].is_written || self.is_repeated(index) {
                continue;
            }
            let mark = &self.marks[index].mark;
            let is_link = matches!(mark, InlineMark::Link(_));
            let delimiter = mark.delimiter();
            let before = self.text.chars().next_back();
            // The left-flanking rule of CommonMark. Next to other delimiters the meaning is ambiguous.
            let is_valid = is_link
                || (!before.is_some_and(|c| matches!(c, '*' | '~'))
                    && (!is_punctuation(first)
                        || before.is_none_or(|c| c.is_whitespace() || is_punctuation(c))));
            if is_link && before == Some('!') {
                self.text.insert(self.text.len() - 1, '\\');
            }
            if is_valid || self.follows_opening_asterisk(before, index) {
                self.marks[index].at = Some(self.text.len());
                self.text.push_str(delimiter);
            } else {
                self.marks[index].is_written = true;
            }
        }
    }

    /// Returns whether the delimiter follows an opening `*` directly. `***` is unambiguous: it is parsed as intended.
    fn follows_opening_asterisk(&self, before: Option<char>, index: usize) -> bool {
        before == Some('*')
            && index > 0
            && self.marks[index - 1]
                .at
                .is_some_and(|at| at + self.marks[index - 1].mark.delimiter().len() == self.text.len())
    }

    /// Continues marks that start again directly after their ends. Otherwise resolves the closed ones.
    fn resolve_or_continue(&mut self, first: char) {
        while !self.space && !self.line_break && self.is_directly_after_closed() {
            let is_pending = |open: &OpenMark| open.at.is_none() && !open.is_written;
            let Some(next) = self.marks.iter().position(is_pending) else { break };
            let Some(closed) = self.closed.pop_if(|closed| closed.mark == self.marks[next].mark) else {
                break;
            };
            self.marks[next].at = Some(closed.open_at);
            self.text.truncate(closed.close_at);
        }
        self.resolve_closed(Some(first));
    }

    fn is_repeated(&self, index: usize) -> bool {
        let mark = &self.marks[index].mark;
        self.marks[..index].iter().any(|outer| {
            outer.mark == *mark || matches!((&outer.mark, mark), (InlineMark::Link(_), InlineMark::Link(_)))
        })
    }

    /// Returns whether the paragraph alone exceeds the limit of the whole output.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() > MAX_OUTPUT_BYTES
    }

    /// Adds text from the page.
    pub(super) fn push_text(&mut self, text: &str) {
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let rest = &text[at..];
            at += c.len_utf8();
            if c == '\n' && !self.space && joins(&self.text, rest) {
                at += text[at..].len() - text[at..].trim_start_matches(is_space).len();
                continue;
            }
            if is_space(c) {
                self.space = true;
                continue;
            }
            if is_dropped(c) || is_idle_joiner(c, self.text.chars().next_back()) {
                continue;
            }
            if matches!(c, '$' | '\\')
                && let Some((length, formula)) = math::in_text(rest)
            {
                self.push_raw(&formula);
                at += length.saturating_sub(c.len_utf8());
                continue;
            }
            self.begin(c);
            self.mark_text();
            if c.is_ascii_punctuation() && self.needs_escape(c, &text[at..]) {
                self.text.push('\\');
            }
            self.text.push(c);
            // The next characters are usually plain.
            let plain = plain_run(&text[at..]);
            self.text.push_str(plain);
            at += plain.len();
        }
    }

    fn needs_escape(&self, c: char, rest: &str) -> bool {
        let next = rest.chars().next();
        let before = self.text.chars().next_back();
        let is_space = |c: Option<char>| c.is_some_and(char::is_whitespace);
        let is_space_or_end = |c: Option<char>| c.is_none_or(char::is_whitespace);
        match c {
            '`' => true,
            '|' => self.escape_context == EscapeContext::TableCell,
            // At the end of a text the delimiter of emphasis may follow.
            '*' => !(is_space_or_end(before) && is_space(next) && !rest.trim_start().is_empty()),
            '_' => {
                let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                let is_alone = is_space_or_end(before) && is_space(next) && !rest.trim_start().is_empty();
                !(is_alone || is_word(before) && is_word(next))
            }
            '~' => {
                let is_opening = next.is_some_and(|c| !c.is_whitespace());
                let is_closing = before.is_some_and(|c| !c.is_whitespace());
                next == Some('~')
                    || before == Some('~')
                    || is_opening && has_closing_tilde(rest)
                    || is_closing && has_opening_tilde(&self.text)
            }
            '[' => {
                self.marks.iter().any(|open| open.at.is_some() && matches!(open.mark, InlineMark::Link(_)))
            }
            ']' => {
                matches!(next, None | Some('(' | '[' | ':'))
                    || self
                        .marks
                        .iter()
                        .any(|open| open.at.is_some() && matches!(open.mark, InlineMark::Link(_)))
            }
            '<' => next.is_none_or(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')),
            '&' => is_entity(rest),
            '\\' => next.is_none_or(|c| c.is_ascii_punctuation()) || rest.trim_start().is_empty(),
            _ => false,
        }
    }

    /// Adds markdown unchanged: code or math. It counts as text.
    pub(super) fn push_raw(&mut self, markdown: &str) {
        let Some(first) = markdown.chars().next() else { return };
        self.begin(first);
        self.mark_text();
        self.text.push_str(markdown);
    }

    /// Adds an image.
    pub(super) fn push_image(&mut self, markdown: &str) {
        self.begin('!');
        self.text.push_str(markdown);
    }

    /// Adds code. Two spans without anything between them would be one.
    pub(super) fn push_code(&mut self, code: &str) {
        self.space |= self.text.ends_with('`');
        self.push_raw(&code::span(code));
    }

    fn mark_text(&mut self) {
        for open in self.marks.iter_mut().filter(|open| open.at.is_some()) {
            open.wants_text = false;
        }
    }

    /// Adds a space, which is collapsed with others.
    pub(super) fn push_space(&mut self) {
        self.space = true;
    }

    /// Ends a block where blocks cannot be: in a table cell with a line break, otherwise with a space.
    pub(super) fn end_block(&mut self) {
        match self.escape_context {
            EscapeContext::TableCell => self.line_break = true,
            EscapeContext::Paragraph => self.space = true,
        }
    }

    /// Adds a line break inside the paragraph.
    pub(super) fn push_break(&mut self) {
        self.space = false;
        match self.escape_context {
            EscapeContext::TableCell => self.line_break = true,
            EscapeContext::Paragraph if !self.text.is_empty() => {
                self.resolve_closed(None);
                self.text.push('\n');
            }
            EscapeContext::Paragraph => {}
        }
    }

    /// Returns whether the paragraph ends with a line break.
    pub(super) fn ends_in_break(&self) -> bool {
        self.text.ends_with('\n')
    }

    /// Ends the paragraph and returns its text. Marks that are still open continue in the next paragraph.
    pub(super) fn take(&mut self) -> String {
        for index in (0..self.marks.len()).rev() {
            let is_link = matches!(self.marks[index].mark, InlineMark::Link(_));
            if is_link && self.marks[index].wants_text {
                self.cancelled.extend(self.marks[index].at.take().map(|at| (at, 1)));
                continue;
            }
            let open = OpenMark {
                mark: self.marks[index].mark.clone(),
                at: self.marks[index].at.take(),
                is_written: false,
                wants_text: false,
            };
            self.marks[index].is_written = is_link && (open.at.is_some() || self.marks[index].is_written);
            self.end(&open);
        }
        self.resolve_closed(None);
        (self.space, self.line_break) = (false, false);
        let mut text = std::mem::take(&mut self.text);
        if !self.cancelled.is_empty() {
            text = remove_ranges(&text, &mut self.cancelled);
        }
        text.truncate(text.trim_end().len());
        text
    }
}

/// Returns whether a tilde follows that can end struck text: one tilde strikes it through, too.
fn has_closing_tilde(rest: &str) -> bool {
    rest.match_indices('~').any(|(at, _)| rest[..at].ends_with(|c: char| !c.is_whitespace()))
}

/// Returns whether a tilde can begin struck text.
fn has_opening_tilde(text: &str) -> bool {
    text.match_indices('~').any(|(at, _)| text[at + 1..].starts_with(|c: char| !c.is_whitespace()))
}

/// Returns the start of `text` that has only letters, digits and characters without rules, with single spaces between
/// them.
fn plain_run(text: &str) -> &str {
    let mut end = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b',' | b'.' | b';' | b'\'' | b'-' | b'/' => {
                end = at + 1;
            }
            b' ' if end == at => {}
            _ => break,
        }
    }
    &text[..end]
}

fn remove_ranges(text: &str, ranges: &mut Vec<(usize, usize)>) -> String {
    ranges.sort_unstable();
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (at, length) in ranges.drain(..) {
        if at >= from {
            out.push_str(&text[from..at]);
            from = at + length;
        }
    }
    out.push_str(&text[from..]);
    out
}

/// Returns whether the flanking rules of CommonMark count the character as punctuation.
fn is_punctuation(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { !c.is_alphanumeric() && !c.is_whitespace() }
}
