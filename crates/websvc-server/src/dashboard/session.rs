//! Who is signed in: sessions in memory, which end with the process.
//!
//! A session is a cookie that stands for a key. The key itself is looked up with every request, so that a revoked one
//! ends its sessions at once. A browser sends cookies with requests that other pages make, too; `SameSite` forbids that,
//! and whatever changes something has to carry the session's token in a header besides, which no other page can read.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http::header::{AUTHORIZATION, COOKIE};
use http::{HeaderMap, HeaderValue, Method, Request};
use subtle::ConstantTimeEq;
use websvc_types::ErrorCode;

use crate::authenticate;
use crate::response::ApiError;

/// How long a session lasts.
pub(crate) const LIFE: Duration = Duration::from_secs(12 * 3600);

/// So many sessions are known at one time; the oldest ends when another begins.
const MAX_SESSIONS: usize = 1000;

/// The name of the cookie.
pub(crate) const COOKIE_NAME: &str = "websvc_session";

/// The header with the token.
const TOKEN_HEADER: &str = "x-csrf-token";

/// What the token header has where nobody signs in: any page may send a request, but not with this header.
pub(crate) const OPEN_TOKEN: &str = "open";

/// The sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Session>>);

struct Session {
    key: String,
    token: String,
    ends: Instant,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("ends", &self.ends).finish_non_exhaustive()
    }
}

/// Marks a request whose key is that of its session.
#[derive(Debug, Clone, Copy)]
struct FromSession;

/// A session just begun.
#[derive(Debug)]
pub(crate) struct NewSession {
    /// What the cookie says.
    pub(crate) cookie: String,
    /// What requests that change something have to carry.
    pub(crate) token: String,
}

impl Sessions {
    /// Begins a session for this key.
    ///
    /// # Errors
    /// 500 when the system has no randomness.
    pub(crate) fn begin(&self, key: &str) -> Result<NewSession, ApiError> {
        let (cookie, token) = (random()?, random()?);
        let now = Instant::now();
        let mut sessions = self.lock();
        sessions.retain(|_, session| session.ends > now);
        if sessions.len() >= MAX_SESSIONS {
            let oldest =
                sessions.iter().min_by_key(|(_, session)| session.ends).map(|(name, _)| name.clone());
            oldest.map(|name| sessions.remove(&name));
        }
        let session = Session { key: key.to_owned(), token: token.clone(), ends: now + LIFE };
        sessions.insert(cookie.clone(), session);
        Ok(NewSession { cookie, token })
    }

    /// Ends the session of these headers.
    pub(crate) fn end(&self, headers: &HeaderMap) {
        if let Some(cookie) = cookie(headers) {
            self.lock().remove(cookie);
        }
    }

    /// Returns the token of the session of these headers.
    pub(crate) fn token(&self, headers: &HeaderMap) -> Option<String> {
        let now = Instant::now();
        self.lock()
            .get(cookie(headers)?)
            .filter(|session| session.ends > now)
            .map(|session| session.token.clone())
    }

    /// Puts the key that the session of a request stands for into it, as any client sends it; a key that the request
    /// shows itself counts alone.
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

