//! Escapes texts that markdown would read as something else.

/// Escapes a URL for use inside `(...)`, also in a table cell.
pub(super) fn escape_target(url: &str) -> String {
    let mut depth = 0_i32;
    let is_balanced = url.chars().all(|c| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth >= 0
    }) && depth == 0;
    let mut out = String::with_capacity(url.len());
    for (at, c) in url.char_indices() {
        match c {
            // A parser would replace a character reference.
            '&' if is_entity(&url[at + 1..]) => out.push_str("\\&"),
            '(' if !is_balanced => out.push_str("%28"),
            ')' if !is_balanced => out.push_str("%29"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '|' => out.push_str("%7C"),
            '\\' => out.push_str("%5C"),
            c if c.is_whitespace() => out.push_str("%20"),
            c => out.push(c),
        }
    }
    out
}

/// Returns whether the text after an ampersand makes it a character reference.
pub(super) fn is_entity(rest: &str) -> bool {
    let name = rest.strip_prefix('#').unwrap_or(rest);
    let end = name.bytes().take(32).position(|b| !b.is_ascii_alphanumeric());
    end.is_some_and(|end| end > 0 && name.as_bytes()[end] == b';')
}

/// Escapes the start of a line that would be a heading, list, quote, rule or fence.
pub(super) fn escape_line_start(line: &str) -> Option<String> {
    let first = line.bytes().next()?;
    let is_end_or_space = |rest: &str| rest.is_empty() || rest.starts_with(' ');
    let at = match first {
        b'#' => {
            let rest = line.trim_start_matches('#');
            (line.len() - rest.len() <= 6 && is_end_or_space(rest)).then_some(0)
        }
        b'>' => Some(0),
        b'-' | b'+' | b'=' | b'|' | b':' => {
            // A rule, the underline of a heading, or the delimiter row of a table.
            let is_ruler =
                line.contains(['-', '=']) && line.chars().all(|c| matches!(c, '-' | '=' | ' ' | '|' | ':'));
            (is_ruler || (!matches!(first, b'|' | b':') && is_end_or_space(&line[1..]))).then_some(0)
        }
        b'*' => is_end_or_space(&line[1..]).then_some(0),
        b'0'..=b'9' => {
            let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
            let digits = line.len() - rest.len();
            (digits <= 9 && rest.starts_with(['.', ')']) && is_end_or_space(&rest[1..])).then_some(digits)
        }
        _ => None,
    }?;
    Some(format!("{}\\{}", &line[..at], &line[at..]))
}
