//! Detects tags with too many attributes before the tokenizer has finished them.
//!
//! The tokenizer compares each attribute with all before it and cannot be stopped, so one tag with a million attributes
//! would keep it busy for hours. But after each piece of the source it reports whether a token has ended. While none
//! has ended, it is in a tag or in a comment. Then this module parses the source since the last token, as the tokenizer
//! parses a tag, from each position where a tag may begin. If a possible tag has too many attributes, the guard feeds
//! the characters that would close it. If a token ends, it was a tag, and the rest of it is skipped.

use crate::limits::MAX_ATTRIBUTES;

/// A state of the tokenizer inside a tag (HTML standard, section "Tokenization").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Name,
    BeforeAttribute,
    Attribute,
    AfterAttribute,
    BeforeValue,
    DoubleQuoted,
    SingleQuoted,
    Unquoted,
}

const STATES: usize = 8;

impl State {
    /// Returns the characters that close a tag in this state.
    pub(super) fn closing(self) -> &'static str {
        match self {
            State::DoubleQuoted => "\">",
            State::SingleQuoted => "'>",
            State::Name
            | State::BeforeAttribute
            | State::Attribute
            | State::AfterAttribute
            | State::BeforeValue
            | State::Unquoted => ">",
        }
    }

    /// Returns the length of the rest of a tag in this state, `None` if it does not end in `rest`.
    pub(super) fn rest_of_tag(mut self, rest: &[u8]) -> Option<usize> {
        let end = rest.iter().position(|&byte| match self.next(byte) {
            Some(next) => {
                self = next;
                false
            }
            None => true,
        });
        end.map(|end| end + 1)
    }

    /// Returns the state after a byte, `None` after the end of the tag.
    fn next(self, byte: u8) -> Option<State> {
        use State::*;
        let is_space = matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | b'\x0c');
        Some(match (self, byte) {
            (DoubleQuoted, b'"') | (SingleQuoted, b'\'') => BeforeAttribute,
            (DoubleQuoted | SingleQuoted, _) => self,
            (_, b'>') => return None,
            (BeforeValue, _) if is_space => BeforeValue,
            (BeforeValue, b'"') => DoubleQuoted,
            (BeforeValue, b'\'') => SingleQuoted,
            (BeforeValue | Unquoted, _) if !is_space => Unquoted,
            (Attribute | AfterAttribute, b'=') => BeforeValue,
            (Attribute | AfterAttribute, _) if is_space => AfterAttribute,
            (Name | BeforeAttribute | Unquoted, _) if is_space => BeforeAttribute,
            (Name | BeforeAttribute | Attribute | AfterAttribute, b'/') => BeforeAttribute,
            (Name, _) => Name,
            _ => Attribute,
        })
    }
}

/// The tags that the tokenizer may be in and has not finished.
#[derive(Debug, Default)]
pub(super) struct OpenTag {
    /// For each state the maximum number of attributes of the tags that may be in it.
    attributes: [Option<usize>; STATES],
    last: u8,
    before_last: u8,
}

/// All states, in the order of their numbers.
const ALL: [State; STATES] = [
    State::Name,
    State::BeforeAttribute,
    State::Attribute,
    State::AfterAttribute,
    State::BeforeValue,
    State::DoubleQuoted,
    State::SingleQuoted,
    State::Unquoted,
];

impl OpenTag {
    /// Parses the next bytes of the source.
    pub(super) fn feed(&mut self, source: &[u8]) {
        for &byte in source {
            let mut next_attributes = [None; STATES];
            for state in ALL {
                let Some(count) = self.attributes[state as usize] else { continue };
                let Some(next) = state.next(byte) else { continue };
                let begins = next == State::Attribute && state != State::Attribute;
                let slot: &mut Option<usize> = &mut next_attributes[next as usize];
                *slot = (*slot).max(Some(count + usize::from(begins)));
            }
            let opens = self.last == b'<' || (self.last == b'/' && self.before_last == b'<');
            if opens && byte.is_ascii_alphabetic() {
                next_attributes[State::Name as usize] = next_attributes[State::Name as usize].max(Some(0));
            }
            self.attributes = next_attributes;
            (self.before_last, self.last) = (self.last, byte);
        }
    }

    /// Returns the state of a tag that has more attributes than an element may have.
    pub(super) fn state_of_excess(&self) -> Option<State> {
        self.longest().filter(|(count, _)| *count > MAX_ATTRIBUTES).map(|(_, state)| state)
    }

    /// Removes the tags in a state: they turned out not to be tags.
    pub(super) fn remove(&mut self, state: State) {
        self.attributes[state as usize] = None;
    }

    fn longest(&self) -> Option<(usize, State)> {
        let counts = ALL.into_iter().filter_map(|state| Some((self.attributes[state as usize]?, state)));
        counts.max_by_key(|(count, _)| *count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: Option<usize>) {
        let mut tag = OpenTag::default();
        tag.feed(source.as_bytes());
        assert_eq!(tag.longest().map(|(count, _)| count), expected, "{source}");
    }

    #[test]
    fn attributes_of_open_tag_are_counted_like_the_tokenizer() {
        check("<p a b=c d='e f' g=\"h > i\" /j", Some(5));
        check("</p a\nb\tc = d e", Some(4));
        check("<p a b>", None);
        check("text < b c d", None);
        check("<p title='a b c d", Some(1));
        check("<b x>text<b y", Some(1));
        check("<p a=\"<b c d e f g", Some(5));
    }

    #[test]
    fn tag_end_in_quoted_value_is_ignored() {
        assert_eq!(State::DoubleQuoted.rest_of_tag(b"x > y\" d>z"), Some(9));
        assert_eq!(State::DoubleQuoted.rest_of_tag(b"x > y"), None);
        assert_eq!(State::Attribute.rest_of_tag(b">"), Some(1));
    }
}
