//! `websvc index`: fills and shows the embedded index, here or on a server.

mod archive;
mod compressed;
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
mod page;
mod reader;
mod sink;
mod warc;

use anyhow::Result;
use websvc::types::index::IndexStats;
use websvc_index::{Index, IndexConfig};

use super::search::remote;
use crate::CommandContext;
use crate::args::{self, Stats};
use crate::output;

/// Runs `websvc index`.
pub(crate) async fn index(setting: CommandContext, arguments: args::IndexCommand) -> Result<()> {
    match arguments {
        args::IndexCommand::Crawl(arguments) => Box::pin(crawl::crawl(setting, arguments)).await,
        args::IndexCommand::Import(arguments) => import::import(setting, arguments).await,
        args::IndexCommand::Export(arguments) => export::export(setting, arguments).await,
        args::IndexCommand::Stats(arguments) => stats(&setting, arguments).await,
        args::IndexCommand::Delete(arguments) => maintain::delete(&setting, arguments),
        args::IndexCommand::Optimize(arguments) => maintain::optimize(&setting, &arguments),
    }
}

async fn stats(setting: &CommandContext, arguments: Stats) -> Result<()> {
    let stats = match arguments.remote.server {
        Some(_) => remote(&arguments.remote)?.index_stats().await?,
        None => stats_here(setting)?,
    };
    print_stats(&stats, arguments.json)
}

fn stats_here(setting: &CommandContext) -> Result<IndexStats> {
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
        return output::json(stats);
    }
    let IndexStats { documents, bytes, segments, .. } = stats;
    output::line(&format!("{documents} documents, {bytes} bytes on disk, {segments} segments"))
}
