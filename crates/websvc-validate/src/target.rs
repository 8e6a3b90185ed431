//! The address of a page that a request is about.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::percent_decode_str;
use url::Url;
use websvc_types::ViolationCode;
use websvc_types::limits::URL_MAX_CHARS;

use crate::bounds;
use crate::path::Path;
use crate::report::{Report, quoted};

/// The address of a page: as it was given, and as it is visited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub(crate) text: String,
    pub(crate) url: Url,
    credentials: Option<String>,
}

impl Target {
    /// Returns the address as it was given, with the scheme it lacked: answers repeat it so.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the address in its normal form, http or https, without user name and password.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the user name and password of the address as the value of an `Authorization` header (RFC 7617).
    ///
    /// They are apart from the URL, so that nothing that names the page by it (cache, index, usage, log, audit events) can
    /// keep them, and the page is as private as one that is asked for with such a header.
    pub(crate) fn credentials(&self) -> Option<&str> {
        self.credentials.as_deref()
    }

    /// Returns the address with the user name and password it was given with, for what has to send them later.
    pub(crate) fn into_whole_url(self) -> Url {
        Url::parse(&self.text).unwrap_or(self.url)
    }
}

/// Reads an address; one without a scheme is http. `None` is reported.
pub(crate) fn check(report: &mut Report, path: &Path<'_>, given: &str) -> Option<Target> {
    let legal =
        bounds::not_blank(report, path, given) && bounds::chars(report, path, given, 1, URL_MAX_CHARS);
    if !legal {
        return None;
    }
    let given = given.trim();
    match parse(given) {
        Ok(target) => Some(target),
        Err(TargetError::Protocol) => {
            report.violation(path, ViolationCode::InvalidFormat, |name| {
                format!("{name}: URL uses unsupported protocol, not http or https: {}", quoted(given))
            });
            None
        }
        Err(TargetError::NoTopLevelDomain) => {
            report.violation(path, ViolationCode::InvalidFormat, |name| {
                let expected = "an http or https URL, or a host with its domain such as example.com";
                format!("{name} must be {expected}, not {}", quoted(given))
            });
            None
        }
        Err(TargetError::Syntax(error)) => {
            report.violation(path, ViolationCode::InvalidFormat, |name| {
                format!("{name} must be an http or https URL, not {}: {error}", quoted(given))
            });
            None
        }
    }
}

/// Reads an address by the same rules where one that is none is no fault.
pub(crate) fn read(given: &str) -> Option<Target> {
    let given = given.trim();
    let is_long = given.chars().count() > URL_MAX_CHARS as usize;
    if given.is_empty() || is_long { None } else { parse(given).ok() }
}

/// Why a text is no address of a page.
enum TargetError {
    Protocol,
    /// A single word, which is rather a mistake than a host.
    NoTopLevelDomain,
    Syntax(url::ParseError),
}

fn parse(given: &str) -> Result<Target, TargetError> {
    let is_whole = has_scheme(given);
    let text = if is_whole { given.to_owned() } else { format!("http://{given}") };
    match Url::parse(&text) {
        Ok(url) if !is_whole && is_single_word(&url) => Err(TargetError::NoTopLevelDomain),
        Ok(mut url) if matches!(url.scheme(), "http" | "https") => {
            let credentials = take_credentials(&mut url);
            Ok(Target { text, url, credentials })
        }
        Ok(_) => Err(TargetError::Protocol),
        Err(error) => Err(TargetError::Syntax(error)),
    }
}

fn take_credentials(url: &mut Url) -> Option<String> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let mut pair: Vec<u8> = percent_decode_str(url.username()).collect();
    pair.push(b':');
    pair.extend(percent_decode_str(url.password().unwrap_or_default()));
    // Only URLs without a host refuse this, and http URLs have one.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    Some(format!("Basic {}", BASE64_STANDARD.encode(pair)))
}

/// Returns whether the host of a URL is a name of one label; `localhost` is known to be one.
fn is_single_word(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name != "localhost" && !name.trim_end_matches('.').contains('.'),
        Some(url::Host::Ipv4(_) | url::Host::Ipv6(_)) | None => false,
    }
}

/// Returns whether a text begins with a scheme: `host:80/path` has none, `mailto:someone` has one.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_name = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '+' | '-'));
    is_name && !rest.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(given: &str) -> Option<String> {
        let mut report = Report::default();
        let target = check(&mut report, &Path::Root.key("url"), given);
        assert_eq!(target.is_none(), report.rejection().is_some(), "{given}");
        assert_eq!(read(given), target, "{given}");
        target.map(|target| target.url.to_string())
    }

    #[test]
    fn what_has_no_scheme_is_http() {
        for (given, expected) in [
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
            assert_eq!(target(given).as_deref(), Some(expected), "{given}");
        }
    }

    #[test]
    fn credentials_are_taken_out_of_the_url() {
        let given = "http://alad%64in:open%20sesame@tea.test/a";
        let target = check(&mut Report::default(), &Path::Root.key("url"), given).unwrap();
        assert_eq!(target.url.as_str(), "http://tea.test/a");
        assert_eq!(target.credentials(), Some("Basic YWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
        assert_eq!(target.text(), given);
        assert_eq!(target.into_whole_url().password(), Some("open%20sesame"));
        assert_eq!(read("http://user@tea.test/").unwrap().credentials(), Some("Basic dXNlcjo="));
        assert_eq!(read("http://tea.test/a@b").unwrap().credentials(), None);
    }

    #[test]
    fn what_is_no_address_of_a_page_is_refused() {
        for given in [
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
        ] {
            assert_eq!(target(given), None, "{given}");
        }
        assert_eq!(target(&format!("http://tea.test/{}", "a".repeat(URL_MAX_CHARS as usize))), None);
    }
}
