//! Sitemaps, sitemap indexes and feeds: one reading for all, because sites confuse them.

use std::ops::ControlFlow;

use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};

use crate::parser::ParserState;
use crate::reading::{IncompleteReason, Output, push};
use crate::text::Utf8Reader;

/// Reads a file to its end, or as far as it can be read; gives the text back.
pub(crate) fn read<'a>(text: Utf8Reader<'a>, output: &mut Output<'_>) -> Utf8Reader<'a> {
    let mut reader = Reader::from_reader(text);
    let config = reader.config_mut();
    // Ampersands in URLs are often not escaped, and tags not closed in order.
    config.allow_dangling_amp = true;
    config.allow_unmatched_ends = true;
    config.check_end_names = false;
    let mut place = ParserState::default();
    let mut buffer = Vec::new();
    loop {
        let flow = match reader.read_event_into(&mut buffer) {
            Ok(Event::Eof) => break,
            Ok(event) => handle(event, &mut place, output),
            Err(_not_well_formed) => {
                output.fault = Some(IncompleteReason::Broken);
                break;
            }
        };
        if flow.is_break() {
            return reader.into_inner();
        }
        buffer.clear();
    }
    // A last page whose element was not closed.
    if place.flush(output).is_continue() && !place.is_list() {
        output.fault.get_or_insert(IncompleteReason::NotAList);
    }
    reader.into_inner()
}

fn handle(event: Event<'_>, place: &mut ParserState, output: &mut Output<'_>) -> ControlFlow<()> {
    match event {
        Event::Start(tag) => {
            if place.is_page_of_html(tag.local_name().as_ref()) {
                output.fault = Some(IncompleteReason::NotAList);
                return ControlFlow::Break(());
            }
            place.open(&tag, output)?;
        }
        Event::Empty(tag) => {
            place.open(&tag, output)?;
            place.close(tag.local_name().as_ref(), output)?;
        }
        Event::End(tag) => place.close(tag.local_name().as_ref(), output)?,
        Event::Text(text) => push(&mut place.value, &text),
        Event::CData(text) => push(&mut place.value, &text),
        Event::GeneralRef(reference) => resolve(&reference, &mut place.value),
        Event::Decl(_) | Event::PI(_) | Event::DocType(_) | Event::Comment(_) | Event::Eof => {}
    }
    ControlFlow::Continue(())
}

/// Adds what a reference such as `&amp;` or `&#233;` stands for. One that stands for nothing known is left as it is
/// written, as in a URL that ends in `&copy;`: no entity is ever expanded.
fn resolve(reference: &BytesRef<'_>, text: &mut String) {
    match reference.resolve_char_ref() {
        Ok(Some(c)) => push(text, c.encode_utf8(&mut [0; 4])),
        Ok(None) => match quick_xml::escape::resolve_predefined_entity(reference) {
            Some(known) => push(text, known),
            None => {
                push(text, "&");
                push(text, reference);
                push(text, ";");
            }
        },
        Err(_no_character) => {}
    }
}
