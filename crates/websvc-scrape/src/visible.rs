//! A scanner of HTML source that works without a tree: yields tags one by one, and counts the visible words.

/// A token of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SourceToken<'a> {
    /// Text between tags.
    Text(&'a [u8]),
    /// The text between `<` and `>`: the name, with a slash before it in an end tag, and the attributes.
    Tag(&'a [u8]),
    /// The invisible content of the element whose tag came right before: of a `script`, of a `noscript`.
    Invisible(&'a [u8]),
}

/// Elements whose content is not visible text. `noscript` is one of them, because its text is for browsers without
/// scripts.
const INVISIBLE: &[&str] = &["script", "style", "noscript", "template", "svg", "title", "textarea"];

/// Returns the tokens of the source without comments. Takes linear time for any source.
pub(crate) fn scan_tags(source: &[u8]) -> impl Iterator<Item = SourceToken<'_>> {
    let mut rest = source;
    let mut invisible = None;
    std::iter::from_fn(move || {
        if let Some(content) = invisible.take() {
            return Some(SourceToken::Invisible(content));
        }
        loop {
            if rest.is_empty() {
                return None;
            }
            let open = memchr::memchr(b'<', rest).unwrap_or(rest.len());
            if open > 0 {
                let (text, tail) = rest.split_at(open);
                rest = tail;
                return Some(SourceToken::Text(text));
            }
            if let Some(comment) = rest.strip_prefix(b"<!--") {
                rest = after(comment, b"-->");
                continue;
            }
            let end = tag_end(rest);
            let tag = &rest[1..end];
            rest = &rest[(end + 1).min(rest.len())..];
            if let Some(name) = invisible_element(tag) {
                let tail = skip_element(rest, name);
                invisible = Some(without_end_tag(&rest[..rest.len() - tail.len()]));
                rest = tail;
            }
            return Some(SourceToken::Tag(tag));
        }
    })
}

/// Returns the name of the element with invisible content that a start tag opens.
fn invisible_element(tag: &[u8]) -> Option<&'static str> {
    // Most tags differ in their first letter, which is cheaper to compare than each name.
    let first = tag.first()?.to_ascii_lowercase();
    INVISIBLE.iter().copied().find(|name| name.as_bytes()[0] == first && is_named(tag, name))
}

/// Counts the visible words, at most `max`.
pub(crate) fn visible_words(source: &[u8], max: usize) -> usize {
    let texts = scan_tags(source).filter_map(|token| match token {
        SourceToken::Text(text) => Some(text),
        SourceToken::Tag(_) | SourceToken::Invisible(_) => None,
    });
    let words = texts.flat_map(|text| text.split(u8::is_ascii_whitespace));
    words
        .filter(|word| word.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80))
        .take(max)
        .count()
}

/// Returns whether a tag is the start tag of an element with this name.
pub(crate) fn is_named(tag: &[u8], name: &str) -> bool {
    tag.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
        && tag.get(name.len()).is_none_or(|next| !next.is_ascii_alphanumeric() && *next != b'-')
}

/// Returns the value of an attribute of a tag, as written.
pub(crate) fn attribute<'a>(tag: &'a [u8], name: &str) -> Option<&'a [u8]> {
    attributes(tag).find(|(other, _)| other.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
}

/// Returns the names and values of the attributes of a tag, as written.
pub(crate) fn attributes(tag: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let name_end = tag.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'/');
    let mut rest = name_end.map_or(&tag[..0], |end| &tag[end..]);
    std::iter::from_fn(move || {
        let start = rest.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != b'/')?;
        rest = &rest[start..];
        let end = rest[1..].iter().position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'=' | b'/'));
        let (name, tail) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
        let tail = tail.trim_ascii_start();
        let value;
        (value, rest) = match tail.strip_prefix(b"=") {
            Some(tail) => split_value(tail.trim_ascii_start()),
            None => (&tail[..0], tail),
        };
        Some((name, value))
    })
}

