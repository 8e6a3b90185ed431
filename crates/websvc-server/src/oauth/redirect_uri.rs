//! Redirect addresses of clients: which may be registered, and which match a registered one.
//!
//! Programs on the machine of the user may have a scheme of their own (RFC 8252, section 7.1). Any other program can claim the same
//! scheme, so the code also needs its proof, and the operator lists the schemes.

use url::Url;

use super::loopback::is_loopback_http;

/// Maximum length of a redirect address in bytes.
pub(super) const MAX_BYTES: usize = 512;

/// Maximum length of a scheme in bytes.
const MAX_SCHEME_BYTES: usize = 40;

/// The schemes that known MCP clients use.
pub(super) const DEFAULT_SCHEMES: &[&str] = &["claude", "cursor", "vscode", "vscode-insiders", "windsurf"];

/// Schemes that browsers or systems interpret themselves. Those of browsers for their own pages begin with a name in
/// [`BROWSER_PREFIXES`].
const RESERVED_SCHEMES: &[&str] = &[
    "about",
    "blob",
    "cid",
    "data",
    "file",
    "filesystem",
    "ftp",
    "geo",
    "http",
    "https",
    "intent",
    "jar",
    "javascript",
    "mailto",
    "mhtml",
    "resource",
    "search-ms",
    "shell",
    "sms",
    "smb",
    "ssh",
    "tel",
    "urn",
    "vbscript",
    "view-source",
    "ws",
    "wss",
];
const BROWSER_PREFIXES: &[&str] = &["chrome", "edge", "moz-", "ms-", "x-apple", "web+"];

/// Checks a private-use scheme of the configuration.
///
/// # Errors
/// The broken rule.
pub(super) fn check_scheme(scheme: &str) -> Result<(), &'static str> {
    let is_rest = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+.-".contains(&byte);
    if scheme.len() > MAX_SCHEME_BYTES {
        return Err("is longer than 40 bytes");
    }
    if !scheme.starts_with(|first: char| first.is_ascii_lowercase()) || !scheme.bytes().all(is_rest) {
        return Err(
            "is not a scheme: a lower-case letter, then lower-case letters, digits, plus, points and hyphens",
        );
    }
    let is_of_browser = BROWSER_PREFIXES.iter().any(|prefix| scheme.starts_with(prefix));
    if is_of_browser || RESERVED_SCHEMES.contains(&scheme) {
        return Err("is a scheme that browsers or systems interpret themselves");
    }
    Ok(())
}

/// Checks an address that a client registers, with the private-use schemes that are permitted.
///
/// # Errors
/// The broken rule.
pub(super) fn check(text: &str, schemes: &[String]) -> Result<(), &'static str> {
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
    if schemes.iter().any(|scheme| scheme == url.scheme()) {
        let is_empty = url.host_str().unwrap_or_default().is_empty() && url.path().len() < 2;
        return if is_empty { Err("has neither a host nor a path") } else { Ok(()) };
    }
    Err(
        "is neither https nor http on 127.0.0.1, [::1] or localhost, nor of a scheme in auth.oauth.redirect_schemes",
    )
}

/// Returns the scheme of an address that opens a program on the machine of the user; `None` for one of the web.
pub(super) fn private_scheme(text: &str) -> Option<String> {
    let url: Url = text.parse().ok()?;
    (!matches!(url.scheme(), "http" | "https")).then(|| url.scheme().to_owned())
}

/// Returns whether a request may use an address: it is a registered one whose scheme is still permitted, or differs only in
/// the port of a loopback address, which programs choose when they start (RFC 8252, section 7.3).
pub(super) fn is_registered(registered: &[String], text: &str, schemes: &[String]) -> bool {
    if check(text, schemes).is_err() {
        return false;
    }
    if registered.iter().any(|address| address == text) {
        return true;
    }
    let without_port = |text: &str| -> Option<Url> {
        let mut url: Url = text.parse().ok().filter(is_loopback_http)?;
        url.set_port(None).ok()?;
        Some(url)
    };
    without_port(text)
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
            assert_eq!(check(valid, &[]), Ok(()), "{valid}");
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
            assert!(check(invalid, &[]).is_err(), "{invalid}");
        }
    }

    fn defaults() -> Vec<String> {
        DEFAULT_SCHEMES.iter().map(|scheme| (*scheme).to_owned()).collect()
    }

    #[test]
    fn listed_schemes_of_programs_can_be_registered() {
        for valid in [
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "vscode://vscode.github-authentication/did-authenticate?x=1",
            "vscode-insiders:/callback",
            "claude:callback",
        ] {
            assert_eq!(check(valid, &defaults()), Ok(()), "{valid}");
        }
        for invalid in [
            "cursors://callback",
            "evil://callback",
            "javascript:alert(1)",
            "data:text/html,x",
            "cursor:",
            "cursor://",
            "cursor:/",
            "cursor://user@host/",
            "cursor://host/#x",
            "cursor://ho st/",
            "http://client.test/",
        ] {
            assert!(check(invalid, &defaults()).is_err(), "{invalid}");
        }
        assert!(check("com.example.app:/cb", &["com.example.app".to_owned()]).is_ok());
    }

    #[test]
    fn schemes_of_browsers_and_systems_cannot_be_listed() {
        for valid in DEFAULT_SCHEMES.iter().chain(&["com.example.app", "my+app", "a1"]) {
            assert_eq!(check_scheme(valid), Ok(()), "{valid}");
        }
        let long = "a".repeat(41);
        for invalid in [
            "javascript",
            "data",
            "https",
            "http",
            "file",
            "view-source",
            "chrome-extension",
            "ms-settings",
            "Cursor",
            "cursor:",
            "1a",
            "",
            "a b",
            "ü",
            &long,
        ] {
            assert!(check_scheme(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn address_of_a_program_matches_exactly_while_its_scheme_is_listed() {
        let registered = ["cursor://a/cb".to_owned()];
        assert!(is_registered(&registered, "cursor://a/cb", &defaults()));
        for other in ["cursor://a/cb?x", "cursor://a:1/cb", "cursor://b/cb", "CURSOR://a/cb", "vscode://a/cb"]
        {
            assert!(!is_registered(&registered, other, &defaults()), "{other}");
        }
        assert!(!is_registered(&registered, "cursor://a/cb", &[]), "the operator has removed the scheme");
        assert_eq!(private_scheme("cursor://a/cb").as_deref(), Some("cursor"));
        assert_eq!(private_scheme("https://a.test/cb"), None);
    }

    #[track_caller]
    fn check_match(registered: &str, text: &str, expected: bool) {
        assert_eq!(is_registered(&[registered.to_owned()], text, &[]), expected, "{registered} {text}");
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
