//! `cargo xtask bench extraction`: F1 of the main content by set and kind of page, and pages per second, compared with
//! `dom_smoothie`, and the share of the structure that the markdown keeps.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use super::data::{VARIABLE, prepare};
use super::{data, peer};
use crate::cargo::cargo;
use crate::debian::run as run_command;
use crate::{Result, root};

/// Interleaved measurements of each set. The best time counts.
const ROUNDS: usize = 3;

/// Parts of a page, in the order of the example `score`: elements of the page whose text is in the known main text. A
/// row counts if it has all of its cells in order; an image, if it is between two blocks of the main text; and the
/// heading of the page, if it is the first heading of the markdown.
const MEASURES: [&str; 9] =
    ["headings", "items", "rows", "cells", "code lines", "links", "images", "order", "own h1"];

const PEER: &str = include_str!("dom_smoothie.rs");
const DEPENDENCIES: &str = r#"dom_smoothie = "=0.19.0""#;

/// Scores of one kind of page.
struct Row {
    pages: String,
    /// Precision, recall and F1 of words, then F1 of runs of four words.
    scores: [String; 4],
}

/// Prints the table.
pub(crate) fn run() -> Result {
    let folder = prepare()?;
    let build = ["build", "--profile", "dist", "--package", "websvc-extract", "--example", "score"];
    run_command(cargo().args(build).current_dir(root()))?;
    let score = root().join("target/dist/examples/score");
    let peer = Peer::build();
    if let Err(error) = &peer {
        println!("dom_smoothie is not available: {error}\n");
    }
    println!(
        "| set | kind | pages | P | R | word F1 | 4-gram F1 | dom_smoothie word F1 | 4-gram F1 | pages/s | dom_smoothie pages/s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for set in data::SETS {
        measure(&score, peer.as_ref().ok(), &folder, set)?;
    }
    println!("\nShare of the structure of the known main content that the markdown keeps:\n");
    println!("| set | kind | pages | {} |", MEASURES.join(" | "));
    println!("|---|---|---|{}", "---|".repeat(MEASURES.len()));
    for set in data::SETS {
        let output = run_command(Command::new(&score).arg(&folder).arg(set).arg("--structure"))?.stdout;
        print_structure(&output)?;
    }
    Ok(())
}

/// Prints the rows of the example `score` with `--structure`.
fn print_structure(output: &[u8]) -> Result {
    for line in String::from_utf8_lossy(output).lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields.len() != MEASURES.len() + 3 {
            return Err(format!("unexpected output of score: {line:?}").into());
        }
        println!("| {} |", fields.join(" | "));
    }
    Ok(())
}

/// Scores and times a set, and prints its rows.
fn measure(score: &Path, peer: Option<&Peer>, folder: &Path, set: &str) -> Result {
    let (mut rows, mut peer_rows) = (BTreeMap::new(), BTreeMap::new());
    let (mut seconds, mut peer_seconds) = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        let (table, elapsed) = read_table(&run_command(Command::new(score).arg(folder).arg(set))?.stdout)?;
        (rows, seconds) = (table, seconds.min(elapsed));
        if let Some(peer) = peer {
            peer_seconds = peer_seconds.min(peer.extract(folder, set)?);
        }
    }
    if let Some(peer) = peer {
        let mut command = Command::new(score);
        command.arg(folder).arg(set).arg("--of").arg(&peer.texts);
        peer_rows = read_table(&run_command(&mut command)?.stdout)?.0;
    }
    for (kind, row) in &rows {
        let [precision, recall, words, shingles] = &row.scores;
        let [_, _, peer_words, peer_shingles] = peer_rows
            .get(kind)
            .map_or_else(|| std::array::from_fn(|_| "-".to_owned()), |row: &Row| row.scores.clone());
        let pages_per_second = |seconds: f64| match row.pages.parse::<f64>() {
            Ok(pages) if kind == "all" && seconds < f64::MAX => format!("{:.0}", pages / seconds),
            _ => String::new(),
        };
        println!(
            "| {set} | {kind} | {} | {precision} | {recall} | {words} | {shingles} | {peer_words} | {peer_shingles} | {} | {} |",
            row.pages,
            pages_per_second(seconds),
            pages_per_second(peer_seconds)
        );
    }
    Ok(())
}

/// Parses the output of the example `score`: the rows by kind of page, and the CPU seconds.
fn read_table(output: &[u8]) -> Result<(BTreeMap<String, Row>, f64)> {
    let mut rows = BTreeMap::new();
    let mut seconds = 0.0;
    for line in String::from_utf8_lossy(output).lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [_, kind, pages, precision, recall, words, shingles, elapsed] = fields[..] else {
            return Err(format!("unexpected output of score: {line:?}").into());
        };
        seconds = elapsed.parse()?;
        let scores = [precision, recall, words, shingles].map(str::to_owned);
        rows.insert(kind.to_owned(), Row { pages: pages.to_owned(), scores });
    }
    Ok((rows, seconds))
}

/// The program that extracts pages with `dom_smoothie`.
struct Peer {
    program: PathBuf,
    texts: PathBuf,
}

impl Peer {
    /// Builds the program in the cache folder.
    fn build() -> Result<Peer> {
        let (folder, program) = peer::build("dom_smoothie", DEPENDENCIES, PEER)?;
        Ok(Peer { program, texts: folder.join("texts") })
    }

    /// Extracts the texts of a set and returns the CPU seconds.
    fn extract(&self, folder: &Path, set: &str) -> Result<f64> {
        let mut command = Command::new(&self.program);
        command.arg(folder.join(set)).arg(self.texts.join(set));
        let output = String::from_utf8(run_command(&mut command)?.stdout)?;
        let seconds = output.trim().rsplit('\t').next().unwrap_or_default();
        Ok(seconds.parse()?)
    }
}
