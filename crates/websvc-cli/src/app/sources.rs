//! The configured sources of search results, each with a client that may reach it.

use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use url::Url;
use websvc_engine::{
    Elasticsearch, ElasticsearchConfig, ElasticsearchWriter, HttpJson, HttpJsonConfig, IndexMode,
    IndexSource, Mirror, SearchSource, Searxng, SearxngConfig,
};
use websvc_index::Index;
use websvc_store::Store;
use websvc_transport::{AddressGuard, Client, GuardError};

use super::{client_with, guard, user_agent};
use crate::config::{self, Config, Provider, Source};
use crate::output;

/// Returns the sources in the order of `search.providers`.
pub(super) fn open(config: &Config, index: &Arc<Index>) -> Result<Vec<Arc<dyn SearchSource>>> {
    let providers = &config.search.providers;
    ensure!(
        !providers.is_empty(),
        "search.providers is empty: a search needs at least one, such as \"index\""
    );
    let mut sources: Vec<Arc<dyn SearchSource>> = Vec::with_capacity(providers.len());
    for (at, provider) in providers.iter().enumerate() {
        let name = provider.name();
        ensure!(!providers[..at].contains(provider), "search.providers names {name:?} twice");
        sources.push(match provider {
            Provider::Index => Arc::new(IndexSource::new(Arc::clone(index))),
            Provider::Searxng => Arc::new(searxng(config)?),
            Provider::Named(name) => declared(config, name)?,
        });
    }
    Ok(sources)
}

/// Returns the remote sources that are searched or written to, by name. A source is an error if its values are invalid.
pub(crate) fn remote_sources(config: &Config) -> Vec<(String, Result<Arc<dyn SearchSource>>)> {
    let searched = config.search.providers.iter().filter_map(|provider| match provider {
        Provider::Index => None,
        Provider::Searxng => {
            Some((provider.name().to_owned(), searxng(config).map(|source| Arc::new(source) as Arc<_>)))
        }
        Provider::Named(name) => Some((name.clone(), declared(config, name))),
    });
    let others = config.search.sources.iter().filter(|(name, _)| !is_searched(config, name));
    let written = others.filter(|(_, source)| is_written(source));
    searched.chain(written.map(|(name, _)| (name.clone(), declared(config, name)))).collect()
}

/// Returns the names of the sources that are neither searched nor written to.
pub(crate) fn unused_sources(config: &Config) -> Vec<&str> {
    let sources = config.search.sources.iter().filter(|(_, source)| !is_written(source));
    let searxng = config.search.searxng.as_ref().map(|_| "searxng");
    let names = sources.map(|(name, _)| name.as_str()).chain(searxng);
    names.filter(|name| !is_searched(config, name)).collect()
}

/// Returns the URLs of the remote sources whose host names have to be resolved.
pub(crate) fn provider_urls(config: &Config) -> Vec<Url> {
    let used =
        config.search.sources.iter().filter(|(name, source)| is_written(source) || is_searched(config, name));
    let urls = used.map(|(_, source)| match source {
        Source::HttpJson(source) => source.declaration.example_url(),
        Source::Elasticsearch(source) => source.declaration.url.clone(),
    });
    let searxng = config.search.searxng.iter().filter(|_| is_searched(config, "searxng"));
    let urls = urls.chain(searxng.map(|searxng| searxng.url.clone())).filter_map(|url| Url::parse(&url).ok());
    urls.filter(|url| !is_mapped(config, url)).collect()
}

fn is_searched(config: &Config, name: &str) -> bool {
    config.search.providers.iter().any(|provider| provider.name() == name)
}

fn is_written(source: &Source) -> bool {
    matches!(source, Source::Elasticsearch(source) if source.declaration.write)
}

/// Returns `true` if `fetch.connect_to` maps the URL to another address, so that its name is not resolved.
pub(super) fn is_mapped(config: &Config, url: &Url) -> bool {
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else { return false };
    let host_and_port = format!("{host}:{port}");
    config.fetch.connect_to.keys().any(|pattern| *pattern == host_and_port || maps(pattern, host, port))
}

fn searxng(config: &Config) -> Result<Searxng> {
    let section = "search.searxng";
    let config::Searxng { url, endpoint } = config
        .search
        .searxng
        .as_ref()
        .with_context(|| format!("search.providers names \"searxng\", but {section}.url is missing"))?;
    let url = Url::parse(url).with_context(|| format!("{section}.url"))?;
    let client = client(config, &url).with_context(|| format!("{section}.url"))?;
    let endpoint = endpoint.checked(section)?;
    Ok(Searxng::new(SearxngConfig { url, name: "searxng".to_owned(), endpoint }, client))
}

