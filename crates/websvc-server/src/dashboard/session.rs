//! The sessions of the dashboard. They are stored in memory and end with the process.
//!
//! A session is a cookie that stands for a key. The key is looked up for every request, so revoking it ends its sessions
//! immediately. Browsers also send cookies with requests of other pages. Against that (CSRF), the cookie has `SameSite`,
//! and every request that changes something must contain the session's token in a header, which no other page can read.

use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, Instant};

use http::header::{AUTHORIZATION, COOKIE};
use http::{HeaderMap, HeaderValue, Method, Request};
use parking_lot::Mutex;
use subtle::ConstantTimeEq;
use websvc_types::ErrorCode;

use crate::authenticate;
use crate::response::ApiError;

/// The lifetime of a session.
pub(crate) const SESSION_TTL: Duration = Duration::from_secs(12 * 3600);

/// The maximum number of sessions. Beyond that, the oldest one ends.
const MAX_SESSIONS: usize = 1000;

/// The name of the cookie.
pub(crate) const COOKIE_NAME: &str = "websvc_session";

/// The header with the token against CSRF.
const TOKEN_HEADER: &str = "x-csrf-token";

/// The value of the token header without authentication. The header alone is enough: other pages cannot send it.
pub(crate) const OPEN_TOKEN: &str = "open";

/// The sessions by their cookie.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Session>>);

struct Session {
    key: String,
    token: String,
    expires_at: Instant,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

/// Marks a request whose key was attached for its session.
#[derive(Debug, Clone, Copy)]
struct FromSession;

/// A new session.
#[derive(Debug)]
pub(crate) struct NewSession {
    /// The value of the cookie.
    pub(crate) cookie: String,
    /// The token that requests must contain if they change something.
    pub(crate) token: String,
}

impl Sessions {
    /// Starts a session for a key.
    ///
    /// # Errors
    /// 500 if the system provides no random numbers.
    pub(crate) fn start(&self, key: &str) -> Result<NewSession, ApiError> {
        let (cookie, token) = (random_hex()?, random_hex()?);
        let now = Instant::now();
        let mut sessions = self.0.lock();
        sessions.retain(|_, session| session.expires_at > now);
        if sessions.len() >= MAX_SESSIONS {
            let oldest = sessions
                .iter()
                .min_by_key(|(_, session)| session.expires_at)
                .map(|(cookie, _)| cookie.clone());
            oldest.map(|cookie| sessions.remove(&cookie));
        }
        let session = Session { key: key.to_owned(), token: token.clone(), expires_at: now + SESSION_TTL };
        sessions.insert(cookie.clone(), session);
        Ok(NewSession { cookie, token })
    }

    /// Ends the session of a request.
    pub(crate) fn end(&self, headers: &HeaderMap) {
        if let Some(cookie) = cookie(headers) {
            self.0.lock().remove(cookie);
        }
    }

    /// Returns the token of a request's session.
    pub(crate) fn token(&self, headers: &HeaderMap) -> Option<String> {
        let now = Instant::now();
        self.0
            .lock()
            .get(cookie(headers)?)
            .filter(|session| session.expires_at > now)
            .map(|session| session.token.clone())
    }

    /// Adds the key of a request's session to its headers, as any client sends it. If the request has a key of its own, the
    /// session is ignored.
    ///
    /// # Errors
    /// As for [`key`](Self::key).
    pub(crate) fn attach_session_key<B>(&self, request: &mut Request<B>) -> Result<(), ApiError> {
        if authenticate::key(request.headers()).is_some() {
            return Ok(());
        }
        if let Some(key) = self.key(request.method(), request.headers())?
            && let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {key}"))
        {
            value.set_sensitive(true);
            request.headers_mut().insert(AUTHORIZATION, value);
            request.extensions_mut().insert(FromSession);
        }
        Ok(())
    }

