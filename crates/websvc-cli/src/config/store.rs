//! `[store]`: the database.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;

/// `[store]`: where teams, keys, credits, jobs and cached pages are stored. Without `url`, in a SQLite file in the data
/// directory.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Store {
    /// URL of a PostgreSQL server, which usually contains a password.
    pub(crate) url: Option<String>,
    /// PEM file with trust anchors for the server, in addition to those of the system.
    pub(crate) ca_file: Option<PathBuf>,
}

impl Store {
    /// The names of the keys.
    pub(super) const KEYS: &'static [&'static str] = &["url", "ca_file"];
}

impl fmt::Debug for Store {
    /// Omits the URL, which may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("ca_file", &self.ca_file).finish_non_exhaustive()
    }
}
