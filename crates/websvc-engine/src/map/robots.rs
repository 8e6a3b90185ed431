//! The robots.txt of the hosts of a map.

use std::collections::HashMap;

use url::Url;

use crate::crawl::robots::RobotsTxt;

/// So many hosts are asked for files in one map.
pub(super) const MAX_HOSTS: usize = 8;

/// The rules of the hosts that were asked.
#[derive(Default)]
pub(super) struct RobotsCache(HashMap<String, RobotsTxt>);

impl RobotsCache {
    pub(super) fn knows(&self, url: &Url) -> bool {
        self.0.contains_key(&origin(url))
    }

    pub(super) fn has_room(&self) -> bool {
        self.0.len() < MAX_HOSTS
    }

    pub(super) fn set(&mut self, url: &Url, rules: RobotsTxt) {
        self.0.insert(origin(url), rules);
    }

    /// Returns whether a URL may be fetched; not, when nothing is known of its host.
    pub(super) fn allow(&self, url: &Url) -> bool {
        self.0.get(&origin(url)).is_some_and(|rules| rules.is_allowed(url))
    }
}

/// A robots.txt is that of a scheme, a host and a port (RFC 9309, section 2.3).
fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}
