//! Converts texts of other search engines to plain text: without markup, on one line.

/// Removes the tags of a text, resolves its character references and collapses its white space.
///
/// A `<` that does not begin a tag stays, so that `a < b` in plain text survives.
pub(super) fn plain(text: &str) -> String {
    let mut plain_text = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(position) = rest.find(['<', '&']) {
        plain_text.push_str(&rest[..position]);
        rest = &rest[position..];
        let (replacement, length) = tag(rest).or_else(|| reference(rest)).unwrap_or_else(|| {
            let first = rest.chars().next();
            (first, first.map_or(0, char::len_utf8))
        });
        plain_text.extend(replacement);
        rest = &rest[length..];
    }
    plain_text.push_str(rest);
    plain_text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the length of the tag at the start of a text. Tags of block elements are replaced by a space.
fn tag(text: &str) -> Option<(Option<char>, usize)> {
    let inside = text.strip_prefix('<')?;
    let name = inside.strip_prefix('/').unwrap_or(inside);
    if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return None;
    }
    let length = text.find('>')? + 1;
    let name: String = name.chars().take_while(char::is_ascii_alphanumeric).collect();
    let is_inline = ["a", "b", "em", "i", "mark", "span", "strong", "sub", "sup", "u"]
        .iter()
        .any(|inline| name.eq_ignore_ascii_case(inline));
    Some(((!is_inline).then_some(' '), length))
}

/// Resolves the character reference at the start of a text.
fn reference(text: &str) -> Option<(Option<char>, usize)> {
    let end = text.bytes().take(10).position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let character = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "hellip" => '…',
        "ndash" => '–',
        "mdash" => '—',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    Some((Some(character), end + 1))
}

/// Returns a text as plain text, truncated to `max_chars` characters.
pub(super) fn truncate(text: &str, max_chars: usize) -> String {
    let text = plain(text);
    if text.chars().count() <= max_chars {
        return text;
    }
    let mut truncated: String = text.chars().take(max_chars).collect();
    truncated.push('…');
    truncated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_references_become_plain_text() {
        let cases = [
            ("the <span class=\"searchmatch\">Rust</span> language", "the Rust language"),
            ("one<br>two<p>three</p>", "one two three"),
            ("a &amp; b &#39;c&#x27; &nbsp;d", "a & b 'c' d"),
            ("a < b && c > d &unknown; 5&", "a < b && c > d &unknown; 5&"),
            ("<jats:p>An abstract.</jats:p>", "An abstract."),
            ("broken <b", "broken <b"),
            ("  lines\n\tand   spaces ", "lines and spaces"),
            ("größer <b>ü</b>", "größer ü"),
        ];
        for (text, expected) in cases {
            assert_eq!(plain(text), expected, "{text}");
        }
    }

    #[test]
    fn long_texts_are_truncated_with_an_ellipsis() {
        assert_eq!(truncate("äöü", 2), "äö…");
        assert_eq!(truncate("äöü", 3), "äöü");
    }
}
