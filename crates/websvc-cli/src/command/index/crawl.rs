//! `websvc index crawl`: crawls sites into the index, and resumes an interrupted crawl.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use url::Url;
use websvc_engine::crawl::{CrawlEvent, CrawlOptions, CrawlReport, crawl as run};
use websvc_types::counted;
use websvc_validate::PathFilter;

use super::remote_crawl;
use crate::CommandContext;
use crate::app::{self, App, IndexMode, ensure_complete};
use crate::args::{Crawl, Patterns};
use crate::command::scrape::page_url;
use crate::command::search::rejection_error;
use crate::command::stop_signal;
use crate::data_dir::DataDir;
use crate::output;
use crate::progress::Progress;

/// Runs `websvc index crawl`.
pub(super) async fn crawl(context: CommandContext, arguments: Crawl) -> Result<()> {
    let seeds = arguments.urls.iter().map(|text| page_url(text)).collect::<Result<Vec<_>>>()?;
    if let Some(seed) = seeds.iter().find(|seed| !matches!(seed.scheme(), "http" | "https")) {
        bail!("cannot crawl {seed}: only http and https are supported");
    }
    let as_json = arguments.json;
    let report = match arguments.remote.server {
        Some(_) => remote_crawl::crawl(&arguments, &seeds).await?,
        None => crawl_locally(&context, arguments, seeds).await?,
    };
    if as_json {
        output::json(&report)?;
    } else {
        output::line(&summary(&report))?;
    }
    if report.pages == 0 && report.errors > 0 && !report.interrupted {
        bail!("no page could be indexed");
    }
    Ok(())
}

async fn crawl_locally(context: &CommandContext, arguments: Crawl, seeds: Vec<Url>) -> Result<CrawlReport> {
    let Patterns { include, exclude, regex_on_full_url } = arguments.patterns;
    let paths = PathFilter::new(include, exclude, regex_on_full_url).map_err(rejection_error)?;
    app::UnsearchedIndex::warn(&context.config);
    let access = IndexMode::Write(context.data_dir.lock()?);
    let app = app::open(&context.config, &context.data_dir, access)?;
    let checkpoint = CrawlCheckpoint::open(&context.data_dir, &seeds)?;
    let options = CrawlOptions {
        limit: arguments.limit,
        depth: arguments.depth,
        per_host: arguments.per_host.into(),
        max_age: checkpoint.age(),
        paths,
        image_sizes: arguments.image_sizes,
        ..CrawlOptions::new(seeds)
    };
    let report = run_crawl(&app, &options).await?;
    ensure_complete(&app.close().await?)?;
    checkpoint.remove_if_complete(&report)?;
    Ok(report)
}

/// Returns the summary of a crawl as one line. Counts of zero are omitted after the first ones.
fn summary(report: &CrawlReport) -> String {
    let CrawlReport {
        pages,
        unchanged,
        errors,
        skipped,
        skipped_because,
        waiting,
        image_sizes,
        elapsed_ms,
        interrupted,
    } = report;
    let mut line = format!(
        "{} indexed ({unchanged} unchanged), {}, {skipped} skipped",
        counted(*pages, "page", "pages"),
        counted(*errors, "error", "errors")
    );
    if !skipped_because.is_empty() {
        let reasons = skipped_because.iter().map(|(reason, count)| format!("{count}: {reason}"));
        line.push_str(&format!(" ({})", reasons.collect::<Vec<_>>().join("; ")));
    }
    if *image_sizes > 0 {
        line.push_str(&format!(", {} learned", counted(*image_sizes, "image size", "image sizes")));
    }
    line.push_str(&format!(" in {elapsed_ms} ms"));
    let queued = counted(*waiting, "page", "pages");
    match (interrupted, waiting) {
        (true, _) => {
            line.push_str(&format!("; interrupted with {queued} queued: run the same command to resume"));
        }
        (false, 0) => {}
        (false, _) => {
            line.push_str(&format!("; stopped at the limit with {queued} queued: raise --limit for more"));
        }
    }
    line
}

async fn run_crawl(app: &App, options: &CrawlOptions) -> Result<CrawlReport> {
    let mut progress = Progress::start("crawling");
    let (scraper, sink) = (app.engine.scraper(), app.sink());
    let mut on_event = |event: CrawlEvent| progress.event(&event);
    let report = run(scraper, options, &*sink, &mut on_event, stop_signal()?).await;
    progress.finish();
    let report = report?;
    // After an interruption the user should not wait. The next crawl applies the anchors.
    if !report.interrupted {
        let index = app.index.clone();
        websvc_transport::spawn_blocking(move || index.apply_anchors()).await??;
    }
    Ok(report)
}

