//! `cargo xtask bench extraction`: F1 of the main content per set and sort of page, and pages/s, beside dom_smoothie.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use super::data::{VARIABLE, prepare};
use super::{data, peer};
use crate::cargo::cargo;
use crate::debian::run as run_command;
use crate::{Result, root};

/// How often each set is timed, one program after the other; the best time counts.
const ROUNDS: usize = 3;

const PEER: &str = include_str!("dom_smoothie.rs");
const DEPENDENCIES: &str = r#"dom_smoothie = "=0.19.0""#;

/// A line of the table: pages, precision, recall and F1 of words, F1 of runs of four words.
struct Row {
    pages: String,
    figures: [String; 4],
}

/// Prints the table.
pub(crate) fn run() -> Result {
    let folder = prepare()?;
    let build = ["build", "--profile", "dist", "--package", "websvc-extract", "--example", "score"];
    run_command(cargo().args(build).current_dir(root()))?;
    let score = root().join("target/dist/examples/score");
    let peer = Peer::build();
    if let Err(error) = &peer {
        println!("dom_smoothie is absent: {error}\n");
    }
    println!(
        "| set | sort | pages | P | R | word F1 | 4-gram F1 | dom_smoothie word F1 | 4-gram F1 | pages/s | dom_smoothie pages/s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for set in data::SETS {
        measure(&score, peer.as_ref().ok(), &folder, set)?;
    }
    Ok(())
}

fn measure(score: &Path, peer: Option<&Peer>, folder: &Path, set: &str) -> Result {
    let (mut rows, mut theirs) = (BTreeMap::new(), BTreeMap::new());
    let (mut seconds, mut peer_seconds) = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        let (table, spent) = read_table(&run_command(Command::new(score).arg(folder).arg(set))?.stdout)?;
        (rows, seconds) = (table, seconds.min(spent));
        if let Some(peer) = peer {
            peer_seconds = peer_seconds.min(peer.extract(folder, set)?);
        }
    }
    if let Some(peer) = peer {
        let mut command = Command::new(score);
        command.arg(folder).arg(set).arg("--of").arg(&peer.texts);
        theirs = read_table(&run_command(&mut command)?.stdout)?.0;
    }
    for (kind, row) in &rows {
        let [precision, recall, words, shingles] = &row.figures;
        let [_, _, their_words, their_shingles] = theirs
            .get(kind)
            .map_or_else(|| std::array::from_fn(|_| "-".to_owned()), |row: &Row| row.figures.clone());
        let pace = |seconds: f64| match row.pages.parse::<f64>() {
            Ok(pages) if kind == "all" && seconds < f64::MAX => format!("{:.0}", pages / seconds),
            _ => String::new(),
        };
        println!(
            "| {set} | {kind} | {} | {precision} | {recall} | {words} | {shingles} | {their_words} | {their_shingles} | {} | {} |",
            row.pages,
            pace(seconds),
            pace(peer_seconds)
        );
    }
    Ok(())
}

/// Reads what the example `score` prints: the rows by sort of page, and the seconds.
fn read_table(output: &[u8]) -> Result<(BTreeMap<String, Row>, f64)> {
    let mut rows = BTreeMap::new();
    let mut seconds = 0.0;
    for line in String::from_utf8_lossy(output).lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [_, kind, pages, precision, recall, words, shingles, spent] = fields[..] else {
            return Err(format!("score printed {line:?}").into());
        };
        seconds = spent.parse()?;
        let figures = [precision, recall, words, shingles].map(str::to_owned);
        rows.insert(kind.to_owned(), Row { pages: pages.to_owned(), figures });
    }
    Ok((rows, seconds))
}

/// The program around dom_smoothie.
struct Peer {
    program: PathBuf,
    texts: PathBuf,
}

impl Peer {
    /// Builds it in the cache folder.
    fn build() -> Result<Peer> {
        let (folder, program) = peer::build("dom_smoothie", DEPENDENCIES, PEER)?;
        Ok(Peer { program, texts: folder.join("texts") })
    }

    /// Extracts the texts of a set and returns the CPU seconds that it took.
    fn extract(&self, folder: &Path, set: &str) -> Result<f64> {
        let mut command = Command::new(&self.program);
        command.arg(folder.join(set)).arg(self.texts.join(set));
        let output = String::from_utf8(run_command(&mut command)?.stdout)?;
        let seconds = output.trim().rsplit('\t').next().unwrap_or_default();
        Ok(seconds.parse()?)
    }
}
