//! URL of the page that a request is about.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::percent_decode_str;
use url::Url;
use websvc_types::ViolationCode;
use websvc_types::limits::URL_MAX_CHARS;

use crate::bounds;
use crate::path::Path;
use crate::report::{Report, quoted};

/// URL of a page: as sent, and in its normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Target {
    /// The URL as sent, with the scheme if it was missing. Responses repeat it.
    pub text: String,
    /// The URL in its normal form, http or https, without user name and password.
    pub url: Url,
    /// Value of an `Authorization` header.
    credentials: Option<String>,
}

impl Target {
    /// Returns the user name and password of the URL as the value of an `Authorization` header (RFC 7617).
    ///
    /// They are separate from the URL, so that nothing that stores the URL (cache, index, usage, log, audit events)
    /// stores them. The page is then as personal as one that is requested with this header.
    pub(crate) fn credentials(&self) -> Option<&str> {
        self.credentials.as_deref()
    }

    /// Returns the URL including user name and password, for jobs, which send them later.
    #[must_use]
    pub fn url_with_credentials(&self) -> Url {
        Url::parse(&self.text).unwrap_or_else(|_| self.url.clone())
    }

    /// Does the same without a copy.
    pub(crate) fn into_url_with_credentials(self) -> Url {
        Url::parse(&self.text).unwrap_or(self.url)
    }
}

/// Parses a URL; without a scheme, `http://` is added. An invalid URL is reported and returns `None`.
pub(crate) fn check(report: &mut Report, path: &Path<'_>, text: &str) -> Option<Target> {
    let is_valid =
        bounds::not_blank(report, path, text) && bounds::chars(report, path, text, 1, URL_MAX_CHARS);
    if !is_valid {
        return None;
    }
    let text = text.trim();
    match parse(text) {
        Ok(target) => Some(target),
        Err(TargetError::Protocol) => {
            report.violation(path, ViolationCode::InvalidFormat, |name| {
                format!("{name}: URL uses unsupported protocol, not http or https: {}", quoted(text))
            });
            None
        }
        Err(TargetError::NoTopLevelDomain) => {
            report.violation(path, ViolationCode::InvalidFormat, |name| {
                let expected = "an http or https URL, or a host with its domain such as example.com";
                format!("{name} must be {expected}, not {}", quoted(text))
            });
            None
        }
        Err(TargetError::Port) => {
            report.violation(path, ViolationCode::InvalidFormat, |name| {
                format!("{name} must have a port from 1 to 65535, not {}", quoted(text))
            });
            None
        }
        Err(TargetError::Syntax(error)) => {
            report.violation(path, ViolationCode::InvalidFormat, |name| {
                format!("{name} must be an http or https URL, not {}: {error}", quoted(text))
            });
            None
        }
    }
}

/// Parses a URL by the same rules, without reporting an invalid one.
pub(crate) fn parse_if_valid(text: &str) -> Option<Target> {
    let text = text.trim();
    let is_too_long = text.chars().count() > URL_MAX_CHARS as usize;
    if text.is_empty() || is_too_long { None } else { parse(text).ok() }
}

/// Error of parsing the URL of a page.
enum TargetError {
    /// The scheme is not http or https.
    Protocol,
    /// The text is a single word without a scheme, which is more likely a mistake than a host.
    NoTopLevelDomain,
    /// The port is 0, on which nothing listens.
    Port,
    /// The text is not a URL.
    Syntax(url::ParseError),
}

fn parse(text: &str) -> Result<Target, TargetError> {
    let has_scheme = has_scheme(text);
    let text = if has_scheme { text.to_owned() } else { format!("http://{text}") };
    match Url::parse(&text) {
        Ok(url) if url.port() == Some(0) => Err(TargetError::Port),
        Ok(url) if !has_scheme && is_single_word(&url) => Err(TargetError::NoTopLevelDomain),
        Ok(mut url) if matches!(url.scheme(), "http" | "https") => {
            let credentials = take_credentials(&mut url);
            Ok(Target { text, url, credentials })
        }
        Ok(_) => Err(TargetError::Protocol),
        Err(error) => Err(TargetError::Syntax(error)),
    }
}

/// Removes user name and password from a URL, and returns them as the value of an `Authorization` header.
fn take_credentials(url: &mut Url) -> Option<String> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let mut pair: Vec<u8> = percent_decode_str(url.username()).collect();
    pair.push(b':');
    pair.extend(percent_decode_str(url.password().unwrap_or_default()));
    // These fail only for URLs without a host, and http URLs have one.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    Some(format!("Basic {}", BASE64_STANDARD.encode(pair)))
}

/// Returns whether the host of a URL is a name of one label other than `localhost`.
fn is_single_word(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name != "localhost" && !name.trim_end_matches('.').contains('.'),
        Some(url::Host::Ipv4(_) | url::Host::Ipv6(_)) | None => false,
    }
}

/// Returns whether a text begins with a scheme. `mailto:someone` does, `host:80/path` does not.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_name = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-'));
    is_name && !rest.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Option<String> {
        let mut report = Report::default();
        let target = check(&mut report, &Path::Root.key("url"), text);
        assert_eq!(target.is_none(), report.rejection().is_some(), "{text}");
        assert_eq!(parse_if_valid(text), target, "{text}");
        target.map(|target| target.url.to_string())
    }

    #[test]
    fn url_without_scheme_is_http() {
        for (text, expected) in [
            ("tea.test", "http://tea.test/"),
            ("  tea.test/a?b#c ", "http://tea.test/a?b#c"),
            ("tea.test:8080/a", "http://tea.test:8080/a"),
            ("localhost:3000", "http://localhost:3000/"),
            ("tea.test/?next=http://b.test", "http://tea.test/?next=http://b.test"),
            ("HTTPS://Tea.test/A", "https://tea.test/A"),
            ("http://intranet/a", "http://intranet/a"),
            ("[::1]:3000", "http://[::1]:3000/"),
            ("127.0.0.1", "http://127.0.0.1/"),
        ] {
            assert_eq!(target(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn credentials_are_removed_from_the_url() {
        let text = "http://alad%64in:open%20sesame@tea.test/a";
        let target = check(&mut Report::default(), &Path::Root.key("url"), text).unwrap();
        assert_eq!(target.url.as_str(), "http://tea.test/a");
        assert_eq!(target.credentials(), Some("Basic YWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
        assert_eq!(target.text, text);
        assert_eq!(target.into_url_with_credentials().password(), Some("open%20sesame"));
        assert_eq!(parse_if_valid("http://user@tea.test/").unwrap().credentials(), Some("Basic dXNlcjo="));
        assert_eq!(parse_if_valid("http://tea.test/a@b").unwrap().credentials(), None);
    }

    #[test]
    fn invalid_urls_are_rejected() {
        for text in [
            "",
            "  ",
            "ftp://tea.test/",
            "file:///etc/passwd",
            "mailto:a@tea.test",
            "http://",
            "a b",
            "tea",
            "tea/green.html",
            "tea.",
            "not-a-url:8080",
            "http://[",
            "http://tea.test:0/",
            "tea.test:0",
        ] {
            assert_eq!(target(text), None, "{text}");
        }
        assert_eq!(target(&format!("http://tea.test/{}", "a".repeat(URL_MAX_CHARS as usize))), None);
    }
}
