//! The identifier by which the sender knows a request: `x-request-id`, when it can be one, else one of our own.

use http::{HeaderMap, HeaderName, HeaderValue};

/// The header that it comes in and goes back in.
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest that is taken.
const MAX_LENGTH: usize = 128;

/// An identifier that is safe in a header and in a line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestId {
    text: String,
    /// What came could not be taken.
    pub(crate) replaces: bool,
}

impl RequestId {
    /// Returns the one that came with the request; `own` when none came, or one that is too long, has other characters
    /// than letters, digits and `-_.:/+=@`, or is given twice.
    pub(crate) fn of(headers: &HeaderMap, own: &str) -> Self {
        let mut given = headers.get_all(X_REQUEST_ID).iter();
        match (given.next(), given.next()) {
            (None, _) => Self { text: own.to_owned(), replaces: false },
            (Some(value), None) if is_taken(value.as_bytes()) => {
                Self { text: String::from_utf8_lossy(value.as_bytes()).into_owned(), replaces: false }
            }
            (Some(_), _) => Self { text: own.to_owned(), replaces: true },
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Writes it into the headers of an answer.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        if let Ok(value) = HeaderValue::from_str(&self.text) {
            headers.insert(X_REQUEST_ID, value);
        }
    }
}

fn is_taken(given: &[u8]) -> bool {
    (1..=MAX_LENGTH).contains(&given.len())
        && given.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/+=@".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &[&[u8]], expected: (&str, bool)) {
        let values = given.iter().map(|value| (X_REQUEST_ID, HeaderValue::from_bytes(value).unwrap()));
        let mut headers = HeaderMap::new();
        for (name, value) in values {
            headers.append(name, value);
        }
        let id = RequestId::of(&headers, "own");
        assert_eq!((id.as_str(), id.replaces), expected, "{given:?}");
    }

    #[test]
    fn what_is_safe_is_taken_and_everything_else_is_replaced() {
        check(&[], ("own", false));
        check(&[b"req-1_a.b:c/d+e=f@g"], ("req-1_a.b:c/d+e=f@g", false));
        let (longest, longer) = ("a".repeat(128), "a".repeat(129));
        check(&[longest.as_bytes()], (&longest, false));
        for bad in [longer.as_bytes(), b"", b"a b", b"a\tb", b"a;b", b"a\"b", b"\xc3\xa9", b"a,b", b"<b>"] {
            check(&[bad], ("own", true));
        }
        check(&[b"a", b"a"], ("own", true));
    }
}
