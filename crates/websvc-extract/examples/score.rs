//! Scores the text of every page of the evaluation sets in a folder, by set and by sort of page.
//!
//! `cargo run --release -p websvc-extract --example score -- DATA SET... [--of PREDICTIONS]`; a line of the output is
//! set, sort, pages, precision, recall and F1 of words, F1 of runs of four words, and the CPU seconds of the set. With
//! `--of` the texts are those of `PREDICTIONS/SET/ID.txt`, from another program.

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

#[expect(clippy::print_stdout, reason = "the figures are what the example is for")]
fn score(set: &str, pages: &[Page], predictions: Option<&Path>) {
    let mut whole = Score::default();
    let mut kinds: BTreeMap<&str, Score> = BTreeMap::new();
    // All in one go: the system counts CPU time by the tick, and blames what lies between two pages for theirs.
    let start = cpu_seconds();
    let texts: Vec<String> = match predictions {
        Some(folder) => pages.iter().map(|page| read(folder, page)).collect(),
        None => pages.iter().map(extract).collect(),
    };
    let spent = cpu_seconds() - start;
    for (page, text) in pages.iter().zip(&texts) {
        whole.add(text, &page.truth);
        kinds.entry(&page.kind).or_default().add(text, &page.truth);
    }
    // A set that names a sort for next to every page has no sorts worth a line.
    let kinds = kinds.into_iter().filter(|(_, score)| (2..pages.len()).contains(&(score.pages as usize)));
    for (kind, score) in std::iter::once(("all", whole)).chain(kinds) {
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

/// Returns the CPU time this thread has used; 0 where the system does not tell.
fn cpu_seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|time| time.parse::<f64>().ok()).unwrap_or_default() / 1e9
}
