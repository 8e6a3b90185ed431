//! Measures parts of the service in this process on one core.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use url::Url;
use websvc_extract::{ContentOptions, Document, Source};
use websvc_index::{Index, IndexConfig, SearchOptions, SnippetMode};

use crate::report::Report;

/// The row that the rate of the service is compared with.
pub(crate) const INDEX_ROW: &str = "index in process, ten hits with snippets";

const DURATION: Duration = Duration::from_secs(3);

/// Measures the parsers of the query and of the time filter.
pub(crate) fn query(report: &mut Report) {
    const TEN_WORDS: &str = "how do I read lines of large files with pathlib";
    const TIME: &str = "cdr:1,cd_min:01/31/2024,cd_max:12/31/2024,sbd:1";
    let words = microseconds(|| drop(black_box(websvc_query::parse(black_box(TEN_WORDS)))));
    report.number("parse a query of ten words", words, "us", "under 1");
    let time = microseconds(|| drop(black_box(websvc_query::parse_tbs(black_box(TIME)))));
    report.number("parse a time filter of four items", time, "us", "");
}

/// Returns the mean duration of `work` over many calls.
pub(crate) fn microseconds(mut work: impl FnMut()) -> f64 {
    const ROUNDS: u32 = 1_000;
    let started = Instant::now();
    let mut count = 0_u32;
    while started.elapsed() < DURATION / 3 {
        (0..ROUNDS).for_each(|_| work());
        count += ROUNDS;
    }
    started.elapsed().as_secs_f64() * 1e6 / f64::from(count)
}

/// Measures HTML to markdown over the pages of the corpus.
pub(crate) fn extraction(corpus: &Path, report: &mut Report) {
    let pages: Vec<Vec<u8>> = html_files(corpus).iter().map(|path| std::fs::read(path).unwrap()).collect();
    let url = Url::parse("http://docs.test/").unwrap();
    let bytes: usize = pages.iter().map(Vec::len).sum();
    let started = Instant::now();
    for bytes in &pages {
        let source = Source { bytes, content_type: Some("text/html"), url: &url };
        let page = Document::parse(source).unwrap();
        black_box(page.content(&ContentOptions::default()).markdown());
    }
    let elapsed = started.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "only printed")]
    let (count, megabytes) = (pages.len() as f64, bytes as f64 / 1e6);
    report.number("HTML to markdown", count / elapsed, "pages/s", "");
    report.number("HTML to markdown", megabytes / elapsed, "MB/s", "");
}

/// Measures the index alone.
pub(crate) fn index(data_dir: &Path, queries: &[String], report: &mut Report) {
    let index = Index::open(&data_dir.join("index"), IndexConfig::default()).unwrap();
    let queries: Vec<_> = queries.iter().map(|text| websvc_query::parse(text).query).collect();
    for (name, highlights) in [
        ("index in process, ten hits without snippets", SnippetMode::PageDescription),
        (INDEX_ROW, SnippetMode::Passages),
    ] {
        let options = SearchOptions { highlights, ..SearchOptions::default() };
        let started = Instant::now();
        let mut count = 0_u32;
        for query in queries.iter().cycle() {
            if started.elapsed() >= DURATION {
                break;
            }
            black_box(index.search(query, &options).unwrap());
            count += 1;
        }
        report.number(name, f64::from(count) / started.elapsed().as_secs_f64(), "/s", "");
    }
}

/// Returns the HTML files below a directory.
pub(crate) fn html_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut queue = vec![directory.to_owned()];
    while let Some(path) = queue.pop() {
        if path.is_dir() {
            queue.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "html") {
            files.push(path);
        }
    }
    files
}
