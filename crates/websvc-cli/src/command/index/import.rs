//! `websvc index import`: imports files into the index.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, bail};
use serde::Serialize;
use tokio::sync::mpsc;
use websvc::types::index::IndexDocument;
use websvc_engine::crawl::Sink;
use websvc_types::counted;

use super::filter::Filter;
use super::item::{Item, ReadFailure, SkipReason};
use super::position::Resume;
use super::reader;
use super::sink::ServerSink;
use crate::CommandContext;
use crate::app::{self, ensure_complete};
use crate::args::Import;
use crate::command::search::client;
use crate::output;
use crate::progress::Progress;

/// Maximum number of documents in a batch for the index.
const BATCH_DOCUMENTS: usize = 64;
/// Size of the text in a batch from which it is written, in bytes. It bounds memory, because a page may have megabytes.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// Number of items that are read ahead of the index writer: a batch of them, so that reading and writing overlap.
const READ_AHEAD: usize = 64;

/// Maximum number of failures that are printed. The others are only counted.
const MAX_PRINTED_FAILURES: usize = 100;

/// The summary of an import.
#[derive(Debug, Serialize)]
struct Report {
    /// Number of documents written to the index.
    documents: usize,
    /// Number of inputs that could not be read. They are also counted by reason in `skipped`.
    errors: usize,
    /// Number of skipped inputs by reason.
    skipped: BTreeMap<SkipReason, usize>,
    /// Number of inputs that an earlier import with the same `--resume` has done.
    resumed: u64,
    elapsed_ms: u128,
}

impl Report {
    fn new() -> Self {
        let skipped = SkipReason::all().map(|reason| (reason, 0)).collect();
        Self { documents: 0, errors: 0, skipped, resumed: 0, elapsed_ms: 0 }
    }

    fn skip(&mut self, reason: SkipReason) {
        *self.skipped.entry(reason).or_default() += 1;
    }
}

/// Runs `websvc index import`.
pub(super) async fn import(context: CommandContext, arguments: Import) -> Result<()> {
    let started = Instant::now();
    arguments.paths.iter().try_for_each(|path| reader::check(path))?;
    let filter = Filter::read(arguments.filters)?;
    let mut resume = Resume::open(arguments.resume)?;
    let (sink, index): (Box<dyn Sink>, _) = match arguments.remote.server {
        Some(_) => (Box::new(ServerSink(client(&arguments.remote)?)), None),
        None => {
            app::UnsearchedIndex::warn(&context.config);
            let app = context.open_to_write()?;
            (app.sink(), Some(app))
        }
    };
    let inputs = Inputs { paths: arguments.paths, base_url: arguments.base_url, filter };
    let mut report = import_paths(inputs, &mut resume, &*sink).await?;
    let mirrors = match index {
        Some(app) => {
            let index = app.index.clone();
            websvc_transport::spawn_blocking(move || index.apply_anchors()).await??;
            app.close().await?
        }
        None => Vec::new(),
    };
    resume.finish()?;
    report.elapsed_ms = started.elapsed().as_millis();
    print(&report, arguments.json)?;
    ensure_complete(&mirrors)?;
    if report.documents == 0 && report.resumed == 0 {
        bail!("no documents were imported");
    }
    Ok(())
}

/// The files and directories of an import, and how they are read.
struct Inputs {
    paths: Vec<PathBuf>,
    base_url: Option<url::Url>,
    filter: Filter,
}

/// An item with the index of its input; `None` stands for an input that could not be read to its end, because that failure
/// does not count as an item of the input.
type Read = (Option<usize>, Item);

impl Inputs {
    /// Sends the items of each path, without those that an earlier import has done. It blocks.
    fn read(&self, done: &[u64], sender: &mpsc::Sender<Read>) -> Result<()> {
        for ((at, path), skip) in self.paths.iter().enumerate().zip(done) {
            let mut send = |item| Ok(sender.blocking_send((Some(at), item))?);
            reader::read(path, self.base_url.as_ref(), *skip, &self.filter, &mut send).or_else(|error| {
                // Other files may be intact. If the receiver is closed, this send fails, too.
                let failure = ReadFailure::broken(&output::causes(error.as_ref()));
                let item = Item::Failed { subject: path.display().to_string(), failure };
                sender.blocking_send((None, item))
            })?;
        }
        Ok(())
    }
}

/// Reads on a separate thread and writes in batches. The bounded channel limits how far reading runs ahead.
async fn import_paths(inputs: Inputs, resume: &mut Resume, sink: &dyn Sink) -> Result<Report> {
    let (sender, mut items) = mpsc::channel::<Read>(READ_AHEAD);
    let done = resume.begin(&inputs.paths)?;
    let mut report = Report { resumed: done.iter().sum(), ..Report::new() };
    let reading = websvc_transport::spawn_blocking(move || inputs.read(&done, &sender));
    let mut progress = Progress::start("importing");
    let (mut batch, mut bytes) = (Vec::<IndexDocument>::new(), 0);
    while let Some((input, item)) = items.recv().await {
        // An import that continues reads what is behind the failure of an input.
        if let Some(input) = input {
            resume.advance(input);
        }
        match item {
            Item::Document(document) => {
                bytes += document.body.len();
                batch.push(*document);
                report.documents += 1;
                progress.count_page();
            }
            Item::Skipped(reason) => {
                report.skip(reason);
                progress.skipped();
            }
            Item::Failed { subject, failure } => {
                report.skip(failure.kind);
                report.errors += 1;
                match report.errors {
                    ..=MAX_PRINTED_FAILURES => progress.failed(&subject, &failure.to_string()),
                    _ => progress.failed_silently(),
                }
            }
        }
        if batch.len() >= BATCH_DOCUMENTS || bytes >= BATCH_BYTES {
            bytes = 0;
            sink.accept(std::mem::take(&mut batch)).await?;
            resume.accepted()?;
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
    output::json_or_line(as_json, report, || {
        let Report { documents, errors, skipped, resumed, elapsed_ms } = report;
        let reasons = skipped.iter().filter(|(_, count)| **count > 0);
        let reasons = reasons.map(|(reason, count)| format!("{count} {}", reason.label()));
        let reasons = reasons.collect::<Vec<_>>().join(", ");
        let suffix = if reasons.is_empty() { String::new() } else { format!("; skipped: {reasons}") };
        let resumed = if *resumed == 0 { String::new() } else { format!("; {resumed} done before") };
        let documents = counted(*documents, "document", "documents");
        let errors = counted(*errors, "error", "errors");
        format!("{documents} indexed, {errors} in {elapsed_ms} ms{suffix}{resumed}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_of_an_input_is_not_an_item_of_it() {
        let directory = tempfile::tempdir().unwrap();
        let lines = directory.path().join("lines.jsonl");
        std::fs::write(&lines, "{\"url\": \"http://a.test/\", \"title\": \"a\", \"body\": \"b\"}\n").unwrap();
        // The other one was deleted after the import had begun.
        let paths = vec![lines, directory.path().join("deleted.warc")];
        let inputs = Inputs { paths, base_url: None, filter: Filter::default() };
        let (sender, mut items) = mpsc::channel(READ_AHEAD);
        inputs.read(&[0, 0], &sender).unwrap();
        let mut next = || items.try_recv().unwrap();
        assert!(matches!(next(), (Some(0), Item::Document(_))));
        assert!(matches!(next(), (None, Item::Failed { .. })));
    }
}
