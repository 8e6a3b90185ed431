//! Characters and white space: what is shown, what is a space, what is dropped.

/// Tells whether a character is invisible and carries no meaning for a reader: zero-width space, word joiner, soft
/// hyphen, tag characters and variation selectors used to smuggle text. Joiners stay: scripts and emoji need them.
pub(crate) fn is_dropped(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
        || (c.is_control() && !c.is_ascii_whitespace())
}

/// Tells whether a character collapses with its neighbours into one space.
pub(crate) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\n' | '\t' | '\r' | '\u{c}' | '\u{a0}' | '\u{2028}' | '\u{2029}')
        || (c > '\u{2000}' && c.is_whitespace())
}

/// Appends `text` to `out`, white space collapsed, nothing invisible; `out` never ends in two spaces.
pub(crate) fn push_collapsed(out: &mut String, text: &str) {
    for c in text.chars() {
        if is_space(c) {
            if !out.is_empty() && !out.ends_with([' ', '\n']) {
                out.push(' ');
            }
        } else if !is_dropped(c) {
            out.push(c);
        }
    }
}

/// Returns `text` with white space collapsed and trimmed.
pub(crate) fn collapsed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_collapsed(&mut out, text);
    out.truncate(out.trim_end().len());
    out
}

/// Tells whether a string begins with `prefix`, letter case of ASCII aside.
pub(crate) fn starts_with_ignore_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Returns the start of a text, at most `max` bytes of it.
pub(crate) fn start_of(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Cuts a text after `max` characters, at the end of a word where one is near.
pub(crate) fn shorten(text: &mut String, max: usize) {
    let Some((end, _)) = text.char_indices().nth(max) else { return };
    let whole_word = text[..end].rfind(' ').filter(|space| *space * 4 >= end * 3);
    text.truncate(whole_word.unwrap_or(end));
    text.truncate(text.trim_end().len());
}
