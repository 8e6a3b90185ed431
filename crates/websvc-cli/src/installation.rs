//! The parts of an installation, put together from the configuration and the data directory.

mod sources;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use websvc_engine::{Engine, EngineConfig};
use websvc_index::{Index, IndexConfig};
use websvc_scrape::{DocumentWorkers, ScrapeConfig, Scraper};
use websvc_store::{CacheLimits, Store};
use websvc_transport::{AddressGuard, Client, ClientConfig};

use crate::args::PARSE_DOCUMENT;
use crate::config::Config;
use crate::data_dir::{DataDir, WriteLock};

/// What this process may do with the index.
#[derive(Debug)]
pub(crate) enum IndexAccess {
    /// Search it and add to it.
    Write(#[expect(dead_code, reason = "held, not read")] WriteLock),
    /// Search it; another process adds to it.
    Read,
}

/// An installation that is open.
#[derive(Debug)]
pub(crate) struct Installation {
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    pub(crate) index: Arc<Index>,
    #[expect(dead_code, reason = "holds the lock")]
    pub(crate) access: IndexAccess,
}

/// Opens what the configuration describes.
pub(crate) fn open(config: &Config, data_dir: &DataDir, access: IndexAccess) -> Result<Installation> {
    let store = Store::open(data_dir.path())?;
    let index = Arc::new(Index::open(&data_dir.index(), IndexConfig::default())?);
    let scraper = Scraper::new(client(config)?, store.clone(), scrape_config(config));
    let sources = sources::open(config, &index)?;
    let engine = Engine::new(EngineConfig {
        sources,
        scraper,
        index: match access {
            IndexAccess::Write(_) => Some(Arc::clone(&index)),
            IndexAccess::Read => None,
        },
        pricing: config.pricing,
    });
    Ok(Installation { engine, store, index, access })
}

fn client(config: &Config) -> Result<Client> {
    client_with(config, guard(config)?)
}

fn client_with(config: &Config, guard: AddressGuard) -> Result<Client> {
    let mut client = ClientConfig::new(guard);
    client.ca_file.clone_from(&config.fetch.ca_file);
    client.user_agent = Some(config.fetch.user_agent.parse().context("fetch.user_agent")?);
    Ok(Client::new(client)?)
}

fn guard(config: &Config) -> Result<AddressGuard> {
    let mut guard = AddressGuard::public();
    for network in &config.fetch.allow_networks {
        guard = guard.allow(network.parse().context("fetch.allow_networks")?);
    }
    for (from, to) in &config.fetch.connect_to {
        guard = guard.connect_to(from, to).context("fetch.connect_to")?;
    }
    Ok(guard)
}

fn scrape_config(config: &Config) -> ScrapeConfig {
    ScrapeConfig {
        max_body_bytes: config.fetch.max_body_bytes,
        concurrency: config.fetch.concurrency,
        cache: cache_limits(config),
        rendered_bytes: config.cache.memory_bytes,
        documents: document_workers(),
    }
}

/// Returns the workers that read documents: this program once more.
pub(crate) fn document_workers() -> Option<DocumentWorkers> {
    match std::env::current_exe() {
        Ok(program) => Some(DocumentWorkers::new(program, vec![PARSE_DOCUMENT.to_owned()])),
        Err(error) => {
            tracing::warn!(%error, "the path of this program is not known: documents are not read");
            None
        }
    }
}

/// Returns the bounds of the page cache.
pub(crate) fn cache_limits(config: &Config) -> CacheLimits {
    CacheLimits {
        max_bytes: config.cache.max_bytes,
        max_age: Duration::from_secs(config.cache.max_age_days.saturating_mul(86_400)),
        ..CacheLimits::default()
    }
}
