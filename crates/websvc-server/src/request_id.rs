//! The request id: the client's `x-request-id` if it is valid, or else a generated one.

use http::{HeaderMap, HeaderName, HeaderValue};

/// The header of the request and of the response.
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The maximum length of a client's id.
const MAX_LENGTH: usize = 128;

/// An id that is safe in a header and in a log line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestId {
    text: String,
    /// The client sent an invalid id, which this one replaces.
    pub(crate) is_replacement: bool,
}

impl RequestId {
    /// Returns the id in the headers, or `generated` if there is none. An id that is too long, is given twice or has other
    /// characters than letters, digits and `-_.:/+=@` is replaced by `generated`.
    pub(crate) fn from_headers(headers: &HeaderMap, generated: &str) -> Self {
        let mut values = headers.get_all(X_REQUEST_ID).iter();
        match (values.next(), values.next()) {
            (None, _) => Self { text: generated.to_owned(), is_replacement: false },
            (Some(value), None) if is_valid(value.as_bytes()) => {
                Self { text: String::from_utf8_lossy(value.as_bytes()).into_owned(), is_replacement: false }
            }
            (Some(_), _) => Self { text: generated.to_owned(), is_replacement: true },
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Writes the id into the headers of a response.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        if let Ok(value) = HeaderValue::from_str(&self.text) {
            headers.insert(X_REQUEST_ID, value);
        }
    }
}

fn is_valid(id: &[u8]) -> bool {
    (1..=MAX_LENGTH).contains(&id.len())
        && id.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/+=@".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[&[u8]], expected: (&str, bool)) {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(X_REQUEST_ID, HeaderValue::from_bytes(value).unwrap());
        }
        let id = RequestId::from_headers(&headers, "generated");
        assert_eq!((id.as_str(), id.is_replacement), expected, "{values:?}");
    }

    #[test]
    fn valid_request_id_is_used_and_an_invalid_one_is_replaced() {
        check(&[], ("generated", false));
        check(&[b"req-1_a.b:c/d+e=f@g"], ("req-1_a.b:c/d+e=f@g", false));
        let (longest, longer) = ("a".repeat(128), "a".repeat(129));
        check(&[longest.as_bytes()], (&longest, false));
        for bad in [longer.as_bytes(), b"", b"a b", b"a\tb", b"a;b", b"a\"b", b"\xc3\xa9", b"a,b", b"<b>"] {
            check(&[bad], ("generated", true));
        }
        check(&[b"a", b"a"], ("generated", true));
    }
}
