//! Pages of the loopback web: well-behaved and hostile responses.

use std::io::Write;
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use http::{HeaderMap, Response, StatusCode};
use websvc_transport::Body;

/// A content coding of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// `gzip`
    Gzip,
    /// `deflate` as in the standard, with the zlib header.
    Deflate,
    /// `deflate` as some servers send it, without a header.
    RawDeflate,
    /// `br`
    Brotli,
    /// `zstd`
    Zstd,
}

/// A response of the loopback web.
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
    /// The whole body at once.
    Whole,
    /// Chunks of this size, with this interval before each.
    Slow(usize, Duration),
    /// The body, repeated without end.
    Endless,
    /// Only this number of bytes, with the length of the whole body announced.
    Truncated(usize),
    /// The body, repeated without end, with this length announced.
    Announced(u64),
    /// No response.
    Never,
}

impl Page {
    /// Returns the body as JSON; null if it is none.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Creates a page of a media type.
    ///
    /// # Panics
    /// If the type is not a valid header value.
    #[must_use]
    pub fn new(content_type: &str, body: impl Into<Bytes>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_str(content_type).expect("the media type is valid"));
        let body = body.into();
        Self { status: StatusCode::OK, headers, body, delay: Duration::ZERO, delivery: Delivery::Whole }
    }

    /// Creates an HTML page in UTF-8.
    #[must_use]
    pub fn html(text: impl Into<String>) -> Self {
        Self::new("text/html; charset=utf-8", text.into())
    }

    /// Creates a plain text in UTF-8, for example a `robots.txt`.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new("text/plain; charset=utf-8", text.into())
    }

    /// Creates an XML sitemap of these URLs.
    #[must_use]
    pub fn sitemap(urls: &[&str]) -> Self {
        let locations: String = urls.iter().map(|url| format!("<url><loc>{url}</loc></url>")).collect();
        let opening = r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#;
        Self::new("application/xml", format!("{opening}{locations}</urlset>"))
    }

    /// Creates a redirect with a status such as 302.
    ///
    /// # Panics
    /// If the location is not a valid header value.
    #[must_use]
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::text("moved").status(status).header("location", location)
    }

    /// Creates a page that repeats `chunk` until the client closes the connection.
    #[must_use]
    pub fn endless(content_type: &str, chunk: impl Into<Bytes>) -> Self {
        Self { delivery: Delivery::Endless, ..Self::new(content_type, chunk) }
    }

    /// Announces this length, and repeats the body until the client closes the connection.
    #[must_use]
    pub fn announced_length(mut self, bytes: u64) -> Self {
        self.delivery = Delivery::Announced(bytes);
        self
    }

    /// Creates a page that never responds.
    #[must_use]
    pub fn unresponsive() -> Self {
        Self { delivery: Delivery::Never, ..Self::text("") }
    }

    /// Sets the status.
    ///
    /// # Panics
    /// If the status is invalid.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = StatusCode::from_u16(status).expect("the status is valid");
        self
    }

    /// Adds a header; replaces the media type and the location.
    ///
    /// # Panics
    /// If the name or value is invalid.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name = HeaderName::try_from(name).expect("the header name is valid");
        let value = HeaderValue::from_str(value).expect("the header value is valid");
        if name == CONTENT_TYPE || name == LOCATION {
            self.headers.insert(name, value);
        } else {
            self.headers.append(name, value);
        }
        self
    }

    /// Compresses the body and sets `Content-Encoding`.
    #[must_use]
    pub fn encoded(mut self, coding: Coding) -> Self {
        self.body = coding.encode(&self.body).into();
        self.headers.append(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        self
    }

    /// Waits before responding.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Sends the body in chunks of `size` bytes, with an interval before each.
    #[must_use]
    pub fn slow(mut self, size: usize, interval: Duration) -> Self {
        self.delivery = Delivery::Slow(size, interval);
        self
    }

    /// Announces the whole body and closes the connection after `size` bytes.
    #[must_use]
    pub fn truncated_at(mut self, size: usize) -> Self {
        self.delivery = Delivery::Truncated(size);
        self
    }

    /// Returns the response, after the delay.
    pub(crate) async fn respond(self) -> Response<Body> {
        tokio::time::sleep(self.delay).await;
        let Self { status, mut headers, body, delay: _, delivery } = self;
        let body = match delivery {
            Delivery::Whole => Body::from(body),
            Delivery::Slow(size, interval) => send_slowly(body, size, interval),
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

fn send_slowly(mut body: Bytes, size: usize, interval: Duration) -> Body {
    let (sender, streamed) = Body::channel(1);
    tokio::spawn(async move {
        while !body.is_empty() {
            tokio::time::sleep(interval).await;
            let chunk = body.split_to(size.clamp(1, body.len()));
            if sender.send(chunk).await.is_err() {
                return;
            }
        }
    });
    streamed
}

fn send_endlessly(chunk: Bytes) -> Body {
    let (sender, streamed) = Body::channel(4);
    tokio::spawn(async move { while sender.send(chunk.clone()).await.is_ok() {} });
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
    /// Never, because writing to memory does not fail.
    #[must_use]
    pub fn encode(self, bytes: &[u8]) -> Vec<u8> {
        const REASON: &str = "writing to memory does not fail";
        match self {
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(bytes).and_then(|()| encoder.finish()).expect(REASON)
            }
            Self::Deflate => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(bytes).and_then(|()| encoder.finish()).expect(REASON)
            }
            Self::RawDeflate => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(bytes).and_then(|()| encoder.finish()).expect(REASON)
            }
            Self::Brotli => {
                let mut encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 22);
                encoder.write_all(bytes).expect(REASON);
                encoder.into_inner()
            }
            Self::Zstd => zstd::encode_all(bytes, 3).expect(REASON),
        }
    }
}
