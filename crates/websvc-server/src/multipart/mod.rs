//! Multipart bodies (RFC 7578), parsed as they arrive.
//!
//! A hostile body may be endless, have endless headers or contain no parts. The size of everything that is in memory is
//! bounded, and so are the size and the duration of the whole body. The crate `multer` limits only the whole body, and
//! buffers headers of any length.

mod header;

use bytes::{Bytes, BytesMut};
use http::Request;
use http::header::CONTENT_TYPE;
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;

use crate::paced_body::PacedBody;
use crate::response::ApiError;

pub(crate) use header::Part;

/// The maximum size of the headers of a part.
const HEADERS_MAX_BYTES: usize = 8 * 1024;

/// A multipart body. [`Multipart::next_chunk`] reads the content of a part; unread content is skipped.
#[derive(Debug)]
pub(crate) struct Multipart {
    body: PacedBody,
    /// The bytes that have arrived and are not read.
    buffer: BytesMut,
    scanner: Scanner,
}

/// The search for the ends of parts.
#[derive(Debug)]
struct Scanner {
    /// The text between two parts: a line break, two hyphens, the boundary.
    delimiter: Vec<u8>,
    /// The next bytes are content: of a part, or before the first part.
    in_content: bool,
}

/// The token at the beginning of a buffer.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// This many bytes of content.
    Content(usize),
    /// The end of a part.
    End,
    /// Unknown until more bytes arrive.
    Incomplete,
}

impl Multipart {
    /// Begins to read a body of at most `max_bytes` bytes.
    ///
    /// # Errors
    /// 415 for a body of another type, 413 if its `Content-Length` is larger.
    pub(crate) fn from_request(request: Request<ServerBody>, max_bytes: u64) -> Result<Self, ApiError> {
        let declared = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let declared = declared.unwrap_or_default();
        let Some(boundary) = header::boundary(declared) else {
            let text =
                format!("Unsupported media type {declared:?}, use multipart/form-data with a boundary");
            return Err(ApiError::new(ErrorCode::UnsupportedMediaType, text));
        };
        let scanner = Scanner { delimiter: format!("\r\n--{boundary}").into_bytes(), in_content: true };
        let body = PacedBody::new(request.into_body(), max_bytes)?;
        // The first delimiter may be at the very beginning, without a line break.
        let buffer = BytesMut::from(&b"\r\n"[..]);
        Ok(Self { body, buffer, scanner })
    }

    /// Returns the headers of the next part, and skips the rest of the previous one; `None` at the end of the body.
    ///
    /// # Errors
    /// 400 for a malformed body, 408 for a slow one and 413 for a large one.
    pub(crate) async fn next_part(&mut self) -> Result<Option<Part>, ApiError> {
        while self.scanner.in_content {
            self.next_chunk().await?;
        }
        let _delimiter = self.buffer.split_to(self.scanner.delimiter.len());
        while self.buffer.len() < 2 {
            self.fill_buffer().await?;
        }
        if self.buffer.starts_with(b"--") {
            self.skip_epilogue().await?;
            return Ok(None);
        }
        let end = loop {
            match find(&self.buffer, b"\r\n\r\n") {
                Some(end) => break end,
                None if self.buffer.len() > HEADERS_MAX_BYTES => {
                    return Err(malformed("the headers of a part are too long"));
                }
                None => self.fill_buffer().await?,
            }
        };
        if end > HEADERS_MAX_BYTES {
            return Err(malformed("the headers of a part are too long"));
        }
        let headers = self.buffer.split_to(end);
        let _blank_line = self.buffer.split_to(4);
        self.scanner.in_content = true;
        let part = header::parse_part(&headers).ok_or_else(|| malformed("a part has no name"))?;
        Ok(Some(part))
    }

    /// Returns the next chunk of the part's content; `None` at its end.
    ///
    /// # Errors
    /// As [`Multipart::next_part`].
    pub(crate) async fn next_chunk(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            if !self.scanner.in_content {
                return Ok(None);
            }
            match self.scanner.scan(&self.buffer) {
                Token::Content(length) => return Ok(Some(self.buffer.split_to(length).freeze())),
                Token::End => self.scanner.in_content = false,
                Token::Incomplete => self.fill_buffer().await?,
            }
        }
    }

    /// Reads and drops the bytes after the last part.
    async fn skip_epilogue(&mut self) -> Result<(), ApiError> {
        self.buffer.clear();
        while let Some(chunk) = self.body.next_chunk().await? {
            drop(chunk);
        }
        Ok(())
    }

    /// Receives a chunk into the buffer.
    async fn fill_buffer(&mut self) -> Result<(), ApiError> {
        match self.body.next_chunk().await? {
            Some(chunk) => {
                self.buffer.extend_from_slice(&chunk);
                Ok(())
            }
            None => Err(malformed("it ends before its last part does")),
        }
    }
}

impl Scanner {
    fn scan(&self, buffer: &[u8]) -> Token {
        let mut start = 0;
        while let Some(index) = buffer[start..].iter().position(|byte| *byte == b'\r') {
            let index = start + index;
            let rest = &buffer[index..];
            if rest.starts_with(&self.delimiter) {
                return if index == 0 { Token::End } else { Token::Content(index) };
            }
            if self.is_delimiter_prefix(rest) {
                return if index == 0 { Token::Incomplete } else { Token::Content(index) };
            }
            start = index + 1;
        }
        if buffer.is_empty() { Token::Incomplete } else { Token::Content(buffer.len()) }
    }

    /// Returns whether these bytes may be the beginning of a delimiter whose rest has not arrived.
    fn is_delimiter_prefix(&self, bytes: &[u8]) -> bool {
        bytes.len() < self.delimiter.len() && self.delimiter.starts_with(bytes)
    }
}

fn find(bytes: &[u8], pattern: &[u8]) -> Option<usize> {
    bytes.windows(pattern.len()).position(|window| window == pattern)
}

fn malformed(reason: &str) -> ApiError {
    ApiError::new(ErrorCode::BadRequest, format!("Bad request, malformed multipart body: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scans a body that arrives in chunks of this size, and returns its content.
    fn scan_all(body: &[u8], chunk_size: usize) -> Vec<u8> {
        let scanner = Scanner { delimiter: b"\r\n--b".to_vec(), in_content: true };
        let (mut buffer, mut content) = (Vec::new(), Vec::new());
        for chunk in body.chunks(chunk_size) {
            buffer.extend_from_slice(chunk);
            loop {
                match scanner.scan(&buffer) {
                    Token::Content(length) => content.extend(buffer.drain(..length)),
                    Token::End => return content,
                    Token::Incomplete => break,
                }
            }
        }
        panic!("no end: {content:?}");
    }

    #[test]
    fn content_ends_at_the_delimiter_for_every_chunk_size() {
        for content in
            [&b""[..], b"a", b"\r", b"\r\n", b"\r\n-", b"\r\r\n\r\n--", b"a\r\n--\r\n--a", b"\r\n--\r\n\r"]
        {
            let body = [content, b"\r\n--b--"].concat();
            for chunk_size in 1..=body.len() {
                assert_eq!(scan_all(&body, chunk_size), content, "{content:?} in chunks of {chunk_size}");
            }
        }
    }
}
