//! Bodies of several parts (RFC 7578), read as they arrive.
//!
//! A body may be endless, or have endless headers, or no parts at all: everything that is held is bounded, and so is the
//! whole.

mod header;

use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http::Request;
use http::header::CONTENT_TYPE;
use websvc_transport::{BodyError, ServerBody};
use websvc_types::ErrorCode;

use crate::response::ApiError;

pub(crate) use header::Part;

/// The longest silence of a sender.
const IDLE: Duration = Duration::from_secs(10);

/// The longest that a body may take.
const TOTAL: Duration = Duration::from_secs(300);

/// How long a body may take in which nothing arrives that counts.
const GRACE: Duration = Duration::from_secs(20);

/// Beyond the grace so much arrives in a second: who is slower holds the place of another for nothing.
const BYTES_PER_S: u64 = 16 * 1024;

/// The longest headers of a part.
const HEADERS_MAX_BYTES: usize = 8 * 1024;

/// A body of several parts. Each part is read by [`Multipart::piece`] until there is none, or passed over.
#[derive(Debug)]
pub(crate) struct Multipart {
    body: ServerBody,
    /// What has arrived and is not read.
    buffer: BytesMut,
    scanner: Scanner,
    /// How many bytes may still arrive.
    left: u64,
    most: u64,
    began: Instant,
}

/// Where the parts of a body end.
#[derive(Debug)]
struct Scanner {
    /// What stands between two parts: a line break, two hyphens, the boundary.
    delimiter: Vec<u8>,
    /// Whether what comes next is content of a part, or what stands before the first.
    is_inside: bool,
}

/// What is at the beginning of a buffer.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// So many bytes of content.
    Content(usize),
    /// The end of a part.
    End,
    /// Too little to tell.
    More,
}

impl Multipart {
    /// Begins to read a body of at most `most` bytes.
    ///
    /// # Errors
    /// 415 for a body of another type, 413 when its announced length is larger.
    pub(crate) fn of(request: Request<ServerBody>, most: u64) -> Result<Self, ApiError> {
        let declared = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let declared = declared.unwrap_or_default();
        let Some(boundary) = header::boundary(declared) else {
            let text =
                format!("Unsupported media type {declared:?}, use multipart/form-data with a boundary");
            return Err(ApiError::new(ErrorCode::UnsupportedMediaType, text));
        };
        let scanner = Scanner { delimiter: format!("\r\n--{boundary}").into_bytes(), is_inside: true };
        let body = request.into_body();
        if body.announced_length().is_some_and(|length| length > most) {
            return Err(too_large(most));
        }
        // The first delimiter may stand at the very beginning.
        let buffer = BytesMut::from(&b"\r\n"[..]);
        Ok(Self { body, buffer, scanner, left: most, most, began: Instant::now() })
    }

    /// Returns the next part; what is left of the one before is passed over. `None` at the end of the body.
    ///
    /// # Errors
    /// 400 for what is no body of parts, 408 and 413.
    pub(crate) async fn next_part(&mut self) -> Result<Option<Part>, ApiError> {
        while self.scanner.is_inside {
            self.piece().await?;
        }
        let _delimiter = self.buffer.split_to(self.scanner.delimiter.len());
        while self.buffer.len() < 2 {
            self.receive().await?;
        }
        if self.buffer.starts_with(b"--") {
            self.pass_over_the_rest().await?;
            return Ok(None);
        }
        let end = loop {
            match find(&self.buffer, b"\r\n\r\n") {
                Some(end) => break end,
                None if self.buffer.len() > HEADERS_MAX_BYTES => {
                    return Err(malformed("the headers of a part are too long"));
                }
                None => self.receive().await?,
            }
        };
        if end > HEADERS_MAX_BYTES {
            return Err(malformed("the headers of a part are too long"));
        }
        let lines = self.buffer.split_to(end);
        let _blank = self.buffer.split_to(4);
        self.scanner.is_inside = true;
        let part = header::part(&lines).ok_or_else(|| malformed("a part has no name"))?;
        Ok(Some(part))
    }

