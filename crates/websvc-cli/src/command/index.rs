//! `websvc index`: fills and shows the embedded index, here or on a server.

mod archive;
mod crawl;
mod crawl_elsewhere;
mod document;
mod export;
mod import;
mod item;
mod json_lines;
mod lines;
mod maintain;
mod message;
mod packed;
mod page;
mod reader;
mod sink;
mod warc;

use anyhow::Result;
use websvc::types::index::IndexStats;
use websvc_index::{Index, IndexConfig};

use super::search::remote;
use crate::Setting;
use crate::args::{self, Stats};
use crate::show;

/// Runs `websvc index`.
pub(crate) async fn index(setting: Setting, arguments: args::Index) -> Result<()> {
    match arguments {
        args::Index::Crawl(arguments) => Box::pin(crawl::crawl(setting, arguments)).await,
        args::Index::Import(arguments) => import::import(setting, arguments).await,
        args::Index::Export(arguments) => export::export(setting, arguments).await,
        args::Index::Stats(arguments) => stats(&setting, arguments).await,
        args::Index::Delete(arguments) => maintain::delete(&setting, arguments),
        args::Index::Optimize(arguments) => maintain::optimize(&setting, &arguments),
    }
}

async fn stats(setting: &Setting, arguments: Stats) -> Result<()> {
    let stats = match arguments.remote.server {
        Some(_) => remote(&arguments.remote)?.index_stats().await?,
        None => stats_here(setting)?,
    };
    print_stats(&stats, arguments.json)
}

fn stats_here(setting: &Setting) -> Result<IndexStats> {
    let stats = Index::open(&setting.data_dir.index(), IndexConfig::default())?.stats()?;
    Ok(IndexStats {
        success: true,
        documents: stats.documents,
        bytes: stats.bytes,
        segments: stats.segments as u64,
    })
}

fn print_stats(stats: &IndexStats, as_json: bool) -> Result<()> {
    if as_json {
        return show::json(stats);
    }
    let IndexStats { documents, bytes, segments, .. } = stats;
    show::line(&format!("{documents} documents, {bytes} bytes on disk, {segments} segments"))
}
