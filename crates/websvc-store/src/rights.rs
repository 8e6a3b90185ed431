//! Rights of a key: operations, formats, networks, expiry and limits.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::error::StoreError;
use crate::sql::{self, Row};

/// A group of operations that a key may be restricted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyScope {
    /// Searches.
    Search,
    /// Scrapes, including the content of search results.
    Scrape,
    /// Maps of sites.
    Map,
    /// Batch scrapes.
    Batch,
    /// Crawls.
    Crawl,
    /// Monitors, with the scrapes, crawls and searches of their checks.
    Monitor,
    /// Browser sessions, also on the page of a scrape.
    Interact,
    /// Agent runs and extractions, with the searches, maps, scrapes and crawls that they make.
    Agent,
    /// Writes to the embedded index, and its statistics.
    Index,
}

impl KeyScope {
    /// Every scope.
    pub const ALL: &'static [Self] = &[
        Self::Search,
        Self::Scrape,
        Self::Map,
        Self::Batch,
        Self::Crawl,
        Self::Monitor,
        Self::Interact,
        Self::Agent,
        Self::Index,
    ];

    /// Returns the name on the command line and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Scrape => "scrape",
            Self::Map => "map",
            Self::Batch => "batch",
            Self::Crawl => "crawl",
            Self::Monitor => "monitor",
            Self::Interact => "interact",
            Self::Agent => "agent",
            Self::Index => "index",
        }
    }
}

impl fmt::Display for KeyScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for KeyScope {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        let scope = Self::ALL.iter().find(|scope| scope.as_str() == text);
        scope.copied().ok_or_else(|| UnknownScope { given: text.to_owned() })
    }
}

/// The error for a text that is not a scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{given}\" is not one of search, scrape, map, batch, crawl, monitor, interact, agent, index")]
pub struct UnknownScope {
    /// The invalid text.
    pub given: String,
}

/// Rights of a key; the default allows everything except administration, from any network, without expiry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyRights {
    /// Permission to administer the installation: teams, keys, and the requests of all teams.
    pub admin: bool,
    /// The permitted operations; `None` permits all.
    pub scopes: Option<BTreeSet<KeyScope>>,
    /// Names of the permitted formats; `None` permits all.
    pub formats: Option<BTreeSet<String>>,
    /// The networks of permitted clients, as CIDR blocks or addresses; empty permits all.
    pub networks: Vec<String>,
    /// Time of expiry, in milliseconds since the Unix epoch.
    pub expires_at_ms: Option<u64>,
    /// Rate limit in requests per minute, in addition to that of the team; `None` sets none.
    pub requests_per_minute: Option<u32>,
    /// Concurrency limit of requests, in addition to that of the team; `None` sets none.
    pub concurrency: Option<u32>,
}

impl KeyRights {
    /// Returns whether the key permits an operation.
    #[must_use]
    pub fn allows_scope(&self, scope: KeyScope) -> bool {
        self.scopes.as_ref().is_none_or(|scopes| scopes.contains(&scope))
    }

    /// Returns whether the key permits a format.
    #[must_use]
    pub fn allows_format(&self, format: &str) -> bool {
        self.formats.as_ref().is_none_or(|formats| formats.contains(format))
    }

    /// Returns whether the key has expired.
    #[must_use]
    pub fn has_expired(&self, now_ms: u64) -> bool {
        self.expires_at_ms.is_some_and(|expires_at_ms| expires_at_ms <= now_ms)
    }

    /// Checks that the names can be stored in a list that is separated by commas.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let formats = self.formats.iter().flatten().map(|format| ("format", format));
        let networks = self.networks.iter().map(|network| ("network", network));
        for (what, name) in formats.chain(networks) {
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',') {
                let rule = "it is empty, or contains commas or characters other than visible ASCII";
                return Err(StoreError::InvalidName { what, name: name.clone(), rule });
            }
        }
        Ok(())
    }

    pub(crate) fn scopes_as_stored(&self) -> Option<String> {
        self.scopes.as_ref().map(|scopes| join(scopes.iter().map(|scope| scope.as_str())))
    }

    pub(crate) fn formats_as_stored(&self) -> Option<String> {
        self.formats.as_ref().map(|formats| join(formats.iter().map(String::as_str)))
    }

    pub(crate) fn networks_as_stored(&self) -> Option<String> {
        (!self.networks.is_empty()).then(|| self.networks.join(","))
    }
}

/// The columns that [`rights_from_row`] reads, in its order.
macro_rules! rights_columns {
    () => {
        "admin, scopes, formats, networks, expires_at, requests_per_minute, concurrency"
    };
}
pub(crate) use rights_columns;

/// Reads the columns of [`rights_columns`], starting at column `first`.
pub(crate) fn rights_from_row(row: &Row<'_>, first: usize) -> sql::Result<KeyRights> {
    let parse = |names: &str| names.split(',').filter(|name| !name.is_empty()).map(str::parse).collect();
    let scopes = row.parse_optional(first + 1, parse)?;
    Ok(KeyRights {
        admin: row.get(first)?,
        scopes,
        formats: list(row, first + 2)?.map(|names| names.into_iter().collect()),
        networks: list(row, first + 3)?.unwrap_or_default(),
        expires_at_ms: row.get(first + 4)?,
        requests_per_minute: row.get(first + 5)?,
        concurrency: row.get(first + 6)?,
    })
}

fn join<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(",")
}

fn list(row: &Row<'_>, column: usize) -> sql::Result<Option<Vec<String>>> {
    let text: Option<String> = row.get(column)?;
    let names = |text: String| text.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    Ok(text.map(names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_rights_allow_all_but_administration() {
        let rights = KeyRights::default();
        assert!(KeyScope::ALL.iter().all(|scope| rights.allows_scope(*scope)));
        assert!(rights.allows_format("markdown") && !rights.admin && !rights.has_expired(u64::MAX));
    }

    #[test]
    fn explicit_scopes_exclude_all_others() {
        let rights = KeyRights { scopes: Some([KeyScope::Search].into()), ..KeyRights::default() };
        assert!(rights.allows_scope(KeyScope::Search));
        assert!(!rights.allows_scope(KeyScope::Scrape) && !rights.allows_scope(KeyScope::Index));
    }

    #[test]
    fn key_is_expired_from_its_expiry_time_on() {
        let rights = KeyRights { expires_at_ms: Some(1000), ..KeyRights::default() };
        assert_eq!([999, 1000, 1001].map(|now| rights.has_expired(now)), [false, true, true]);
    }

    #[test]
    fn scope_names_round_trip() {
        for scope in KeyScope::ALL {
            assert_eq!(scope.to_string().parse(), Ok(*scope));
        }
        let unknown = "sarch".parse::<KeyScope>().unwrap_err().to_string();
        for scope in KeyScope::ALL {
            assert!(unknown.contains(scope.as_str()), "{unknown}");
        }
    }
}
