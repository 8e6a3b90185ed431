//! The robots.txt of a host (RFC 9309).

use std::borrow::Cow;
use std::time::Duration;

use http::StatusCode;
use texting_robots::Robot;
use url::Url;

use crate::host::is_web;
use crate::percent_encoding::{decoded_at, is_unreserved};

/// The longest delay between requests that a robots.txt can demand.
const MAX_DELAY: Duration = Duration::from_secs(30);

/// The number of bytes of a robots.txt that are read. RFC 9309 (section 2.5) requires at least 500 KiB.
pub const MAX_ROBOTS_BYTES: u64 = 512 * 1024;

/// The reason to skip a page that the robots.txt of its host disallows.
const DISALLOWED: &str = "disallowed by robots.txt";

/// The robots.txt of a host, or the reason why there is none.
#[derive(Debug)]
pub struct RobotsTxt {
    status: RobotsStatus,
    /// The parsed file; only with [`RobotsStatus::Available`].
    rules: Option<Box<Robot>>,
}

/// The outcome of fetching a robots.txt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RobotsStatus {
    /// It was read, and its rules apply.
    Available,
    /// The host has no robots.txt: the status was neither 2xx, 429 nor 5xx (RFC 9309, section 2.3.1.3). Everything is
    /// allowed.
    Unavailable,
    /// The host responded with 429 or 5xx, or with something that could not be read (section 2.3.1.4). Nothing is
    /// allowed.
    ServerError,
    /// The host could not be reached (section 2.3.1.4). Nothing is allowed.
    Unreachable,
    /// Every request to the host fails in the same way, such as for its certificate. Everything is allowed, so that the
    /// requests for pages report the cause.
    HostFailed,
}

impl RobotsStatus {
    /// Returns whether fetching the file again may have another outcome soon.
    #[must_use]
    pub fn is_temporary(self) -> bool {
        match self {
            Self::Available | Self::Unavailable => false,
            Self::ServerError | Self::Unreachable | Self::HostFailed => true,
        }
    }
}

/// Returns the URL of the robots.txt of the host of `page`, an http or https URL.
#[must_use]
pub fn robots_url(page: &Url) -> Url {
    page.join("/robots.txt").expect("an absolute path joins every origin")
}

impl RobotsTxt {
    /// Reads a response to the request for a robots.txt, of which `body` is at most the first
    /// [`MAX_ROBOTS_BYTES`](crate::MAX_ROBOTS_BYTES).
    #[must_use]
    pub fn read(status: StatusCode, body: &[u8], agent: &str) -> Self {
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Self::without_rules(RobotsStatus::ServerError);
        }
        if !status.is_success() {
            return Self::without_rules(RobotsStatus::Unavailable);
        }
        let rules = parse(agent, whole_lines(body)).map(Box::new);
        Self { status: RobotsStatus::Available, rules }
    }

    /// Returns a robots.txt that was not read.
    #[must_use]
    pub fn without_rules(status: RobotsStatus) -> Self {
        Self { status, rules: None }
    }

    /// Returns the outcome of fetching it.
    #[must_use]
    pub fn status(&self) -> RobotsStatus {
        self.status
    }

    /// Returns whether `url` may be fetched.
    #[must_use]
    pub fn is_allowed(&self, url: &Url) -> bool {
        match self.status {
            RobotsStatus::Available => self.rules.as_ref().is_none_or(|rules| {
                let url = with_normal_escapes(url.as_str().as_bytes());
                rules.allowed(&String::from_utf8_lossy(&url))
            }),
            RobotsStatus::Unavailable | RobotsStatus::HostFailed => true,
            RobotsStatus::ServerError | RobotsStatus::Unreachable => false,
        }
    }

    /// Returns the reason to skip a page that is not allowed.
    #[must_use]
    pub fn reason_to_skip(&self) -> &'static str {
        match self.status {
            RobotsStatus::ServerError | RobotsStatus::Unreachable => {
                "the host's robots.txt could not be read"
            }
            RobotsStatus::Available | RobotsStatus::Unavailable | RobotsStatus::HostFailed => DISALLOWED,
        }
    }

    /// Returns the delay between requests that the host demands (`Crawl-delay`).
    #[must_use]
    pub fn delay(&self) -> Option<Duration> {
        let delay = self.rules.as_ref()?.delay?;
        Duration::try_from_secs_f32(delay).ok().map(|delay| delay.min(MAX_DELAY))
    }

    /// Returns the sitemaps that the file names. Some have no host, and mean that of the file, which has `origin`.
    #[must_use]
    pub fn sitemaps(&self, origin: &Url) -> Vec<Url> {
        let named = self.rules.iter().flat_map(|rules| &rules.sitemaps);
        named.filter_map(|text| robots_url(origin).join(text.trim()).ok()).filter(is_web).collect()
    }

    /// Returns the sitemaps that the file names, or else `/sitemap.xml`.
    #[must_use]
    pub fn sitemaps_or_default(&self, origin: &Url) -> Vec<Url> {
        let mut sitemaps = self.sitemaps(origin);
        if sitemaps.is_empty() {
            sitemaps.extend(origin.join("/sitemap.xml"));
        }
        sitemaps
    }
}

