//! Addresses as they may be shown.

use url::Url;

/// Returns an address without what may be secret in it: user, password, query and fragment. What is no URL is not shown.
#[must_use]
pub fn redact_url(text: &str) -> String {
    let Ok(mut url) = Url::parse(text) else { return String::new() };
    url.set_query(None);
    url.set_fragment(None);
    // Only what has no host refuses this, and has no user either.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_secret_is_left_out() {
        let check = |text: &str, expected: &str| assert_eq!(redact_url(text), expected, "{text}");
        check("https://u:p@hook.test:8443/a/b?token=x#y", "https://hook.test:8443/a/b");
        check("http://hook.test", "http://hook.test/");
        check("token=secret", "");
    }
}
