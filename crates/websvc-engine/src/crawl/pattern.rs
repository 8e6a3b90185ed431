//! Patterns that choose the URLs of a crawl.

use std::convert::Infallible;
use std::str::FromStr;

use url::Url;

/// A pattern for URLs, in which `*` stands for any run of characters, also for none.
///
/// A pattern with `://` is compared with the whole URL, any other with path and query: `/docs/*`,
/// `*.html`, `https://*.example.org/*`. Letter case counts. Nothing but `*` has a meaning of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlPattern(String);

impl UrlPattern {
    /// Returns whether `url`, its fragment aside, is one of those meant.
    pub fn matches(&self, url: &Url) -> bool {
        let whole = url.as_str().split('#').next().unwrap_or_default();
        if self.0.contains("://") {
            return is_match(&self.0, whole);
        }
        is_match(&self.0, &whole[whole.len().min(url[..url::Position::BeforePath].len())..])
    }
}

impl FromStr for UrlPattern {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

/// Compares a text with a pattern: each piece between stars is looked for at its first place, which finds a match if
/// there is one.
fn is_match(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, url: &str, expected: bool) {
        let pattern: UrlPattern = pattern.parse().unwrap();
        assert_eq!(pattern.matches(&Url::parse(url).unwrap()), expected, "{pattern:?} {url}");
    }

    #[test]
    fn patterns_without_a_scheme_are_for_path_and_query() {
        check("/docs/*", "http://a.test/docs/x/y", true);
        check("/docs/*", "http://a.test/docs", false);
        check("/docs/*", "http://a.test/old/docs/x", false);
        check("*/docs/*", "http://a.test/old/docs/x", true);
        check("*.html", "http://a.test/x.html#part", true);
        check("*.html", "http://a.test/x.html?a", false);
        check("*?print=*", "http://a.test/x?print=1", true);
        check("/", "http://a.test/", true);
        check("/", "http://a.test/x", false);
        check("*", "http://a.test/x", true);
        check("", "http://a.test/", false);
    }

    #[test]
    fn patterns_with_a_scheme_are_for_the_whole_url() {
        check("http://*.a.test/*", "http://b.a.test/x", true);
        check("http://*.a.test/*", "http://a.test/x", false);
        check("*://a.test:8080/*", "http://a.test:8080/x", true);
    }

    #[test]
    fn pieces_do_not_overlap() {
        check("/ab*ba", "http://a.test/aba", false);
        check("/ab*ba", "http://a.test/abba", true);
        check("/a*b*c", "http://a.test/a-c-b-c", true);
    }
}
