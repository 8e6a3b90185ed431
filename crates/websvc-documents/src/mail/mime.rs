//! The parts of a message: headers, and bodies that consist of further parts (RFC 2045, RFC 2046).

use std::borrow::Cow;

use super::encoded::{self, charset, decode_parameter, decode_words};
use crate::text_encoding::decode_text;

/// The maximum number of headers of a part, and of parts of a part.
const MAX_HEADERS: usize = 1000;
const MAX_PARTS: usize = 1000;
/// The maximum nesting depth of parts.
const MAX_DEPTH: usize = 16;
/// The number of bytes in which the headers of a message are searched.
const HEAD_BYTES: usize = 4096;

/// Returns whether bytes begin with the headers of a message.
pub(crate) fn is_message(bytes: &[u8]) -> bool {
    const NAMES: [&str; 12] = [
        "from",
        "to",
        "date",
        "subject",
        "message-id",
        "received",
        "return-path",
        "mime-version",
        "delivered-to",
        "reply-to",
        "content-type",
        "x-mozilla-status",
    ];
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD_BYTES)]);
    let mut known = 0;
    let mut lines = head.lines().peekable();
    lines.next_if(|line| line.starts_with("From "));
    for (index, line) in lines.enumerate() {
        if line.starts_with([' ', '\t']) && index > 0 {
            continue;
        }
        let Some((name, _)) = line.split_once(':') else { return line.is_empty() && known >= 3 };
        if name.is_empty()
            || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        {
            return false;
        }
        known += usize::from(NAMES.contains(&name.to_ascii_lowercase().as_str()));
    }
    known >= 3
}

/// A part of a message.
#[derive(Debug)]
pub(super) struct Part<'b> {
    headers: Vec<(String, String)>,
    content: &'b [u8],
    depth: usize,
}

impl<'b> Part<'b> {
    /// Reads a message.
    pub(super) fn parse(bytes: &'b [u8]) -> Self {
        Self::at_depth(bytes, 0)
    }

    fn at_depth(bytes: &'b [u8], depth: usize) -> Self {
        let mut rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut headers: Vec<(String, String)> = Vec::new();
        while !rest.is_empty() && headers.len() < MAX_HEADERS {
            let (line, after) = line(rest);
            if line.is_empty() {
                rest = after;
                break;
            }
            let text = decode_text(line);
            if let (true, Some((_, value))) = (text.starts_with([' ', '\t']), headers.last_mut()) {
                value.push(' ');
                value.push_str(text.trim());
            } else if let Some((name, value)) = text.split_once(':') {
                headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
            } else if !text.starts_with("From ") {
                // The headers have ended without a blank line.
                break;
            }
            rest = after;
        }
        Self { headers, content: rest, depth }
    }

    /// Returns the first header with a name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the media type in lower case, without parameters.
    pub(super) fn media_type(&self) -> String {
        let value = self.header("content-type").unwrap_or_default();
        let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if essence.contains('/') { essence } else { "text/plain".to_owned() }
    }

    pub(super) fn is_attachment(&self) -> bool {
        self.header("content-disposition").is_some_and(|value| {
            value.get(..10).is_some_and(|start| start.eq_ignore_ascii_case("attachment"))
        })
    }

    /// Returns the name of an attached file.
    pub(super) fn file_name(&self) -> Option<String> {
        let disposition = self.header("content-disposition").and_then(|value| parameter(value, "filename"));
        let name = disposition.or_else(|| parameter(self.header("content-type")?, "name"))?;
        Some(decode_words(&name)).filter(|name| !name.is_empty())
    }

