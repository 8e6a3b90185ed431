//! Reader of XML files. Sitemaps, sitemap indexes and feeds are read in the same way, because sites mix them up.

use std::ops::ControlFlow;

use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};

use super::output::{IncompleteReason, Output, push_truncated};
use super::parser::ParserState;
use super::utf8_reader::Utf8Reader;

/// Reads a file to its end or to the first error. Returns the source.
pub(crate) fn read<'a>(source: Utf8Reader<'a>, output: &mut Output<'_>) -> Utf8Reader<'a> {
    let mut reader = Reader::from_reader(source);
    let config = reader.config_mut();
    // In many sitemaps, ampersands in URLs are not escaped, or tags are not closed in order.
    config.allow_dangling_amp = true;
    config.allow_unmatched_ends = true;
    config.check_end_names = false;
    let mut state = ParserState::default();
    let mut buffer = Vec::new();
    loop {
        let flow = match reader.read_event_into(&mut buffer) {
            Ok(Event::Eof) => break,
            Ok(event) => handle(event, &mut state, output),
            Err(_not_well_formed) => {
                output.incomplete = Some(IncompleteReason::Broken);
                break;
            }
        };
        if flow.is_break() {
            return reader.into_inner();
        }
        buffer.clear();
    }
    // The element of the last entry may be open.
    if state.flush(output).is_continue() && !state.is_list() {
        output.incomplete.get_or_insert(IncompleteReason::NotAList);
    }
    reader.into_inner()
}

/// Handles an event of the XML parser.
fn handle(event: Event<'_>, state: &mut ParserState, output: &mut Output<'_>) -> ControlFlow<()> {
    match event {
        Event::Start(tag) => {
            if state.is_html_root(tag.local_name().as_ref()) {
                output.incomplete = Some(IncompleteReason::NotAList);
                return ControlFlow::Break(());
            }
            state.open(&tag, output)?;
        }
        Event::Empty(tag) => {
            state.open(&tag, output)?;
            state.close(tag.local_name().as_ref(), output)?;
        }
        Event::End(tag) => state.close(tag.local_name().as_ref(), output)?,
        Event::Text(text) => push_truncated(&mut state.value, &text),
        Event::CData(text) => push_truncated(&mut state.value, &text),
        Event::GeneralRef(reference) => push_reference(&reference, &mut state.value),
        Event::Decl(_) | Event::PI(_) | Event::DocType(_) | Event::Comment(_) | Event::Eof => {}
    }
    ControlFlow::Continue(())
}

/// Appends the character of a reference such as `&amp;` or `&#233;`. Other references are appended unchanged, such as
/// `&copy;` in the URL `?a=1&copy;`: entities of a document are never expanded.
fn push_reference(reference: &BytesRef<'_>, value: &mut String) {
    match reference.resolve_char_ref() {
        Ok(Some(c)) => push_truncated(value, c.encode_utf8(&mut [0; 4])),
        Ok(None) => match quick_xml::escape::resolve_predefined_entity(reference) {
            Some(character) => push_truncated(value, character),
            None => {
                push_truncated(value, "&");
                push_truncated(value, reference);
                push_truncated(value, ";");
            }
        },
        Err(_not_a_character) => {}
    }
}
