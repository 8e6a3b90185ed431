//! `websvc index import`: files into the index.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, bail};
use serde::Serialize;
use tokio::sync::mpsc;
use websvc::types::index::IndexDocument;
use websvc_engine::crawl::Sink;

use super::item::{Item, ReadFailure, SkipReason};
use super::reader;
use super::sink::ServerSink;
use crate::CommandContext;
use crate::app::{self, IndexMode, ensure_complete};
use crate::args::Import;
use crate::command::search::remote;
use crate::output;
use crate::progress::Progress;

/// Documents are handed to the index when there are so many of them, ...
const BATCH: usize = 64;
/// ... or so many bytes of text: pages may have megabytes, and memory is bounded.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// Documents read ahead of the index writer.
const AHEAD: usize = 8;

/// So many failures are named one by one; the others are counted.
const NAMED: usize = 100;

/// Result of an import.
#[derive(Debug, Serialize)]
struct Report {
    /// Documents sent to the index.
    documents: usize,
    /// Inputs that could not be read; also counted by reason in `skipped`.
    errors: usize,
    /// Skipped inputs, by reason.
    skipped: BTreeMap<SkipReason, usize>,
    elapsed_ms: u128,
}

impl Report {
    fn new() -> Self {
        let skipped = SkipReason::ALL.into_iter().map(|why| (why, 0)).collect();
        Self { documents: 0, errors: 0, skipped, elapsed_ms: 0 }
    }

    fn skip(&mut self, why: SkipReason) {
        *self.skipped.entry(why).or_default() += 1;
    }
}

/// Runs `websvc index import`.
pub(super) async fn import(setting: CommandContext, arguments: Import) -> Result<()> {
    let started = Instant::now();
    arguments.paths.iter().try_for_each(|path| reader::check(path))?;
    let (sink, index): (Box<dyn Sink>, _) = match arguments.remote.server {
        Some(_) => (Box::new(ServerSink(remote(&arguments.remote)?)), None),
        None => {
            let access = IndexMode::Write(setting.data_dir.lock()?);
            let app = app::open(&setting.config, &setting.data_dir, access)?;
            (app.sink(), Some(app))
        }
    };
    let mut report = fill(arguments.paths, arguments.base_url, &*sink).await?;
    let mirrors = match index {
        Some(app) => {
            let index = app.index.clone();
            tokio::task::spawn_blocking(move || index.apply_anchors()).await??;
            app.close().await?
        }
        None => Vec::new(),
    };
    report.elapsed_ms = started.elapsed().as_millis();
    print(&report, arguments.json)?;
    ensure_complete(&mirrors)?;
    if report.documents == 0 {
        bail!("there was nothing to import");
    }
    Ok(())
}

/// Reads on a thread of its own and hands over in batches; the bounded channel keeps reading from running ahead.
async fn fill(paths: Vec<PathBuf>, base_url: Option<url::Url>, sink: &dyn Sink) -> Result<Report> {
    let (sender, mut items) = mpsc::channel::<Item>(AHEAD);
    let reading = tokio::task::spawn_blocking(move || {
        let mut take = |item| Ok(sender.blocking_send(item)?);
        paths.iter().try_for_each(|path| {
            reader::read(path, base_url.as_ref(), &mut take).or_else(|error| {
                // The files behind it may be whole; when nobody takes what is read, this fails too.
                let fault = ReadFailure::broken(&output::causes(error.as_ref()));
                take(Item::Failed { what: path.display().to_string(), fault })
            })
        })
    });
    let mut progress = Progress::start("importing");
    let mut report = Report::new();
    let (mut batch, mut bytes) = (Vec::<IndexDocument>::new(), 0);
    while let Some(item) = items.recv().await {
        match item {
            Item::Document(copy) => {
                bytes += copy.body.len();
                batch.push(*copy);
                report.documents += 1;
                progress.quick_page();
            }
            Item::Skipped(why) => {
                report.skip(why);
                progress.skipped();
            }
            Item::Failed { what, fault } => {
                report.skip(fault.why);
                report.errors += 1;
                match report.errors {
                    ..=NAMED => progress.failed(&what, &fault.to_string()),
                    _ => progress.failed_too(),
                }
            }
        }
        if batch.len() >= BATCH || bytes >= BATCH_BYTES {
            bytes = 0;
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
        return output::json(report);
    }
    let Report { documents, errors, skipped, elapsed_ms } = report;
    let reasons = skipped.iter().filter(|(_, count)| **count > 0);
    let reasons: Vec<String> = reasons.map(|(why, count)| format!("{count} {}", why.label())).collect();
    let left_out =
        if reasons.is_empty() { String::new() } else { format!("; left out: {}", reasons.join(", ")) };
    output::line(&format!("{documents} documents indexed, {errors} errors in {elapsed_ms} ms{left_out}"))
}
