//! Files that the program holds compressed, as its build script wrote them.

use std::io::Read;
use std::sync::LazyLock;

use bytes::Bytes;
use flate2::read::GzDecoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use websvc_transport::Body;

use crate::response::{ApiError, HttpResponse, with_type};

/// A file as the program holds it; [`compressed!`] makes one.
#[derive(Debug)]
pub(super) struct Compressed {
    pub(super) gzip: &'static [u8],
    /// For clients without gzip; unpacked when the first of them comes.
    pub(super) plain: LazyLock<Bytes>,
}

/// Returns the [`Compressed`] of a file that the build script wrote.
macro_rules! compressed {
    ($file:literal) => {{
        const GZIP: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".gz"));
        $crate::handler::compressed::Compressed {
            gzip: GZIP,
            plain: std::sync::LazyLock::new(|| $crate::handler::compressed::unpack(GZIP)),
        }
    }};
}

pub(super) use compressed;

impl Compressed {
    /// Returns the file, compressed if the client can read that.
    pub(super) async fn reply(
        &'static self,
        media_type: &'static str,
        headers: &HeaderMap,
    ) -> Result<HttpResponse, ApiError> {
        let is_packed = accepts_gzip(headers);
        let content = if is_packed {
            Bytes::from_static(self.gzip)
        } else {
            tokio::task::spawn_blocking(|| self.plain.clone())
                .await
                .map_err(|error| ApiError::internal(&error, "a file of the program could not be unpacked"))?
        };
        let mut reply = with_type(StatusCode::OK, media_type, Body::from(content));
        let headers = reply.headers_mut();
        if is_packed {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        Ok(reply)
    }
}

/// Returns the content of a gzip member.
pub(super) fn unpack(gzip: &[u8]) -> Bytes {
    let mut plain = Vec::new();
    GzDecoder::new(gzip).read_to_end(&mut plain).expect("the build script wrote a whole gzip member");
    plain.into()
}

/// Returns `true` if `Accept-Encoding` has gzip, by its name or by `*`, with a weight above zero (RFC 9110, 12.5.3).
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).into_iter().filter_map(|value| value.to_str().ok());
    let codings: Vec<(&str, bool)> = values.flat_map(|value| value.split(',')).map(coding).collect();
    let find = |name: &str| codings.iter().find(|(coding, _)| coding.eq_ignore_ascii_case(name));
    find("gzip").or_else(|| find("x-gzip")).or_else(|| find("*")).is_some_and(|(_, wanted)| *wanted)
}

/// Returns the name of a coding, and whether its weight is above zero.
fn coding(item: &str) -> (&str, bool) {
    let mut parts = item.split(';').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    (name, weight.is_none_or(|weight| weight.parse::<f32>().is_ok_and(|weight| weight > 0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_those_who_accept_it() {
        let check = |accepted: &'static str, expected: bool| {
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(accepted))]);
            assert_eq!(accepts_gzip(&headers), expected, "{accepted:?}");
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
