//! Scores what is read from the PDF files of many producers, by producer, for those with narrow
//! gutters, by half and in total.
//!
//! `cargo run --release -p websvc-evaluation --example producers -- [--of FOLDER EXTENSION] [--documents] [--half HALF]
//! [--write FOLDER]`
//!
//! Each output line has the producer, the number of documents and of pages, the measures in the order of
//! `score::MEASURES`, and the CPU milliseconds per page. With `--of` the texts are those of `FOLDER/NAME.EXTENSION`, from
//! another program; `md` is markdown, and all else plain text. With `--documents` each document has a line. `--half`
//! reads one half, and `--write` writes the markdown.

#[path = "../tests/it/producers/score.rs"]
mod score;
#[path = "../tests/it/producers/set.rs"]
mod set;
#[path = "../../websvc-extract/tests/it/structure.rs"]
mod structure;

use std::path::{Path, PathBuf};

use score::{Content, Total};
use set::Entry;

/// The options of the command line.
#[derive(Default)]
struct Arguments {
    texts: Option<(PathBuf, String)>,
    documents: bool,
    half: Option<String>,
    write: Option<PathBuf>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = arguments(std::env::args().skip(1))?;
    let folder = set::folder();
    let mut rows: Vec<(String, Total)> = Vec::new();
    let mut totals: Vec<(String, Total)> =
        ["narrow gutters", "open", "held", "all"].map(|name| (name.to_owned(), Total::default())).into();
    for entry in set::entries(&folder) {
        if arguments.half.as_ref().is_some_and(|half| *half != entry.half) {
            continue;
        }
        let total = measure(&entry, &folder, &arguments)?;
        let key = if arguments.documents { &entry.name } else { &entry.producer };
        let same = rows.iter().position(|(name, _)| name == key);
        let index = same.unwrap_or_else(|| {
            rows.push((key.clone(), Total::default()));
            rows.len() - 1
        });
        rows[index].1.merge(&total);
        // Without recognition, the files of pictures have no text. They are rows of their own.
        let is_counted = |name: &str| match name {
            _ if entry.is_scan() => false,
            "narrow gutters" => entry.columns > 1,
            _ => name == "all" || name == entry.half,
        };
        totals.iter_mut().filter(|(name, _)| is_counted(name)).for_each(|(_, sum)| sum.merge(&total));
    }
    rows.extend(totals.into_iter().filter(|(_, total)| total.documents > 0));
    rows.iter().for_each(|(name, total)| print(name, total));
    Ok(())
}

fn arguments(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = Arguments::default();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} lacks its value"));
        match word.as_str() {
            "--of" => arguments.texts = Some((value()?.into(), value()?)),
            "--documents" => arguments.documents = true,
            "--half" => arguments.half = Some(value()?),
            "--write" => arguments.write = Some(value()?.into()),
            _ => return Err(format!("unknown option {word:?}")),
        }
    }
    Ok(arguments)
}

/// Scores a document.
fn measure(entry: &Entry, folder: &Path, arguments: &Arguments) -> std::io::Result<Total> {
    let mut total = Total::default();
    let content = match &arguments.texts {
        Some((texts, extension)) => {
            let text = std::fs::read_to_string(texts.join(format!("{}.{extension}", entry.name)));
            let text = text.unwrap_or_default();
            let seconds = std::fs::read_to_string(texts.join(format!("{}.seconds", entry.name)));
            total.seconds = seconds.ok().and_then(|seconds| seconds.trim().parse().ok()).unwrap_or_default();
            if extension == "md" { Content::of_markdown(&text) } else { Content::of_text(&text) }
        }
        None => {
            let reading = entry.read(folder);
            total.seconds = reading.seconds;
            if let Some(folder) = &arguments.write {
                std::fs::write(folder.join(format!("{}.md", entry.name)), &reading.markdown)?;
            }
            Content::of_markdown(&reading.markdown)
        }
    };
    total.pages = entry.pages;
    total.add(&content, &entry.truth(folder));
    Ok(total)
}

#[expect(clippy::print_stdout, reason = "the example prints its measurements")]
fn print(name: &str, total: &Total) {
    let measures = total.measures().map(|value| value.map_or("-".to_owned(), |value| format!("{value:.3}")));
    let pace = if total.pages > 0 { total.seconds * 1e3 / f64::from(total.pages) } else { 0.0 };
    println!("{name}\t{}\t{}\t{}\t{pace:.2}", total.documents, total.pages, measures.join("\t"));
}
