//! `websvc index crawl`: sites into the index, and on again after a crawl that was broken off.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use url::Url;
use websvc_engine::crawl::{CrawlEvent, CrawlOptions, CrawlReport, crawl as run};
use websvc_validate::PathFilter;

use super::crawl_elsewhere;
use crate::CommandContext;
use crate::app::{self, App, IndexMode, ensure_complete};
use crate::args::{Crawl, Patterns};
use crate::command::scrape::page_url;
use crate::command::search::print_api_error;
use crate::command::stop_signal;
use crate::data_dir::DataDir;
use crate::output;
use crate::progress::Progress;

/// Runs `websvc index crawl`.
pub(super) async fn crawl(setting: CommandContext, arguments: Crawl) -> Result<()> {
    let seeds = arguments.urls.iter().map(|text| page_url(text)).collect::<Result<Vec<_>>>()?;
    if let Some(seed) = seeds.iter().find(|seed| !matches!(seed.scheme(), "http" | "https")) {
        bail!("{seed} cannot be crawled: only http and https can");
    }
    let as_json = arguments.json;
    let report = match arguments.remote.server {
        Some(_) => crawl_elsewhere::crawl(&arguments, &seeds).await?,
        None => crawl_here(&setting, arguments, seeds).await?,
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

async fn crawl_here(setting: &CommandContext, arguments: Crawl, seeds: Vec<Url>) -> Result<CrawlReport> {
    let Patterns { include, exclude, regex_on_full_url } = arguments.patterns;
    let paths = PathFilter::new(include, exclude, regex_on_full_url).map_err(print_api_error)?;
    let access = IndexMode::Write(setting.data_dir.lock()?);
    let app = app::open(&setting.config, &setting.data_dir, access)?;
    let mark = CrawlCheckpoint::find(&setting.data_dir, &seeds)?;
    let options = CrawlOptions {
        limit: arguments.limit,
        depth: arguments.depth,
        per_host: arguments.per_host.into(),
        max_age: mark.age(),
        paths,
        image_sizes: arguments.image_sizes,
        ..CrawlOptions::new(seeds)
    };
    let report = work(&app, &options).await?;
    ensure_complete(&app.close().await?)?;
    mark.end(&report)?;
    Ok(report)
}

/// Returns what a crawl came to as a line; what there is nothing of is not named.
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
    let mut line =
        format!("{pages} pages indexed ({unchanged} unchanged), {errors} errors, {skipped} skipped");
    if !skipped_because.is_empty() {
        let because = skipped_because.iter().map(|(reason, count)| format!("{count}: {reason}"));
        line.push_str(&format!(" ({})", because.collect::<Vec<_>>().join("; ")));
    }
    if *image_sizes > 0 {
        line.push_str(&format!(", {image_sizes} image sizes learned"));
    }
    line.push_str(&format!(" in {elapsed_ms} ms"));
    match (interrupted, waiting) {
        (true, waiting) => {
            line.push_str(&format!("; interrupted with {waiting} pages waiting: the same command goes on"));
        }
        (false, 0) => {}
        (false, waiting) => {
            line.push_str(&format!(
                "; stopped at the limit with {waiting} pages waiting: --limit takes more"
            ));
        }
    }
    line
}

async fn work(app: &App, options: &CrawlOptions) -> Result<CrawlReport> {
    let mut progress = Progress::start("crawling");
    let (scraper, sink) = (app.engine.scraper(), app.sink());
    let mut seen = |event: CrawlEvent| progress.event(&event);
    let report = run(scraper, options, &*sink, &mut seen, stop_signal()?).await;
    progress.finish();
    let report = report?;
    // Whoever breaks off does not want to wait; the texts of links count after the next crawl.
    if !report.interrupted {
        let index = app.index.clone();
        tokio::task::spawn_blocking(move || index.apply_anchors()).await??;
    }
    Ok(report)
}

/// The mark of a crawl that has begun and not ended; it outlives the process.
///
/// Pages fetched since then are in the page cache, so that the crawl, begun again, takes them from there and soon is
/// where it was, without asking the sites again.
#[derive(Debug)]
struct CrawlCheckpoint {
    path: PathBuf,
    begun: CheckpointFile,
}

/// Content of the checkpoint file.
#[derive(Debug, Serialize, Deserialize)]
struct CheckpointFile {
    /// When, in milliseconds since the Unix epoch.
    at_ms: i64,
    seeds: Vec<String>,
}

impl CrawlCheckpoint {
    /// Finds the mark that a crawl of these seeds left, or sets a new one.
    fn find(data_dir: &DataDir, seeds: &[Url]) -> Result<Self> {
        let path = data_dir.path().join("crawl.json");
        let left: Option<CheckpointFile> =
            std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let seeds: Vec<String> = seeds.iter().map(Url::to_string).collect();
        if let Some(begun) = left.filter(|begun| begun.seeds == seeds) {
            output::note("going on with the crawl of these sites that was broken off");
            return Ok(Self { path, begun });
        }
        let begun = CheckpointFile { at_ms: Timestamp::now().as_millisecond(), seeds };
        let text = serde_json::to_vec(&begun)?;
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { path, begun })
    }

    /// Returns how long ago the crawl began.
    fn age(&self) -> Duration {
        let elapsed_ms = Timestamp::now().as_millisecond() - self.begun.at_ms;
        Duration::from_millis(u64::try_from(elapsed_ms).unwrap_or_default())
    }

    /// Takes the mark away when the crawl is done.
    fn end(&self, report: &CrawlReport) -> Result<()> {
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
    fn a_crawl_that_was_broken_off_leaves_its_mark() {
        let directory = tempfile::tempdir().unwrap();
        let data_dir = DataDir::open(Some(directory.path())).unwrap();
        let seeds = [Url::parse("http://a.test/").unwrap()];
        let first = CrawlCheckpoint::find(&data_dir, &seeds).unwrap();
        first.end(&CrawlReport { interrupted: true, ..CrawlReport::default() }).unwrap();
        let second = CrawlCheckpoint::find(&data_dir, &seeds).unwrap();
        assert_eq!(second.begun.at_ms, first.begun.at_ms);
        second.end(&CrawlReport::default()).unwrap();
        assert!(!second.path.exists());
    }

    #[test]
    fn the_summary_names_what_there_is() {
        let mut report = CrawlReport { pages: 3, errors: 1, elapsed_ms: 20, ..CrawlReport::default() };
        assert_eq!(summary(&report), "3 pages indexed (0 unchanged), 1 errors, 0 skipped in 20 ms");
        report.skipped = 3;
        report.skipped_because = [("not a page of text", 1), ("disallowed by robots.txt", 2)].into();
        (report.image_sizes, report.waiting) = (4, 7);
        assert_eq!(
            summary(&report),
            "3 pages indexed (0 unchanged), 1 errors, 3 skipped (1: not a page of text; 2: disallowed by \
             robots.txt), 4 image sizes learned in 20 ms; stopped at the limit with 7 pages waiting: --limit takes more"
        );
        report.interrupted = true;
        assert!(summary(&report).ends_with("; interrupted with 7 pages waiting: the same command goes on"));
    }

    #[test]
    fn another_crawl_does_not_go_on_with_it() {
        let directory = tempfile::tempdir().unwrap();
        let data_dir = DataDir::open(Some(directory.path())).unwrap();
        let first = CrawlCheckpoint::find(&data_dir, &[Url::parse("http://a.test/").unwrap()]).unwrap();
        let other = CrawlCheckpoint::find(&data_dir, &[Url::parse("http://b.test/").unwrap()]).unwrap();
        assert_eq!(first.begun.seeds, ["http://a.test/"]);
        assert_eq!(other.begun.seeds, ["http://b.test/"]);
    }
}
