//! URLs without their secret parts.

use url::Url;

/// Returns a URL without the parts that may be secret: user, password, query and fragment. Returns an empty string for a
/// text that is not a URL.
#[must_use]
pub fn redact_url(text: &str) -> String {
    let Ok(mut url) = Url::parse(text) else { return String::new() };
    url.set_query(None);
    url.set_fragment(None);
    // Fails only for a URL without a host, which has no user either.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redact_url_omits_secret_parts() {
        let check = |text: &str, expected: &str| assert_eq!(redact_url(text), expected, "{text}");
        check("https://u:p@hook.test:8443/a/b?token=x#y", "https://hook.test:8443/a/b");
        check("http://hook.test", "http://hook.test/");
        check("token=secret", "");
    }
}
