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
pub enum Rules {
    /// There is no robots.txt, or it says nothing about us.
    AllowAll,
    /// It could not be read for a fault of the host: nothing may be fetched.
    DisallowAll,
    /// The host could not be reached: nothing may be fetched until it can say what it allows.
    Unanswered,
    /// It could not be read for what keeps pages from being fetched as well, and says more clearly why.
    Unreachable,
    /// What it says.
    Robot(Box<Robot>),
}

/// Returns where the robots.txt of a host is.
pub(crate) fn url(origin: &Url) -> Url {
    origin.join("/robots.txt").expect("an absolute path joins every origin")
}

/// Asks the host of a URL for its rules, until `deadline`.
pub async fn ask_robots(scraper: &Scraper, of: &Url, tls: TlsPolicy, deadline: Instant) -> Rules {
    match scraper.beginning(&url(of), MAX_BYTES, tls, deadline).await {
        Ok(file) => Rules::read(file.status, &file.body, scraper.robots_user_agent()),
        Err(error) if error.is_for_every_request() => Rules::Unreachable,
        Err(error) if error.is_unreachable() => Rules::Unanswered,
        // What cannot be read may forbid everything (RFC 9309, section 2.3.1.4).
        Err(_unreachable) => Rules::DisallowAll,
    }
}

impl Rules {
    /// Reads an answer to the request for robots.txt, which is at most its first [`MAX_BYTES`].
    pub(crate) fn read(status: StatusCode, body: &[u8], agent: &str) -> Self {
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Rules::DisallowAll;
        }
        if !status.is_success() {
            return Rules::AllowAll;
        }
        Robot::new(agent, whole_lines(body)).map_or(Rules::AllowAll, |robot| Rules::Robot(Box::new(robot)))
    }

    /// Returns whether `url` may be fetched.
    #[must_use]
    pub fn allow(&self, url: &Url) -> bool {
        match self {
            Rules::AllowAll | Rules::Unreachable => true,
            Rules::DisallowAll | Rules::Unanswered => false,
            Rules::Robot(robot) => robot.allowed(url.as_str()),
        }
    }

    /// Returns why a page is left out that these rules do not allow.
    pub(super) fn reason_to_skip(&self) -> &'static str {
        match self {
            Rules::DisallowAll | Rules::Unanswered => "the robots.txt of its host could not be read",
            Rules::AllowAll | Rules::Unreachable | Rules::Robot(_) => FORBIDDEN,
        }
    }

    /// Returns the delay the host asks for.
    #[must_use]
    pub fn delay(&self) -> Option<Duration> {
        let Rules::Robot(robot) = self else { return None };
        Duration::try_from_secs_f32(robot.delay?).ok().map(|delay| delay.min(MAX_DELAY))
    }

    /// Returns the sitemaps the host names.
    pub(crate) fn sitemaps(&self) -> &[String] {
        match self {
            Rules::Robot(robot) => &robot.sitemaps,
            Rules::AllowAll | Rules::DisallowAll | Rules::Unanswered | Rules::Unreachable => &[],
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
        let rules = Rules::read(StatusCode::OK, TEXT, "websvc");
        assert!(rules.allow(&url("/public")));
        assert!(!rules.allow(&url("/private/x")));
        assert_eq!(rules.delay(), Some(Duration::from_secs(2)));
        assert_eq!(rules.sitemaps(), ["http://a.test/map.xml"]);
    }

    #[test]
    fn a_missing_file_allows_and_a_broken_host_does_not() {
        assert!(Rules::read(StatusCode::NOT_FOUND, b"", "websvc").allow(&url("/")));
        assert!(!Rules::read(StatusCode::SERVICE_UNAVAILABLE, b"", "websvc").allow(&url("/")));
    }

    #[test]
    fn a_line_that_the_bound_has_cut_does_not_count() {
        let most = usize::try_from(MAX_BYTES).unwrap();
        let check = |last: &str, expected: bool| {
            let first = "User-agent: *\nDisallow: /private\n";
            let filler = "#".repeat(most - first.len() - 1 - last.len());
            let body = format!("{first}{filler}\n{last}");
            assert_eq!(body.len(), most);
            let rules = Rules::read(StatusCode::OK, body.as_bytes(), "websvc");
            assert!(!rules.allow(&url("/private/x")));
            assert_eq!(rules.allow(&url("/public")), expected, "{last:?}");
        };
        check("Disallow: /", true);
        check("Disallow: /\n", false);
        assert!(Rules::read(StatusCode::OK, &vec![b'x'; most], "websvc").allow(&url("/")));
    }
}
