//! The text of one paragraph: white space collapsed, markdown escaped where it would be read as markup, emphasis and
//! links opened only around what is really there.

use super::math;
use crate::limits::MAX_OUTPUT_BYTES;
use crate::text::{is_dropped, is_idle_joiner, is_space, joins};

/// Markup around a stretch of text.
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
    /// Offset of the delimiter, once it is followed by text.
    at: Option<usize>,
    /// A link is written once, though blocks inside it may cut it into several paragraphs.
    spent: bool,
}

/// A closed emphasis, remembered while the next character can still make its delimiters invalid.
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
    /// A line break that waits for text: in a table cell, where none may stand at the end.
    line_break: bool,
    marks: Vec<OpenMark>,
    closed: Option<ClosedMark>,
    /// Ranges to be taken out at the end: delimiters that turned out not to work.
    cancelled: Vec<(usize, usize)>,
    place: EscapeContext,
}

impl Inline {
    pub(super) fn new(place: EscapeContext) -> Inline {
        Inline {
            text: String::new(),
            space: false,
            line_break: false,
            marks: Vec::new(),
            closed: None,
            cancelled: Vec::new(),
            place,
        }
    }

    /// Starts a stretch of marked text. A mark inside itself counts for nothing.
    pub(super) fn open(&mut self, mark: InlineMark) {
        self.marks.push(OpenMark { mark, at: None, spent: false });
    }

    /// Ends the stretch started last.
    pub(super) fn close(&mut self) {
        let Some(open) = self.marks.pop() else { return };
        self.end(&open);
    }

    fn end(&mut self, open: &OpenMark) {
        let Some(at) = open.at else { return };
        if let InlineMark::Link(target) = &open.mark {
            self.settle(Some(')'));
            self.text.push_str("](");
            self.text.push_str(target);
            self.text.push(')');
            return;
        }
        self.settle(Some('*'));
        let close_at = self.text.len();
        let delimiter = open.mark.delimiter();
        let last = self.text.chars().next_back();
        self.text.push_str(delimiter);
        let length = delimiter.len();
        if last.is_none_or(char::is_whitespace) {
            self.cancel(at, close_at, length);
        } else {
            self.closed = Some(ClosedMark { open_at: at, close_at, length, mark: open.mark.clone() });
        }
    }

    fn cancel(&mut self, open_at: usize, close_at: usize, length: usize) {
        self.cancelled.push((open_at, length));
        self.cancelled.push((close_at, length));
    }

    /// Decides whether the emphasis closed last stands, now that the next character is known.
    fn settle(&mut self, next: Option<char>) {
        let Some(closed) = self.closed.take() else { return };
        let before = self.text[..closed.close_at].chars().next_back();
        let next_ends =
            self.space || self.line_break || next.is_none_or(|c| c.is_whitespace() || is_punctuation(c));
        if before.is_some_and(is_punctuation) && !next_ends {
            self.cancel(closed.open_at, closed.close_at, closed.length);
        }
    }