    /// Returns the key that the session of these headers stands for; `None` without a session.
    ///
    /// # Errors
    /// 403 when the request may change something and has not the token of the session.
    pub(crate) fn key(&self, method: &Method, headers: &HeaderMap) -> Result<Option<String>, ApiError> {
        let now = Instant::now();
        let sessions = self.lock();
        let Some(session) =
            cookie(headers).and_then(|cookie| sessions.get(cookie)).filter(|session| session.ends > now)
        else {
            return Ok(None);
        };
        if method.is_safe() || has_token(headers, &session.token) {
            return Ok(Some(session.key.clone()));
        }
        Err(csrf_error())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells whether the key of a request was put there for its session.
pub(crate) fn has_session<B>(request: &Request<B>) -> bool {
    request.extensions().get::<FromSession>().is_some()
}

/// Returns whether the token header has this value.
pub(crate) fn has_token(headers: &HeaderMap, token: &str) -> bool {
    headers.get(TOKEN_HEADER).is_some_and(|given| given.as_bytes().ct_eq(token.as_bytes()).into())
}

/// Returns the refusal of a request that another page may have sent.
pub(crate) fn csrf_error() -> ApiError {
    ApiError::new(
        ErrorCode::Forbidden,
        format!("Forbidden: a session needs its token in the header {TOKEN_HEADER}"),
    )
}

/// Returns the value of our cookie (RFC 6265, section 5.4).
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
fn random() -> Result<String, ApiError> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| ApiError::internal(&error, "the system has no randomness"))?;
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
    fn a_cookie_stands_for_its_key_and_changes_need_the_token() {
        let sessions = Sessions::default();
        let NewSession { cookie, token } = sessions.begin("fc-1").unwrap();
        let key = |method: &Method, headers: &HeaderMap| {
            sessions.key(method, headers).map(Option::unwrap_or_default)
        };
        assert_eq!(key(&Method::GET, &headers(&cookie, None)).unwrap(), "fc-1");
        assert_eq!(key(&Method::POST, &headers(&cookie, Some(&token))).unwrap(), "fc-1");
        for wrong in [None, Some(""), Some("open"), Some(&token[1..])] {
            for method in [Method::POST, Method::PUT, Method::DELETE] {
                let refused = key(&method, &headers(&cookie, wrong)).unwrap_err();
                assert_eq!(refused.into_response().status(), 403, "{method} {wrong:?}");
            }
        }
        assert_eq!(key(&Method::GET, &headers("0000", None)).unwrap(), "");
        assert_eq!(sessions.token(&headers(&cookie, None)), Some(token));
        sessions.end(&headers(&cookie, None));
        assert_eq!(key(&Method::GET, &headers(&cookie, None)).unwrap(), "");
    }

    #[test]
    fn request_of_a_session_is_told_from_one_that_shows_the_key_itself() {
        let sessions = Sessions::default();
        let NewSession { cookie, .. } = sessions.begin("fc-1").unwrap();
        let asked = |cookie: &str, key: Option<&str>| {
            let mut request = Request::new(());
            *request.headers_mut() = headers(cookie, None);
            if let Some(key) = key {
                request.headers_mut().insert(AUTHORIZATION, format!("Bearer {key}").parse().unwrap());
            }
            sessions.attach_session_key(&mut request).unwrap();
            has_session(&request)
        };
        assert!(asked(&cookie, None));
        assert!(
            !asked(&cookie, Some("fc-2")),
            "a key that is tried counts as one, whatever cookie is with it"
        );
        assert!(!asked("0000", None));
    }

    #[test]
    fn a_session_ends_in_time_whatever_is_done_with_it() {
        let sessions = Sessions::default();
        let NewSession { cookie, token } = sessions.begin("fc-1").unwrap();
        let headers = headers(&cookie, Some(&token));
        let left = sessions.lock()[&cookie].ends.saturating_duration_since(Instant::now());
        assert!(left <= LIFE && left > LIFE - Duration::from_secs(600), "{left:?}");
        sessions.key(&Method::GET, &headers).unwrap();
        sessions.lock().get_mut(&cookie).unwrap().ends = Instant::now();
        assert_eq!(sessions.key(&Method::POST, &headers).unwrap(), None);
        assert_eq!(sessions.token(&headers), None);
    }

    #[test]
    fn sessions_are_bounded_and_the_oldest_ends_first() {
        let sessions = Sessions::default();
        let first = sessions.begin("fc-1").unwrap();
        for _ in 0..MAX_SESSIONS {
            sessions.begin("fc-2").unwrap();
        }
        assert_eq!(sessions.lock().len(), MAX_SESSIONS);
        assert_eq!(sessions.token(&headers(&first.cookie, None)), None);
    }
}
