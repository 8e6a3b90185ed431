//! Escaping of text for HTML and XML.

/// Returns text for the content or a quoted attribute of HTML or XML. Characters that XML 1.0 forbids are left out.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ if is_xml_char(character) => escaped.push(character),
            _ => {}
        }
    }
    escaped
}

/// Returns whether a character is one of the production `Char` of XML 1.0, section 2.2, without the carriage return,
/// which parsers replace.
fn is_xml_char(character: char) -> bool {
    matches!(character, '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped_and_forbidden_characters_are_left_out() {
        assert_eq!(escape("<a href=\"x\">'&\n"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;\n");
        assert_eq!(escape("a\0b\u{b}c\u{fffe}d\u{ffff}\r\u{1f375}"), "abcd\u{1f375}");
    }
}
