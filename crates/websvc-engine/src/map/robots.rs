//! The robots.txt files of the hosts of a map.

use std::collections::HashMap;

use url::Url;
use websvc_site::RobotsTxt;

/// The maximum number of hosts that one map contacts.
pub(super) const MAX_HOSTS: usize = 8;

/// The robots.txt of each host that was contacted.
#[derive(Default)]
pub(super) struct RobotsCache(HashMap<String, RobotsTxt>);

impl RobotsCache {
    pub(super) fn contains(&self, url: &Url) -> bool {
        self.0.contains_key(&origin(url))
    }

    pub(super) fn has_capacity(&self) -> bool {
        self.0.len() < MAX_HOSTS
    }

    pub(super) fn set(&mut self, url: &Url, robots_txt: RobotsTxt) {
        self.0.insert(origin(url), robots_txt);
    }

    /// Returns whether a URL may be fetched. False if the robots.txt of its host is unknown.
    pub(super) fn is_allowed(&self, url: &Url) -> bool {
        self.0.get(&origin(url)).is_some_and(|robots_txt| robots_txt.is_allowed(url))
    }
}

/// Returns the origin of a URL. A robots.txt applies to a scheme, a host and a port (RFC 9309, section 2.3).
fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}