    /// Writes the space and the opening delimiters that wait for text, which begins with `first`.
    fn begin(&mut self, first: char) {
        self.settle_or_continue(first);
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
            if self.marks[index].at.is_some() || self.marks[index].spent || self.is_repeated(index) {
                continue;
            }
            let mark = &self.marks[index].mark;
            let is_link = matches!(mark, InlineMark::Link(_));
            let delimiter = mark.delimiter();
            let before = self.text.chars().next_back();
            // CommonMark's left-flanking rule; next to other delimiters the reading is ambiguous.
            let works = is_link
                || (!before.is_some_and(|c| matches!(c, '*' | '~'))
                    && (!is_punctuation(first)
                        || before.is_none_or(|c| c.is_whitespace() || is_punctuation(c))));
            if is_link && before == Some('!') {
                self.text.insert(self.text.len() - 1, '\\');
            }
            if works || self.opened_just_now(before, index) {
                self.marks[index].at = Some(self.text.len());
                self.text.push_str(delimiter);
            } else {
                self.marks[index].spent = true;
            }
        }
    }

    /// `**` right behind an opening `*` is no ambiguity: together they are read as intended.
    fn opened_just_now(&self, before: Option<char>, index: usize) -> bool {
        before == Some('*')
            && index > 0
            && self.marks[index - 1]
                .at
                .is_some_and(|at| at + self.marks[index - 1].mark.delimiter().len() == self.text.len())
    }

    /// The same emphasis starting again right where it ended goes on instead.
    fn settle_or_continue(&mut self, first: char) {
        if let Some(closed) = &self.closed
            && !self.space
            && !self.line_break
            && closed.close_at + closed.length == self.text.len()
            && let Some(next) = self.marks.iter().position(|open| open.at.is_none() && !open.spent)
            && self.marks[next].mark == closed.mark
        {
            self.marks[next].at = Some(closed.open_at);
            self.text.truncate(closed.close_at);
            self.closed = None;
            return;
        }
        self.settle(Some(first));
    }

    fn is_repeated(&self, index: usize) -> bool {
        let mark = &self.marks[index].mark;
        self.marks[..index].iter().any(|outer| {
            outer.mark == *mark || matches!((&outer.mark, mark), (InlineMark::Link(_), InlineMark::Link(_)))
        })
    }

    /// Tells whether the paragraph is longer than everything may be.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() > MAX_OUTPUT_BYTES
    }

    /// Adds text from the page.
    pub(super) fn push_text(&mut self, text: &str) {
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            if c == '\n' && !self.space && joins(&self.text, &text[at..]) {
                while chars.next_if(|&(_, c)| is_space(c)).is_some() {}
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
                && let Some((length, formula)) = math::in_text(&text[at..])
            {
                self.push_raw(&formula);
                while chars.next_if(|&(next, _)| next < at + length).is_some() {}
                continue;
            }
            self.begin(c);
            if c.is_ascii_punctuation() && self.needs_escape(c, &text[at + 1..]) {
                self.text.push('\\');
            }
            self.text.push(c);
            // What follows is plain more often than not.
            if let Some(plain) = plain_run(&text[at + c.len_utf8()..]) {
                self.text.push_str(plain);
                let end = at + c.len_utf8() + plain.len();
                while chars.next_if(|&(next, _)| next < end).is_some() {}
            }
        }
    }

    fn needs_escape(&self, c: char, rest: &str) -> bool {
        let next = rest.chars().next();
        let before = self.text.chars().next_back();
        let spaced = |c: Option<char>| c.is_none_or(char::is_whitespace);
        match c {
            '`' => true,
            '|' => self.place == EscapeContext::TableCell,
            '*' => !(spaced(before) && spaced(next)),
            '_' => {
                let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                !(spaced(before) && spaced(next) || word(before) && word(next))
            }
            '~' => next == Some('~') || before == Some('~'),
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
            '\\' => next.is_none_or(|c| c.is_ascii_punctuation()),
            _ => false,
        }
    }

    /// Adds markdown as it is: code, an image, math. It counts as text.
    pub(super) fn push_raw(&mut self, markdown: &str) {
        let Some(first) = markdown.chars().next() else { return };
        self.begin(first);
        self.text.push_str(markdown);
    }

    /// Adds a space, which collapses with others.
    pub(super) fn push_space(&mut self) {
        self.space = true;
    }

    /// Notes that a block ends where blocks cannot stand: in a cell as a line break, else as a space.
    pub(super) fn end_block(&mut self) {
        match self.place {
            EscapeContext::TableCell => self.line_break = true,
            EscapeContext::Paragraph => self.space = true,
        }
    }

    /// Adds a line break inside the paragraph.
    pub(super) fn push_break(&mut self) {
        self.space = false;
        match self.place {
            EscapeContext::TableCell => self.line_break = true,
            EscapeContext::Paragraph if !self.text.is_empty() => {
                self.settle(None);
                self.text.push('\n');
            }
            EscapeContext::Paragraph => {}
        }
    }

    /// Tells whether the last thing written is a line break.
    pub(super) fn ends_in_break(&self) -> bool {
        self.text.ends_with('\n')
    }

    /// Ends the paragraph and returns its text; marks still open go on in the next one.
    pub(super) fn take(&mut self) -> String {
        for index in (0..self.marks.len()).rev() {
            let is_link = matches!(self.marks[index].mark, InlineMark::Link(_));
            let open = OpenMark {
                mark: self.marks[index].mark.clone(),
                at: self.marks[index].at.take(),
                spent: false,
            };
            self.marks[index].spent = is_link && (open.at.is_some() || self.marks[index].spent);
            self.end(&open);
        }
        self.settle(None);
        (self.space, self.line_break) = (false, false);
        let mut text = std::mem::take(&mut self.text);
        if !self.cancelled.is_empty() {
            text = without(&text, &mut self.cancelled);
        }
        text.truncate(text.trim_end().len());
        text
    }
}

/// Returns the start of `text` that is letters, digits and single characters no rule looks at.
fn plain_run(text: &str) -> Option<&str> {
    let end = text
        .bytes()
        .position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b',' | b'.' | b';' | b'\'' | b'-' | b'/')))
        .unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

fn without(text: &str, ranges: &mut Vec<(usize, usize)>) -> String {
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

/// Tells whether CommonMark counts the character as punctuation for its flanking rules.
fn is_punctuation(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { !c.is_alphanumeric() && !c.is_whitespace() }
}

/// Tells whether what follows an ampersand makes it a character reference.
fn is_entity(rest: &str) -> bool {
    let name = rest.strip_prefix('#').unwrap_or(rest);
    let end = name.bytes().take(32).position(|b| !b.is_ascii_alphanumeric());
    end.is_some_and(|end| end > 0 && name.as_bytes()[end] == b';')
}

/// Escapes what would be a heading, list, quote, rule or fence at the start of a line.
pub(super) fn escape_line_start(line: &str) -> Option<String> {
    let first = line.bytes().next()?;
    let follows = |rest: &str| rest.is_empty() || rest.starts_with(' ');
    let at = match first {
        b'#' => {
            let rest = line.trim_start_matches('#');
            (line.len() - rest.len() <= 6 && follows(rest)).then_some(0)
        }
        b'>' => Some(0),
        b'-' | b'+' | b'=' | b'|' | b':' => {
            // A rule, the line below a heading, or that below the heads of a table.
            let ruler =
                line.contains(['-', '=']) && line.chars().all(|c| matches!(c, '-' | '=' | ' ' | '|' | ':'));
            (ruler || (!matches!(first, b'|' | b':') && follows(&line[1..]))).then_some(0)
        }
        b'*' => follows(&line[1..]).then_some(0),
        b'0'..=b'9' => {
            let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
            let digits = line.len() - rest.len();
            (digits <= 9 && rest.starts_with(['.', ')']) && follows(&rest[1..])).then_some(digits)
        }
        _ => None,
    }?;
    Some(format!("{}\\{}", &line[..at], &line[at..]))
}
