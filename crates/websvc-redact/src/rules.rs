//! Passes each position of a text at which personal data may start to the rules for it.

use std::ops::Range;

use crate::kind::Kind;
use crate::lexicon::WordSense;
use crate::scan::{Scan, TextPart};
use crate::zone::{Zone, ZoneClass};
use crate::{address, cjk, email, financial, number, person, place, postcode, secret, word};

impl Scan<'_> {
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
            financial::iban(self, part, word);
            financial::bic(self, part, word);
        }
        if self.wants(Kind::Location) {
            place::word(self, part, word);
        }
        if self.wants(Kind::Person) {
            person::word(self, part, word);
        }
    }
}
