//! Responses of a URL of the loopback web, honest or hostile.

use std::io::Write;
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use http::{HeaderMap, Response, StatusCode};
use websvc_transport::Body;

/// A content coding to send a page in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// `gzip`
    Gzip,
    /// `deflate` as the standard has it, with zlib's header.
    Deflate,
    /// `deflate` as some servers have it, without a header.
    RawDeflate,
    /// `br`
    Brotli,
    /// `zstd`
    Zstd,
}

/// An answer of the loopback web.
#[derive(Debug, Clone)]
pub struct Page {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    delay: Duration,
    delivery: Delivery,
}

#[derive(Debug, Clone, Copy)]
enum Delivery {
    Whole,
    /// Pieces of this size with this pause before each.
    Slow(usize, Duration),
    /// The body over and over.
    Endless,
    /// The length of the body is announced, and only so many bytes of it are sent.
    Truncated(usize),
    /// So many bytes are announced, and the body is sent over and over.
    Announced(u64),
    /// Not even a head.
    Never,
}

impl Page {
    /// Returns a page of any type.
    ///
    /// # Panics
    /// When the type cannot be a header.
    #[must_use]
    pub fn new(content_type: &str, body: impl Into<Bytes>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_str(content_type).expect("a media type"));
        let body = body.into();
        Self { status: StatusCode::OK, headers, body, delay: Duration::ZERO, delivery: Delivery::Whole }
    }

    /// Returns an HTML page in UTF-8.
    #[must_use]
    pub fn html(text: impl Into<String>) -> Self {
        Self::new("text/html; charset=utf-8", text.into())
    }

    /// Returns a plain text in UTF-8, for example a `robots.txt`.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new("text/plain; charset=utf-8", text.into())
    }

    /// Returns an XML sitemap of the URLs.
    #[must_use]
    pub fn sitemap(urls: &[&str]) -> Self {
        let locations: String = urls.iter().map(|url| format!("<url><loc>{url}</loc></url>")).collect();
        let opening = r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#;
        Self::new("application/xml", format!("{opening}{locations}</urlset>"))
    }

    /// Returns a redirect with a status such as 302.
    ///
    /// # Panics
    /// When the location cannot be a header.
    #[must_use]
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::text("moved").status(status).header("location", location)
    }

    /// Returns a page that repeats `piece` until the client has had enough.
    #[must_use]
    pub fn endless(content_type: &str, piece: impl Into<Bytes>) -> Self {
        Self { delivery: Delivery::Endless, ..Self::new(content_type, piece) }
    }

    /// Announces so many bytes, and sends the body over and over until the client has had enough.
    #[must_use]
    pub fn announcing(mut self, bytes: u64) -> Self {
        self.delivery = Delivery::Announced(bytes);
        self
    }

    /// Returns a page that never answers.
    #[must_use]
    pub fn silence() -> Self {
        Self { delivery: Delivery::Never, ..Self::text("") }
    }

    /// Sets the status.
    ///
    /// # Panics
    /// When there is no such status.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = StatusCode::from_u16(status).expect("a status");
        self
    }

    /// Adds a header; the page's type is replaced.
    ///
    /// # Panics
    /// When it cannot be one.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name = HeaderName::try_from(name).expect("a header name");
        let value = HeaderValue::from_str(value).expect("a header value");
        if name == CONTENT_TYPE || name == LOCATION {
            self.headers.insert(name, value);
        } else {
            self.headers.append(name, value);
        }
        self
    }

    /// Compresses the body and says so.
    #[must_use]
    pub fn encoded(mut self, coding: Coding) -> Self {
        self.body = coding.encode(&self.body).into();
        self.headers.append(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        self
    }

    /// Waits before answering.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Sends the body in pieces of `size` bytes with a pause before each.
    #[must_use]
    pub fn slow(mut self, size: usize, pause: Duration) -> Self {
        self.delivery = Delivery::Slow(size, pause);
        self
    }

    /// Announces the whole body and cuts the connection after `size` bytes of it.
    #[must_use]
    pub fn truncated_at(mut self, size: usize) -> Self {
        self.delivery = Delivery::Truncated(size);
        self
    }

    /// Turns the page into a response, with its delay.
    pub(crate) async fn respond(self) -> Response<Body> {
        tokio::time::sleep(self.delay).await;
        let Self { status, mut headers, body, delay: _, delivery } = self;
        let body = match delivery {
            Delivery::Whole => Body::from(body),
            Delivery::Slow(size, pause) => send_slowly(body, size, pause),
            Delivery::Endless => send_endlessly(body),
            Delivery::Truncated(size) => {
                headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
                send_truncated(body.slice(..size))
            }
            Delivery::Announced(bytes) => {
                headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes));
                send_endlessly(body)
            }
            Delivery::Never => std::future::pending().await,
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        response
    }
}

fn send_slowly(mut body: Bytes, size: usize, pause: Duration) -> Body {
    let (sender, streamed) = Body::channel(1);
    tokio::spawn(async move {
        while !body.is_empty() {
            tokio::time::sleep(pause).await;
            let piece = body.split_to(size.clamp(1, body.len()));
            if sender.send(piece).await.is_err() {
                return;
            }
        }
    });
    streamed
}

fn send_endlessly(piece: Bytes) -> Body {
    let (sender, streamed) = Body::channel(4);
    tokio::spawn(async move { while sender.send(piece.clone()).await.is_ok() {} });
    streamed
}

fn send_truncated(part: Bytes) -> Body {
    let (sender, streamed) = Body::channel(1);
    tokio::spawn(async move {
        if sender.send(part).await.is_ok() {
            sender.abort().await;
        }
    });
    streamed
}

impl Coding {
    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate | Self::RawDeflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }

    /// Compresses bytes.
    ///
    /// # Panics
    /// Never: writing to memory does not fail.
    #[must_use]
    pub fn encode(self, bytes: &[u8]) -> Vec<u8> {
        const MEMORY: &str = "writing to memory does not fail";
        match self {
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(bytes).and_then(|()| encoder.finish()).expect(MEMORY)
            }
            Self::Deflate => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(bytes).and_then(|()| encoder.finish()).expect(MEMORY)
            }
            Self::RawDeflate => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(bytes).and_then(|()| encoder.finish()).expect(MEMORY)
            }
            Self::Brotli => {
                let mut encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 22);
                encoder.write_all(bytes).expect(MEMORY);
                encoder.into_inner()
            }
            Self::Zstd => zstd::encode_all(bytes, 3).expect(MEMORY),
        }
    }
}
