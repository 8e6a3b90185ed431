//! Reads XML as a sequence of tokens, without namespace prefixes, with a limit of the nesting depth.

use std::borrow::Cow;
use std::str::FromStr;

use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::error::DocumentError;
use crate::kind::DocumentKind;

/// The maximum nesting depth of elements.
const MAX_DEPTH: usize = 512;

/// A token of an XML part.
#[derive(Debug)]
pub(crate) enum Token {
    Start(Tag),
    /// The end of an element, with its name.
    End(String),
    Text(String),
}

/// The start tag of an element.
#[derive(Debug)]
pub(crate) struct Tag {
    /// The name without the namespace prefix.
    pub(crate) name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    fn new(tag: &BytesStart<'_>) -> Self {
        let mut attributes = tag.attributes();
        // A duplicate attribute is not a reason to reject a file.
        attributes.with_checks(false);
        let attributes = attributes.filter_map(Result::ok).map(|attribute| {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).map(Cow::into_owned);
            (attribute.key.as_ref().to_owned(), value.unwrap_or_default())
        });
        Self { name: tag.local_name().as_ref().to_owned(), attributes: attributes.collect() }
    }

    /// Returns an attribute by its name without the namespace prefix.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(key, _)| key.rsplit(':').next() == Some(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Returns an attribute as a number or another value; `None` if it is not one.
    pub(crate) fn parsed<T: FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    /// Returns whether an attribute is `1` or `true`.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        matches!(self.get(name), Some("1" | "true"))
    }

    /// Returns an attribute by its full name.
    pub(crate) fn get_exact(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A reader of the tokens of an XML part.
pub(crate) struct Xml<'t> {
    reader: Reader<&'t [u8]>,
    kind: DocumentKind,
    depth: usize,
}

impl<'t> Xml<'t> {
    pub(crate) fn new(kind: DocumentKind, text: &'t str) -> Self {
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        Self { reader, kind, depth: 0 }
    }

    /// Returns the next token; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Token>, DocumentError> {
        loop {
            let event = self.reader.read_event();
            let event = event.map_err(|error| DocumentError::damaged(self.kind, error.to_string()))?;
            return Ok(Some(match event {
                Event::Start(tag) => {
                    self.depth += 1;
                    if self.depth > MAX_DEPTH {
                        return Err(DocumentError::too_large(
                            self.kind,
                            "its elements are nested too deeply",
                        ));
                    }
                    Token::Start(Tag::new(&tag))
                }
                Event::End(tag) => {
                    self.depth = self.depth.saturating_sub(1);
                    Token::End(tag.local_name().as_ref().to_owned())
                }
                Event::Text(text) => Token::Text(text.into_inner().into_owned()),
                Event::CData(text) => Token::Text(text.into_inner().into_owned()),
                Event::GeneralRef(reference) => Token::Text(resolve_entity(&reference)),
                Event::Eof => return Ok(None),
                Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {
                    continue;
                }
            }));
        }
    }

    /// Returns the next start tag; `None` at the end.
    pub(crate) fn start(&mut self) -> Result<Option<Tag>, DocumentError> {
        self.next_start(None)
    }

    /// Returns the next start tag before the end of an `element`; `None` at that end.
    pub(crate) fn start_in(&mut self, element: &str) -> Result<Option<Tag>, DocumentError> {
        self.next_start(Some(element))
    }

    fn next_start(&mut self, element: Option<&str>) -> Result<Option<Tag>, DocumentError> {
        while let Some(token) = self.next()? {
            match token {
                Token::Start(tag) => return Ok(Some(tag)),
                Token::End(name) if element == Some(&name) => break,
                Token::End(_) | Token::Text(_) => {}
            }
        }
        Ok(None)
    }

    /// Skips the rest of the element whose start tag was read last.
    pub(crate) fn skip(&mut self) -> Result<(), DocumentError> {
        let outer_depth = self.depth.saturating_sub(1);
        while self.depth > outer_depth && self.next()?.is_some() {}
        Ok(())
    }

    /// Returns the text of the element whose start tag was read last.
    pub(crate) fn text(&mut self) -> Result<String, DocumentError> {
        let outer_depth = self.depth.saturating_sub(1);
        let mut text = String::new();
        while self.depth > outer_depth {
            match self.next()? {
                Some(Token::Text(piece)) => text.push_str(&piece),
                Some(_) => {}
                None => break,
            }
        }
        Ok(text)
    }
}

/// Returns the text of an entity. Entities that the file declares are not expanded, because they can grow exponentially
/// ("billion laughs").
fn resolve_entity(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return character.to_string();
    }
    match &*reference.xml10_content() {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" => "'",
        "nbsp" => "\u{a0}",
        "mdash" => "—",
        "ndash" => "–",
        "hellip" => "…",
        "lsquo" => "‘",
        "rsquo" => "’",
        "ldquo" => "“",
        "rdquo" => "”",
        "copy" => "©",
        _ => "",
    }
    .to_owned()
}
