//! `websvc index import`: files into the index.

use std::time::Instant;

use anyhow::{Result, bail};
use serde::Serialize;
use tokio::sync::mpsc;
use websvc::types::index::IndexDocument;
use websvc_engine::crawl::{IndexSink, Sink};

use super::reader::{self, Item};
use super::sink::ServerSink;
use crate::Setting;
use crate::args::Import;
use crate::command::search::remote;
use crate::installation::{self, IndexAccess};
use crate::progress::Progress;
use crate::show;

/// Documents that are handed to the index at one time.
const BATCH: usize = 64;

/// What an import came to.
#[derive(Debug, Default, Serialize)]
struct Report {
    documents: usize,
    errors: usize,
    elapsed_ms: u128,
}

/// Runs `websvc index import`.
pub(super) async fn import(setting: Setting, arguments: Import) -> Result<()> {
    let started = Instant::now();
    let (sink, index): (Box<dyn Sink>, _) = match arguments.remote.server {
        Some(_) => (Box::new(ServerSink(remote(&arguments.remote)?)), None),
        None => {
            let access = IndexAccess::Write(setting.data_dir.lock()?);
            let installation = installation::open(&setting.config, &setting.data_dir, access)?;
            (Box::new(IndexSink(installation.index.clone())), Some(installation))
        }
    };
    let mut report = fill(arguments.paths, arguments.base_url, &*sink).await?;
    if let Some(installation) = index {
        let index = installation.index.clone();
        tokio::task::spawn_blocking(move || index.flush()).await??;
    }
    report.elapsed_ms = started.elapsed().as_millis();
    print(&report, arguments.json)?;
    if report.documents == 0 {
        bail!("there was nothing to import");
    }
    Ok(())
}

/// Reads on a thread of its own and hands over in batches; the bounded channel keeps reading from running ahead.
async fn fill(paths: Vec<std::path::PathBuf>, base_url: Option<url::Url>, sink: &dyn Sink) -> Result<Report> {
    let (sender, mut items) = mpsc::channel::<Item>(BATCH);
    let reading = tokio::task::spawn_blocking(move || {
        let mut take = |item| Ok(sender.blocking_send(item)?);
        paths.iter().try_for_each(|path| reader::read(path, base_url.as_ref(), &mut take))
    });
    let mut progress = Progress::start("importing");
    let mut report = Report::default();
    let mut batch: Vec<IndexDocument> = Vec::new();
    while let Some(item) = items.recv().await {
        match item {
            Item::Document(copy) => {
                batch.push(*copy);
                report.documents += 1;
                progress.page();
            }
            Item::Failed { what, reason } => {
                report.errors += 1;
                progress.failed(&what, &reason);
            }
        }
        if batch.len() >= BATCH {
            sink.accept(std::mem::take(&mut batch)).await?;
        }
    }
    if !batch.is_empty() {
        sink.accept(batch).await?;
    }
    progress.finish();
    reading.await??;
    Ok(report)
}

fn print(report: &Report, as_json: bool) -> Result<()> {
    if as_json {
        return show::json(report);
    }
    let Report { documents, errors, elapsed_ms } = report;
    show::line(&format!("{documents} documents indexed, {errors} errors in {elapsed_ms} ms"))
}
