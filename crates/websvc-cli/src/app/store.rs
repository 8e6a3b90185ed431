//! The database: a file in the data directory, or a PostgreSQL server.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use websvc_store::{DatabaseUrl, Store};
use websvc_transport::{AddressGuard, Client, ClientConfig};

use crate::config::Config;
use crate::data_dir::DataDir;

/// A PostgreSQL server, and the client that may connect to it.
#[derive(Debug)]
pub(crate) struct DatabaseServer {
    pub(crate) url: DatabaseUrl,
    pub(crate) client: Client,
}

/// Opens the database that the configuration names.
pub(crate) fn open_store(config: &Config, data_dir: &DataDir) -> Result<Store> {
    match database_server(config)? {
        Some(DatabaseServer { url, client }) => Ok(Store::connect(&url, client, data_dir.path())?),
        None => Ok(Store::open(data_dir.path())?),
    }
}

/// Returns the server of the database; `None` if it is a file.
pub(crate) fn database_server(config: &Config) -> Result<Option<DatabaseServer>> {
    let Some(url) = &config.store.url else {
        ensure!(config.store.ca_file.is_none(), "store.ca_file is set, but store.url is missing");
        return Ok(None);
    };
    database_server_at(url, config.store.ca_file.as_deref(), "store.url").map(Some)
}

/// Returns the server of a URL, which is the value of the setting or argument `name`. `ca_file` has trust anchors in
/// addition to those of the system.
pub(crate) fn database_server_at(
    url: &str,
    ca_file: Option<&Path>,
    name: &'static str,
) -> Result<DatabaseServer> {
    let url = DatabaseUrl::parse(url).context(name)?;
    // The operator has chosen the hosts, so they may be on any network. `fetch.connect_to` is for pages only.
    let mut guard = AddressGuard::public();
    for (host, port) in url.hosts() {
        let address = format!("{host}:{port}");
        guard = guard.connect_to(&address, &address).context(name)?;
    }
    let mut client = ClientConfig::new(guard);
    client.ca_file = ca_file.map(Path::to_owned);
    Ok(DatabaseServer { url, client: Client::new(client).context("store.ca_file")? })
}
