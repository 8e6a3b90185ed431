//! What a host's robots.txt allows (RFC 9309).

use std::time::{Duration, Instant};

use http::StatusCode;
use texting_robots::Robot;
use url::Url;
use websvc_scrape::Scraper;
use websvc_transport::TlsPolicy;

/// The longest delay between requests that a robots.txt can ask for.
const MAX_DELAY: Duration = Duration::from_secs(30);

/// As much of a robots.txt is read as RFC 9309 wants at least (section 2.5); what is behind it does not count.
pub(crate) const MAX_BYTES: u64 = 512 * 1024;

/// Why a page is left out that the robots.txt of its host forbids.
pub(super) const FORBIDDEN: &str = "robots.txt does not allow it";

/// The rules of a host.
pub enum RobotsTxt {
    /// There is no robots.txt, or it says nothing about us.
    AllowAll,
    /// It could not be read for a fault of the host: nothing may be fetched.
    Unavailable,
    /// The host could not be reached: nothing may be fetched until it can say what it allows.
    Unanswered,
    /// It could not be read for what keeps pages from being fetched as well, and says more clearly why.
    HostFailed,
    /// What it says.
    Robot(Box<Robot>),
}

/// Returns where the robots.txt of a host is.
pub(crate) fn url(origin: &Url) -> Url {
    origin.join("/robots.txt").expect("an absolute path joins every origin")
}

/// Asks the host of a URL for its rules, until `deadline`.
pub async fn fetch_robots_txt(scraper: &Scraper, of: &Url, tls: TlsPolicy, deadline: Instant) -> RobotsTxt {
    match scraper.file_prefix(&url(of), MAX_BYTES, tls, deadline).await {
        Ok(file) => RobotsTxt::read(file.status, &file.body, scraper.robots_user_agent()),
        Err(error) if error.is_for_every_request() => RobotsTxt::HostFailed,
        Err(error) if error.is_unreachable() => RobotsTxt::Unanswered,
        // What cannot be read may forbid everything (RFC 9309, section 2.3.1.4).
        Err(_unreachable) => RobotsTxt::Unavailable,
    }
}

impl RobotsTxt {
    /// Reads an answer to the request for robots.txt, which is at most its first [`MAX_BYTES`].
    pub(crate) fn read(status: StatusCode, body: &[u8], agent: &str) -> Self {
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return RobotsTxt::Unavailable;
        }
        if !status.is_success() {
            return RobotsTxt::AllowAll;
        }
        Robot::new(agent, whole_lines(body))
            .map_or(RobotsTxt::AllowAll, |robot| RobotsTxt::Robot(Box::new(robot)))
    }

    /// Returns whether `url` may be fetched.
    #[must_use]
    pub fn is_allowed(&self, url: &Url) -> bool {
        match self {
            RobotsTxt::AllowAll | RobotsTxt::HostFailed => true,
            RobotsTxt::Unavailable | RobotsTxt::Unanswered => false,
            RobotsTxt::Robot(robot) => robot.allowed(url.as_str()),
        }
    }

    /// Returns why a page is left out that these rules do not allow.
    pub(super) fn reason_to_skip(&self) -> &'static str {
        match self {
            RobotsTxt::Unavailable | RobotsTxt::Unanswered => "the robots.txt of its host could not be read",
            RobotsTxt::AllowAll | RobotsTxt::HostFailed | RobotsTxt::Robot(_) => FORBIDDEN,
        }
    }

    /// Returns the delay the host asks for.
    #[must_use]
    pub fn delay(&self) -> Option<Duration> {
        let RobotsTxt::Robot(robot) = self else { return None };
        Duration::try_from_secs_f32(robot.delay?).ok().map(|delay| delay.min(MAX_DELAY))
    }

    /// Returns the sitemaps the host names.
    pub(crate) fn sitemaps(&self) -> &[String] {
        match self {
            RobotsTxt::Robot(robot) => &robot.sitemaps,
            RobotsTxt::AllowAll | RobotsTxt::Unavailable | RobotsTxt::Unanswered | RobotsTxt::HostFailed => {
                &[]
            }
        }
    }
}

/// Returns a body without the line that its bound has cut: half of a path forbids more than the path.
fn whole_lines(body: &[u8]) -> &[u8] {
    if (body.len() as u64) < MAX_BYTES {
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
    fn our_own_group_is_obeyed() {
        let rules = RobotsTxt::read(StatusCode::OK, TEXT, "websvc");
        assert!(rules.is_allowed(&url("/public")));
        assert!(!rules.is_allowed(&url("/private/x")));
        assert_eq!(rules.delay(), Some(Duration::from_secs(2)));
        assert_eq!(rules.sitemaps(), ["http://a.test/map.xml"]);
    }

    #[test]
    fn a_missing_file_allows_and_a_broken_host_does_not() {
        assert!(RobotsTxt::read(StatusCode::NOT_FOUND, b"", "websvc").is_allowed(&url("/")));
        assert!(!RobotsTxt::read(StatusCode::SERVICE_UNAVAILABLE, b"", "websvc").is_allowed(&url("/")));
    }

    #[test]
    fn a_line_that_the_bound_has_cut_does_not_count() {
        let most = usize::try_from(MAX_BYTES).unwrap();
        let check = |last: &str, expected: bool| {
            let first = "User-agent: *\nDisallow: /private\n";
            let filler = "#".repeat(most - first.len() - 1 - last.len());
            let body = format!("{first}{filler}\n{last}");
            assert_eq!(body.len(), most);
            let rules = RobotsTxt::read(StatusCode::OK, body.as_bytes(), "websvc");
            assert!(!rules.is_allowed(&url("/private/x")));
            assert_eq!(rules.is_allowed(&url("/public")), expected, "{last:?}");
        };
        check("Disallow: /", true);
        check("Disallow: /\n", false);
        assert!(RobotsTxt::read(StatusCode::OK, &vec![b'x'; most], "websvc").is_allowed(&url("/")));
    }
}
