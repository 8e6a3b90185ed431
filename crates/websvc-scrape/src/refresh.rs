//! Pages that lead on by themselves: the `Refresh` header and `<meta http-equiv="refresh">`.

use http::header::REFRESH;
use url::Url;

use crate::raw::RawPage;
use crate::visible::{SourceToken, attribute, is_named, scan_tags};

/// A page that stays for longer than this many seconds is meant to be read.
const LONGEST_WAIT_SECONDS: f64 = 5.0;

/// The head of a page is looked at up to here.
const LOOKED_AT: usize = 64 * 1024;

/// Returns where a page leads on to by itself within a few seconds. A page that only loads itself again does not.
pub(crate) fn target(page: &RawPage) -> Option<Url> {
    if !page.status.is_success() {
        return None;
    }
    let by_header =
        page.headers.get(REFRESH).and_then(|value| String::from_utf8(value.as_bytes().to_vec()).ok());
    let text = by_header.or_else(|| if page.is_html() { in_head(&page.body) } else { None })?;
    let next = page.url.join(&read(&text)?).ok()?;
    let is_elsewhere = without_fragment(&next) != without_fragment(&page.url);
    (is_elsewhere && matches!(next.scheme(), "http" | "https")).then_some(next)
}

/// Returns the content of the first refreshing meta tag of the head. What stands in `noscript` is for browsers
/// without scripts, and often leads to a page that says no more than that.
fn in_head(body: &[u8]) -> Option<String> {
    for piece in scan_tags(&body[..body.len().min(LOOKED_AT)]) {
        let SourceToken::Tag(tag) = piece else { continue };
        if is_named(tag, "body") {
            return None;
        }
        let refreshes = || {
            attribute(tag, "http-equiv")
                .is_some_and(|value| value.trim_ascii().eq_ignore_ascii_case(b"refresh"))
        };
        if is_named(tag, "meta") && refreshes() {
            let content = String::from_utf8_lossy(attribute(tag, "content")?);
            // The one character of URLs that HTML writes otherwise.
            return Some(content.replace("&amp;", "&").replace("&#38;", "&"));
        }
    }
    None
}

/// Reads `0; url=/next` as browsers do: any of the parts may be missing or oddly spelled (HTML standard, section
/// "shared declarative refresh steps").
fn read(text: &str) -> Option<String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (wait, rest) = text.split_at(digits);
    if wait.parse::<f64>().ok()? > LONGEST_WAIT_SECONDS {
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

fn without_fragment(url: &Url) -> Url {
    let mut url = url.clone();
    url.set_fragment(None);
    url
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
    fn a_quick_refresh_leads_on() {
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
    fn what_does_not_lead_on_does_not() {
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
