//! `websvc index delete` and `websvc index optimize`: upkeep of the index of the data directory.

use anyhow::{Context, Result, bail};
use serde::Serialize;
use url::{Host, Url};
use websvc_engine::TeamIndexes;
use websvc_index::{Index, IndexConfig};

use crate::CommandContext;
use crate::args::{Delete, Optimize};
use crate::data_dir::WriteLock;
use crate::output;

/// Result of a deletion.
#[derive(Debug, Serialize)]
struct Deleted {
    documents: usize,
}

/// Runs `websvc index delete`.
pub(super) fn delete(setting: &CommandContext, arguments: Delete) -> Result<()> {
    let Delete { sites, urls, json } = arguments;
    let hosts = sites.iter().map(|site| host(site)).collect::<Result<Vec<_>>>()?;
    // Documents are known by their URLs as they were normalised when they came.
    let urls = urls.iter().map(|url| Url::parse(url).with_context(|| format!("not a URL: {url}")));
    let urls = urls.collect::<Result<Vec<_>>>()?;
    let (_lock, index) = open(setting)?;
    let mut documents = delete_from(&index, &hosts, &urls)?;
    index.close()?;
    // What is to be gone is gone for the teams, too, that keep a copy for themselves.
    let of_teams = TeamIndexes::new(&setting.data_dir.index(), IndexConfig::default(), true);
    for owner in of_teams.owners()? {
        let Some(index) = of_teams.find(owner)? else { continue };
        documents += delete_from(&index, &hosts, &urls)?;
    }
    of_teams.flush()?;
    let deleted = Deleted { documents };
    if json {
        return output::json(&deleted);
    }
    output::line(&format!("{} documents deleted", deleted.documents))
}

/// Deletes the documents of hosts and URLs from one index, and returns how many there were.
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
pub(super) fn optimize(setting: &CommandContext, arguments: &Optimize) -> Result<()> {
    let (_lock, index) = open(setting)?;
    index.optimize()?;
    index.close()?;
    super::print_stats(&super::stats_here(setting)?, arguments.json)
}

fn open(setting: &CommandContext) -> Result<(WriteLock, Index)> {
    let Some(lock) = setting.data_dir.try_lock()? else {
        bail!(
            "the data directory {} is in use by another websvc: stop it first, this command does not go through a server",
            setting.data_dir.path().display()
        );
    };
    Ok((lock, Index::open(&setting.data_dir.index(), IndexConfig::default())?))
}

/// Returns the host name of a site.
pub(super) fn host(site: &str) -> Result<String> {
    let host = Host::parse(site.trim_end_matches('.'));
    host.map(|host| host.to_string()).with_context(|| format!("not a host name: {site}"))
}
