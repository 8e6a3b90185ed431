//! Versions of the API that clients call.

use crate::sql::names;

/// A version of the API. Its name in the database is that in paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiVersion {
    /// The older version, for clients that still use it.
    V1,
    /// The current version.
    V2,
}

names!(ApiVersion: V1 = "v1", V2 = "v2");
