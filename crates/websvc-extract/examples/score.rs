//! Scores the text of each page of the evaluation sets in a folder, by set and by kind of page.
//!
//! `cargo run --release -p websvc-extract --example score -- DATA SET... [--of PREDICTIONS] [--structure]`
//!
//! Each output line has the set, the kind, the number of pages, precision, recall and F1 of words, F1 of runs of four
//! words, and the CPU seconds of the set. With `--of` the texts are those of `PREDICTIONS/SET/ID.txt`, from another
//! program. With `--structure` a line has the share of the structure of the known main content that the markdown keeps
//! instead of the scores, in the order of `fidelity::MEASURES`; predictions are those of `PREDICTIONS/SET/ID.md`.

#[path = "../tests/it/fidelity.rs"]
mod fidelity;
#[path = "../tests/it/scoring.rs"]
mod scoring;
#[path = "../tests/it/structure.rs"]
mod structure;

use fidelity::Fidelity;
use scoring::{Page, Score};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use structure::Structure;
use websvc_extract::{ContentOptions, ContentScope, Document, Source};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let of = arguments.iter().position(|argument| argument == "--of").map(|at| {
        let predictions = arguments.get(at + 1).map(PathBuf::from);
        arguments.truncate(at);
        predictions.unwrap_or_default()
    });
    let is_structure = |argument: &String| argument == "--structure";
    let of_structure = arguments.iter().any(is_structure);
    arguments.retain(|argument| !is_structure(argument));
    let Some((data, sets)) = arguments.split_first() else {
        return Err("usage: score DATA SET... [--structure] [--of PREDICTIONS]".into());
    };
    for set in sets {
        let pages = scoring::read_set(&Path::new(data).join(set))?;
        let predictions = of.as_ref().map(|folder| folder.join(set));
        if of_structure {
            compare_structure(set, &pages, predictions.as_deref());
        } else {
            score(set, &pages, predictions.as_deref());
        }
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the example prints its measurements")]
fn compare_structure(set: &str, pages: &[Page], predictions: Option<&Path>) {
    let mut total = Fidelity::default();
    let mut kinds: BTreeMap<&str, (usize, Fidelity)> = BTreeMap::new();
    for page in pages {
        let full = content(&page.html, &page.url, ContentScope::Full, Format::Html);
        let markdown = match predictions {
            Some(folder) => read(folder, page, "md"),
            None => content(&page.html, &page.url, ContentScope::Main, Format::Markdown),
        };
        let found = Structure::of_markdown(&markdown);
        let known = page
            .main_html
            .as_ref()
            .map(|html| content(html.as_bytes(), &page.url, ContentScope::Full, Format::Html));
        let known = known.or_else(|| page.markdown.as_deref().map(structure::to_html));
        let fidelity = match known {
            Some(known) => Fidelity::of_structures(&Structure::of_html(&known), &found),
            None => Fidelity::of_page(&Structure::of_html(&full), &found, &page.truth),
        };
        total.add(&fidelity);
        let kind = kinds.entry(&page.kind).or_default();
        kind.0 += 1;
        kind.1.add(&fidelity);
    }
    let kinds = kinds.into_iter().filter(|(_, (count, _))| (2..pages.len()).contains(count));
    for (kind, (count, fidelity)) in std::iter::once(("all", (pages.len(), total))).chain(kinds) {
        let shares =
            fidelity.shares().map(|share| share.map_or("-".to_owned(), |share| format!("{share:.3}")));
        println!("{set}\t{kind}\t{count}\t{}", shares.join("\t"));
    }
}

/// A format of a page.
#[derive(Clone, Copy)]
enum Format {
    Html,
    Markdown,
    Text,
}

/// Returns a format of a page.
fn content(html: &[u8], url: &url::Url, scope: ContentScope, format: Format) -> String {
    let options = ContentOptions { scope, ..ContentOptions::default() };
    let source = Source { bytes: html, content_type: Some("text/html"), url };
    let Ok(document) = Document::parse(source) else { return String::new() };
    let content = document.content(&options);
    match format {
        Format::Html => content.html(),
        Format::Markdown => content.markdown(),
        Format::Text => content.text(),
    }
}

#[expect(clippy::print_stdout, reason = "the example prints its measurements")]
fn score(set: &str, pages: &[Page], predictions: Option<&Path>) {
    let mut total = Score::default();
    let mut kinds: BTreeMap<&str, Score> = BTreeMap::new();
    // All pages in one measurement: the system counts CPU time in ticks, which is too coarse for a single page.
    let start = cpu_seconds();
    let texts: Vec<String> = match predictions {
        Some(folder) => pages.iter().map(|page| read(folder, page, "txt")).collect(),
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

fn read(folder: &Path, page: &Page, extension: &str) -> String {
    std::fs::read_to_string(folder.join(format!("{}.{extension}", page.id))).unwrap_or_default()
}

fn extract(page: &Page) -> String {
    content(&page.html, &page.url, ContentScope::Main, Format::Text)
}

/// Returns the CPU time of this thread, or 0 if the system does not report it.
fn cpu_seconds() -> f64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    schedstat.split(' ').next().and_then(|time| time.parse::<f64>().ok()).unwrap_or_default() / 1e9
}
