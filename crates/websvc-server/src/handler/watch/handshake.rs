//! The handshake of a WebSocket (RFC 6455, section 4.2).

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::header::{
    AUTHORIZATION, CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{Method, Request, StatusCode, Version};
use sha1::{Digest, Sha1};
use websvc_transport::Body;
use websvc_types::ErrorCode;

use crate::authenticate;
use crate::response::{ApiError, HttpResponse};

/// The GUID that is hashed with the key of a handshake (RFC 6455, section 1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// A valid handshake.
#[derive(Debug)]
pub(crate) struct Handshake {
    accept: HeaderValue,
    /// The first subprotocol that the client offers. The JavaScript client sends its key as a subprotocol, and fails if the
    /// response does not contain it.
    subprotocol: Option<HeaderValue>,
}

/// Returns whether a request asks for a WebSocket.
pub(crate) fn is_websocket_request<B>(request: &Request<B>) -> bool {
    request.method() == Method::GET && has_token(request.headers(), &UPGRADE, "websocket")
}

impl Handshake {
    /// Parses the handshake of a request for a WebSocket.
    ///
    /// # Errors
    /// 426 for another version than HTTP/1.1 or WebSocket 13, 400 for any other invalid header.
    pub(crate) fn from_request<B>(request: &Request<B>) -> Result<Self, ApiError> {
        let headers = request.headers();
        if request.version() != Version::HTTP_11 {
            return Err(ApiError::upgrade_required("A WebSocket handshake needs HTTP/1.1"));
        }
        let bad = |text: &str| Err(ApiError::new(ErrorCode::BadRequest, text));
        if !has_token(headers, &CONNECTION, "upgrade") {
            return bad("A WebSocket handshake needs the header Connection: Upgrade");
        }
        if single_value(headers, &SEC_WEBSOCKET_VERSION) != Some("13") {
            return Err(ApiError::upgrade_required("Sec-WebSocket-Version must be 13"));
        }
        let Some(key) = single_value(headers, &SEC_WEBSOCKET_KEY)
            .filter(|key| BASE64_STANDARD.decode(key).is_ok_and(|key| key.len() == 16))
        else {
            return bad("Sec-WebSocket-Key must be 16 bytes in base64");
        };
        let Ok(subprotocol) = subprotocol(headers) else {
            return bad("Sec-WebSocket-Protocol must be a list of tokens");
        };
        let hash = Sha1::new().chain_update(key).chain_update(GUID).finalize();
        let accept = HeaderValue::try_from(BASE64_STANDARD.encode(hash))
            .map_err(|error| ApiError::internal(&error, "the handshake could not be answered"))?;
        Ok(Self { accept, subprotocol })
    }

    /// Uses the subprotocol as the bearer key, if the request has no other key.
    pub(crate) fn attach_key(&self, headers: &mut HeaderMap) {
        if authenticate::key(headers).is_some() {
            return;
        }
        let bearer = self.subprotocol.as_ref().and_then(|key| key.to_str().ok());
        if let Some(Ok(mut value)) = bearer.map(|key| HeaderValue::from_str(&format!("Bearer {key}"))) {
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
    }

    /// Returns the response to the handshake; `body` is the upgraded connection.
    pub(crate) fn into_response(self, body: Body) -> HttpResponse {
        let Self { accept, subprotocol } = self;
        let mut response = HttpResponse::new(body);
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
        if let Some(subprotocol) = subprotocol {
            headers.insert(SEC_WEBSOCKET_PROTOCOL, subprotocol);
        }
        response
    }
}

/// Returns the first subprotocol that the client offers.
fn subprotocol(headers: &HeaderMap) -> Result<Option<HeaderValue>, ()> {
    let Some(list) = headers.get(SEC_WEBSOCKET_PROTOCOL) else { return Ok(None) };
    let first = list.to_str().map_err(drop)?.split(',').next().unwrap_or_default().trim();
    if first.is_empty() || !first.bytes().all(is_token) {
        return Err(());
    }
    let mut value = HeaderValue::from_str(first).map_err(drop)?;
    value.set_sensitive(true);
    Ok(Some(value))
}

/// Returns whether a byte is allowed in a token (RFC 9110, section 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Returns the value of a header; `None` if it is missing or repeated.
fn single_value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?.trim();
    values.next().is_none().then_some(value)
}

fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|item| item.trim().eq_ignore_ascii_case(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The headers of a valid handshake.
    const VALID: [(&str, &str); 4] = [
        ("connection", "keep-alive, Upgrade"),
        ("upgrade", "WebSocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];

    /// Returns a valid handshake with changed headers. A header with an empty value is removed.
    fn request(changes: &[(&str, &str)]) -> Request<()> {
        let mut request = Request::new(());
        for (name, value) in VALID.iter().chain(changes) {
            let name: HeaderName = name.parse().unwrap();
            request.headers_mut().remove(&name);
            if !value.is_empty() {
                request.headers_mut().insert(name, value.parse().unwrap());
            }
        }
        request
    }

    #[test]
    fn response_to_the_example_of_the_rfc_has_its_accept_value() {
        let response = Handshake::from_request(&request(&[])).unwrap().into_response(Body::empty());
        assert_eq!(response.status(), 101);
        assert_eq!(response.headers()[SEC_WEBSOCKET_ACCEPT], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert!(!response.headers().contains_key(SEC_WEBSOCKET_PROTOCOL));
    }

    #[test]
    fn invalid_handshake_is_rejected() {
        let check = |changes: &[(&str, &str)], expected: u16| {
            let status = Handshake::from_request(&request(changes)).err().map(|error| error.status());
            assert_eq!(status, Some(expected), "{changes:?}");
        };
        check(&[("connection", "keep-alive")], 400);
        check(&[("sec-websocket-version", "")], 426);
        check(&[("sec-websocket-version", "8")], 426);
        check(&[("sec-websocket-key", "")], 400);
        check(&[("sec-websocket-key", "c2hvcnQ=")], 400);
        check(&[("sec-websocket-protocol", "a b")], 400);
        check(&[("sec-websocket-protocol", ",")], 400);
        let mut http_2 = request(&[]);
        *http_2.version_mut() = Version::HTTP_2;
        assert_eq!(Handshake::from_request(&http_2).err().map(|error| error.status()), Some(426));
    }

    #[test]
    fn only_a_get_with_upgrade_websocket_asks_for_a_websocket() {
        assert!(is_websocket_request(&request(&[])));
        assert!(!is_websocket_request(&request(&[("upgrade", "h2c")])));
        let mut delete = request(&[]);
        *delete.method_mut() = Method::DELETE;
        assert!(!is_websocket_request(&delete));
    }

    #[test]
    fn subprotocol_is_returned_and_is_the_key_if_there_is_no_other() {
        let mut with_subprotocol = request(&[("sec-websocket-protocol", "fc-1, other")]);
        let handshake = Handshake::from_request(&with_subprotocol).unwrap();
        handshake.attach_key(with_subprotocol.headers_mut());
        assert_eq!(authenticate::key(with_subprotocol.headers()).as_deref(), Some("fc-1"));
        let debug = format!("{handshake:?} {:?}", with_subprotocol.headers());
        assert!(!debug.contains("Bearer fc-1"));
        assert_eq!(handshake.into_response(Body::empty()).headers()[SEC_WEBSOCKET_PROTOCOL], "fc-1");
        let mut with_both = request(&[("sec-websocket-protocol", "fc-1"), ("authorization", "Bearer fc-2")]);
        Handshake::from_request(&with_both).unwrap().attach_key(with_both.headers_mut());
        assert_eq!(authenticate::key(with_both.headers()).as_deref(), Some("fc-2"));
    }
}
