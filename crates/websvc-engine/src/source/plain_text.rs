//! Texts of other engines as plain text: without their markup, on one line.

/// Returns a text without tags, with its character references resolved and white space as single spaces.
///
/// A `<` that begins no tag stays, so that `a < b` in an answer of plain text survives.
pub(super) fn plain(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '&']) {
        bare.push_str(&rest[..at]);
        rest = &rest[at..];
        let (replacement, used) = tag(rest).or_else(|| reference(rest)).unwrap_or_else(|| {
            let first = rest.chars().next();
            (first, first.map_or(0, char::len_utf8))
        });
        bare.extend(replacement);
        rest = &rest[used..];
    }
    bare.push_str(rest);
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the length of the tag at the start; tags of blocks leave a space.
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

/// Reads the character reference at the start.
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

/// Returns at most so many characters of a text, on one line.
pub(super) fn shortened(text: &str, characters: usize) -> String {
    let text = plain(text);
    if text.chars().count() <= characters {
        return text;
    }
    let mut short: String = text.chars().take(characters).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_references_become_text() {
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
    fn long_texts_end_in_an_ellipsis() {
        assert_eq!(shortened("äöü", 2), "äö…");
        assert_eq!(shortened("äöü", 3), "äöü");
    }
}
