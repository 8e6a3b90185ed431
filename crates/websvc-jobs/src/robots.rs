//! Rules of robots.txt for crawls, fetched once for all jobs.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::OnceCell;
use url::Url;
use websvc_engine::crawl::{RobotsTxt, fetch_robots_txt, host_key};
use websvc_scrape::Scraper;
use websvc_transport::TlsPolicy;

/// How long the rules of a host hold (RFC 9309, section 2.4, allows a day).
const LIFE: Duration = Duration::from_secs(3_600);

/// When so many hosts are known, those whose rules do not hold any more are forgotten, and else all.
const MANY: usize = 1_024;

/// The rules of the hosts that were asked.
#[derive(Default)]
pub(crate) struct Robots {
    hosts: Mutex<HashMap<String, CachedRobots>>,
}

/// Rules, and from when on they hold.
type CachedRobots = (Instant, Arc<OnceCell<RobotsTxt>>);

impl Robots {
    /// Returns the rules of the host of a URL, which is asked when they are not known.
    pub(crate) async fn rules(
        &self,
        scraper: &Scraper,
        url: &Url,
        tls: TlsPolicy,
        deadline: Instant,
    ) -> Arc<OnceCell<RobotsTxt>> {
        // What was read without looking at the certificate does not hold for who looks at it.
        let host = format!("{}://{} {tls:?}", url.scheme(), host_key(url));
        let cell = self.cell(host.clone(), Instant::now());
        // Only for the callers that wait now: a later caller fetches it again.
        if cell.get_or_init(|| fetch_robots_txt(scraper, url, tls, deadline)).await.status().is_temporary() {
            self.forget(&host, &cell);
        }
        cell
    }

    fn forget(&self, host: &str, cell: &Arc<OnceCell<RobotsTxt>>) {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.get(host).is_some_and(|(_, known)| Arc::ptr_eq(known, cell)) {
            hosts.remove(host);
        }
    }

    fn cell(&self, host: String, now: Instant) -> Arc<OnceCell<RobotsTxt>> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.len() >= MANY {
            hosts.retain(|_, (at, _)| *at + LIFE > now);
            if hosts.len() >= MANY {
                hosts.clear();
            }
        }
        let (at, cell) = hosts.entry(host).or_insert_with(|| (now, Arc::default()));
        if *at + LIFE <= now {
            (*at, *cell) = (now, Arc::default());
        }
        Arc::clone(cell)
    }
}

impl fmt::Debug for Robots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Robots").finish_non_exhaustive()
    }
}
