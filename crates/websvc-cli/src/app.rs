//! Assembly of the program from the configuration and the data directory.

mod artifacts;
mod audit;
mod browser;
mod headers;
mod limits;
mod llm;
mod mail;
mod media;
mod mirror_sink;
mod oidc;
mod replica;
mod semantic;
mod sessions;
mod sources;
mod store;
mod threat;
mod traces;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use http::HeaderValue;
use url::Url;
use websvc_artifacts::Artifacts;
use websvc_engine::{Engine, EngineConfig, MediaTools, TeamIndexes};
use websvc_index::{Index, IndexConfig};
use websvc_jobs::Jobs;
use websvc_model::Model;
use websvc_scrape::blocklist::Blocklist;
use websvc_scrape::{DocumentWorkers, ProxyConfig, ScrapeConfig, Scraper};
use websvc_stage::StageTimes;
use websvc_store::{Store, UsageLimits};
use websvc_transport::{AddressGuard, Client, ClientConfig, Proxy};

use crate::args::PARSE_DOCUMENT;
use crate::config::{self, Config};
use crate::data_dir::{DataDir, WriteLock};

pub(crate) use artifacts::bucket_location;
pub(crate) use audit::{audit, sinks};
pub(crate) use browser::browser;
pub(crate) use limits::{admission_limits, cache_limits, jobs_config, monitors_config, runs_config};
pub(crate) use llm::{endpoint_urls, model, section as llm_section};
pub(crate) use mail::mail_settings;
pub(crate) use media::{downloader, media_tools};
pub(crate) use mirror_sink::ensure_complete;
pub(crate) use oidc::oidc;
pub(crate) use replica::{announcement, replica_config};
pub(crate) use semantic::{embeddings_url, semantic};
pub(crate) use sessions::{interpreters_of, sessions_config, worker_config};
pub(crate) use sources::{
    UnsearchedIndex, index_server, index_writers, provider_urls, remote_sources, unsearched_index,
    unused_sources, with_team_indexes,
};
pub(crate) use store::{DatabaseServer, database_server, database_server_at, open_store};
pub(crate) use threat::classifier;
pub(crate) use traces::TraceSettings;

/// The access of this process to the index.
#[derive(Debug)]
pub(crate) enum IndexMode {
    /// Searches and writes.
    Write(#[expect(dead_code, reason = "held, not read")] WriteLock),
    /// Searches only. Another process may write.
    Read,
}

/// The opened engine, store, artifacts and index.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    pub(crate) artifacts: Artifacts,
    pub(crate) index: Arc<Index>,
    pub(crate) access: IndexMode,
}

impl App {
    /// Returns the jobs of this process.
    pub(crate) fn jobs(&self, config: &Config) -> Jobs {
        Jobs::new(&self.engine, self.store.clone(), self.artifacts.clone(), jobs_config(config))
    }
}

/// Opens the engine and its parts for a command. Only the service stores files, so a command downloads no media.
pub(crate) fn open(config: &Config, data_dir: &DataDir, access: IndexMode) -> Result<App> {
    open_with(config, data_dir, access, Service { media: MediaTools::Off, encodes: false })
}

/// The work that only the service does.
#[derive(Debug)]
pub(crate) struct Service {
    /// The tools that download media.
    pub(crate) media: MediaTools,
    /// True if pages are encoded for the search by meaning, in the background.
    pub(crate) encodes: bool,
}

