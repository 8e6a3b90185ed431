//! What feeds and sitemaps share of XML.

use quick_xml::events::BytesRef;

/// Adds what a reference such as `&amp;` or `&#233;` stands for; unknown ones stand for nothing.
pub(super) fn resolve(reference: &BytesRef<'_>, text: &mut String) {
    match reference.resolve_char_ref() {
        Ok(Some(c)) => text.push(c),
        Ok(None) => {
            text.push_str(quick_xml::escape::resolve_predefined_entity(reference).unwrap_or_default());
        }
        Err(_) => {}
    }
}
