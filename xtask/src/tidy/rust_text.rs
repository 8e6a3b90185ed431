//! Rust source as comments, strings and code: enough of a lexer to check words, not a parser.

/// Kind of a piece of source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceKind {
    DocComment,
    Comment,
    String,
    Code,
}

impl PieceKind {
    pub(super) fn is_string(self) -> bool {
        self == Self::String
    }

    pub(super) fn is_doc_comment(self) -> bool {
        self == Self::DocComment
    }
}

/// A piece of one line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    /// Line number, counted from 1.
    pub(super) line: usize,
    pub(super) kind: PieceKind,
    pub(super) text: &'a str,
}

/// Splits Rust source into pieces in their order; none spans a line break.
pub(super) fn pieces(source: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut rest = source;
    while !rest.is_empty() {
        let (kind, length) = next(rest);
        let (piece, after) = rest.split_at(length);
        for (offset, text) in piece.split('\n').enumerate() {
            if !text.is_empty() {
                found.push(Piece { line: line + offset, kind, text });
            }
        }
        line += piece.matches('\n').count();
        rest = after;
    }
    found
}

/// Returns the kind and the length in bytes of the first piece of a text that is not empty.
fn next(text: &str) -> (PieceKind, usize) {
    let to_line_end = || text.find('\n').unwrap_or(text.len());
    if text.starts_with("///") || text.starts_with("//!") {
        (PieceKind::DocComment, to_line_end())
    } else if text.starts_with("//") {
        (PieceKind::Comment, to_line_end())
    } else if text.starts_with("/*") {
        (PieceKind::Comment, text.find("*/").map_or(text.len(), |end| end + 2))
    } else if let Some(length) = string_length(text) {
        (PieceKind::String, length)
    } else {
        (PieceKind::Code, code_length(text))
    }
}

/// Returns the length of the string literal that `text` begins with.
fn string_length(text: &str) -> Option<usize> {
    let body = text.strip_prefix('b').or_else(|| text.strip_prefix('c')).unwrap_or(text);
    let prefix = text.len() - body.len();
    if let Some(raw) = body.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let content = raw[hashes..].strip_prefix('"')?;
        let close = format!("\"{}", "#".repeat(hashes));
        let end = content.find(&close).map_or(content.len(), |end| end + close.len());
        return Some(prefix + 1 + hashes + 1 + end);
    }
    let content = body.strip_prefix('"')?;
    let mut is_escaped = false;
    for (at, c) in content.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return Some(prefix + 1 + at + 1),
            _ => {}
        }
    }
    Some(text.len())
}

/// Returns the length of code up to the next comment or string; at least one character.
fn code_length(text: &str) -> usize {
    let mut is_in_word = false;
    for (at, c) in text.char_indices() {
        let rest = &text[at..];
        // In a word, `r`, `b` and `c` are letters and no prefixes.
        let is_string = c == '"' || (!is_in_word && string_length(rest).is_some());
        let is_end = is_string || rest.starts_with("//") || rest.starts_with("/*");
        if at > 0 && is_end {
            return at;
        }
        if c == '\'' && is_quote(rest) {
            return at + rest.find('"').map_or(1, |quote| quote + 1);
        }
        is_in_word = c.is_alphanumeric() || c == '_';
    }
    text.len()
}

/// Returns whether `text` begins with the character literal of a quotation mark, which begins no string.
fn is_quote(text: &str) -> bool {
    text.starts_with("'\"'") || text.starts_with("'\\\"'")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(source: &str) -> Vec<(PieceKind, &str)> {
        pieces(source).into_iter().map(|piece| (piece.kind, piece.text)).collect()
    }

    #[test]
    fn comments_strings_and_code_are_separated() {
        use PieceKind::{Code, Comment, DocComment, String};
        let expected = [
            (DocComment, "/// Docs."),
            (Code, "let a = "),
            (String, "\"// no comment \\\" \""),
            (Code, "; "),
            (Comment, "// why"),
        ];
        assert_eq!(kinds("/// Docs.\nlet a = \"// no comment \\\" \"; // why"), expected);
    }

    #[test]
    fn raw_strings_end_at_their_hashes() {
        use PieceKind::{Code, String};
        assert_eq!(kinds("r#\"a \" b\"# x"), [(String, "r#\"a \" b\"#"), (Code, " x")]);
        assert_eq!(kinds("for\"x\""), [(Code, "for"), (String, "\"x\"")]);
    }

    #[test]
    fn quotation_marks_as_characters_begin_no_string() {
        assert_eq!(kinds("a('\"', b)").iter().filter(|(kind, _)| kind.is_string()).count(), 0);
        assert_eq!(kinds("a('\\\"', b)").iter().filter(|(kind, _)| kind.is_string()).count(), 0);
    }

    #[test]
    fn lines_are_counted_through_strings() {
        let found = pieces("\"a\nb\"\n// c");
        assert_eq!(found.iter().map(|piece| piece.line).collect::<Vec<_>>(), [1, 2, 3]);
    }
}