fn declared(config: &Config, name: &str) -> Result<Arc<dyn SearchSource>> {
    let sources = &config.search.sources;
    let section = format!("search.sources.{name}");
    match sources.get(name) {
        Some(Source::HttpJson(source)) => {
            let config::HttpJson { declaration, endpoint } = &**source;
            let endpoint = endpoint.checked(&section)?;
            let source = HttpJsonConfig::new(name.to_owned(), declaration, endpoint, variable)
                .with_context(|| section.clone())?;
            let client = api_client(config, source.origins()).with_context(|| format!("{section}.url"))?;
            Ok(Arc::new(HttpJson::new(source, client)))
        }
        Some(Source::Elasticsearch(source)) => {
            let (source, client) = elasticsearch(config, name, source)?;
            Ok(Arc::new(Elasticsearch::new(source, client)))
        }
        None => {
            let known = ["index", "searxng"].into_iter().chain(sources.keys().map(String::as_str));
            let nearest = websvc_validate::suggest(name, known);
            let suggestion =
                nearest.map_or_else(String::new, |nearest| format!("; did you mean {nearest:?}?"));
            bail!("search.providers names {name:?}, but there is no [search.sources.{name}]{suggestion}");
        }
    }
}

/// Returns the mirrors, which are the sources with `write = true`, whether they are searched or not.
pub(super) fn mirrors(config: &Config, store: &Store) -> Result<Vec<Arc<Mirror>>> {
    let writers = with_team_indexes(index_writers(config)?, store)?.into_iter();
    Ok(writers.map(|writer| Arc::new(Mirror::new(writer, store.clone()))).collect())
}

/// Lets the writers use the indexes of the teams of a database.
pub(crate) fn with_team_indexes(
    writers: Vec<ElasticsearchWriter>,
    store: &Store,
) -> Result<Vec<ElasticsearchWriter>> {
    if writers.is_empty() {
        return Ok(writers);
    }
    let installation = store.installation_id()?;
    Ok(writers.into_iter().map(|writer| writer.with_team_indexes(&installation)).collect())
}

/// Returns the writers to the sources with `write = true`. Those that are searched come first.
pub(crate) fn index_writers(config: &Config) -> Result<Vec<ElasticsearchWriter>> {
    let mut writers = Vec::new();
    for (name, source) in config.search.sources.iter().filter(|(_, source)| is_written(source)) {
        if let Source::Elasticsearch(source) = source {
            let (source, client) = elasticsearch(config, name, source)?;
            writers.push(ElasticsearchWriter::new(source, client));
        }
    }
    writers.sort_by_key(|writer| !is_searched(config, writer.name()));
    Ok(writers)
}

/// Returns the use of the embedded index. Pages are not written to it if there are mirrors and it is not searched.
pub(super) fn index_mode(config: &Config, mirrors: &[Arc<Mirror>]) -> IndexMode {
    if mirrors.is_empty() || is_index_searched(config) { IndexMode::Write } else { IndexMode::MirrorOnly }
}

/// Returns the name of the server that has the pages instead of the local index; `None` if they are in the local index.
pub(crate) fn index_server(config: &Config) -> Option<&str> {
    let mut written = config.search.sources.iter().filter(|(_, source)| is_written(source));
    let first = written.clone().next();
    let searched = written.find(|(name, _)| is_searched(config, name)).or(first);
    searched.filter(|_| !is_index_searched(config)).map(|(name, _)| name.as_str())
}

/// New pages are added to the local index, and no search finds them there.
#[derive(Debug)]
pub(crate) struct UnsearchedIndex {
    /// The change of the configuration that helps.
    pub(crate) remedy: String,
}

impl UnsearchedIndex {
    pub(crate) const MESSAGE: &str =
        "pages are added to the local index, but search.providers does not name it";

    /// Warns the user of a command that adds pages.
    pub(crate) fn warn(config: &Config) {
        if let Some(Self { remedy }) = unsearched_index(config) {
            output::note(&format!("{}: {remedy}", Self::MESSAGE));
        }
    }
}