    /// Returns the next piece of the part's content, `None` at its end.
    ///
    /// # Errors
    /// As [`Multipart::next_part`].
    pub(crate) async fn piece(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            if !self.scanner.is_inside {
                return Ok(None);
            }
            match self.scanner.scan(&self.buffer) {
                Found::Content(length) => return Ok(Some(self.buffer.split_to(length).freeze())),
                Found::End => self.scanner.is_inside = false,
                Found::More => self.receive().await?,
            }
        }
    }

    async fn pass_over_the_rest(&mut self) -> Result<(), ApiError> {
        self.buffer.clear();
        while let Some(piece) = self.chunk().await? {
            drop(piece);
        }
        Ok(())
    }

    /// Receives more.
    async fn receive(&mut self) -> Result<(), ApiError> {
        match self.chunk().await? {
            Some(piece) => {
                self.buffer.extend_from_slice(&piece);
                Ok(())
            }
            None => Err(malformed("it ends before its last part does")),
        }
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, ApiError> {
        let patience = patience(self.began.elapsed(), self.most - self.left);
        let patience = patience.ok_or_else(|| ApiError::from(BodyError::TimedOut))?;
        let piece = self.body.next_chunk(patience).await?;
        if let Some(piece) = &piece {
            self.left = self.left.checked_sub(piece.len() as u64).ok_or_else(|| too_large(self.most))?;
        }
        Ok(piece)
    }
}

impl Scanner {
    fn scan(&self, buffer: &[u8]) -> Found {
        let mut from = 0;
        while let Some(at) = buffer[from..].iter().position(|byte| *byte == b'\r').map(|at| from + at) {
            let rest = &buffer[at..];
            if rest.starts_with(&self.delimiter) {
                return if at == 0 { Found::End } else { Found::Content(at) };
            }
            if self.may_begin(rest) {
                return if at == 0 { Found::More } else { Found::Content(at) };
            }
            from = at + 1;
        }
        if buffer.is_empty() { Found::More } else { Found::Content(buffer.len()) }
    }

    /// Returns whether these bytes are the beginning of a delimiter that has not arrived whole.
    fn may_begin(&self, bytes: &[u8]) -> bool {
        bytes.len() < self.delimiter.len() && self.delimiter.starts_with(bytes)
    }
}

/// Returns how long to wait for more of a body of which `received` bytes came in this time; `None` when it is too slow.
fn patience(elapsed: Duration, received: u64) -> Option<Duration> {
    let most = GRACE.saturating_add(Duration::from_secs(received / BYTES_PER_S)).min(TOTAL);
    let left = most.saturating_sub(elapsed);
    (!left.is_zero()).then_some(left.min(IDLE))
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

fn too_large(most: u64) -> ApiError {
    ApiError::new(ErrorCode::PayloadTooLarge, format!("the body is larger than {most} bytes"))
}

fn malformed(why: &str) -> ApiError {
    ApiError::new(ErrorCode::BadRequest, format!("Bad request, malformed multipart body: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan_all(content: &[u8], step: usize) -> Vec<u8> {
        let scanner = Scanner { delimiter: b"\r\n--b".to_vec(), is_inside: true };
        let (mut buffer, mut read) = (Vec::new(), Vec::new());
        for piece in content.chunks(step) {
            buffer.extend_from_slice(piece);
            loop {
                match scanner.scan(&buffer) {
                    Found::Content(length) => read.extend(buffer.drain(..length)),
                    Found::End => return read,
                    Found::More => break,
                }
            }
        }
        panic!("no end: {read:?}");
    }

    #[test]
    fn who_sends_too_slowly_is_not_waited_for() {
        let check = |elapsed_s: u64, received: u64, expected_s: Option<u64>| {
            let patience = patience(Duration::from_secs(elapsed_s), received);
            assert_eq!(patience, expected_s.map(Duration::from_secs), "{elapsed_s} s, {received} bytes");
        };
        check(0, 0, Some(10));
        check(15, 100, Some(5));
        check(20, 100, None);
        check(20, BYTES_PER_S, Some(1));
        check(100, 80 * BYTES_PER_S - 1, None);
        check(100, 100 * BYTES_PER_S, Some(10));
        check(299, 50 * 1024 * 1024, Some(1));
        check(300, u64::MAX, None);
    }

    #[test]
    fn content_ends_at_the_delimiter_wherever_it_is_cut() {
        for content in
            [&b""[..], b"a", b"\r", b"\r\n", b"\r\n-", b"\r\r\n\r\n--", b"a\r\n--\r\n--a", b"\r\n--\r\n\r"]
        {
            let body = [content, b"\r\n--b--"].concat();
            for step in 1..=body.len() {
                assert_eq!(scan_all(&body, step), content, "{content:?} by {step}");
            }
        }
    }
}