    /// Returns the key of a request's session; `None` without a session.
    ///
    /// # Errors
    /// 403 if the method may change something and the token is missing or wrong.
    pub(crate) fn key(&self, method: &Method, headers: &HeaderMap) -> Result<Option<String>, ApiError> {
        let now = Instant::now();
        let sessions = self.0.lock();
        let session = cookie(headers).and_then(|cookie| sessions.get(cookie));
        let Some(session) = session.filter(|session| session.expires_at > now) else { return Ok(None) };
        if method.is_safe() || has_token(headers, &session.token) {
            return Ok(Some(session.key.clone()));
        }
        Err(csrf_error())
    }
}

/// Returns whether the key of a request was attached for its session.
pub(crate) fn has_session<B>(request: &Request<B>) -> bool {
    request.extensions().get::<FromSession>().is_some()
}

/// Returns whether the token header has this value.
pub(crate) fn has_token(headers: &HeaderMap, token: &str) -> bool {
    headers.get(TOKEN_HEADER).is_some_and(|value| value.as_bytes().ct_eq(token.as_bytes()).into())
}

/// Returns the error for a request that another page may have sent.
pub(crate) fn csrf_error() -> ApiError {
    ApiError::new(
        ErrorCode::Forbidden,
        format!("Forbidden: a session needs its token in the header {TOKEN_HEADER}"),
    )
}

/// Returns the value of the session's cookie (RFC 6265, section 5.4).
fn cookie(headers: &HeaderMap) -> Option<&str> {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .find_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == COOKIE_NAME).then_some(value)
        })
}

/// Returns 256 random bits as hex digits.
fn random_hex() -> Result<String, ApiError> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| ApiError::internal(&error, "the system provides no random numbers"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(cookie: &str, token: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, format!("theme=dark; {COOKIE_NAME}={cookie}; other=1").parse().unwrap());
        if let Some(token) = token {
            headers.insert(TOKEN_HEADER, token.parse().unwrap());
        }
        headers
    }

    #[test]
    fn cookie_stands_for_its_key_and_unsafe_methods_need_the_token() {
        let sessions = Sessions::default();
        let NewSession { cookie, token } = sessions.start("fc-1").unwrap();
        let key = |method: &Method, headers: &HeaderMap| {
            sessions.key(method, headers).map(Option::unwrap_or_default)
        };
        assert_eq!(key(&Method::GET, &headers(&cookie, None)).unwrap(), "fc-1");
        assert_eq!(key(&Method::POST, &headers(&cookie, Some(&token))).unwrap(), "fc-1");
        for wrong in [None, Some(""), Some("open"), Some(&token[1..])] {
            for method in [Method::POST, Method::PUT, Method::DELETE] {
                let error = key(&method, &headers(&cookie, wrong)).unwrap_err();
                assert_eq!(error.into_response().status(), 403, "{method} {wrong:?}");
            }
        }
        assert_eq!(key(&Method::GET, &headers("0000", None)).unwrap(), "");
        assert_eq!(sessions.token(&headers(&cookie, None)), Some(token));
        sessions.end(&headers(&cookie, None));
        assert_eq!(key(&Method::GET, &headers(&cookie, None)).unwrap(), "");
    }

    #[test]
    fn request_has_a_session_only_if_it_has_no_key_of_its_own() {
        let sessions = Sessions::default();
        let NewSession { cookie, .. } = sessions.start("fc-1").unwrap();
        let check = |cookie: &str, key: Option<&str>| {
            let mut request = Request::new(());
            *request.headers_mut() = headers(cookie, None);
            if let Some(key) = key {
                request.headers_mut().insert(AUTHORIZATION, format!("Bearer {key}").parse().unwrap());
            }
            sessions.attach_session_key(&mut request).unwrap();
            has_session(&request)
        };
        assert!(check(&cookie, None));
        assert!(!check(&cookie, Some("fc-2")), "a guessed key counts as a guess, even with a valid cookie");
        assert!(!check("0000", None));
    }

    #[test]
    fn session_expires_even_if_it_is_used() {
        let sessions = Sessions::default();
        let NewSession { cookie, token } = sessions.start("fc-1").unwrap();
        let headers = headers(&cookie, Some(&token));
        let remaining = sessions.0.lock()[&cookie].expires_at.saturating_duration_since(Instant::now());
        assert!(
            remaining <= SESSION_TTL && remaining > SESSION_TTL - Duration::from_secs(600),
            "{remaining:?}"
        );
        sessions.key(&Method::GET, &headers).unwrap();
        sessions.0.lock().get_mut(&cookie).unwrap().expires_at = Instant::now();
        assert_eq!(sessions.key(&Method::POST, &headers).unwrap(), None);
        assert_eq!(sessions.token(&headers), None);
    }

    #[test]
    fn number_of_sessions_is_bounded_and_the_oldest_ends_first() {
        let sessions = Sessions::default();
        let first = sessions.start("fc-1").unwrap();
        for _ in 0..MAX_SESSIONS {
            sessions.start("fc-2").unwrap();
        }
        assert_eq!(sessions.0.lock().len(), MAX_SESSIONS);
        assert_eq!(sessions.token(&headers(&first.cookie, None)), None);
    }
}
