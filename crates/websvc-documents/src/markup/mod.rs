//! Reads articles and books in XML: JATS, DocBook and TEI.
//!
//! Each vocabulary maps its elements to an [`Action`]. One writer carries them out.

mod citation;
mod docbook;
mod jats;
mod tei;
mod writer;

use crate::error::DocumentError;
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::parsed_document::{DocumentMetadata, ParsedDocument};
use crate::text_encoding::decode_text;
use crate::xml::{Tag, Token, Xml};
use writer::Writer;

/// The number of bytes in which the root element is searched.
const HEAD_BYTES: usize = 8192;

/// The treatment of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    /// The content is written, the element is not.
    Content,
    /// The element and its content are left out.
    Skip,
    /// An element of HTML, with its content.
    Element(&'static str),
    /// A part of the text with a title.
    Section,
    /// A part of the text with a fixed title, if it has none of its own.
    TitledSection(&'static str),
    /// The title of the part of the text, or of a table, figure or list.
    Title,
    /// The title of the document.
    MainTitle,
    /// A name of an author.
    Author,
    /// The date of publication.
    Date,
    /// A paragraph. Within another paragraph or an item it is a part of it.
    Paragraph,
    /// A label such as `Table 1`.
    Label,
    /// A block of code, with the name of its language.
    Code,
    /// A paragraph whose line breaks count.
    Lines,
    /// A quote that stands on its own.
    Quote,
    /// A quote with a label, such as a warning.
    Admonition(&'static str),
    OrderedList,
    List,
    Item,
    /// A cell, with the attributes of its spans: columns and rows.
    Cell(&'static str, &'static str, &'static str),
    /// A note at its place in the text.
    Note,
    /// A note that is referred to by its ID.
    NamedNote,
    /// A reference to a note by its ID, in the attribute.
    NoteReference(&'static str),
    /// A link to the address in the attribute.
    Link(&'static str),
    /// An image at the address in the attribute.
    Image(&'static str),
    /// A formula in LaTeX.
    Latex,
    Math,
    /// An entry of a bibliography whose parts have no punctuation.
    Citation,
    Break,
    Space,
    /// Text that takes the place of the element.
    Text(&'static str),
}

/// Returns the vocabulary of a document in XML; `None` if it is another one.
pub(crate) fn detect(bytes: &[u8]) -> Option<DocumentKind> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let is_markup = head.trim_ascii_start().starts_with(b"<")
        || matches!(head, [0xef, 0xbb, 0xbf, ..] | [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
    // Most files are pages, and they are recognized without a closer look.
    let is_page = ["<!doctype html", "<html"].iter().any(|start| {
        head.trim_ascii_start()
            .get(..start.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
    });
    if !is_markup || is_page {
        return None;
    }
    let text = decode_text(head);
    let start = root_start(&text)?;
    let before = &text[..start];
    let root = &text[start..];
    let tag = root[..root.find('>').unwrap_or(root.len())].to_owned();
    let name = tag[1..].split(|end: char| end.is_whitespace() || end == '/').next().unwrap_or_default();
    let local = name.rsplit(':').next().unwrap_or_default();
    if tag.contains("http://www.tei-c.org/ns/1.0") || matches!(local, "TEI.2" | "teiCorpus.2") {
        return Some(DocumentKind::Tei);
    }
    if tag.contains("http://docbook.org/ns/docbook") || before.contains("-//OASIS//DTD DocBook") {
        return Some(DocumentKind::DocBook);
    }
    let is_jats =
        before.contains("JATS") || before.contains("-//NLM//DTD") || before.contains("-//TaxonX//DTD");
    let has_front =
        || tag.contains("article-type") || tag.contains("dtd-version") || root.contains("<front>");
    (local == "pmc-articleset" || local == "article" && (is_jats || has_front()))
        .then_some(DocumentKind::Jats)
}

/// Returns the position of the start tag of the root element.
fn root_start(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text.get(at..)?.find('<')?;
        let rest = &text[at..];
        let end = if rest.starts_with("<!--") {
            rest.find("-->")? + 3
        } else if rest.starts_with("<?") {
            rest.find("?>")? + 2
        } else if rest.starts_with("<!") {
            // A document type may have declarations in brackets.
            let close = rest.find('>')?;
            match rest[..close].find('[') {
                Some(_) => rest.find("]>").or_else(|| rest.find("] >"))? + 2,
                None => close + 1,
            }
        } else {
            return Some(at);
        };
        at += end;
    }
}

/// Reads an article or a book.
pub(crate) fn parse(
    kind: DocumentKind,
    bytes: &[u8],
    limits: &Limits<'_>,
) -> Result<ParsedDocument, DocumentError> {
    let text = decode_text(bytes);
    let mut xml = Xml::new(kind, &text);
    let mut writer = Writer::new(action_of(kind), limits.max_output_bytes);
    let mut count = 0_u32;
    let error = loop {
        count = count.wrapping_add(1);
        if writer.is_full() || (count.is_multiple_of(1024) && (limits.stop)()) {
            break None;
        }
        match xml.next() {
            Ok(None) => break None,
            Ok(Some(Token::Text(text))) => writer.text(&text),
            Ok(Some(Token::End(name))) => writer.end(&name),
            Ok(Some(Token::Start(tag))) => {
                if let Err(error) = writer.start(&tag, &mut xml) {
                    break Some(error);
                }
            }
            Err(error) => break Some(error),
        }
    };
    let mut warnings = Vec::new();
    let has_content = writer.has_content();
    match error {
        Some(DocumentError::Damaged { reason, .. }) if has_content => {
            warnings.push(format!("the document is damaged and was read partially: {reason}"));
        }
        Some(error) => return Err(error),
        None => {}
    }
    let (html, metadata, is_full): (String, DocumentMetadata, bool) = writer.finish();
    if is_full {
        warnings.push("the text was cut off at the maximum output size".to_owned());
    }
    Ok(ParsedDocument { html, metadata, warnings, ..ParsedDocument::default() })
}

/// The mapping of a vocabulary: the treatment of an element within the elements around it, outermost first.
type ActionOf = fn(&Tag, &[String]) -> Action;

fn action_of(kind: DocumentKind) -> ActionOf {
    match kind {
        DocumentKind::Jats => jats::action,
        DocumentKind::Tei => tei::action,
        _ => docbook::action,
    }
}

/// Returns whether one of the elements around has a name.
fn is_within(parents: &[String], name: &str) -> bool {
    parents.iter().any(|parent| parent == name)
}

fn parent(parents: &[String]) -> &str {
    parents.last().map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vocabularies_are_detected_by_the_root_element() {
        for (text, expected) in [
            (
                "<?xml version=\"1.0\"?><!-- <TEI> --><TEI xmlns=\"http://www.tei-c.org/ns/1.0\">",
                Some(DocumentKind::Tei),
            ),
            ("<book xmlns=\"http://docbook.org/ns/docbook\">", Some(DocumentKind::DocBook)),
            (
                "<!DOCTYPE chapter PUBLIC \"-//OASIS//DTD DocBook XML V4.5//EN\" \"x\" [<!ENTITY a \"b\">]><chapter>",
                Some(DocumentKind::DocBook),
            ),
            ("<article article-type=\"research-article\"><front>", Some(DocumentKind::Jats)),
            ("<article><header>", None),
            ("<!DOCTYPE html><html><body><article article-type=\"x\">", None),
            ("<rss version=\"2.0\">", None),
            ("text", None),
            ("<!--", None),
        ] {
            assert_eq!(detect(text.as_bytes()), expected, "{text}");
        }
    }
}
