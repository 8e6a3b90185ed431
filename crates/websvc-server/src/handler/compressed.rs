//! Files that are compressed by the build script and part of the program.

use std::io::Read;
use std::sync::LazyLock;

use bytes::Bytes;
use flate2::read::GzDecoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use websvc_transport::Body;

use crate::blocking::run_blocking;
use crate::response::{ApiError, HttpResponse, with_type};

/// A compressed file. Use [`compressed!`] to create one.
#[derive(Debug)]
pub(super) struct Compressed {
    pub(super) gzip: &'static [u8],
    /// The decompressed file, for clients that do not accept gzip.
    pub(super) plain: LazyLock<Bytes>,
}

/// Returns the [`Compressed`] for a file of the build script.
macro_rules! compressed {
    ($file:literal) => {{
        const GZIP: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".gz"));
        $crate::handler::compressed::Compressed {
            gzip: GZIP,
            plain: std::sync::LazyLock::new(|| $crate::handler::compressed::decompress(GZIP)),
        }
    }};
}

pub(super) use compressed;

impl Compressed {
    /// Returns the file, compressed if the client accepts gzip.
    pub(super) async fn response(
        &'static self,
        media_type: &'static str,
        headers: &HeaderMap,
    ) -> Result<HttpResponse, ApiError> {
        let is_gzip = accepts_gzip(headers);
        let content =
            if is_gzip { Bytes::from_static(self.gzip) } else { run_blocking(|| self.plain.clone()).await? };
        let mut response = with_type(StatusCode::OK, media_type, Body::from(content));
        let headers = response.headers_mut();
        if is_gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        Ok(response)
    }
}

/// Returns the content of a gzip member.
pub(super) fn decompress(gzip: &[u8]) -> Bytes {
    let mut plain = Vec::new();
    GzDecoder::new(gzip).read_to_end(&mut plain).expect("the build script wrote a complete gzip member");
    plain.into()
}

/// Returns whether `Accept-Encoding` contains gzip or `*` with a weight above zero (RFC 9110, section 12.5.3).
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).into_iter().filter_map(|value| value.to_str().ok());
    let codings: Vec<Coding<'_>> = values.flat_map(|value| value.split(',')).map(Coding::parse).collect();
    let find = |name: &str| codings.iter().find(|coding| coding.name.eq_ignore_ascii_case(name));
    find("gzip").or_else(|| find("x-gzip")).or_else(|| find("*")).is_some_and(|coding| coding.is_accepted)
}

/// An item of `Accept-Encoding`.
struct Coding<'a> {
    name: &'a str,
    /// The weight is above zero.
    is_accepted: bool,
}

impl<'a> Coding<'a> {
    fn parse(item: &'a str) -> Self {
        let mut parts = item.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let is_accepted = weight.is_none_or(|weight| weight.parse::<f32>().is_ok_and(|weight| weight > 0.0));
        Self { name, is_accepted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_accepted_by_its_name_or_an_asterisk_with_a_weight_above_zero() {
        let check = |accept_encoding: &'static str, expected: bool| {
            let headers =
                HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(accept_encoding))]);
            assert_eq!(accepts_gzip(&headers), expected, "{accept_encoding:?}");
        };
        check("gzip", true);
        check("GZIP", true);
        check("br, gzip;q=0.5", true);
        check("x-gzip", true);
        check("*", true);
        check("", false);
        check("br", false);
        check("identity", false);
        check("gzip;q=0", false);
        check("gzip; q=0.000, *", false);
        check("*;q=0", false);
        check("gzip;q=nonsense", false);
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
