//! Cache of robots.txt files for crawls, shared by all jobs.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::OnceCell;
use url::Url;
use websvc_engine::crawl::fetch_robots_txt;
use websvc_scrape::Scraper;
use websvc_site::{RobotsTxt, host_key};
use websvc_transport::TlsPolicy;

/// How long a robots.txt is cached (RFC 9309, section 2.4, allows a day).
const TTL: Duration = Duration::from_secs(3_600);

/// Maximum of hosts in the cache. At this count, expired entries are removed, and if there are none, all entries.
const MAX_HOSTS: usize = 1_024;

/// The robots.txt files by host.
#[derive(Default)]
pub(crate) struct Robots {
    hosts: Mutex<HashMap<String, CachedRobots>>,
}

/// The way in which a job reads robots.txt files.
#[derive(Debug, Clone)]
pub(crate) struct RobotsReader {
    /// The user agent whose rules apply.
    pub(crate) agent: Arc<str>,
    pub(crate) tls: TlsPolicy,
}

impl RobotsReader {
    /// Returns the name that policies with the same decisions share.
    pub(crate) fn policy_name(&self) -> String {
        let verification = match self.tls {
            TlsPolicy::Verify => "",
            TlsPolicy::SkipVerification => " without verification",
        };
        format!("robots.txt of {}{verification}", self.agent)
    }
}

/// A robots.txt with the time of its fetch.
type CachedRobots = (Instant, Arc<OnceCell<RobotsTxt>>);

impl Robots {
    /// Returns the robots.txt of the host of a URL; fetches it if it is not cached.
    pub(crate) async fn get(
        &self,
        scraper: &Scraper,
        url: &Url,
        reader: &RobotsReader,
        deadline: Instant,
    ) -> Arc<OnceCell<RobotsTxt>> {
        let RobotsReader { agent, tls } = reader;
        // A file that was fetched without certificate verification is not used for jobs that verify.
        let host = format!("{}://{} {tls:?} {agent}", url.scheme(), host_key(url));
        let cell = self.cell(host.clone(), Instant::now());
        // Only for the callers that wait now: a later caller fetches it again.
        if cell
            .get_or_init(|| fetch_robots_txt(scraper, url, agent, *tls, deadline))
            .await
            .status()
            .is_temporary()
        {
            self.remove(&host, &cell);
        }
        cell
    }

    fn remove(&self, host: &str, cell: &Arc<OnceCell<RobotsTxt>>) {
        let mut hosts = self.hosts.lock();
        if hosts.get(host).is_some_and(|(_, cached)| Arc::ptr_eq(cached, cell)) {
            hosts.remove(host);
        }
    }

    fn cell(&self, host: String, now: Instant) -> Arc<OnceCell<RobotsTxt>> {
        let mut hosts = self.hosts.lock();
        if hosts.len() >= MAX_HOSTS {
            hosts.retain(|_, (fetched_at, _)| *fetched_at + TTL > now);
            if hosts.len() >= MAX_HOSTS {
                hosts.clear();
            }
        }
        let (fetched_at, cell) = hosts.entry(host).or_insert_with(|| (now, Arc::default()));
        if *fetched_at + TTL <= now {
            (*fetched_at, *cell) = (now, Arc::default());
        }
        Arc::clone(cell)
    }
}

impl fmt::Debug for Robots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Robots").finish_non_exhaustive()
    }
}
