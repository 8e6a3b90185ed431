//! The fetch of robots.txt files.

use std::time::Instant;

use url::Url;
use websvc_scrape::{FileResponse, ScrapeError, Scraper};
use websvc_site::{MAX_ROBOTS_BYTES, RobotsStatus, RobotsTxt, robots_url};
use websvc_transport::TlsPolicy;

/// Fetches the robots.txt of the host of `page`, until `deadline`. The rules are those for `agent`.
pub async fn fetch_robots_txt(
    scraper: &Scraper,
    page: &Url,
    agent: &str,
    tls: TlsPolicy,
    deadline: Instant,
) -> RobotsTxt {
    read_robots_txt(&fetch_robots_file(scraper, page, tls, deadline).await, agent)
}

/// Fetches the file of a robots.txt, of which at most the first [`MAX_ROBOTS_BYTES`] are read.
pub(super) async fn fetch_robots_file(
    scraper: &Scraper,
    page: &Url,
    tls: TlsPolicy,
    deadline: Instant,
) -> Result<FileResponse, ScrapeError> {
    scraper.file_prefix(&robots_url(page), MAX_ROBOTS_BYTES, tls, deadline).await
}

/// Returns the rules of a robots.txt, or of a host that did not respond to the request for it.
pub(super) fn read_robots_txt(response: &Result<FileResponse, ScrapeError>, agent: &str) -> RobotsTxt {
    match response {
        Ok(file) => RobotsTxt::read(file.status, &file.body, agent),
        Err(error) => RobotsTxt::without_rules(if error.is_for_every_request() {
            RobotsStatus::HostFailed
        } else if error.is_unreachable() {
            RobotsStatus::Unreachable
        } else {
            RobotsStatus::ServerError
        }),
    }
}
