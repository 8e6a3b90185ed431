//! Scores the text of each page of the evaluation sets in a folder, by set and by kind of page.
//!
//! `cargo run --release -p websvc-extract --example score -- DATA SET... [--of PREDICTIONS]`
//!
//! Each output line has the set, the kind, the number of pages, precision, recall and F1 of words, F1 of runs of four
//! words, and the CPU seconds of the set. With `--of` the texts are those of `PREDICTIONS/SET/ID.txt`, from another
//! program.

#[path = "../tests/it/scoring.rs"]
mod scoring;

use scoring::{Page, Score};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use websvc_extract::{ContentOptions, Document, Source};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let of = arguments.iter().position(|argument| argument == "--of").map(|at| {
        let predictions = arguments.get(at + 1).map(PathBuf::from);
        arguments.truncate(at);
        predictions.unwrap_or_default()
    });
    let Some((data, sets)) = arguments.split_first() else {
        return Err("usage: score DATA SET... [--of PREDICTIONS]".into());
    };
    for set in sets {
        let pages = scoring::read_set(&Path::new(data).join(set))?;
        let predictions = of.as_ref().map(|folder| folder.join(set));
        score(set, &pages, predictions.as_deref());
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the example prints its measurements")]
fn score(set: &str, pages: &[Page], predictions: Option<&Path>) {
    let mut total = Score::default();
    let mut kinds: BTreeMap<&str, Score> = BTreeMap::new();
    // All pages in one measurement: the system counts CPU time in ticks, which is too coarse for a single page.
    let start = cpu_seconds();
    let texts: Vec<String> = match predictions {
        Some(folder) => pages.iter().map(|page| read(folder, page)).collect(),
        None => pages.iter().map(extract).collect(),
    };
    let spent = cpu_seconds() - start;
    for (page, text) in pages.iter().zip(&texts) {
        total.add(text, &page.truth);
        kinds.entry(&page.kind).or_default().add(text, &page.truth);
    }
    // In a set with a different kind for nearly each page, the kinds are not worth a line.
    let kinds = kinds.into_iter().filter(|(_, score)| (2..pages.len()).contains(&(score.pages as usize)));
    for (kind, score) in std::iter::once(("all", total)).chain(kinds) {
        let (precision, recall) = score.word_precision_recall();
        println!(
            "{set}\t{kind}\t{}\t{precision:.4}\t{recall:.4}\t{:.4}\t{:.4}\t{spent:.4}",
            score.pages,
            score.word_f1(),
            score.shingle_f1()
        );
    }
}

fn read(folder: &Path, page: &Page) -> String {
    std::fs::read_to_string(folder.join(format!("{}.txt", page.id))).unwrap_or_default()
}

fn extract(page: &Page) -> String {
    let source = Source { bytes: &page.html, content_type: Some("text/html"), url: &page.url };
    Document::parse(source)
        .map_or_else(|_| String::new(), |document| document.content(&ContentOptions::default()).text())
}

/// Returns the CPU time of this thread, or 0 if the system does not report it.
fn cpu_seconds() -> f64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    schedstat.split(' ').next().and_then(|time| time.parse::<f64>().ok()).unwrap_or_default() / 1e9
}
