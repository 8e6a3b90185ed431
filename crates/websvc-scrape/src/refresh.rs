//! Refreshes: the `Refresh` header and `<meta http-equiv="refresh">`.

use http::header::REFRESH;
use url::Url;

use crate::cache::without_fragment;
use crate::raw::RawPage;
use crate::visible::{SourceToken, attribute, is_named, scan_tags};

/// The maximum delay of a refresh that is followed, in seconds: a page with a longer delay is meant to be read.
const MAX_DELAY_S: f64 = 5.0;

/// The maximum number of bytes of a body in which the head is scanned.
const MAX_SCAN_BYTES: usize = 64 * 1024;

/// Returns the target of a refresh within a few seconds; `None` for a page that only reloads itself.
pub(crate) fn target(page: &RawPage) -> Option<Url> {
    if !page.status.is_success() {
        return None;
    }
    let by_header =
        page.headers.get(REFRESH).and_then(|value| String::from_utf8(value.as_bytes().to_vec()).ok());
    let text = by_header.or_else(|| if page.is_html() { find_in_head(&page.body) } else { None })?;
    let next = page.url.join(&parse_refresh(&text)?).ok()?;
    let is_other_page = without_fragment(&next) != without_fragment(&page.url);
    (is_other_page && matches!(next.scheme(), "http" | "https")).then_some(next)
}

/// Returns the content of the first refresh meta tag in the head. One inside `noscript` is for browsers without
/// scripts, and its target is often a page that only says so.
fn find_in_head(body: &[u8]) -> Option<String> {
    for token in scan_tags(&body[..body.len().min(MAX_SCAN_BYTES)]) {
        let SourceToken::Tag(tag) = token else { continue };
        if is_named(tag, "body") {
            return None;
        }
        let is_refresh = || {
            attribute(tag, "http-equiv")
                .is_some_and(|value| value.trim_ascii().eq_ignore_ascii_case(b"refresh"))
        };
        if is_named(tag, "meta") && is_refresh() {
            let content = String::from_utf8_lossy(attribute(tag, "content")?);
            // The ampersand is the only character of URLs that HTML escapes.
            return Some(content.replace("&amp;", "&").replace("&#38;", "&"));
        }
    }
    None
}

/// Parses `0; url=/next` as browsers do, where parts may be missing or irregular (HTML standard, section "shared
/// declarative refresh steps").
fn parse_refresh(text: &str) -> Option<String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (delay, rest) = text.split_at(digits);
    if delay.parse::<f64>().ok()? > MAX_DELAY_S {
        return None;
    }
    let rest = rest.trim_start().trim_start_matches([';', ',']).trim_start();
    let after_name = match rest.get(..3) {
        Some(name) if name.eq_ignore_ascii_case("url") => rest[3..].trim_start().strip_prefix('='),
        _ => None,
    };
    let url = after_name.unwrap_or(rest).trim();
    let url = match url.chars().next()? {
        quote @ ('"' | '\'') => url[1..].split(quote).next()?,
        _ => url,
    };
    (!url.is_empty()).then(|| url.to_owned())
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, StatusCode};

    use super::*;

    fn page(header: Option<&'static str>, body: &'static str) -> RawPage {
        let mut headers = HeaderMap::new();
        headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static("text/html"));
        if let Some(value) = header {
            headers.insert(REFRESH, HeaderValue::from_static(value));
        }
        RawPage { headers, body: body.into(), ..RawPage::empty("http://a.test/x/", StatusCode::OK) }
    }

    #[track_caller]
    fn check(page: &RawPage, expected: Option<&str>) {
        assert_eq!(target(page).as_ref().map(Url::as_str), expected, "{page:?}");
    }

    #[test]
    fn refresh_with_short_delay_has_target() {
        check(&page(Some("0; url=/y"), ""), Some("http://a.test/y"));
        check(&page(Some("3;URL='y?a=b'"), ""), Some("http://a.test/x/y?a=b"));
        check(
            &page(None, "<meta http-equiv=refresh content='0;url=http://b.test/'>"),
            Some("http://b.test/"),
        );
        check(
            &page(None, "<META CONTENT=\"1, /y?a=1&amp;b=2\" HTTP-EQUIV='Refresh'>"),
            Some("http://a.test/y?a=1&b=2"),
        );
        check(&page(None, "<meta http-equiv=refresh content='0; url=\"y\"'>"), Some("http://a.test/x/y"));
    }

    #[test]
    fn slow_invalid_or_self_refresh_has_no_target() {
        check(&page(None, "<meta http-equiv=refresh content='30;url=/y'>"), None);
        check(&page(None, "<meta http-equiv=refresh content='5'>"), None);
        check(&page(None, "<meta http-equiv=refresh content='0;url=/x/#top'>"), None);
        check(&page(None, "<meta http-equiv=refresh content='0;url=javascript:x()'>"), None);
        check(&page(None, "<meta http-equiv=refresh content='0;url=file:///etc/passwd'>"), None);
        check(&page(None, "<noscript><meta http-equiv=refresh content='0;url=/y'></noscript>"), None);
        check(&page(None, "<!-- <meta http-equiv=refresh content='0;url=/y'> -->"), None);
        check(&page(None, "<body><meta http-equiv=refresh content='0;url=/y'>"), None);
        check(&page(None, "<meta name=refresh content='0;url=/y'>"), None);
        let missing = RawPage { status: StatusCode::NOT_FOUND, ..page(Some("0; url=/y"), "") };
        check(&missing, None);
    }
}
