//! Text of feeds and other XML: one line per element with text, without markup.

/// Returns the text of an XML document.
pub(crate) fn text(source: &str) -> String {
    let mut out = String::new();
    read(&mut out, source, MarkupState::Document);
    out
}

/// State of the markup scanner. Sections do not nest: an opening inside a section has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarkupState {
    Document,
    Section,
}

/// Adds the text of markup.
fn read(out: &mut String, source: &str, state: MarkupState) {
    let mut rest = source;
    while let Some(start) = rest.find('<') {
        push(out, &rest[..start]);
        rest = &rest[start..];
        let section = rest.strip_prefix("<![CDATA[").filter(|_| state == MarkupState::Document);
        let end = if let Some(cdata) = section {
            let end = cdata.find("]]>").unwrap_or(cdata.len());
            read(out, &cdata[..end], MarkupState::Section);
            rest = cdata.get(end + 3..).unwrap_or("");
            continue;
        } else if rest.starts_with("<!--") {
            rest.find("-->").map(|at| at + 3)
        } else if rest[1..].starts_with(|c: char| c.is_alphabetic() || matches!(c, '/' | '?' | '!')) {
            rest.find('>').map(|at| at + 1)
        } else {
            push(out, "<");
            Some(1)
        };
        if rest.starts_with('<') && !out.ends_with('\n') && !out.is_empty() && end != Some(1) {
            out.push('\n');
        }
        rest = end.map_or("", |end| &rest[end..]);
    }
    push(out, rest);
}

/// Adds text with its character references decoded.
fn push(out: &mut String, text: &str) {
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.bytes().take(12).position(|b| b == b';');
        let Some((end, c)) = end.and_then(|end| Some((end, character(&rest[1..end])?))) else {
            out.push('&');
            rest = &rest[1..];
            continue;
        };
        out.push(c);
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    out.push('\n');
}

fn character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        _ => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}
