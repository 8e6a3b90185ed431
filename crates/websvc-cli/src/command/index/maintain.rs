//! `websvc index delete` and `websvc index optimize`: maintenance of the local index, and of servers with its pages.

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow};
use serde::Serialize;
use url::{Host, Url};
use websvc_engine::{DeletionOutcome, PageSelection, TeamIndexes};
use websvc_index::{Index, IndexConfig};
use websvc_types::counted;

use crate::CommandContext;
use crate::app;
use crate::args::{Delete, Optimize};
use crate::data_dir::WriteLock;
use crate::output;

/// The summary of a deletion.
#[derive(Debug, Serialize)]
struct Deleted {
    /// Documents deleted from the local index and the indexes of single teams.
    documents: usize,
    /// The results on servers, by the name of the source.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    servers: BTreeMap<String, ServerDeletion>,
}

/// The result of a deletion on a server.
#[derive(Debug, Serialize)]
struct ServerDeletion {
    documents: u64,
    /// True if the server deletes the documents later.
    is_scheduled: bool,
}

/// Runs `websvc index delete`.
pub(super) async fn delete(context: &CommandContext, arguments: Delete) -> Result<()> {
    let Delete { sites, urls, json } = arguments;
    let hosts = sites.iter().map(|site| host(site)).collect::<Result<Vec<_>>>()?;
    // Documents are identified by the URL, as it was normalized when they were indexed.
    let urls = urls.iter().map(|url| Url::parse(url).with_context(|| format!("not a URL: {url}")));
    let urls = urls.collect::<Result<Vec<_>>>()?;
    let local = lock_local(context)?;
    let pages = PageSelection { hosts, urls };
    let mut deleted = Deleted { documents: 0, servers: BTreeMap::new() };
    // First, because they may fail. The deletion can be repeated.
    let mut servers = app::index_writers(&context.config)?;
    if !servers.is_empty() {
        // Pages that wait would come back.
        let store = app::open_store(&context.config, &context.data_dir)?;
        servers = app::with_team_indexes(servers, &store)?;
        for server in &servers {
            server.remove_waiting(&store, &pages)?;
        }
    }
    for server in servers {
        let deletion = match server.delete(&pages).await? {
            DeletionOutcome::Deleted(documents) => ServerDeletion { documents, is_scheduled: false },
            DeletionOutcome::Scheduled(documents) => ServerDeletion { documents, is_scheduled: true },
        };
        deleted.servers.insert(server.name().to_owned(), deletion);
    }
    if let Some(lock) = local {
        deleted.documents = delete_locally(context, &lock, &pages)?;
    }
    if json {
        return output::json(&deleted);
    }
    for (name, ServerDeletion { documents, is_scheduled }) in &deleted.servers {
        let when = if *is_scheduled { ": the server deletes them in the background" } else { "" };
        output::line(&format!("{name}: {} deleted{when}", counted(*documents, "document", "documents")))?;
    }
    output::line(&format!("{} deleted", counted(deleted.documents, "document", "documents")))
}

/// Locks the local indexes; `None` if a server uses them, and they have no pages because another server has them.
fn lock_local(context: &CommandContext) -> Result<Option<WriteLock>> {
    if let Some(lock) = context.data_dir.try_lock()? {
        return Ok(Some(lock));
    }
    let dir = context.data_dir.index();
    let has_pages = || -> Result<bool> {
        let is_empty = Index::open(&dir, IndexConfig::default())?.document_count() == 0;
        Ok(!is_empty || !TeamIndexes::new(&dir, IndexConfig::default(), false).owners()?.is_empty())
    };
    if app::index_server(&context.config).is_none() || has_pages()? {
        return Err(in_use(context));
    }
    Ok(None)
}

/// Deletes pages from the local index and the private indexes of teams, and returns their number.
fn delete_locally(context: &CommandContext, _lock: &WriteLock, pages: &PageSelection) -> Result<usize> {
    let PageSelection { hosts, urls } = pages;
    let index = Index::open(&context.data_dir.index(), IndexConfig::default())?;
    let mut documents = delete_from(&index, hosts, urls)?;
    index.close()?;
    let team_indexes = TeamIndexes::new(&context.data_dir.index(), IndexConfig::default(), true);
    for owner in team_indexes.owners()? {
        let Some(index) = team_indexes.find(owner)? else { continue };
        documents += delete_from(&index, hosts, urls)?;
    }
    team_indexes.flush()?;
    Ok(documents)
}

/// Deletes the documents of hosts and URLs from one index and returns their number.
fn delete_from(index: &Index, hosts: &[String], urls: &[Url]) -> Result<usize> {
    let mut documents = 0;
    for host in hosts {
        documents += index.remove_site(host)?;
    }
    for url in urls {
        if index.contains(url.as_str())? {
            index.remove(url.as_str())?;
            index.flush()?;
            documents += 1;
        }
    }
    index.apply_anchors()?;
    Ok(documents)
}

/// Runs `websvc index optimize`.
pub(super) fn optimize(context: &CommandContext, arguments: &Optimize) -> Result<()> {
    if let Some(server) = app::index_server(&context.config) {
        output::note(&format!("only the local index is optimized; {server} merges its index by itself"));
    }
    let (_lock, index) = open(context)?;
    index.optimize()?;
    index.close()?;
    super::print_stats(&super::local_stats(context)?, arguments.json)
}

fn open(context: &CommandContext) -> Result<(WriteLock, Index)> {
    let Some(lock) = context.data_dir.try_lock()? else { return Err(in_use(context)) };
    Ok((lock, Index::open(&context.data_dir.index(), IndexConfig::default())?))
}

fn in_use(context: &CommandContext) -> anyhow::Error {
    anyhow!(
        "the data directory {} is in use by another websvc process: stop it first, because this command cannot use a \
         server",
        context.data_dir.path().display()
    )
}

/// Parses and normalizes the host name of a site.
pub(super) fn host(site: &str) -> Result<String> {
    let host = Host::parse(site.trim_end_matches('.'));
    host.map(|host| host.to_string()).with_context(|| format!("not a host name: {site}"))
}
