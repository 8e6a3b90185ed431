//! The parts of an installation, put together from the configuration and the data directory.

mod artifacts;
mod audit;
mod browser;
mod jobs;
mod llm;
mod mirrored;
mod sources;
mod threat;
mod traces;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use url::Url;
use websvc_artifacts::Artifacts;
use websvc_blocklist::Blocklist;
use websvc_engine::{Engine, EngineConfig, TeamIndexes};
use websvc_index::{Index, IndexConfig};
use websvc_model::Model;
use websvc_scrape::{DocumentWorkers, ProxyConfig, ScrapeConfig, Scraper};
use websvc_stage::StageTimes;
use websvc_store::{CacheLimits, Store, UsageLimits};
use websvc_transport::{AddressGuard, Client, ClientConfig, Proxy};

use crate::args::PARSE_DOCUMENT;
use crate::config::{self, Config};
use crate::data_dir::{DataDir, WriteLock};

pub(crate) use artifacts::bucket_place;
pub(crate) use audit::{audit, sinks};
pub(crate) use browser::browser;
pub(crate) use jobs::jobs_config;
pub(crate) use llm::model;
pub(crate) use mirrored::ensure_complete;
pub(crate) use sources::{elsewhere, provider_urls, unused_sources};
pub(crate) use threat::classifier;
pub(crate) use traces::TraceSettings;

/// Access of this process to the index.
#[derive(Debug)]
pub(crate) enum IndexMode {
    /// Search it and add to it.
    Write(#[expect(dead_code, reason = "held, not read")] WriteLock),
    /// Search it; another process adds to it.
    Read,
}

/// An installation that is open.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    pub(crate) artifacts: Artifacts,
    pub(crate) index: Arc<Index>,
    #[expect(dead_code, reason = "holds the lock")]
    pub(crate) access: IndexMode,
}

/// Opens what the configuration describes.
pub(crate) fn open(config: &Config, data_dir: &DataDir, access: IndexMode) -> Result<App> {
    let store = Store::open(data_dir.path())?;
    let config::Usage { log_rows, log_days, daily_days } = config.usage;
    store.limit_usage(UsageLimits { log_rows, log_days, daily_days });
    let artifacts = artifacts::open(config, data_dir, &store)?;
    let stages = StageTimes::default();
    let of_index = IndexConfig { stages: stages.clone(), ..IndexConfig::default() };
    let index = Arc::new(Index::open(&data_dir.index(), of_index.clone())?);
    let writes = matches!(access, IndexMode::Write(_));
    if writes {
        recover(&index);
    }
    let client = client(config)?;
    let browser = browser(config, &client)?;
    let lists = config.browser.lists.iter().map(String::as_str);
    let blocklist = Arc::new(Blocklist::with_lists(data_dir.lists(), lists));
    let scrape = ScrapeConfig { browser, blocklist, stages, ..scrape_config(config)? };
    let scraper = Scraper::new(client, store.clone(), scrape);
    let sources = sources::open(config, &index)?;
    let mirrors = sources::mirrors(config)?;
    let engine = Engine::new(EngineConfig {
        sources,
        scraper,
        index: match access {
            IndexMode::Write(_) => Some(Arc::clone(&index)),
            IndexMode::Read => None,
        },
        index_mode: sources::index_mode(config, &mirrors),
        team_indexes: Some(Arc::new(TeamIndexes::new(&data_dir.index(), of_index, writes))),
        mirrors,
        pricing: config.pricing,
        threat: classifier(config)?,
        model: model(config)?.map(|model| Arc::new(model) as Arc<dyn Model>),
    });
    Ok(App { engine, store, artifacts, index, access })
}

/// Applies what a process that was killed has left in the journal of the index.
fn recover(index: &Index) {
    match index.recover() {
        Ok(0) => {}
        Ok(changes) => tracing::info!(changes, "the index was not closed: its journal is applied"),
        // Searches go on with what is committed, and the journal is kept for the next write.
        Err(error) => tracing::error!(
            error = &error as &dyn std::error::Error,
            "the journal of the index could not be applied"
        ),
    }
}

/// Checks the values that opening would refuse before it opens anything; those of sources are checked with them.
pub(crate) fn check_values(config: &Config) -> Result<()> {
    browser(config, &client(config)?)?;
    scrape_config(config)?;
    Ok(())
}

/// Returns the client that pages are fetched by.
pub(crate) fn client(config: &Config) -> Result<Client> {
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

fn scrape_config(config: &Config) -> Result<ScrapeConfig> {
    let fetches = config.fetch.concurrency;
    // A page of a crawl that leads on to another host waits for the robots.txt of that one.
    ensure!(fetches >= 2, "fetch.concurrency is {fetches}: the least is 2");
    Ok(ScrapeConfig {
        max_body_bytes: config.fetch.max_body_bytes,
        concurrency: config.fetch.concurrency,
        cache: cache_limits(config),
        output_cache_bytes: config.cache.memory_bytes,
        proxies: proxies(&config.proxy)?,
        documents: document_workers(),
        ..ScrapeConfig::default()
    })
}

fn proxies(config: &config::Proxy) -> Result<ProxyConfig> {
    let config::Proxy { basic, enhanced, by_country } = config;
    let pool = |urls: &[String], key: &str| -> Result<Vec<Proxy>> {
        let mut proxies = Vec::new();
        for (at, url) in urls.iter().enumerate() {
            // Its address may hold a password, so it is named by its place.
            let place = || format!("proxy.{key}[{at}]");
            let url: Url = url.parse().with_context(place)?;
            proxies.push(Proxy::new(&url).with_context(place)?);
        }
        Ok(proxies)
    };
    let mut countries = BTreeMap::new();
    for (country, urls) in by_country {
        let known = websvc_types::country::CODES.contains(&country.as_str());
        ensure!(known, "proxy.by_country: {country:?} is not a country (two upper-case letters, such as DE)");
        countries.insert(country.clone(), pool(urls, &format!("by_country.{country}"))?);
    }
    Ok(ProxyConfig {
        basic: pool(basic, "basic")?,
        enhanced: pool(enhanced, "enhanced")?,
        by_country: countries,
    })
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
