//! The sessions of the dashboard.
//!
//! A session is a cookie that stands for a key. The key is looked up for every request, so revoking it ends its sessions
//! immediately. Browsers also send cookies with requests of other pages. Against that (CSRF), the cookie has `SameSite`,
//! and every request that changes something must contain the session's token in a header, which no other page can read.

use data_encoding::HEXLOWER;
use http::header::{AUTHORIZATION, COOKIE};
use http::{HeaderMap, HeaderValue, Request};
use subtle::ConstantTimeEq;
use websvc_store::Store;
use websvc_types::ErrorCode;

use super::session_store::{Session, SessionStore};
use crate::authenticate;
use crate::response::ApiError;

/// The name of the cookie.
pub(crate) const COOKIE_NAME: &str = "websvc_session";

/// The length of its value in hex digits. Other values need no lookup.
const COOKIE_LENGTH: usize = 2 * RANDOM_BYTES;

/// The number of random bytes of a cookie and of a token.
const RANDOM_BYTES: usize = 32;

/// The header with the token against CSRF.
const TOKEN_HEADER: &str = "x-csrf-token";

/// The value of the token header without authentication. The header alone is enough: other pages cannot send it.
pub(crate) const OPEN_TOKEN: &str = "open";

/// The sessions by their cookie.
#[derive(Debug)]
pub(crate) struct Sessions(SessionStore);

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
    /// Creates the sessions of a service: in memory, or in its database if that is on a server.
    pub(crate) fn new(store: &Store) -> Self {
        Self(SessionStore::new(store))
    }

    /// Starts a session for a key.
    ///
    /// # Errors
    /// 500 if the system provides no random numbers; 503 or 500 if the database cannot be written.
    pub(crate) async fn start(&self, key: &str) -> Result<NewSession, ApiError> {
        let (cookie, token) = (random_hex()?, random_hex()?);
        self.0.start(cookie.clone(), Session { key: key.to_owned(), token: token.clone() }).await?;
        Ok(NewSession { cookie, token })
    }

    /// Ends the session of a request.
    ///
    /// # Errors
    /// 503 or 500 if the database cannot be written; then the session may continue.
    pub(crate) async fn end(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        match cookie(headers) {
            Some(cookie) => self.0.end(cookie).await,
            None => Ok(()),
        }
    }

    /// Returns the session of a request; `None` without one.
    ///
    /// # Errors
    /// 503 or 500 if the database cannot be read.
    pub(super) async fn find(&self, headers: &HeaderMap) -> Result<Option<Session>, ApiError> {
        match cookie(headers) {
            Some(cookie) => self.0.find(cookie).await,
            None => Ok(None),
        }
    }

    /// Adds the key of a request's session to its headers, as any client sends it. If the request has a key of its own, the
    /// session is ignored.
    ///
    /// # Errors
    /// 403 if the method may change something and the token is missing or wrong; 503 or 500 if the database cannot be
    /// read.
    pub(crate) async fn attach_session_key<B>(&self, request: &mut Request<B>) -> Result<(), ApiError> {
        if authenticate::key(request.headers()).is_some() {
            return Ok(());
        }
        let Some(session) = self.find(request.headers()).await? else { return Ok(()) };
        if !request.method().is_safe() && !has_token(request.headers(), &session.token) {
            return Err(csrf_error());
        }
        if let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {}", session.key)) {
            value.set_sensitive(true);
            request.headers_mut().insert(AUTHORIZATION, value);
            request.extensions_mut().insert(FromSession);
        }
        Ok(())
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

/// Returns the value of the session's cookie (RFC 6265, section 5.4), if it has the form of one.
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
        .filter(|value| value.len() == COOKIE_LENGTH && value.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns 256 random bits as hex digits.
pub(crate) fn random_hex() -> Result<String, ApiError> {
    let mut bytes = [0_u8; RANDOM_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| ApiError::internal(&error, "the system provides no random numbers"))?;
    Ok(HEXLOWER.encode(&bytes))
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;

    fn headers(cookie: &str, token: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, format!("theme=dark; {COOKIE_NAME}={cookie}; other=1").parse().unwrap());
        if let Some(token) = token {
            headers.insert(TOKEN_HEADER, token.parse().unwrap());
        }
        headers
    }

    fn in_memory() -> (tempfile::TempDir, Sessions) {
        let dir = tempfile::tempdir().unwrap();
        let sessions = Sessions::new(&Store::open(dir.path()).unwrap());
        (dir, sessions)
    }

    /// Attaches the key of a session to a request, and returns the bearer of the request.
    async fn attach(sessions: &Sessions, method: Method, headers: HeaderMap) -> Result<String, ApiError> {
        let mut request = Request::new(());
        (*request.method_mut(), *request.headers_mut()) = (method, headers);
        sessions.attach_session_key(&mut request).await?;
        let bearer = request.headers().get(AUTHORIZATION).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(has_session(&request), bearer.as_deref() == Some("Bearer fc-1"));
        Ok(bearer.unwrap_or_default())
    }

    #[tokio::test]
    async fn cookie_stands_for_its_key_and_unsafe_methods_need_the_token() {
        let (_dir, sessions) = in_memory();
        let NewSession { cookie, token } = sessions.start("fc-1").await.unwrap();
        let attach = |method: Method, headers| attach(&sessions, method, headers);
        assert_eq!(attach(Method::GET, headers(&cookie, None)).await.unwrap(), "Bearer fc-1");
        assert_eq!(attach(Method::POST, headers(&cookie, Some(&token))).await.unwrap(), "Bearer fc-1");
        for wrong in [None, Some(""), Some("open"), Some(&token[1..])] {
            for method in [Method::POST, Method::PUT, Method::DELETE] {
                let error = attach(method.clone(), headers(&cookie, wrong)).await.unwrap_err();
                assert_eq!(error.into_response().status(), 403, "{method} {wrong:?}");
            }
        }
        assert_eq!(attach(Method::GET, headers(&"0".repeat(64), None)).await.unwrap(), "");
        sessions.end(&headers(&cookie, None)).await.unwrap();
        assert_eq!(attach(Method::GET, headers(&cookie, None)).await.unwrap(), "");
    }

    #[tokio::test]
    async fn request_has_a_session_only_if_it_has_no_key_of_its_own() {
        let (_dir, sessions) = in_memory();
        let NewSession { cookie, .. } = sessions.start("fc-1").await.unwrap();
        let mut own_key = headers(&cookie, None);
        own_key.insert(AUTHORIZATION, "Bearer fc-2".parse().unwrap());
        let bearer = attach(&sessions, Method::GET, own_key).await.unwrap();
        assert_eq!(bearer, "Bearer fc-2", "a guessed key counts as a guess, even with a valid cookie");
    }

    #[test]
    fn cookie_of_another_form_counts_as_none() {
        let valid = "0123456789abcdef".repeat(4);
        assert_eq!(cookie(&headers(&valid, None)), Some(valid.as_str()));
        for other in ["", "0000", &valid[1..], &valid.replace('a', "g"), &format!("{valid}0")] {
            assert_eq!(cookie(&headers(other, None)), None, "{other}");
        }
    }
}