/// The checkpoint of an unfinished crawl, which outlives the process.
///
/// The pages fetched since its start are in the page cache. A resumed crawl reads them from the cache, and does not
/// fetch them again.
#[derive(Debug)]
struct CrawlCheckpoint {
    path: PathBuf,
    content: CheckpointFile,
}

/// The content of the checkpoint file.
#[derive(Debug, Serialize, Deserialize)]
struct CheckpointFile {
    /// Start of the crawl, in milliseconds since the Unix epoch.
    #[serde(rename = "at_ms")]
    started_at_ms: i64,
    seeds: Vec<String>,
}

impl CrawlCheckpoint {
    /// Reads the checkpoint of an interrupted crawl of these seeds, or writes a new one.
    fn open(data_dir: &DataDir, seeds: &[Url]) -> Result<Self> {
        let path = data_dir.path().join("crawl.json");
        let existing: Option<CheckpointFile> =
            std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let seeds: Vec<String> = seeds.iter().map(Url::to_string).collect();
        if let Some(content) = existing.filter(|content| content.seeds == seeds) {
            output::note("resuming the interrupted crawl of these sites");
            return Ok(Self { path, content });
        }
        let content = CheckpointFile { started_at_ms: Timestamp::now().as_millisecond(), seeds };
        let text = serde_json::to_vec(&content)?;
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { path, content })
    }

    /// Returns the time since the start of the crawl.
    fn age(&self) -> Duration {
        let elapsed_ms = Timestamp::now().as_millisecond() - self.content.started_at_ms;
        Duration::from_millis(u64::try_from(elapsed_ms).unwrap_or_default())
    }

    /// Removes the checkpoint if the crawl is complete.
    fn remove_if_complete(&self, report: &CrawlReport) -> Result<()> {
        if report.interrupted {
            return Ok(());
        }
        std::fs::remove_file(&self.path).with_context(|| format!("cannot remove {}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupted_crawl_leaves_its_checkpoint() {
        let directory = tempfile::tempdir().unwrap();
        let data_dir = DataDir::open(Some(directory.path())).unwrap();
        let seeds = [Url::parse("http://a.test/").unwrap()];
        let first = CrawlCheckpoint::open(&data_dir, &seeds).unwrap();
        first.remove_if_complete(&CrawlReport { interrupted: true, ..CrawlReport::default() }).unwrap();
        let second = CrawlCheckpoint::open(&data_dir, &seeds).unwrap();
        assert_eq!(second.content.started_at_ms, first.content.started_at_ms);
        second.remove_if_complete(&CrawlReport::default()).unwrap();
        assert!(!second.path.exists());
    }

    #[test]
    fn summary_omits_zero_counts() {
        let mut report = CrawlReport { pages: 3, errors: 1, elapsed_ms: 20, ..CrawlReport::default() };
        assert_eq!(summary(&report), "3 pages indexed (0 unchanged), 1 error, 0 skipped in 20 ms");
        report.skipped = 3;
        report.skipped_because = [("not a page of text", 1), ("disallowed by robots.txt", 2)].into();
        (report.image_sizes, report.waiting) = (4, 7);
        assert_eq!(
            summary(&report),
            "3 pages indexed (0 unchanged), 1 error, 3 skipped (2: disallowed by robots.txt; \
             1: not a page of text), 4 image sizes learned in 20 ms; stopped at the limit with 7 pages queued: raise --limit for more"
        );
        report.interrupted = true;
        assert!(
            summary(&report).ends_with("; interrupted with 7 pages queued: run the same command to resume")
        );
    }

    #[test]
    fn crawl_of_other_seeds_starts_a_new_checkpoint() {
        let directory = tempfile::tempdir().unwrap();
        let data_dir = DataDir::open(Some(directory.path())).unwrap();
        let first = CrawlCheckpoint::open(&data_dir, &[Url::parse("http://a.test/").unwrap()]).unwrap();
        let other = CrawlCheckpoint::open(&data_dir, &[Url::parse("http://b.test/").unwrap()]).unwrap();
        assert_eq!(first.content.seeds, ["http://a.test/"]);
        assert_eq!(other.content.seeds, ["http://b.test/"]);
    }
}
