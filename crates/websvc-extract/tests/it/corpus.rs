//! Quality on the development pages, in the folder named by `WEBSVC_EXTRACTION_DATA`, compared with the recorded
//! scores.

use crate::scoring::{self, Page, Score};
use std::collections::HashMap;
use std::io::Write as _;
use std::path::PathBuf;
use websvc_extract::{ContentOptions, Document, Source};

/// Maximum loss of F1 against the recorded score: 0.3 points.
const TOLERANCE: f64 = 0.003;

/// Set, measure and F1 per line.
const BASELINE: &str = include_str!("../../model/baseline.tsv");

/// Returns the folder of the development pages. Without one, logs that `test` is skipped.
#[expect(clippy::print_stdout, reason = "a skipped test must be visible")]
pub(crate) fn data(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("WEBSVC_EXTRACTION_DATA").filter(|folder| !folder.is_empty());
    let folder = folder.map(PathBuf::from).filter(|folder| folder.join("aeb/truth.jsonl").is_file());
    if folder.is_none() {
        let reason = "WEBSVC_EXTRACTION_DATA is not a folder with the unpacked sets";
        println!("skipped {test}: {reason}");
        if let Some(path) = std::env::var_os("WEBSVC_SKIP_LOG") {
            let mut log = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
            writeln!(log, "{test}: {reason}").unwrap();
        }
    }
    folder
}

fn text_of(page: &Page) -> String {
    let source = Source { bytes: &page.html, content_type: Some("text/html"), url: &page.url };
    Document::parse(source).unwrap().content(&ContentOptions::default()).text()
}

/// Scores the pages of a set on two threads.
fn score(pages: &[Page]) -> (Score, Vec<String>) {
    let (first, second) = pages.split_at(pages.len() / 2);
    let texts: Vec<String> = std::thread::scope(|scope| {
        let other = scope.spawn(|| second.iter().map(text_of).collect::<Vec<_>>());
        let mut texts: Vec<String> = first.iter().map(text_of).collect();
        texts.extend(other.join().unwrap());
        texts
    });
    let mut score = Score::default();
    for (page, text) in pages.iter().zip(&texts) {
        score.add(text, &page.truth);
    }
    (score, texts)
}

#[test]
fn each_set_scores_as_recorded_and_loses_no_page() {
    let Some(folder) = data("each_set_scores_as_recorded") else { return };
    let mut measured: HashMap<&str, Score> = HashMap::new();
    let mut failures = Vec::new();
    for line in BASELINE.lines().filter(|line| !line.starts_with('#')) {
        let [set, measure, recorded] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        if !measured.contains_key(set) {
            let pages = scoring::read_set(&folder.join(set)).unwrap();
            let (score, texts) = score(&pages);
            // A page whose known text is in its markup must not give an almost empty text.
            let lost: Vec<&str> = pages
                .iter()
                .zip(&texts)
                .filter(|(page, text)| is_lost(page, text))
                .map(|(page, _)| page.id.as_str())
                .collect();
            if lost.len() * 100 > pages.len() {
                failures.push(format!("{set}: {lost:?} lose almost all of their text"));
            }
            measured.insert(set, score);
        }
        let score = &measured[set];
        let f1 = if measure == "shingles" { score.shingle_f1() } else { score.word_f1() };
        let recorded: f64 = recorded.parse().unwrap();
        println!("{set} {measure}: {f1:.4}, recorded {recorded:.4}");
        if f1 < recorded - TOLERANCE {
            failures.push(format!("{set}: F1 of {measure} is {f1:.4}, recorded is {recorded:.4}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

fn is_lost(page: &Page, text: &str) -> bool {
    let recall = |text: &str| scoring::word_scores(text, &page.truth)[1];
    recall(text) < 0.1 && page.truth.len() >= 200 && {
        let raw = String::from_utf8_lossy(&page.html);
        recall(&raw) > 0.5
    }
}
