//! The headers of requests from one replica to another.
//!
//! They count only together with the secret of the process that receives them, and are removed from all other requests.
//! The other headers of the client are not passed on, except those in [`PASSED_ON`].

use std::net::IpAddr;

use http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, USER_AGENT,
};

use crate::request_id::X_REQUEST_ID;

/// The secret of the receiving process.
const SECRET: HeaderName = HeaderName::from_static("x-websvc-replica-secret");
/// The id of the request in the usage log.
const ID: HeaderName = HeaderName::from_static("x-websvc-forwarded-id");
/// The address of the client.
const CLIENT: HeaderName = HeaderName::from_static("x-websvc-forwarded-client");
/// The base URL under which the client reaches the service.
const BASE_URL: HeaderName = HeaderName::from_static("x-websvc-forwarded-base-url");
/// Marks a question: it is answered without the work of the request.
const QUESTION: HeaderName = HeaderName::from_static("x-websvc-forwarded-question");

/// The headers of a client that are passed on.
const PASSED_ON: [HeaderName; 10] = [
    ACCEPT,
    AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    CONTENT_TYPE,
    USER_AGENT,
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
    SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION,
];

/// The parts of a client's request that another replica needs.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    headers: HeaderMap,
    request_id: String,
    forwarded: Forwarded,
}

/// Marks a request from another replica, or from inside of the process, in its extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Forwarded {
    /// The id of the request in the usage log.
    pub(crate) id: String,
    /// The address of the client.
    pub(crate) client: IpAddr,
    /// The base URL under which the client reaches the service.
    pub(crate) base_url: Option<String>,
    /// The request is answered without its work: whether this process has its object.
    pub(crate) is_question: bool,
}

impl Origin {
    /// Returns the parts of a request. `request_id` is the one that the client knows.
    pub(crate) fn new(headers: &HeaderMap, request_id: &str, forwarded: Forwarded) -> Self {
        let mut passed_on = HeaderMap::new();
        for name in &PASSED_ON {
            for value in headers.get_all(name) {
                passed_on.append(name, value.clone());
            }
        }
        Self { headers: passed_on, request_id: request_id.to_owned(), forwarded }
    }
}

/// Returns the headers of a forwarded request.
pub(super) fn write_all(secret: &str, origin: Origin, is_question: bool) -> HeaderMap {
    let Origin { mut headers, request_id, forwarded } = origin;
    let Forwarded { id, client, base_url, is_question: _ } = forwarded;
    let mut write = |name: HeaderName, text: &str| {
        if let Ok(mut value) = HeaderValue::from_str(text) {
            value.set_sensitive(name == SECRET);
            headers.insert(name, value);
        }
    };
    write(SECRET, secret);
    write(X_REQUEST_ID, &request_id);
    write(ID, &id);
    write(CLIENT, &client.to_string());
    if let Some(base_url) = base_url {
        write(BASE_URL, &base_url);
    }
    if is_question {
        write(QUESTION, "1");
    }
    headers
}

/// Removes the headers of a forwarded request. Returns the secret, and the values if they are complete; `None` without a
/// secret.
pub(super) fn remove_all(headers: &mut HeaderMap) -> Option<(String, Option<Forwarded>)> {
    let [secret, id, client, base_url, question] =
        [SECRET, ID, CLIENT, BASE_URL, QUESTION].map(|name| headers.remove(name));
    let text = |value: Option<HeaderValue>| value.and_then(|value| value.to_str().ok().map(str::to_owned));
    let secret = text(Some(secret?)).unwrap_or_default();
    let forwarded = text(id).zip(text(client).and_then(|client| client.parse().ok()));
    let is_question = question.is_some();
    let base_url = text(base_url);
    Some((secret, forwarded.map(|(id, client)| Forwarded { id, client, base_url, is_question })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(headers: &HeaderMap) -> Origin {
        let client = IpAddr::from([203, 0, 113, 9]);
        let base_url = Some("https://a.test".to_owned());
        let forwarded = Forwarded { id: "7".to_owned(), client, base_url, is_question: false };
        Origin::new(headers, "r", forwarded)
    }

    #[test]
    fn written_headers_are_read_and_removed() {
        for is_question in [false, true] {
            let mut headers = write_all("s", origin(&HeaderMap::new()), is_question);
            let (secret, forwarded) = remove_all(&mut headers).unwrap();
            let expected = Forwarded { is_question, ..origin(&HeaderMap::new()).forwarded };
            assert_eq!((secret.as_str(), forwarded), ("s", Some(expected)));
            assert_eq!(headers.len(), 1, "{headers:?}");
            assert_eq!(headers[X_REQUEST_ID], "r");
        }
    }

    #[test]
    fn headers_of_a_client_are_passed_on_only_if_they_are_listed() {
        let mut client = HeaderMap::new();
        for (name, value) in [
            ("authorization", "Bearer fc-1"),
            ("cookie", "a=b"),
            ("x-forwarded-for", "198.51.100.1"),
            ("x-websvc-replica-secret", "forged"),
            ("x-websvc-forwarded-client", "198.51.100.1"),
            ("x-websvc-forwarded-question", "1"),
            ("connection", "close"),
        ] {
            client.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let headers = write_all("s", origin(&client), false);
        let mut names: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        let expected = [
            "authorization",
            "x-request-id",
            "x-websvc-forwarded-base-url",
            "x-websvc-forwarded-client",
            "x-websvc-forwarded-id",
            "x-websvc-replica-secret",
        ];
        assert_eq!(names, expected);
        assert_eq!(
            (&headers[SECRET], &headers[CLIENT]),
            (&"s".parse().unwrap(), &"203.0.113.9".parse().unwrap())
        );
    }

    #[test]
    fn incomplete_headers_do_not_mark_a_request() {
        let mut headers = HeaderMap::new();
        headers.insert(CLIENT, HeaderValue::from_static("203.0.113.9"));
        assert_eq!(remove_all(&mut headers), None);
        assert!(headers.is_empty(), "removed without a secret, too");
        headers.insert(SECRET, HeaderValue::from_static("s"));
        headers.insert(CLIENT, HeaderValue::from_static("not an address"));
        headers.insert(ID, HeaderValue::from_static("7"));
        assert_eq!(remove_all(&mut headers), Some(("s".to_owned(), None)));
    }
}
