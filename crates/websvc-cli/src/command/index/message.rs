//! The HTTP answer that a record of an archive holds: its status, its type, and its body with the codings undone.

use std::io::{Cursor, Read};

use brotli_decompressor::Decompressor;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use zstd::stream::read::Decoder as ZstdDecoder;

use super::warc::MAX_BLOCK_BYTES;

/// Larger bodies are not unpacked.
const MAX_BODY_BYTES: u64 = MAX_BLOCK_BYTES;

/// Codings of one body, at most.
const MAX_CODINGS: usize = 3;

/// An answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct HttpMessage {
    pub(super) status: u16,
    pub(super) content_type: String,
    /// Values of all `X-Robots-Tag` headers.
    pub(super) robots: Vec<String>,
    pub(super) body: Vec<u8>,
}

/// Why there is no message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HttpMessageError {
    /// The bytes do not begin with the head of an answer.
    Malformed,
    /// The unpacked body is larger than [`MAX_BLOCK_BYTES`].
    TooLarge,
}

impl HttpMessage {
    /// Reads an answer.
    ///
    /// Archives say which codings the body once had, and many hold it without them: a coding that the body does not
    /// have is passed over. A body that was cut off gives what can be unpacked of it.
    pub(super) fn read(mut block: Vec<u8>) -> Result<Self, HttpMessageError> {
        let end = head_end(&block).ok_or(HttpMessageError::Malformed)?;
        let mut body = block.split_off(end);
        let head = String::from_utf8_lossy(&block);
        let mut lines = head.lines();
        let mut message = Self {
            status: lines.next().and_then(status).ok_or(HttpMessageError::Malformed)?,
            ..Self::default()
        };
        let (mut is_chunked, mut codings) = (false, Vec::new());
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            match name.trim().to_ascii_lowercase().as_str() {
                "content-type" => message.content_type = value.to_owned(),
                "x-robots-tag" => message.robots.push(value.to_owned()),
                "transfer-encoding" => is_chunked |= value.to_ascii_lowercase().contains("chunked"),
                "content-encoding" => {
                    codings.extend(value.split(',').map(|name| name.trim().to_ascii_lowercase()));
                }
                _ => {}
            }
        }
        if is_chunked && let Some(whole) = unchunked(&body) {
            body = whole;
        }
        for coding in codings.iter().rev().take(MAX_CODINGS) {
            if let Some(unpacked) = unpacked(&body, coding)? {
                body = unpacked;
            }
        }
        message.body = body;
        Ok(message)
    }
}

/// Returns where the body begins.
fn head_end(block: &[u8]) -> Option<usize> {
    let mut start = 0;
    loop {
        let line = start + block[start..].iter().position(|&byte| byte == b'\n')? + 1;
        if block[start..line].trim_ascii().is_empty() {
            return Some(line);
        }
        start = line;
    }
}