/// Returns a text without escapes of characters that need none, and with others in upper case, so that `/%61` and `/a`,
/// `/%c3` and `/%C3` are the same path (RFC 9309, section 2.2.2).
fn with_normal_escapes(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'%') {
        return text.into();
    }
    let (mut normal, mut at) = (Vec::with_capacity(text.len()), 0);
    while let Some(first) = text.get(at) {
        let length = match decoded_at(text, at) {
            None => {
                normal.push(*first);
                1
            }
            Some(byte) if is_unreserved(byte) => {
                normal.push(byte);
                3
            }
            Some(_) => {
                normal.extend(text[at..at + 3].to_ascii_uppercase());
                3
            }
        };
        at += length;
    }
    normal.into()
}

/// Parses a robots.txt. Lines that cannot be parsed are left out, and the others still apply (RFC 9309, section
/// 2.3.1.5).
fn parse(agent: &str, body: &[u8]) -> Option<Robot> {
    let body = &*with_normal_escapes(body);
    if let Ok(robot) = Robot::new(agent, body) {
        return Some(robot);
    }
    let lines = body.split(|byte| matches!(byte, b'\n' | b'\r'));
    let valid: Vec<&[u8]> = lines.filter(|line| Robot::new(agent, line).is_ok()).collect();
    Robot::new(agent, &valid.join(&b'\n')).ok()
}

