//! Watches for tags of more attributes than an element may have, while the tokenizer is still inside of them.
//!
//! The tokenizer compares every attribute with all before it and cannot be told to stop, so that one tag of a million
//! attributes would keep it busy for hours. Between two pieces of the source it tells at least whether a token has
//! ended. While none has, it stands in a tag, or in a comment: the source since the last token is then read here, as
//! the tokenizer would read a tag, from every place where one may begin. What seems to be a tag of too many attributes is
//! ended: if that ends a token, it was one, and what is left of it is passed over.

use crate::limits::MAX_ATTRIBUTES;

/// State of the tag tokenizer (HTML standard, section "Tokenization").
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
    /// Returns what ends a tag from here.
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

    /// Returns how much of `rest` belongs to a tag that stands here; nothing when it does not end.
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

    /// Returns the state behind a byte, `None` behind the end of the tag.
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

/// Tag that the tokenizer has not completed.
#[derive(Debug, Default)]
pub(super) struct OpenTag {
    /// For every state the most attributes of the tags that may stand in it.
    attributes: [Option<usize>; STATES],
    last: u8,
    before_last: u8,
}

/// Every state, in the order of their numbers.
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
    /// Reads on.
    pub(super) fn read(&mut self, source: &[u8]) {
        for &byte in source {
            let mut behind = [None; STATES];
            for state in ALL {
                let Some(count) = self.attributes[state as usize] else { continue };
                let Some(next) = state.next(byte) else { continue };
                let begins = next == State::Attribute && state != State::Attribute;
                let slot: &mut Option<usize> = &mut behind[next as usize];
                *slot = (*slot).max(Some(count + usize::from(begins)));
            }
            let opens = self.last == b'<' || (self.last == b'/' && self.before_last == b'<');
            if opens && byte.is_ascii_alphabetic() {
                behind[State::Name as usize] = behind[State::Name as usize].max(Some(0));
            }
            self.attributes = behind;
            (self.before_last, self.last) = (self.last, byte);
        }
    }

    /// Returns where a tag stands that has more attributes than an element may have.
    pub(super) fn too_long(&self) -> Option<State> {
        self.longest().filter(|(count, _)| *count > MAX_ATTRIBUTES).map(|(_, state)| state)
    }

    /// Forgets the tags that stand there: they are none.
    pub(super) fn forget(&mut self, state: State) {
        self.attributes[state as usize] = None;
    }

    fn longest(&self) -> Option<(usize, State)> {
        let known = ALL.into_iter().filter_map(|state| Some((self.attributes[state as usize]?, state)));
        known.max_by_key(|(count, _)| *count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: Option<usize>) {
        let mut tag = OpenTag::default();
        tag.read(source.as_bytes());
        assert_eq!(tag.longest().map(|(count, _)| count), expected, "{source}");
    }

    #[test]
    fn attributes_of_an_open_tag_are_counted_as_the_tokenizer_does() {
        check("<p a b=c d='e f' g=\"h > i\" /j", Some(5));
        check("</p a\nb\tc = d e", Some(4));
        check("<p a b>", None);
        check("text < b c d", None);
        check("<p title='a b c d", Some(1));
        check("<b x>text<b y", Some(1));
        check("<p a=\"<b c d e f g", Some(5));
    }

    #[test]
    fn the_end_of_a_tag_is_behind_its_quoted_values() {
        assert_eq!(State::DoubleQuoted.rest_of_tag(b"x > y\" d>z"), Some(9));
        assert_eq!(State::DoubleQuoted.rest_of_tag(b"x > y"), None);
        assert_eq!(State::Attribute.rest_of_tag(b">"), Some(1));
    }
}
