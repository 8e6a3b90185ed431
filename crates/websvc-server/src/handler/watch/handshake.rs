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

/// What the key of a handshake is hashed with (RFC 6455, section 1.3).
const SALT: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// A handshake that is in order.
#[derive(Debug)]
pub(crate) struct Handshake {
    accept: HeaderValue,
    /// The first that the client offers: the JavaScript client puts its key there, and gives up when it does not come
    /// back.
    subprotocol: Option<HeaderValue>,
}

/// Tells whether a request asks for a WebSocket.
pub(crate) fn is_asked<B>(request: &Request<B>) -> bool {
    request.method() == Method::GET && has_token(request.headers(), &UPGRADE, "websocket")
}

impl Handshake {
    /// Reads the handshake of a request that asks for a WebSocket.
    ///
    /// # Errors
    /// 426 for another version of HTTP than 1.1 or of WebSocket than 13, 400 for the rest that is not in order.
    pub(crate) fn of<B>(request: &Request<B>) -> Result<Self, ApiError> {
        let headers = request.headers();
        if request.version() != Version::HTTP_11 {
            return Err(ApiError::upgrade_required("A WebSocket is opened over HTTP/1.1"));
        }
        let bad = |text: &str| Err(ApiError::new(ErrorCode::BadRequest, text));
        if !has_token(headers, &CONNECTION, "upgrade") {
            return bad("A WebSocket handshake needs the header Connection: Upgrade");
        }
        if only(headers, &SEC_WEBSOCKET_VERSION) != Some("13") {
            return Err(ApiError::upgrade_required("Sec-WebSocket-Version must be 13"));
        }
        let Some(key) = only(headers, &SEC_WEBSOCKET_KEY)
            .filter(|key| BASE64_STANDARD.decode(key).is_ok_and(|key| key.len() == 16))
        else {
            return bad("Sec-WebSocket-Key must be 16 bytes in base64");
        };
        let Ok(subprotocol) = subprotocol(headers) else {
            return bad("Sec-WebSocket-Protocol must be a list of tokens");
        };
        let hash = Sha1::new().chain_update(key).chain_update(SALT).finalize();
        let accept = HeaderValue::try_from(BASE64_STANDARD.encode(hash))
            .map_err(|error| ApiError::internal(&error, "the handshake could not be answered"))?;
        Ok(Self { accept, subprotocol })
    }

    /// Takes the subprotocol for the key, when the request shows none as others do.
    pub(crate) fn show_key(&self, headers: &mut HeaderMap) {
        if authenticate::key(headers).is_some() {
            return;
        }
        let bearer = self.subprotocol.as_ref().and_then(|key| key.to_str().ok());
        if let Some(Ok(mut value)) = bearer.map(|key| HeaderValue::from_str(&format!("Bearer {key}"))) {
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
    }

    /// Answers the handshake; `body` is what follows.
    pub(crate) fn reply(self, body: Body) -> HttpResponse {
        let Self { accept, subprotocol } = self;
        let mut reply = HttpResponse::new(body);
        *reply.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = reply.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
        if let Some(subprotocol) = subprotocol {
            headers.insert(SEC_WEBSOCKET_PROTOCOL, subprotocol);
        }
        reply
    }
}

/// Returns the first subprotocol that is offered.
fn subprotocol(headers: &HeaderMap) -> Result<Option<HeaderValue>, ()> {
    let Some(offered) = headers.get(SEC_WEBSOCKET_PROTOCOL) else { return Ok(None) };
    let first = offered.to_str().map_err(drop)?.split(',').next().unwrap_or_default().trim();
    if first.is_empty() || !first.bytes().all(is_token) {
        return Err(());
    }
    let mut value = HeaderValue::from_str(first).map_err(drop)?;
    value.set_sensitive(true);
    Ok(Some(value))
}

/// Tells whether a byte may be in a token (RFC 9110, section 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Returns the value of a header that is there once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?.trim();
    values.next().is_none().then_some(value)
}

fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|given| given.trim().eq_ignore_ascii_case(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: [(&str, &str); 4] = [
        ("connection", "keep-alive, Upgrade"),
        ("upgrade", "WebSocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];

    fn request(changed: &[(&str, &str)]) -> Request<()> {
        let mut request = Request::new(());
        for (name, value) in FINE.iter().chain(changed) {
            let name: HeaderName = name.parse().unwrap();
            request.headers_mut().remove(&name);
            if !value.is_empty() {
                request.headers_mut().insert(name, value.parse().unwrap());
            }
        }
        request
    }

    #[test]
    fn the_answer_is_that_of_the_rfc() {
        let reply = Handshake::of(&request(&[])).unwrap().reply(Body::empty());
        assert_eq!(reply.status(), 101);
        assert_eq!(reply.headers()[SEC_WEBSOCKET_ACCEPT], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert!(!reply.headers().contains_key(SEC_WEBSOCKET_PROTOCOL));
    }

    #[test]
    fn what_is_not_in_order_is_refused() {
        let check = |changed: &[(&str, &str)], expected: u16| {
            let status = Handshake::of(&request(changed)).err().map(|failure| failure.status());
            assert_eq!(status, Some(expected), "{changed:?}");
        };
        check(&[("connection", "keep-alive")], 400);
        check(&[("sec-websocket-version", "")], 426);
        check(&[("sec-websocket-version", "8")], 426);
        check(&[("sec-websocket-key", "")], 400);
        check(&[("sec-websocket-key", "c2hvcnQ=")], 400);
        check(&[("sec-websocket-protocol", "a b")], 400);
        check(&[("sec-websocket-protocol", ",")], 400);
        let mut old = request(&[]);
        *old.version_mut() = Version::HTTP_2;
        assert_eq!(Handshake::of(&old).err().map(|failure| failure.status()), Some(426));
    }

    #[test]
    fn only_get_asks_for_a_socket() {
        assert!(is_asked(&request(&[])));
        assert!(!is_asked(&request(&[("upgrade", "h2c")])));
        let mut other = request(&[]);
        *other.method_mut() = Method::DELETE;
        assert!(!is_asked(&other));
    }

    #[test]
    fn the_subprotocol_comes_back_and_is_the_key_of_who_shows_no_other() {
        let mut asked = request(&[("sec-websocket-protocol", "fc-1, other")]);
        let handshake = Handshake::of(&asked).unwrap();
        handshake.show_key(asked.headers_mut());
        assert_eq!(authenticate::key(asked.headers()), Some("fc-1"));
        assert!(!format!("{handshake:?} {:?}", asked.headers()).contains("Bearer fc-1"));
        assert_eq!(handshake.reply(Body::empty()).headers()[SEC_WEBSOCKET_PROTOCOL], "fc-1");
        let mut both = request(&[("sec-websocket-protocol", "fc-1"), ("authorization", "Bearer fc-2")]);
        Handshake::of(&both).unwrap().show_key(both.headers_mut());
        assert_eq!(authenticate::key(both.headers()), Some("fc-2"));
    }
}
