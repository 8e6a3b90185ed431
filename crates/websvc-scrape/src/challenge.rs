//! Pages that are not the page: walls of bot defences, captchas, and checks of the browser.
//!
//! Such an answer is told as a failure and never handed out as content: a caller that gets a captcha as the text of a
//! page cannot know that it did. Marks of a defence also stand in real pages (a contact form has a captcha, every
//! page behind some defences loads their script), so a mark counts only in an answer that has next to no text, or by
//! a header that says outright that this is a challenge.

use http::{HeaderMap, StatusCode};

use crate::visible::visible_words;

/// A real page has more words than this; a wall seldom has.
const WALL_WORDS: usize = 150;

/// How much of a body is looked at; walls are small.
const LOOKED_AT: usize = 256 * 1024;

/// A header that only a wall has: its name, a part of its value (in lower case), whose wall.
const HEADERS: &[(&str, &str, &str)] = &[
    ("cf-mitigated", "challenge", "Cloudflare"),
    ("x-amzn-waf-action", "challenge", "AWS WAF"),
    ("x-amzn-waf-action", "captcha", "AWS WAF"),
    ("x-vercel-mitigated", "challenge", "Vercel"),
    ("x-sucuri-block", "", "Sucuri"),
];

/// A part of the source of a wall (in lower case), whose wall.
const MARKS: &[(&str, &str)] = &[
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

/// What a wall says to a person (in lower case).
const WORDS: &[&str] = &[
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

/// Returns whose wall an answer is; `None` for what seems to be the page.
///
/// The text of a PDF or a picture is not looked at: walls are HTML.
pub(crate) fn detect_challenge(
    status: StatusCode,
    headers: &HeaderMap,
    is_html: bool,
    body: &[u8],
) -> Option<&'static str> {
    let by_header = HEADERS.iter().find(|(name, part, _)| {
        headers.get_all(*name).iter().any(|value| lower(value.as_bytes()).contains(part))
    });
    if let Some((_, _, whose)) = by_header {
        return Some(whose);
    }
    if !is_html || body.len() > LOOKED_AT {
        return None;
    }
    // First, because it ends early for nearly every page: the search for marks looks at all of the body many times.
    let words = visible_words(body, WALL_WORDS + 1);
    if words > WALL_WORDS {
        return None;
    }
    let source = lower(body);
    let mark = MARKS.iter().find(|(mark, _)| source.contains(mark)).map(|&(_, whose)| whose);
    let says_so = WORDS.iter().any(|phrase| source.contains(phrase));
    // Without a refusing status a mark alone does not do, as a short thank-you page may have a captcha in its form: both
    // a mark and what walls say are needed, or what they say in a page of next to no other words.
    let (enough, few) = if is_refusal(status) {
        (mark.is_some() || says_so, WALL_WORDS)
    } else if mark.is_some() && says_so {
        (true, WALL_WORDS)
    } else {
        (says_so, 40)
    };
    (enough && words <= few).then(|| mark.unwrap_or("an unknown defence"))
}

/// Returns whether a status is one that walls answer with.
fn is_refusal(status: StatusCode) -> bool {
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
    fn walls_are_told_by_their_marks() {
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
            Some("an unknown defence"),
        );
        check(200, "<title>Making sure you're not a bot!</title><p>Loading</p>", Some("an unknown defence"));
    }

    #[test]
    fn real_pages_with_marks_are_pages() {
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
    fn a_header_may_say_it() {
        let mut headers = HeaderMap::new();
        headers.insert("cf-mitigated", HeaderValue::from_static("challenge"));
        assert_eq!(detect_challenge(StatusCode::FORBIDDEN, &headers, false, b""), Some("Cloudflare"));
        headers.insert("cf-mitigated", HeaderValue::from_static("none"));
        assert_eq!(detect_challenge(StatusCode::FORBIDDEN, &headers, false, b""), None);
    }

    #[test]
    fn what_is_no_html_is_no_wall() {
        let text = b"{\"title\": \"Just a moment...\"}";
        assert_eq!(detect_challenge(StatusCode::OK, &HeaderMap::new(), false, text), None);
    }
}