    /// Returns the content without its transfer encoding.
    pub(super) fn body(&self) -> Cow<'b, [u8]> {
        match self
            .header("content-transfer-encoding")
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
            .as_str()
        {
            "base64" => Cow::Owned(encoded::base64(self.content)),
            "quoted-printable" => Cow::Owned(encoded::quoted_printable(self.content, false)),
            _ => Cow::Borrowed(self.content),
        }
    }

    /// Returns the content as text.
    pub(super) fn text(&self) -> String {
        let value = self.header("content-type").unwrap_or_default();
        let name = parameter(value, "charset").unwrap_or_default();
        charset(&self.body(), &name)
    }

    /// Returns the parts of a multipart content.
    pub(super) fn parts(&self) -> Vec<Part<'b>> {
        let boundary = parameter(self.header("content-type").unwrap_or_default(), "boundary");
        let Some(boundary) = boundary.filter(|boundary| !boundary.is_empty() && self.depth < MAX_DEPTH)
        else {
            return Vec::new();
        };
        let delimiter = [b"--", boundary.as_bytes()].concat();
        let mut parts = Vec::new();
        let (mut start, mut rest) = (None, self.content);
        while !rest.is_empty() && parts.len() < MAX_PARTS {
            let position = self.content.len() - rest.len();
            let (line, after) = line(rest);
            if let Some(suffix) = line.strip_prefix(delimiter.as_slice())
                && matches!(suffix.trim_ascii(), b"" | b"--")
            {
                if let Some(start) = start {
                    parts.push(Self::at_depth(without_break(&self.content[start..position]), self.depth + 1));
                }
                start = (suffix.trim_ascii() != b"--").then_some(self.content.len() - after.len());
            }
            rest = after;
        }
        // The last part of a message that was cut off.
        if let Some(start) = start {
            parts.push(Self::at_depth(&self.content[start..], self.depth + 1));
        }
        parts
    }
}

/// Returns the first line without its line break, and the rest.
fn line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) => (bytes[..end].strip_suffix(b"\r").unwrap_or(&bytes[..end]), &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}

/// Removes the line break at the end, which belongs to the delimiter after it.
fn without_break(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.strip_suffix(b"\r").unwrap_or(bytes)
}

/// Returns a parameter of a header such as `text/plain; charset="utf-8"`, also one that is divided into several.
fn parameter(value: &str, name: &str) -> Option<String> {
    let mut joined: Option<String> = None;
    for piece in split_parameters(value).iter().skip(1) {
        let Some((key, content)) = piece.split_once('=') else { continue };
        let key = key.trim().to_ascii_lowercase();
        let content = content.trim().trim_matches('"').replace("\\\"", "\"");
        if key == name {
            return Some(content);
        }
        let Some(suffix) = key.strip_prefix(name).and_then(|rest| rest.strip_prefix('*')) else { continue };
        joined.get_or_insert_default().push_str(&content);
        if suffix.is_empty() {
            break;
        }
    }
    joined.map(|value| decode_parameter(&value))
}

/// Splits a header at the semicolons outside of quotes.
fn split_parameters(value: &str) -> Vec<&str> {
    let mut in_quotes = false;
    value
        .split(|character| {
            in_quotes ^= character == '"';
            character == ';' && !in_quotes
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_distinguished_from_other_text() {
        assert!(is_message(b"From: a@a.test\r\nTo: b@a.test\r\nSubject: x\r\n\r\nText"));
        assert!(is_message(b"Received: from x\n by y\nDate: z\nMessage-ID: <1>\n\n"));
        assert!(!is_message(b"From: a\nTo: b\n\nText"));
        assert!(!is_message(b"Note: from the harbour, to the town: a date\n\nText"));
        assert!(!is_message(b"<html>"));
    }

    #[test]
    fn parameters_are_found() {
        for (value, name, expected) in [
            ("text/plain; charset=\"utf-8\"", "charset", Some("utf-8")),
            ("multipart/mixed; boundary=\"a;b\"; x=1", "boundary", Some("a;b")),
            ("attachment; filename*=UTF-8''na%C3%AFve.txt", "filename", Some("naïve.txt")),
            ("attachment; filename*0=\"long\"; filename*1=\".txt\"", "filename", Some("long.txt")),
            ("text/plain", "charset", None),
        ] {
            assert_eq!(parameter(value, name).as_deref(), expected, "{value}");
        }
    }
}
