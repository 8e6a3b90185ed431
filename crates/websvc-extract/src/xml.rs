//! XML without a tree: its tokens, and its text with one line per element.

/// Returns the text of an XML document.
pub(crate) fn text(source: &str) -> String {
    let mut out = String::new();
    for token in tokens(source) {
        match token {
            Token::Text(text) => push(&mut out, text),
            // Markup in a section of characters is not shown either.
            Token::Data(markup) => tokens(markup).for_each(|token| {
                if let Token::Text(text) = token {
                    push(&mut out, text);
                }
            }),
            Token::Open { .. } | Token::Close(_) => {}
        }
    }
    out
}

/// A part of XML. Comments, declarations and processing instructions are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    Open {
        name: &'a str,
        attributes: &'a str,
        /// True for `<name/>`.
        is_empty: bool,
    },
    Close(&'a str),
    /// Text with its character references.
    Text(&'a str),
    /// The content of a `<![CDATA[` section.
    Data(&'a str),
}

/// Returns the tokens of XML. Careless markup is read as text.
pub(crate) fn tokens(source: &str) -> Tokens<'_> {
    Tokens { rest: source }
}

/// The tokens of XML.
#[derive(Debug)]
pub(crate) struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    /// Returns the markup up to the end tag of the element `name`, which is read next.
    pub(crate) fn raw_until_end(&mut self, name: &str) -> &'a str {
        let mut at = 0;
        while let Some(found) = self.rest[at..].find("</") {
            let tag = &self.rest[at + found + 2..];
            let end = tag.find(|c: char| c == '>' || c.is_whitespace()).unwrap_or(tag.len());
            if tag[..end].rsplit(':').next() == Some(name) {
                break;
            }
            at += found + 2;
        }
        let end = self.rest[at..].find("</").map_or(self.rest.len(), |found| at + found);
        let (raw, rest) = self.rest.split_at(end);
        self.rest = rest;
        raw
    }

    /// Takes the text before the byte `end` of the rest, and skips `skipped` bytes.
    fn take(&mut self, end: usize, skipped: usize) -> &'a str {
        let taken = &self.rest[..end];
        self.rest = self.rest.get(end + skipped..).unwrap_or_default();
        taken
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            if self.rest.is_empty() {
                return None;
            }
            if !self.rest.starts_with('<') {
                let end = self.rest.find('<').unwrap_or(self.rest.len());
                return Some(Token::Text(self.take(end, 0)));
            }
            let tag = &self.rest[1..];
            if tag.starts_with("![CDATA[") {
                self.take(9, 0);
                let end = self.rest.find("]]>").unwrap_or(self.rest.len());
                return Some(Token::Data(self.take(end, 3)));
            }
            let skipped_end = match tag.as_bytes().first() {
                _ if tag.starts_with("!--") => Some("-->"),
                Some(b'?') => Some("?>"),
                Some(b'!') => {
                    let head = &tag[..tag.find('>').unwrap_or(tag.len())];
                    Some(if head.contains('[') { "]>" } else { ">" })
                }
                _ => None,
            };
            if let Some(mark) = skipped_end {
                let end = self.rest.find(mark).map_or(self.rest.len(), |at| at + mark.len());
                self.take(end, 0);
                continue;
            }
            if !tag.starts_with(|c: char| c.is_alphabetic() || matches!(c, '/' | '_')) {
                let end = tag.find('<').map_or(self.rest.len(), |at| at + 1);
                return Some(Token::Text(self.take(end, 0)));
            }
            let tag = self.take(1 + end_of_tag(tag), 1);
            return Some(tag_token(&tag[1..]));
        }
    }
}

/// Returns the position of the `>` that ends a tag, which is not in a quoted value.
fn end_of_tag(tag: &str) -> usize {
    let mut quote = None;
    let end = tag.bytes().position(|byte| match quote {
        Some(open) => {
            if byte == open {
                quote = None;
            }
            false
        }
        None if matches!(byte, b'"' | b'\'') => {
            quote = Some(byte);
            false
        }
        None => byte == b'>',
    });
    // A quote without an end is a mistake: the tag ends at the next bracket.
    end.or_else(|| tag.find('>')).unwrap_or(tag.len())
}

fn tag_token(tag: &str) -> Token<'_> {
    if let Some(name) = tag.strip_prefix('/') {
        return Token::Close(name.trim());
    }
    let (tag, is_empty) = match tag.strip_suffix('/') {
        Some(tag) => (tag, true),
        None => (tag, false),
    };
    let end = tag.find(char::is_whitespace).unwrap_or(tag.len());
    Token::Open { name: &tag[..end], attributes: &tag[end..], is_empty }
}

/// Returns the value of an attribute, with its character references.
pub(crate) fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = attributes;
    while let Some((before, value)) = rest.split_once('=') {
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let end = value[1..].find(quote)? + 1;
        if before.trim() == name {
            return Some(&value[1..end]);
        }
        rest = &value[end + 1..];
    }
    None
}

/// Adds text with its character references decoded, on a line of its own.
fn push(out: &mut String, text: &str) {
    let text = text.trim();
    if !text.is_empty() {
        decode(out, text);
        out.push('\n');
    }
}

/// Adds text with its character references decoded.
pub(crate) fn decode(out: &mut String, text: &str) {
    decode_with(out, text, |_| None);
}

/// Adds text with its character references decoded, those with other names than XML has among them.
pub(crate) fn decode_with(out: &mut String, text: &str, other: impl Fn(&str) -> Option<char>) {
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.bytes().take(12).position(|b| b == b';');
        let named = |name| character(name).or_else(|| other(name));
        let Some((end, c)) = end.and_then(|end| Some((end, named(&rest[1..end])?))) else {
            out.push('&');
            rest = &rest[1..];
            continue;
        };
        out.push(c);
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
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