/// Splits the text after an equals sign into the value and the rest.
fn split_value(text: &[u8]) -> (&[u8], &[u8]) {
    if let Some((quote @ (b'"' | b'\''), quoted)) = text.split_first().map(|(first, rest)| (*first, rest)) {
        let end = quoted.iter().position(|&byte| byte == quote).unwrap_or(quoted.len());
        return (&quoted[..end], &quoted[(end + 1).min(quoted.len())..]);
    }
    text.split_at(text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len()))
}

/// Returns the end of the tag at the start of `source`: the first `>` outside of quotes within 64 KiB, else the first
/// `>`.
fn tag_end(source: &[u8]) -> usize {
    let mut quote = None;
    let mut first_end = None;
    for (at, &byte) in source.iter().enumerate().take(64 * 1024) {
        match (quote, byte) {
            (None, b'>') => return at,
            (Some(_), b'>') => first_end = first_end.or(Some(at)),
            (None, b'"' | b'\'') if at > 0 && source[at - 1] == b'=' => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    first_end.unwrap_or(source.len())
}

/// Returns the text after the end tag of the element whose content `source` starts with.
fn skip_element<'a>(source: &'a [u8], name: &str) -> &'a [u8] {
    let mut rest = source;
    loop {
        let tail = after(rest, b"</");
        if tail.is_empty() || is_named(tail, name) {
            return after(tail, b">");
        }
        rest = tail;
    }
}

/// Returns the content of an element without its end tag, if it has one.
fn without_end_tag(content: &[u8]) -> &[u8] {
    let end = memchr::memmem::rfind(content, b"</").unwrap_or(content.len());
    &content[..end]
}

/// Returns the text after the first occurrence of `delimiter`; nothing if there is none.
fn after<'a>(source: &'a [u8], delimiter: &[u8]) -> &'a [u8] {
    match memchr::memmem::find(source, delimiter) {
        Some(at) => &source[at + delimiter.len()..],
        None => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_visible_words_are_counted() {
        for (source, words) in [
            ("<p>one two</p><!-- not this --><script>var nor = 'this'</script> three", 3),
            ("<p>one two</p><script>x</script><p>three</p>", 3),
            ("<p>one</p><p title='a > b'>two</p>", 2),
            ("<style>a { b: c }</style><p>— , one é</p>", 3),
            ("<p>one<p>two<", 2),
            ("<script>never closed", 0),
            ("<!-- never closed", 0),
        ] {
            assert_eq!(visible_words(source.as_bytes(), 100), words, "{source}");
        }
        assert_eq!(visible_words(b"<p>a b c d</p>", 2), 2);
    }

    #[test]
    fn invisible_content_follows_its_tag() {
        let source = b"<p>one<script>a('</b>')</script><noscript>two</noscript><style>x";
        let invisible: Vec<_> = scan_tags(source)
            .filter_map(
                |token| if let SourceToken::Invisible(content) = token { Some(content) } else { None },
            )
            .collect();
        assert_eq!(invisible, [&b"a('</b>')"[..], b"two", b"x"]);
    }

    #[test]
    fn attributes_are_read_in_every_spelling() {
        let tag = br#"meta checked HTTP-EQUIV = refresh content="0; url='/next'" data-x='>' last"#;
        for (name, value) in [
            ("http-equiv", "refresh"),
            ("content", "0; url='/next'"),
            ("data-x", ">"),
            ("checked", ""),
            ("last", ""),
        ] {
            let found = attribute(tag, name).map(String::from_utf8_lossy);
            assert_eq!(found.as_deref(), Some(value), "{name}");
        }
        assert_eq!(attribute(tag, "none"), None);
        assert_eq!(attribute(b"meta", "none"), None);
    }

    #[test]
    fn malformed_source_is_scanned_to_its_end() {
        for source in ["<", "<<<<", "<a b=\"", "<!-", "</", "<script", "<a =>", "< >", "<a b = >"] {
            let _ = scan_tags(source.as_bytes())
                .map(|token| matches!(token, SourceToken::Tag(tag) if attribute(tag, "x").is_some()))
                .count();
        }
    }
}
