//! Detection of challenges: block pages of bot protection, captchas, and browser checks served instead of a page.
//!
//! A challenge is an error and never returned as content, because a caller could not tell the text of a captcha from
//! the text of the page. Markers of a vendor also occur in real pages (a contact form has a captcha, every page behind
//! some vendors loads their script), so a marker counts only in a response with next to no text, or in a header that
//! explicitly declares a challenge.

use http::{HeaderMap, StatusCode};

use crate::visible::visible_words;

/// The maximum number of words of a challenge; a real page usually has more.
const MAX_CHALLENGE_WORDS: usize = 150;

/// The maximum number of words of a challenge that only a phrase reveals.
const MAX_PHRASE_ONLY_WORDS: usize = 40;

/// The maximum size of a body that is scanned, in bytes; challenges are small.
const MAX_SCAN_BYTES: usize = 256 * 1024;

/// The headers that only a challenge has: name, part of the value (in lower case), vendor.
const HEADERS: &[(&str, &str, &str)] = &[
    ("cf-mitigated", "challenge", "Cloudflare"),
    ("x-amzn-waf-action", "challenge", "AWS WAF"),
    ("x-amzn-waf-action", "captcha", "AWS WAF"),
    ("x-vercel-mitigated", "challenge", "Vercel"),
    ("x-sucuri-block", "", "Sucuri"),
];

/// The markers in the source of a challenge (in lower case), and the vendor.
const MARKERS: &[(&str, &str)] = &[
    ("/cdn-cgi/challenge-platform/", "Cloudflare"),
    ("challenges.cloudflare.com/turnstile", "Cloudflare"),
    ("cf-error-details", "Cloudflare"),
    ("captcha-delivery.com", "DataDome"),
    ("px-captcha", "HUMAN"),
    ("_pxappid", "HUMAN"),
    ("_incapsula_resource", "Imperva"),
    ("incapsula incident id", "Imperva"),
    ("errors.edgesuite.net", "Akamai"),
    ("/_sec/cp_challenge/", "Akamai"),
    ("awswaf.com", "AWS WAF"),
    ("awswafcookiedomainlist", "AWS WAF"),
    ("/kpsdk-", "Kasada"),
    ("/_kpsdk", "Kasada"),
    ("geetest.com", "GeeTest"),
    ("sucuri_cloudproxy", "Sucuri"),
    ("ddos-guard.net", "DDoS-Guard"),
    ("/.well-known/ddos-guard/", "DDoS-Guard"),
    ("within.website/x/cmd/anubis", "Anubis"),
    ("anubis_challenge", "Anubis"),
    ("friendlycaptcha", "Friendly Captcha"),
    ("google.com/recaptcha", "reCAPTCHA"),
    ("recaptcha.net/recaptcha", "reCAPTCHA"),
    ("hcaptcha.com", "hCaptcha"),
];

/// The phrases in which challenges address a user (in lower case).
const PHRASES: &[&str] = &[
    "just a moment...",
    "checking your browser",
    "checking if the site connection is secure",
    "verify you are human",
    "verifying you are human",
    "verify that you are human",
    "verify that you're human",
    "are you a robot",
    "are you human?",
    "you are not a robot",
    "you're not a robot",
    "i'm not a robot",
    "prove you are human",
    "press & hold to confirm",
    "press &amp; hold to confirm",
    "unusual traffic from your computer network",
    "enable javascript and cookies to continue",
    "please turn javascript on and reload the page",
    "please enable cookies and reload the page",
    "complete the security check to access",
    "pardon our interruption",
    "attention required! | cloudflare",
    "ddos protection by",
    "your request has been blocked",
    "you have been blocked",
    "automated access to this page was denied",
    "access to this page has been denied",
    "making sure you're not a bot",
    "making sure you&#39;re not a bot",
];

