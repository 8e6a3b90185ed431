//! `[replica]`: the address of this process for the other replicas.

use std::path::PathBuf;

use serde::Deserialize;

/// `[replica]`: how the other replicas reach this one, for requests that only it can answer.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Replica {
    /// Host name or IP address, and optionally a port. Without a port, that of the listener.
    pub(crate) address: Option<String>,
    /// PEM file with trust anchors for the listeners of replicas, in addition to those of the system.
    pub(crate) ca_file: Option<PathBuf>,
}

impl Replica {
    /// The names of the keys.
    pub(super) const KEYS: &'static [&'static str] = &["address", "ca_file"];
}
