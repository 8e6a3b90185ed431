//! Writes the markdown of each page of an evaluation set for its scoring script, and prints the speed.
//!
//! `cargo run --release -p websvc-extract --example predict -- SET_FOLDER OUT_FOLDER`

use std::path::{Path, PathBuf};
use std::time::Instant;
use websvc_extract::{ContentOptions, Document, Source};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let (Some(set), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("usage: predict SET_FOLDER OUT_FOLDER".into());
    };
    std::fs::create_dir_all(&out)?;
    let urls = urls(&set)?;
    let mut pages = Vec::new();
    for (id, url) in &urls {
        if let Ok(bytes) = std::fs::read(set.join("html").join(format!("{id}.html"))) {
            pages.push((id, url, bytes));
        }
    }
    // All pages in one measurement: the system counts CPU time in ticks, which is too coarse for a single page.
    let start = cpu_seconds();
    let outputs: Vec<String> = pages.iter().map(|(_, url, bytes)| extract(bytes, url)).collect();
    let spent = cpu_seconds() - start;
    let size = pages.iter().map(|(_, _, bytes)| bytes.len()).sum();
    for ((id, ..), markdown) in pages.iter().zip(outputs) {
        std::fs::write(out.join(format!("{id}.md")), markdown)?;
    }
    report(pages.len(), size, spent);
    Ok(())
}

fn extract(bytes: &[u8], url: &url::Url) -> String {
    let source = Source { bytes, content_type: Some("text/html"), url };
    Document::parse(source)
        .map_or_else(|_| String::new(), |page| page.content(&ContentOptions::default()).markdown())
}

/// Returns the CPU time of this thread, or the elapsed time if the system does not report it.
fn cpu_seconds() -> f64 {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = schedstat.and_then(|line| line.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |ns| ns / 1e9)
}

/// Reads the page IDs and URLs from `urls.tsv`.
fn urls(set: &Path) -> Result<Vec<(String, url::Url)>, Box<dyn std::error::Error>> {
    let fallback = url::Url::parse("https://example.com/")?;
    let table = std::fs::read_to_string(set.join("urls.tsv"))?;
    let rows = table.lines().filter_map(|line| line.split_once('\t'));
    Ok(rows
        .map(|(id, url)| (id.to_owned(), url::Url::parse(url).unwrap_or_else(|_| fallback.clone())))
        .collect())
}

#[expect(clippy::print_stdout, reason = "the example prints its measurements")]
fn report(pages: usize, bytes: usize, spent: f64) {
    let (count, seconds) = (pages as f64, spent);
    println!(
        "{pages} pages, {:.0} kB each: {:.0} pages/s, {:.1} MB/s, {:.2} CPU ms per page",
        bytes as f64 / count / 1e3,
        count / seconds,
        bytes as f64 / seconds / 1e6,
        seconds * 1e3 / count
    );
}