/// Returns the vendor of a challenge; `None` if the response seems to be the page.
///
/// Only HTML is scanned, because challenges are HTML.
pub(crate) fn detect_challenge(
    status: StatusCode,
    headers: &HeaderMap,
    is_html: bool,
    body: &[u8],
) -> Option<&'static str> {
    let by_header = HEADERS.iter().find(|(name, part, _)| {
        headers.get_all(*name).iter().any(|value| lower(value.as_bytes()).contains(part))
    });
    if let Some((_, _, vendor)) = by_header {
        return Some(vendor);
    }
    if !is_html || body.len() > MAX_SCAN_BYTES {
        return None;
    }
    // The words are counted first, because that returns early for nearly every page; the search for markers scans the
    // whole body many times.
    let words = visible_words(body, MAX_CHALLENGE_WORDS + 1);
    if words > MAX_CHALLENGE_WORDS {
        return None;
    }
    let source = lower(body);
    let vendor = MARKERS.iter().find(|(marker, _)| source.contains(marker)).map(|&(_, vendor)| vendor);
    let has_phrase = PHRASES.iter().any(|phrase| source.contains(phrase));
    // Without an error status a marker alone is not enough, as a short thank-you page may have a captcha in its form.
    // Then a challenge has both a marker and a phrase, or a phrase and next to no other words.
    let (is_challenge, max_words) = if is_challenge_status(status) {
        (vendor.is_some() || has_phrase, MAX_CHALLENGE_WORDS)
    } else if vendor.is_some() && has_phrase {
        (true, MAX_CHALLENGE_WORDS)
    } else {
        (has_phrase, MAX_PHRASE_ONLY_WORDS)
    };
    (is_challenge && words <= max_words).then(|| vendor.unwrap_or("an unknown vendor"))
}

/// Returns whether challenges are served with this status.
fn is_challenge_status(status: StatusCode) -> bool {
    matches!(status.as_u16(), 401 | 403 | 405 | 406 | 418 | 429 | 444 | 503 | 520..=529)
}

fn lower(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes.to_ascii_lowercase()).into_owned()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[track_caller]
    fn check(status: u16, body: &str, expected: Option<&str>) {
        let found =
            detect_challenge(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), true, body.as_bytes());
        assert_eq!(found, expected, "{status} {body}");
    }

    fn article(more: &str) -> String {
        format!("<html><body><article>{}</article>{more}</body></html>", "A word of a real page. ".repeat(60))
    }

    #[test]
    fn challenge_is_detected_by_marker_or_phrase() {
        let challenge =
            "<title>Just a moment...</title><script src='/cdn-cgi/challenge-platform/h/b/x.js'></script>";
        check(403, challenge, Some("Cloudflare"));
        check(503, challenge, Some("Cloudflare"));
        check(200, challenge, Some("Cloudflare"));
        check(403, "<script src='https://ct.captcha-delivery.com/c.js'></script>", Some("DataDome"));
        check(403, "<h1>Access Denied</h1><p>https://errors.edgesuite.net/18.5</p>", Some("Akamai"));
        check(
            200,
            "<div id='px-captcha'></div><p>Press &amp; Hold to confirm you are a human</p>",
            Some("HUMAN"),
        );
        check(
            429,
            "<p>Our systems have detected unusual traffic from your computer network.</p>",
            Some("an unknown vendor"),
        );
        check(200, "<title>Making sure you're not a bot!</title><p>Loading</p>", Some("an unknown vendor"));
    }

    #[test]
    fn real_page_with_marker_is_not_a_challenge() {
        check(200, &article("<script src='/cdn-cgi/challenge-platform/x.js'></script>"), None);
        check(
            200,
            &article(
                "<form><div class='g-recaptcha'></div><script src='https://www.google.com/recaptcha/api.js'></script></form>",
            ),
            None,
        );
        check(200, &article("<p>How a site asks: verify you are human, or are you a robot?</p>"), None);
        check(403, &article("<p>You have been blocked.</p>"), None);
        check(
            200,
            "<p>Thank you for your message.</p><script src='https://hcaptcha.com/1/api.js'></script>",
            None,
        );
        check(200, "<p>Hello</p>", None);
        check(404, "<p>Not found</p>", None);
        check(403, "<h1>403 Forbidden</h1><hr>nginx", None);
    }

    #[test]
    fn challenge_is_detected_by_header() {
        let mut headers = HeaderMap::new();
        headers.insert("cf-mitigated", HeaderValue::from_static("challenge"));
        assert_eq!(detect_challenge(StatusCode::FORBIDDEN, &headers, false, b""), Some("Cloudflare"));
        headers.insert("cf-mitigated", HeaderValue::from_static("none"));
        assert_eq!(detect_challenge(StatusCode::FORBIDDEN, &headers, false, b""), None);
    }

    #[test]
    fn response_other_than_html_is_not_a_challenge() {
        let text = b"{\"title\": \"Just a moment...\"}";
        assert_eq!(detect_challenge(StatusCode::OK, &HeaderMap::new(), false, text), None);
    }
}
