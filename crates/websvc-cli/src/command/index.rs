//! `websvc index`: fills and inspects the embedded index, here or on a server.

mod archive;
mod compressed;
mod crawl;

mod document;
mod export;
mod filter;
mod import;
mod item;
mod json_lines;
mod lines;
mod maintain;
mod page;
mod position;
mod reader;
mod remote_crawl;
mod response;
mod sink;
mod warc;

use anyhow::Result;
use websvc::types::index::IndexStats;
use websvc_engine::ServerIndexStats;
use websvc_index::{Index, IndexConfig};
use websvc_types::counted;

use super::search::client;
use crate::CommandContext;
use crate::app;
use crate::args::{self, Stats};
use crate::output;

/// Runs `websvc index`.
pub(crate) async fn run(context: CommandContext, arguments: args::IndexCommand) -> Result<()> {
    match arguments {
        args::IndexCommand::Crawl(arguments) => Box::pin(crawl::crawl(context, arguments)).await,
        args::IndexCommand::Import(arguments) => import::import(context, arguments).await,
        args::IndexCommand::Export(arguments) => export::export(context, arguments).await,
        args::IndexCommand::Stats(arguments) => stats(&context, arguments).await,
        args::IndexCommand::Delete(arguments) => maintain::delete(&context, arguments).await,
        args::IndexCommand::Optimize(arguments) => maintain::optimize(&context, &arguments),
    }
}

async fn stats(context: &CommandContext, arguments: Stats) -> Result<()> {
    let stats = match arguments.remote.server {
        Some(_) => client(&arguments.remote)?.index_stats().await?,
        None => configured_stats(context).await?,
    };
    print_stats(&stats, arguments.json)
}

/// Returns the size of the index that has the pages: the local one, or that of a server.
async fn configured_stats(context: &CommandContext) -> Result<IndexStats> {
    if app::index_server(&context.config).is_some()
        && let Some(server) = app::index_writers(&context.config)?.first()
    {
        let ServerIndexStats { documents, bytes, segments } = server.stats().await?;
        return Ok(IndexStats { success: true, documents, bytes, segments });
    }
    local_stats(context)
}

fn local_stats(context: &CommandContext) -> Result<IndexStats> {
    let stats = Index::open(&context.data_dir.index(), IndexConfig::default())?.stats()?;
    Ok(IndexStats {
        success: true,
        documents: stats.documents,
        bytes: stats.bytes,
        segments: stats.segments as u64,
    })
}

fn print_stats(stats: &IndexStats, as_json: bool) -> Result<()> {
    output::json_or_line(as_json, stats, || {
        let IndexStats { documents, bytes, segments, .. } = stats;
        let documents = counted(*documents, "document", "documents");
        format!("{documents}, {bytes} bytes on disk, {}", counted(*segments, "segment", "segments"))
    })
}
