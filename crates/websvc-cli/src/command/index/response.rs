//! The HTTP response in a record of an archive: its status, content type and decoded body.

use std::io::{Cursor, Read};

use brotli_decompressor::Decompressor;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use zstd::stream::read::Decoder as ZstdDecoder;

use super::warc::MAX_BLOCK_BYTES;

/// Maximum size of a decoded body.
const MAX_BODY_BYTES: u64 = MAX_BLOCK_BYTES;

/// Maximum number of content codings of one body.
const MAX_CODINGS: usize = 3;

/// An HTTP response.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct HttpResponse {
    pub(super) status: u16,
    pub(super) content_type: String,
    /// Values of all `X-Robots-Tag` headers.
    pub(super) robots: Vec<String>,
    pub(super) body: Vec<u8>,
}

/// The reason why a block is not an HTTP response.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HttpResponseError {
    /// The block does not begin with a response head.
    Malformed,
    /// The decoded body is larger than [`MAX_BLOCK_BYTES`].
    TooLarge,
}

impl HttpResponse {
    /// Parses a response.
    ///
    /// The head has the original codings, but many archives store the body without them, so a coding that the body
    /// does not have is skipped. Of a truncated body, the part that can be decoded is returned.
    pub(super) fn read(mut block: Vec<u8>) -> Result<Self, HttpResponseError> {
        let end = head_end(&block).ok_or(HttpResponseError::Malformed)?;
        let mut body = block.split_off(end);
        let head = String::from_utf8_lossy(&block);
        let mut lines = head.lines();
        let mut response = Self {
            status: lines.next().and_then(status).ok_or(HttpResponseError::Malformed)?,
            ..Self::default()
        };
        let (mut is_chunked, mut codings) = (false, Vec::new());
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            match name.trim().to_ascii_lowercase().as_str() {
                "content-type" => response.content_type = value.to_owned(),
                "x-robots-tag" => response.robots.push(value.to_owned()),
                "transfer-encoding" => is_chunked |= value.to_ascii_lowercase().contains("chunked"),
                "content-encoding" => {
                    codings.extend(value.split(',').map(|name| name.trim().to_ascii_lowercase()));
                }
                _ => {}
            }
        }
        if is_chunked && let Some(joined) = decode_chunks(&body) {
            body = joined;
        }
        for coding in codings.iter().rev().take(MAX_CODINGS) {
            if let Some(decoded) = decode(&body, coding)? {
                body = decoded;
            }
        }
        response.body = body;
        Ok(response)
    }
}

/// Returns the offset of the body.
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

/// Joins the chunks of a body, as far as they are present. Returns `None` if the body is not chunked.
fn decode_chunks(body: &[u8]) -> Option<Vec<u8>> {
    let (mut joined, mut rest) = (Vec::new(), body);
    loop {
        let chunk = rest.iter().position(|&byte| byte == b'\n').and_then(|end| {
            let size = std::str::from_utf8(&rest[..end]).ok()?.split(';').next()?.trim();
            Some((usize::from_str_radix(size, 16).ok()?, &rest[end + 1..]))
        });
        let Some((size, after)) = chunk else {
            // Truncated between two chunks, or not chunked.
            return (!joined.is_empty()).then_some(joined);
        };
        if size == 0 {
            return Some(joined);
        }
        let (data, after) = after.split_at(size.min(after.len()));
        joined.extend_from_slice(data);
        rest = after.strip_prefix(b"\r\n").or_else(|| after.strip_prefix(b"\n")).unwrap_or(after);
    }
}

/// Decodes a content coding. Returns `None` if the body does not have it.
fn decode(body: &[u8], coding: &str) -> Result<Option<Vec<u8>>, HttpResponseError> {
    if is_markup(body) {
        return Ok(None);
    }
    let input = Cursor::new(body);
    match coding {
        "gzip" | "x-gzip" if body.starts_with(&[0x1f, 0x8b]) => read_limited(MultiGzDecoder::new(input)),
        // The standard requires zlib; some servers send raw deflate.
        "deflate" => match read_limited(ZlibDecoder::new(input))? {
            Some(text) => Ok(Some(text)),
            None => read_limited(DeflateDecoder::new(Cursor::new(body))),
        },
        "br" => read_limited(Decompressor::new(input, 4096)),
        "zstd" => ZstdDecoder::new(input).map_or(Ok(None), read_limited),
        _ => Ok(None),
    }
}

/// Returns `true` if a body begins like markup. Compressed bytes are not valid text for long.
fn is_markup(body: &[u8]) -> bool {
    let beginning = &body[..body.len().min(64)];
    let is_text =
        beginning.utf8_chunks().next().is_none_or(|chunk| chunk.valid().len() + 3 >= beginning.len());
    is_text && beginning.trim_ascii_start().starts_with(b"<")
}

fn read_limited(input: impl Read) -> Result<Option<Vec<u8>>, HttpResponseError> {
    let mut text = Vec::new();
    // An error after some text means that the body is truncated.
    let outcome = input.take(MAX_BODY_BYTES + 1).read_to_end(&mut text);
    if text.len() as u64 > MAX_BODY_BYTES {
        return Err(HttpResponseError::TooLarge);
    }
    Ok((outcome.is_ok() || !text.is_empty()).then_some(text))
}

#[cfg(test)]
mod tests {
    use websvc_testkit::Coding;

    use super::*;

    fn read(head: &str, body: &[u8]) -> Result<HttpResponse, HttpResponseError> {
        HttpResponse::read([format!("HTTP/1.1 {head}\r\n\r\n").as_bytes(), body].concat())
    }

    #[test]
    fn response_head_is_parsed_and_the_body_unchanged() {
        let head = "404 Not Found\r\ncontent-type: text/html; charset=x\r\nX-Robots-Tag: NoArchive, NoIndex";
        let response = read(head, b"\xffbody\r\n\r\n").unwrap();
        assert_eq!((response.status, response.content_type.as_str()), (404, "text/html; charset=x"));
        assert_eq!(response.body, b"\xffbody\r\n\r\n");
        assert_eq!(response.robots, ["NoArchive, NoIndex"]);
        assert_eq!(HttpResponse::read(b"HTTP/2 200\n\nx".to_vec()).unwrap().status, 200);
        for malformed in ["", "HTTP/1.1 200 OK\r\n", "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 many\r\n\r\n"] {
            assert_eq!(
                HttpResponse::read(malformed.into()),
                Err(HttpResponseError::Malformed),
                "{malformed:?}"
            );
        }
    }

    #[test]
    fn chunks_are_joined_and_other_bodies_are_unchanged() {
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
    fn content_codings_are_decoded_if_present() {
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
    fn truncated_body_is_decoded_partially() {
        let text: String = (0..20_000).map(|number| format!("{number} ")).collect();
        let complete = Coding::Gzip.encode(text.as_bytes());
        let body = read("200 OK\r\nContent-Encoding: gzip", &complete[..complete.len() / 2]).unwrap().body;
        assert!(body.len() > 1_000 && text.as_bytes().starts_with(&body), "{} bytes", body.len());
    }

    #[test]
    fn decompression_bomb_is_too_large() {
        let bomb = Coding::Zstd.encode(&vec![b'a'; 65 * 1024 * 1024]);
        assert!(bomb.len() < 100_000);
        assert_eq!(read("200 OK\r\nContent-Encoding: zstd", &bomb), Err(HttpResponseError::TooLarge));
    }
}