/// Returns a body without its last line if the size limit has cut it: the beginning of a path forbids more than the
/// path.
fn whole_lines(body: &[u8]) -> &[u8] {
    if (body.len() as u64) < MAX_ROBOTS_BYTES {
        return body;
    }
    let end = body.iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
    &body[..end.map_or(0, |end| end + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] =
        b"User-agent: websvc\nDisallow: /private\nCrawl-delay: 2\n\nUser-agent: *\nDisallow: /\n\
        Sitemap: http://a.test/map.xml\n";

    fn url(path: &str) -> Url {
        Url::parse(&format!("http://a.test{path}")).unwrap()
    }

    #[test]
    fn group_of_the_own_user_agent_is_obeyed() {
        let robots_txt = RobotsTxt::read(StatusCode::OK, TEXT, "websvc");
        assert_eq!(robots_txt.status(), RobotsStatus::Available);
        assert!(robots_txt.is_allowed(&url("/public")));
        assert!(!robots_txt.is_allowed(&url("/private/x")));
        assert_eq!(robots_txt.delay(), Some(Duration::from_secs(2)));
        assert_eq!(robots_txt.sitemaps(&url("/")), [url("/map.xml")]);
    }

    #[test]
    fn sitemaps_without_a_host_are_those_of_the_file() {
        let text = b"Sitemap: /a.xml\nSitemap: b.xml\nSitemap: //b.test/c.xml\nSitemap: ftp://a.test/d.xml\n";
        let robots_txt = RobotsTxt::read(StatusCode::OK, text, "websvc");
        let named: Vec<String> = robots_txt.sitemaps(&url("/x/y")).iter().map(Url::to_string).collect();
        assert_eq!(named, ["http://a.test/a.xml", "http://a.test/b.xml", "http://b.test/c.xml"]);
    }

    #[test]
    fn escapes_of_plain_characters_make_no_difference() {
        for (rule, path, is_allowed) in [
            ("/%61", "/a", false),
            ("/a", "/%61", false),
            ("/a%2Fb", "/a/b", true),
            ("/a%2Fb", "/a%2Fb", false),
            ("/%7Euser/", "/~user/x", false),
            ("/%e2%82%ac", "/%E2%82%AC", false),
            ("/%", "/x", true),
        ] {
            let text = format!("User-agent: *\nDisallow: {rule}\n");
            let robots_txt = RobotsTxt::read(StatusCode::OK, text.as_bytes(), "websvc");
            assert_eq!(robots_txt.is_allowed(&url(path)), is_allowed, "{rule} {path}");
        }
    }

    #[test]
    fn missing_file_allows_everything_and_server_error_nothing() {
        let check = |status: StatusCode, expected: RobotsStatus, is_allowed: bool| {
            let robots_txt = RobotsTxt::read(status, b"", "websvc");
            assert_eq!((robots_txt.status(), robots_txt.is_allowed(&url("/"))), (expected, is_allowed));
        };
        check(StatusCode::OK, RobotsStatus::Available, true);
        check(StatusCode::NOT_FOUND, RobotsStatus::Unavailable, true);
        check(StatusCode::FORBIDDEN, RobotsStatus::Unavailable, true);
        check(StatusCode::TOO_MANY_REQUESTS, RobotsStatus::ServerError, false);
        check(StatusCode::SERVICE_UNAVAILABLE, RobotsStatus::ServerError, false);
    }

    #[test]
    fn rules_that_cannot_be_parsed_do_not_disable_the_others() {
        let invalid = format!("{}$", "a*".repeat(10_000));
        assert!(Robot::new("websvc", format!("Disallow: /{invalid}").as_bytes()).is_err());
        let text =
            format!("User-agent: *\r\nDisallow: /{invalid}\r\nDisallow: /private\r\nCrawl-delay: 2\r\n");
        let robots_txt = RobotsTxt::read(StatusCode::OK, text.as_bytes(), "websvc");
        assert!(robots_txt.is_allowed(&url("/public")));
        assert!(!robots_txt.is_allowed(&url("/private/x")));
        assert_eq!(robots_txt.delay(), Some(Duration::from_secs(2)));
    }

    #[test]
    fn line_cut_by_the_size_limit_is_ignored() {
        let max_bytes = usize::try_from(MAX_ROBOTS_BYTES).unwrap();
        let check = |last: &str, expected: bool| {
            let first = "User-agent: *\nDisallow: /private\n";
            let filler = "#".repeat(max_bytes - first.len() - 1 - last.len());
            let body = format!("{first}{filler}\n{last}");
            assert_eq!(body.len(), max_bytes);
            let robots_txt = RobotsTxt::read(StatusCode::OK, body.as_bytes(), "websvc");
            assert!(!robots_txt.is_allowed(&url("/private/x")));
            assert_eq!(robots_txt.is_allowed(&url("/public")), expected, "{last:?}");
        };
        check("Disallow: /", true);
        check("Disallow: /\n", false);
        assert!(RobotsTxt::read(StatusCode::OK, &vec![b'x'; max_bytes], "websvc").is_allowed(&url("/")));
    }
}