/// Opens the engine and its parts for the service.
pub(crate) fn open_with(
    config: &Config,
    data_dir: &DataDir,
    access: IndexMode,
    service: Service,
) -> Result<App> {
    let store = open_store(config, data_dir)?;
    let config::Usage { log_rows, log_days, daily_days, feedback_days } = config.usage;
    store.limit_usage(UsageLimits { log_rows, log_days, daily_days, feedback_days });
    let artifacts = artifacts::open(config, data_dir, &store)?;
    let stages = StageTimes::default();
    let is_writable = matches!(access, IndexMode::Write(_));
    let mut semantic = semantic(config)?;
    if let Some(semantic) = &mut semantic {
        semantic.encodes = is_writable && service.encodes;
    }
    let index_config = IndexConfig { stages: stages.clone(), semantic, ..IndexConfig::default() };
    let index = Arc::new(Index::open(&data_dir.index(), index_config.clone())?);
    if is_writable {
        recover(&index);
    }
    let client = client(config)?;
    let browser = browser(config, &client)?;
    let urls = config.browser.blocklists.iter().map(String::as_str);
    let blocklist = Arc::new(Blocklist::with_lists(data_dir.blocklists(), urls));
    let scrape = ScrapeConfig { browser, blocklist, stages, ..scrape_config(config)? };
    let mirrors = sources::mirrors(config, &store)?;
    let scraper = Scraper::new(client, store.clone(), scrape);
    let sources = sources::open(config, &index)?;
    let engine = Engine::new(EngineConfig {
        sources,
        scraper,
        index: match access {
            IndexMode::Write(_) => Some(Arc::clone(&index)),
            IndexMode::Read => None,
        },
        index_mode: sources::index_mode(config, &mirrors),
        team_indexes: Some(Arc::new(TeamIndexes::new(&data_dir.index(), index_config, is_writable))),
        mirrors,
        pricing: config.pricing,
        snapshots: config.change_tracking.limits(),
        threat: classifier(config)?,
        model: model(config)?.map(|model| Arc::new(model) as Arc<dyn Model>),
        media: service.media,
    });
    Ok(App { engine, store, artifacts, index, access })
}

/// Applies the journal of the index that a killed process has left.
fn recover(index: &Index) {
    match index.recover() {
        Ok(0) => {}
        Ok(changes) => tracing::info!(changes, "applied the journal of the index, which was not closed"),
        // Searches use the committed documents. The journal stays for the next write.
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "cannot apply the journal of the index"
            );
        }
    }
}

/// Checks the values that [`open`] would reject before it opens anything. Sources check their own values.
pub(crate) fn check_values(config: &Config) -> Result<()> {
    browser(config, &client(config)?)?;
    scrape_config(config)?;
    semantic(config)?;
    database_server(config)?;
    replica_config(config, SocketAddr::from(([0, 0, 0, 0], 1)))?;
    Ok(())
}

/// Returns the client that fetches pages.
pub(crate) fn client(config: &Config) -> Result<Client> {
    client_with(config, guard(config)?, user_agent(config)?)
}

fn client_with(config: &Config, guard: AddressGuard, user_agent: HeaderValue) -> Result<Client> {
    let mut client = ClientConfig::new(guard);
    client.ca_file.clone_from(&config.fetch.ca_file);
    client.user_agent = Some(user_agent);
    Ok(Client::new(client)?)
}

fn user_agent(config: &Config) -> Result<HeaderValue> {
    config.fetch.user_agent.parse().context("fetch.user_agent")
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
    let concurrency = config.fetch.concurrency;
    // When a crawled page redirects to another host, its fetch waits for the fetch of that host's robots.txt.
    ensure!(concurrency >= 2, "fetch.concurrency is {concurrency}: the minimum is 2");
    Ok(ScrapeConfig {
        max_body_bytes: config.fetch.max_body_bytes,
        concurrency,
        cache: cache_limits(config),
        output_cache_bytes: config.cache.output_memory_bytes,
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
            // The URL may contain a password, so the message names its key and index.
            let key_and_index = || format!("proxy.{key}[{at}]");
            let url: Url = url.parse().with_context(key_and_index)?;
            proxies.push(Proxy::new(&url).with_context(key_and_index)?);
        }
        Ok(proxies)
    };
    let mut countries = BTreeMap::new();
    for (country, urls) in by_country {
        let is_known = websvc_types::country::CODES.contains(&country.as_str());
        ensure!(
            is_known,
            "proxy.by_country: {country:?} is not a country (two upper-case letters, such as DE)"
        );
        countries.insert(country.clone(), pool(urls, &format!("by_country.{country}"))?);
    }
    Ok(ProxyConfig {
        basic: pool(basic, "basic")?,
        enhanced: pool(enhanced, "enhanced")?,
        by_country: countries,
    })
}

/// Returns the document workers, which are processes of this program.
pub(crate) fn document_workers() -> Option<DocumentWorkers> {
    match std::env::current_exe() {
        Ok(program) => Some(DocumentWorkers::new(program, vec![PARSE_DOCUMENT.to_owned()])),
        Err(error) => {
            tracing::warn!(%error, "cannot determine the path of this program: documents cannot be parsed");
            None
        }
    }
}
