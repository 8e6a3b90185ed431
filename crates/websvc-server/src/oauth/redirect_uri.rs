//! Redirect addresses of clients: which may be registered, and which match a registered one.

use url::Url;

use super::issuer::is_loopback_http;

/// Maximum length of a redirect address in bytes.
pub(super) const MAX_BYTES: usize = 512;

/// Checks an address that a client registers.
///
/// # Errors
/// The broken rule.
pub(super) fn check(text: &str) -> Result<(), &'static str> {
    if text.len() > MAX_BYTES {
        return Err("is longer than 512 bytes");
    }
    let url: Url = text.parse().map_err(|_error| "is not a URL")?;
    if text.contains('#') {
        return Err("has a fragment");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("has a user name or a password");
    }
    // What the consent page shows must be what the browser opens.
    if text.bytes().any(|byte| !byte.is_ascii_graphic() || byte == b'\\') {
        return Err("has spaces, backslashes or characters other than visible ASCII");
    }
    if url.scheme() == "https" || is_loopback_http(&url) {
        return Ok(());
    }
    Err("is neither https nor http on 127.0.0.1, [::1] or localhost")
}

/// Returns whether a request may use an address: it is a registered one, or differs only in the port of a loopback address,
/// which programs choose when they start (RFC 8252, section 7.3).
pub(super) fn is_registered(registered: &[String], text: &str) -> bool {
    if registered.iter().any(|address| address == text) {
        return true;
    }
    let without_port = |text: &str| -> Option<Url> {
        let mut url: Url = text.parse().ok().filter(is_loopback_http)?;
        url.set_port(None).ok()?;
        Some(url)
    };
    check(text).is_ok()
        && without_port(text)
            .is_some_and(|url| registered.iter().any(|address| without_port(address).as_ref() == Some(&url)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn https_and_loopback_addresses_can_be_registered() {
        for valid in [
            "https://claude.ai/api/mcp/auth_callback",
            "http://127.0.0.1/callback",
            "http://localhost:8976/callback?x=1",
            "http://[::1]:1/",
        ] {
            assert_eq!(check(valid), Ok(()), "{valid}");
        }
        for invalid in [
            "http://client.test/callback",
            "http://127.0.0.1.evil.test/",
            "http://localhost.evil.test/",
            "https://user@client.test/",
            "https://:pass@client.test/",
            "https://client.test/#fragment",
            "https://client.test/#",
            "https:\\\\client.test/",
            "https://cli ent.test/",
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "cursor://callback",
            "/callback",
            "",
            &format!("https://client.test/{}", "a".repeat(512)),
        ] {
            assert!(check(invalid).is_err(), "{invalid}");
        }
    }

    #[track_caller]
    fn check_match(registered: &str, text: &str, expected: bool) {
        assert_eq!(is_registered(&[registered.to_owned()], text), expected, "{registered} {text}");
    }

    #[test]
    fn only_the_port_of_a_loopback_address_may_differ() {
        check_match("https://client.test/cb", "https://client.test/cb", true);
        for other in [
            "https://client.test/cb/",
            "https://client.test/cb?x=1",
            "https://client.test:8443/cb",
            "https://client.test/cb/../x",
            "https://CLIENT.test/cb",
            "https://client.test.evil.test/cb",
            "http://client.test/cb",
        ] {
            check_match("https://client.test/cb", other, false);
        }
        check_match("http://127.0.0.1/cb", "http://127.0.0.1:9123/cb", true);
        check_match("http://localhost:1/cb?a=1", "http://localhost:2/cb?a=1", true);
        for other in [
            "http://localhost:9123/cb",
            "http://127.0.0.1:9123/other",
            "http://127.0.0.1:9123/cb?x=1",
            "http://127.0.0.1:9123/cb#x",
            "http://user@127.0.0.1:9123/cb",
            "https://127.0.0.1:9123/cb",
            "http://127.0.0.1.evil.test/cb",
        ] {
            check_match("http://127.0.0.1/cb", other, false);
        }
    }
}