/// Returns the problem if new pages are added to the local index and no search finds them there.
pub(crate) fn unsearched_index(config: &Config) -> Option<UnsearchedIndex> {
    if is_index_searched(config) || index_server(config).is_some() {
        return None;
    }
    let server = config.search.sources.iter().find(|(_, source)| matches!(source, Source::Elasticsearch(_)));
    let remedy = server.map_or_else(String::new, |(name, _)| {
        format!(", or set `write = true` in [search.sources.{name}] to write them there instead")
    });
    Some(UnsearchedIndex { remedy: format!("add \"index\"{remedy}") })
}

fn is_index_searched(config: &Config) -> bool {
    config.search.providers.contains(&Provider::Index)
}

fn elasticsearch(
    config: &Config,
    name: &str,
    source: &config::Elasticsearch,
) -> Result<(ElasticsearchConfig, Client)> {
    let section = format!("search.sources.{name}");
    let config::Elasticsearch { declaration, endpoint } = source;
    let endpoint = endpoint.checked(&section)?;
    let source = ElasticsearchConfig::new(name.to_owned(), declaration, endpoint, variable)
        .with_context(|| section.clone())?;
    let client = client(config, source.origin()).with_context(|| format!("{section}.url"))?;
    Ok((source, client))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns a client that may reach the host and port of `url` on any network, because the operator has chosen them.
/// For all other addresses it has the same guard as the client for pages.
pub(super) fn client(config: &Config, url: &Url) -> Result<Client> {
    let (host, port) = host_and_port(url)?;
    client_to(config, host, port)
}

/// Returns a client that may reach the hosts and ports of `urls`, as [`client`] does, and whose `User-Agent` names the
/// contact of the operator.
fn api_client(config: &Config, urls: &[Url]) -> Result<Client> {
    let mut guard = guard(config)?;
    for url in urls {
        let (host, port) = host_and_port(url)?;
        guard = allow(config, guard, host, port)?;
    }
    let contact = config.search.contact.as_ref();
    let user_agent = contact.map(|contact| format!("websvc/{} ({contact})", env!("CARGO_PKG_VERSION")));
    let user_agent = user_agent.as_deref().unwrap_or(&config.fetch.user_agent);
    client_with(config, guard, user_agent.parse().context("search.contact")?)
}

/// Returns a client that may reach a host and port on any network.
pub(super) fn client_to(config: &Config, host: &str, port: u16) -> Result<Client> {
    let guard = allow(config, guard(config)?, host, port)?;
    client_with(config, guard, user_agent(config)?)
}

fn host_and_port(url: &Url) -> Result<(&str, u16)> {
    ensure!(matches!(url.scheme(), "http" | "https"), "{url} is neither http nor https");
    let host = url.host_str().with_context(|| format!("{url} has no host"))?;
    let port = url.port_or_known_default().with_context(|| format!("{url} has no port"))?;
    Ok((host, port))
}

/// Allows a host and port on any network, unless `fetch.connect_to` maps it to another address.
fn allow(config: &Config, guard: AddressGuard, host: &str, port: u16) -> Result<AddressGuard> {
    if config.fetch.connect_to.keys().any(|pattern| maps(pattern, host, port)) {
        return Ok(guard);
    }
    let host_and_port = format!("{host}:{port}");
    match guard.clone().connect_to(&host_and_port, &host_and_port) {
        Err(GuardError::Duplicate { .. }) => Ok(guard),
        allowed => Ok(allowed?),
    }
}

/// Returns `true` if a pattern of `fetch.connect_to` with an asterisk maps the host to another address.
fn maps(pattern: &str, host: &str, port: u16) -> bool {
    let Some((suffix, pattern_port)) = pattern.strip_prefix('*').and_then(|rest| rest.rsplit_once(':'))
    else {
        return false;
    };
    let is_name = url::Host::parse(host).is_ok_and(|host| matches!(host, url::Host::Domain(_)));
    is_name && pattern_port.parse() == Ok(port) && host.ends_with(&suffix.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcard_pattern_maps_only_matching_host_names() {
        for (pattern, host, expected) in [
            ("*:80", "searx.test", true),
            ("*.test:80", "searx.test", true),
            ("*.TEST:80", "searx.test", true),
            ("*:443", "searx.test", false),
            ("*.other:80", "searx.test", false),
            ("searx.test:80", "searx.test", false),
            ("*:80", "127.0.0.1", false),
            ("*:80", "[::1]", false),
        ] {
            assert_eq!(maps(pattern, host, 80), expected, "{pattern} {host}");
        }
    }
}
