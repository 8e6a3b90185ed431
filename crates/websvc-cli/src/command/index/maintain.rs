//! `websvc index delete` and `websvc index optimize`: upkeep of the index of the data directory.

use anyhow::{Context, Result, bail};
use serde::Serialize;
use url::{Host, Url};
use websvc_index::{Index, IndexConfig};

use crate::Setting;
use crate::args::{Delete, Optimize};
use crate::data_dir::WriteLock;
use crate::show;

/// What a deletion came to.
#[derive(Debug, Serialize)]
struct Deleted {
    documents: usize,
}

/// Runs `websvc index delete`.
pub(super) fn delete(setting: &Setting, arguments: Delete) -> Result<()> {
    let Delete { sites, urls, json } = arguments;
    let hosts = sites.iter().map(|site| host(site)).collect::<Result<Vec<_>>>()?;
    let (_lock, index) = open(setting)?;
    let mut deleted = Deleted { documents: 0 };
    for host in hosts {
        deleted.documents += index.remove_site(&host)?;
    }
    for url in urls {
        // Documents are known by their URLs as they were normalised when they came.
        let url = Url::parse(&url).with_context(|| format!("not a URL: {url}"))?;
        if index.contains(url.as_str())? {
            index.remove(url.as_str())?;
            index.flush()?;
            deleted.documents += 1;
        }
    }
    index.apply_anchors()?;
    index.close()?;
    if json {
        return show::json(&deleted);
    }
    show::line(&format!("{} documents deleted", deleted.documents))
}

/// Runs `websvc index optimize`.
pub(super) fn optimize(setting: &Setting, arguments: &Optimize) -> Result<()> {
    let (_lock, index) = open(setting)?;
    index.optimize()?;
    index.close()?;
    super::print_stats(&super::stats_here(setting)?, arguments.json)
}

fn open(setting: &Setting) -> Result<(WriteLock, Index)> {
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