fn status(line: &str) -> Option<u16> {
    line.strip_prefix("HTTP/")?.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Returns the body without the marks of its chunks, as far as it goes; `None` when it has none.
fn unchunked(body: &[u8]) -> Option<Vec<u8>> {
    let (mut whole, mut rest) = (Vec::new(), body);
    loop {
        let chunk = rest.iter().position(|&byte| byte == b'\n').and_then(|end| {
            let size = std::str::from_utf8(&rest[..end]).ok()?.split(';').next()?.trim();
            Some((usize::from_str_radix(size, 16).ok()?, &rest[end + 1..]))
        });
        let Some((size, behind)) = chunk else {
            // Cut off between two chunks, or never chunked.
            return (!whole.is_empty()).then_some(whole);
        };
        if size == 0 {
            return Some(whole);
        }
        let (data, behind) = behind.split_at(size.min(behind.len()));
        whole.extend_from_slice(data);
        rest = behind.strip_prefix(b"\r\n").or_else(|| behind.strip_prefix(b"\n")).unwrap_or(behind);
    }
}

/// Returns the body without a coding; `None` when it does not have it.
fn unpacked(body: &[u8], coding: &str) -> Result<Option<Vec<u8>>, HttpMessageError> {
    if is_markup(body) {
        return Ok(None);
    }
    let from = Cursor::new(body);
    match coding {
        "gzip" | "x-gzip" if body.starts_with(&[0x1f, 0x8b]) => unpack(MultiGzDecoder::new(from)),
        // Zlib by the standard, raw deflate by some servers.
        "deflate" => match unpack(ZlibDecoder::new(from))? {
            Some(text) => Ok(Some(text)),
            None => unpack(DeflateDecoder::new(Cursor::new(body))),
        },
        "br" => unpack(Decompressor::new(from, 4096)),
        "zstd" => ZstdDecoder::new(from).map_or(Ok(None), unpack),
        _ => Ok(None),
    }
}

/// Tells whether a body begins as markup does; packed bytes are not text for long.
fn is_markup(body: &[u8]) -> bool {
    let beginning = &body[..body.len().min(64)];
    let is_text =
        beginning.utf8_chunks().next().is_none_or(|chunk| chunk.valid().len() + 3 >= beginning.len());
    is_text && beginning.trim_ascii_start().starts_with(b"<")
}

fn unpack(from: impl Read) -> Result<Option<Vec<u8>>, HttpMessageError> {
    let mut text = Vec::new();
    // An error after some text means that the body was cut off.
    let outcome = from.take(MAX_BODY_BYTES + 1).read_to_end(&mut text);
    if text.len() as u64 > MAX_BODY_BYTES {
        return Err(HttpMessageError::TooLarge);
    }
    Ok((outcome.is_ok() || !text.is_empty()).then_some(text))
}

#[cfg(test)]
mod tests {
    use websvc_testkit::Coding;

    use super::*;

    fn read(head: &str, body: &[u8]) -> Result<HttpMessage, HttpMessageError> {
        HttpMessage::read([format!("HTTP/1.1 {head}\r\n\r\n").as_bytes(), body].concat())
    }

    #[test]
    fn the_head_is_read_and_the_body_left_as_it_is() {
        let head = "404 Not Found\r\ncontent-type: text/html; charset=x\r\nX-Robots-Tag: NoArchive, NoIndex";
        let message = read(head, b"\xffbody\r\n\r\n").unwrap();
        assert_eq!((message.status, message.content_type.as_str()), (404, "text/html; charset=x"));
        assert_eq!(message.body, b"\xffbody\r\n\r\n");
        assert_eq!(message.robots, ["NoArchive, NoIndex"]);
        assert_eq!(HttpMessage::read(b"HTTP/2 200\n\nx".to_vec()).unwrap().status, 200);
        for malformed in ["", "HTTP/1.1 200 OK\r\n", "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 many\r\n\r\n"] {
            assert_eq!(
                HttpMessage::read(malformed.into()),
                Err(HttpMessageError::Malformed),
                "{malformed:?}"
            );
        }
    }

    #[test]
    fn chunks_are_joined_and_what_has_none_stays() {
        let head = "200 OK\r\nTransfer-Encoding: chunked";
        let body = |bytes: &[u8]| String::from_utf8(read(head, bytes).unwrap().body).unwrap();
        assert_eq!(
            body(b"4\r\nWiki\r\n6;a=b\r\npedia \r\nB\r\nin \r\nchunks\r\n0\r\n\r\n"),
            "Wikipedia in \r\nchunks"
        );
        assert_eq!(body(b"4\r\nWiki\r\n64\r\npedia"), "Wikipedia");
        assert_eq!(body(b"<p>never\nchunked"), "<p>never\nchunked");
        assert_eq!(body(b"ffffffffffffffff\r\nlong"), "long");
    }

    #[test]
    fn codings_are_undone_where_they_are_there() {
        let text = "a page of many words ".repeat(50);
        for (coding, name) in [
            (Coding::Gzip, "gzip"),
            (Coding::Deflate, "deflate"),
            (Coding::RawDeflate, "deflate"),
            (Coding::Brotli, "br"),
            (Coding::Zstd, "zstd"),
        ] {
            let head = format!("200 OK\r\nContent-Encoding: {name}");
            assert_eq!(read(&head, &coding.encode(text.as_bytes())).unwrap().body, text.as_bytes(), "{name}");
            assert_eq!(read(&head, b"<p>plain").unwrap().body, b"<p>plain", "{name}");
        }
        let twice = Coding::Brotli.encode(&Coding::Gzip.encode(text.as_bytes()));
        assert_eq!(read("200 OK\r\nContent-Encoding: gzip, br", &twice).unwrap().body, text.as_bytes());
    }

    #[test]
    fn a_body_that_was_cut_off_gives_its_beginning() {
        let text: String = (0..20_000).map(|number| format!("{number} ")).collect();
        let whole = Coding::Gzip.encode(text.as_bytes());
        let body = read("200 OK\r\nContent-Encoding: gzip", &whole[..whole.len() / 2]).unwrap().body;
        assert!(body.len() > 1_000 && text.as_bytes().starts_with(&body), "{} bytes", body.len());
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let bomb = Coding::Zstd.encode(&vec![b'a'; 65 * 1024 * 1024]);
        assert!(bomb.len() < 100_000);
        assert_eq!(read("200 OK\r\nContent-Encoding: zstd", &bomb), Err(HttpMessageError::TooLarge));
    }
}
