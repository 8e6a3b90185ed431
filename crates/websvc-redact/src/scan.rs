//! The scan of a text: passes each position at which personal data may start to the rules for it.

use std::ops::Range;

use crate::finding::Finding;
use crate::kind::Kind;
use crate::lexicon::WordSense;
use crate::options::{Options, RedactMode};
use crate::zone::{Zone, ZoneClass};
use crate::{address, cjk, email, number, person, place, postcode, secret, word};

/// The state of a scan.
pub(crate) struct Scan<'a> {
    pub(crate) text: &'a str,
    pub(crate) options: &'a Options,
    pub(crate) findings: Vec<Finding>,
    /// The number of bytes that the rules examined, so that tests can check that it is linear.
    pub(crate) work: u64,
    /// The end of the last token that was examined for secrets.
    pub(crate) token_end: usize,
    /// The end of the last finding that other rules must not examine, where the scan resumes.
    pub(crate) resume: usize,
}

/// A part of a text of one class, which contains findings completely.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextPart {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) class: ZoneClass,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(text: &'a str, options: &'a Options) -> Self {
        Self { text, options, findings: Vec::new(), work: 0, token_end: 0, resume: 0 }
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    pub(crate) fn is_aggressive(&self) -> bool {
        self.options.mode == RedactMode::Aggressive
    }

    pub(crate) fn wants(&self, kind: Kind) -> bool {
        self.options.kinds.has(kind)
    }

    /// Records a finding if its kind is requested.
    pub(crate) fn record(&mut self, kind: Kind, range: Range<usize>) {
        debug_assert!(self.text.is_char_boundary(range.start) && self.text.is_char_boundary(range.end));
        if self.wants(kind) && !range.is_empty() {
            self.findings.push(Finding { kind, range });
        }
    }

    /// Scans whole lines of the text. `zones` are those that overlap the lines.
    pub(crate) fn run(&mut self, zones: &[Zone], lines: Range<usize>) {
        let mut start = lines.start;
        for zone in zones {
            let (from, end) = (zone.range.start.max(start), zone.range.end.min(lines.end));
            self.text_part(start, from);
            self.zone(TextPart { start: from, end, class: zone.class });
            start = end;
        }
        self.text_part(start, lines.end);
    }

    fn zone(&mut self, part: TextPart) {
        match part.class {
            ZoneClass::Text => self.text_part(part.start, part.end),
            ZoneClass::Code => {
                self.secrets(part);
                if self.is_aggressive() {
                    self.emails(part);
                }
            }
            ZoneClass::Url => {
                self.secrets(part);
                secret::user_info(self, part);
                if self.is_aggressive() {
                    self.emails(part);
                }
            }
            ZoneClass::Mail if self.has(part, |b| b == b'@') => {
                self.record(Kind::Email, part.start..part.end);
            }
            ZoneClass::Tel if self.has(part, |b| b.is_ascii_digit()) => {
                self.record(Kind::Phone, part.start..part.end);
            }
            // The address or number was replaced by an earlier pass.
            ZoneClass::Mail | ZoneClass::Tel => {}
        }
    }

    fn has(&self, part: TextPart, is: impl Fn(u8) -> bool) -> bool {
        self.bytes()[part.start..part.end].iter().any(|b| is(*b))
    }

    /// Finds mail addresses only.
    fn emails(&mut self, part: TextPart) {
        let ats = self.bytes()[part.start..part.end].iter().enumerate();
        let ats: Vec<usize> = ats.filter(|(_, b)| **b == b'@').map(|(at, _)| part.start + at).collect();
        for at in ats {
            email::at_sign(self, part, at);
        }
    }

    /// Finds secrets only.
    fn secrets(&mut self, part: TextPart) {
        let bytes = self.bytes();
        let mut at = part.start;
        while at < part.end {
            let b = bytes[at];
            if b.is_ascii_alphanumeric() {
                at = secret::token(self, part, at).max(self.skip_word(part, at));
            } else {
                match b {
                    b':' | b'=' => secret::assignment(self, part, at),
                    b'-' if bytes[at..part.end].starts_with(b"-----BEGIN ") => {
                        at = secret::pem(self, part, at);
                        continue;
                    }
                    _ => {}
                }
                at += 1;
            }
        }
    }

    fn skip_word(&self, part: TextPart, at: usize) -> usize {
        at + self.bytes()[at..part.end].iter().take_while(|b| b.is_ascii_alphanumeric()).count()
    }

    /// Applies all rules to prose.
    fn text_part(&mut self, start: usize, end: usize) {
        let part = TextPart { start, end, class: ZoneClass::Text };
        let bytes = self.bytes();
        let mut at = start;
        while at < end {
            at = match bytes[at] {
                // A space is by far the most frequent byte, and nothing starts with it.
                b' ' => at + 1,
                b'a'..=b'z' | b'A'..=b'Z' => self.ascii_letter(part, at),
                b'0'..=b'9' => self.digit(part, at),
                0x80.. => self.non_ascii(part, at),
                b'@' => {
                    email::at_sign(self, part, at);
                    at + 1
                }
                b':' | b'=' => {
                    secret::assignment(self, part, at);
                    at + 1
                }
                b'-' if bytes[at..end].starts_with(b"-----BEGIN ") => secret::pem(self, part, at),
                _ => at + 1,
            };
            at = at.max(self.resume.min(end));
        }
    }

    /// Examines the word at an ASCII letter. Returns the position at which the scan resumes.
    fn ascii_letter(&mut self, part: TextPart, at: usize) -> usize {
        let token = secret::token(self, part, at);
        if token > at {
            return token;
        }
        let word = word::word(self, part, at);
        self.word(part, &word);
        word.end.max(at + 1)
    }

    /// Examines the number at a digit. Returns the position at which the scan resumes.
    fn digit(&mut self, part: TextPart, at: usize) -> usize {
        let token = secret::token(self, part, at);
        if token > at {
            return token;
        }
        address::number_first(self, part, at);
        postcode::number(self, part, at);
        number::run(self, part, at).max(at + 1)
    }

    /// Examines the word at a character other than ASCII. Returns the position at which the scan resumes.
    fn non_ascii(&mut self, part: TextPart, at: usize) -> usize {
        let Some(c) = self.text[at..part.end].chars().next() else { return part.end };
        if !c.is_alphabetic() {
            if c == '〒' {
                postcode::japan(self, part, at);
            }
            return at + c.len_utf8();
        }
        if cjk::is_cjk(c) {
            return cjk::run(self, part, at);
        }
        let word = word::word(self, part, at);
        self.word(part, &word);
        word.end.max(at + c.len_utf8())
    }

    /// Applies the rules for words.
    fn word(&mut self, part: TextPart, word: &word::Word<'_>) {
        address::word(self, part, word);
        if !word.is_capitalized {
            // `estimado señor Telmo Vera`: short titles in lower case often are other words.
            if word.senses.is(WordSense::TITLE) && word.text.len() >= 4 && self.wants(Kind::Person) {
                person::title(self, part, word);
            }
            return;
        }
        postcode::letters(self, part, word);
        if self.wants(Kind::Financial) {
            crate::financial::iban(self, part, word);
            crate::financial::bic(self, part, word);
        }
        if self.wants(Kind::Location) {
            place::word(self, part, word);
        }
        if self.wants(Kind::Person) {
            person::word(self, part, word);
        }
    }
}
