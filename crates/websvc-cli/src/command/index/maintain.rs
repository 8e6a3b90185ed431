//! `websvc index delete` and `websvc index optimize`: maintenance of the local index.

use anyhow::{Context, Result, bail};
use serde::Serialize;
use url::{Host, Url};
use websvc_engine::TeamIndexes;
use websvc_index::{Index, IndexConfig};

use crate::CommandContext;
use crate::args::{Delete, Optimize};
use crate::data_dir::WriteLock;
use crate::output;

/// The summary of a deletion.
#[derive(Debug, Serialize)]
struct Deleted {
    documents: usize,
}

/// Runs `websvc index delete`.
pub(super) fn delete(context: &CommandContext, arguments: Delete) -> Result<()> {
    let Delete { sites, urls, json } = arguments;
    let hosts = sites.iter().map(|site| host(site)).collect::<Result<Vec<_>>>()?;
    // Documents are identified by the URL, as it was normalized when they were indexed.
    let urls = urls.iter().map(|url| Url::parse(url).with_context(|| format!("not a URL: {url}")));
    let urls = urls.collect::<Result<Vec<_>>>()?;
    let (_lock, index) = open(context)?;
    let mut documents = delete_from(&index, &hosts, &urls)?;
    index.close()?;
    // The pages are also deleted from the private indexes of teams.
    let team_indexes = TeamIndexes::new(&context.data_dir.index(), IndexConfig::default(), true);
    for owner in team_indexes.owners()? {
        let Some(index) = team_indexes.find(owner)? else { continue };
        documents += delete_from(&index, &hosts, &urls)?;
    }
    team_indexes.flush()?;
    let deleted = Deleted { documents };
    if json {
        return output::json(&deleted);
    }
    output::line(&format!("{} documents deleted", deleted.documents))
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
    let (_lock, index) = open(context)?;
    index.optimize()?;
    index.close()?;
    super::print_stats(&super::local_stats(context)?, arguments.json)
}

fn open(context: &CommandContext) -> Result<(WriteLock, Index)> {
    let Some(lock) = context.data_dir.try_lock()? else {
        bail!(
            "the data directory {} is in use by another websvc process: stop it first, because this command cannot \
             use a server",
            context.data_dir.path().display()
        );
    };
    Ok((lock, Index::open(&context.data_dir.index(), IndexConfig::default())?))
}

/// Parses and normalizes the host name of a site.
pub(super) fn host(site: &str) -> Result<String> {
    let host = Host::parse(site.trim_end_matches('.'));
    host.map(|host| host.to_string()).with_context(|| format!("not a host name: {site}"))
}
