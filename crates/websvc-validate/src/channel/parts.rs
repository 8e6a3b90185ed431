//! The parts of the URL of a channel. The URL standard does not apply to them: a token with a colon stands where a host
//! and a port would.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::percent_decode_str;

/// The text after `scheme://`, in its parts. All but the query are decoded.
#[derive(Debug, Default)]
pub(super) struct Parts<'a> {
    /// User name and password, or a token.
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    /// The host with its port, or a part of the credentials.
    pub(super) host: String,
    /// The segments of the path that are not empty.
    pub(super) path: Vec<String>,
    /// The query as sent.
    pub(super) query: Option<&'a str>,
}

impl<'a> Parts<'a> {
    /// Splits the text after `scheme://`.
    pub(super) fn parse(rest: &'a str) -> Self {
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user_info, host) = match authority.rsplit_once('@') {
            Some((user_info, host)) => (Some(user_info), host),
            None => (None, authority),
        };
        let (user, password) = match user_info.and_then(|text| text.split_once(':')) {
            Some((user, password)) => (Some(user), Some(password)),
            None => (user_info, None),
        };
        Self {
            user: user.map(decoded).filter(|user| !user.is_empty()),
            password: password.map(decoded),
            host: decoded(host),
            path: path.split('/').filter(|segment| !segment.is_empty()).map(decoded).collect(),
            query,
        }
    }

    /// Returns user name and password as the value of an `Authorization` header (RFC 7617).
    pub(super) fn basic_authorization(&self) -> Option<String> {
        let user = self.user.as_deref()?;
        let password = self.password.as_deref().unwrap_or_default();
        Some(format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}"))))
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}
