//! The set of PDF files of many producers, with the known content of each, which `xtask/producers/make.py` makes.

#![allow(dead_code, reason = "the test and the example `producers` use different parts")]

use std::path::{Path, PathBuf};

use serde::Deserialize;
use websvc_documents::{DocumentKind, Limits, page_mark, parse, recognized_html};
use websvc_extract::{ContentOptions, ContentScope, Document, Source};

/// A file of the set.
#[derive(Debug, Deserialize)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) producer: String,
    /// The name of the file with its known content.
    pub(crate) truth: String,
    pub(crate) pages: u32,
    /// "open", or "held" for the files that are not looked at while the reader changes.
    pub(crate) half: String,
    /// The number of columns, with gutters of 6 to 10 points.
    pub(crate) columns: u32,
}

/// A part of the known content.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Heading(String),
    Item(String),
    Row(Vec<String>),
    Code(String),
    Note(String),
    /// An entry of a table of contents.
    Entry(String),
    Paragraph(String),
}

impl Part {
    pub(crate) fn text(&self) -> String {
        match self {
            Part::Row(cells) => cells.join(" "),
            Part::Heading(text)
            | Part::Item(text)
            | Part::Code(text)
            | Part::Note(text)
            | Part::Entry(text)
            | Part::Paragraph(text) => text.clone(),
        }
    }
}

/// The markdown that websvc reads from a file.
pub(crate) struct Reading {
    pub(crate) markdown: String,
    /// The CPU time of the conversion to HTML.
    pub(crate) seconds: f64,
}

/// Returns the folder of the set.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/pdf")
}

/// Returns the list of the files of the set.
pub(crate) fn entries(folder: &Path) -> Vec<Entry> {
    let list = std::fs::read(folder.join("documents.json")).expect("the list can be read");
    serde_json::from_slice(&list).expect("the list is valid")
}

impl Entry {
    /// Returns the known content.
    pub(crate) fn truth(&self, folder: &Path) -> Vec<Part> {
        let file = folder.join("truth").join(format!("{}.json", self.truth));
        let content = std::fs::read(file).expect("the known content can be read");
        let parts: Vec<(String, serde_json::Value)> = serde_json::from_slice(&content).expect("it is valid");
        parts.into_iter().map(|(kind, value)| part(&kind, value)).collect()
    }

    /// Returns whether the file has pictures of its pages only.
    pub(crate) fn is_scan(&self) -> bool {
        self.producer == "scan"
    }

    /// Reads the file.
    pub(crate) fn read(&self, folder: &Path) -> Reading {
        let bytes = std::fs::read(folder.join(format!("{}.pdf", self.name))).expect("the file can be read");
        let start = cpu_seconds();
        let parsed = parse(DocumentKind::Pdf, bytes, &Limits::default());
        let seconds = cpu_seconds() - start;
        let parsed = parsed.expect("the file is a PDF");
        Reading { markdown: markdown(&self.with_recognized_text(folder, parsed.html)), seconds }
    }

    /// Puts the recognized text of pages at their marks. The set has the words that Tesseract found.
    fn with_recognized_text(&self, folder: &Path, mut html: String) -> String {
        for page in 1.. {
            let file = folder.join("recognized").join(format!("{}-{page}.tsv", self.name));
            let Ok(words) = std::fs::read_to_string(file) else { break };
            html = html.replacen(&page_mark(page), &recognized_html(&words), 1);
        }
        html
    }
}

fn part(kind: &str, value: serde_json::Value) -> Part {
    if kind == "row" {
        return Part::Row(serde_json::from_value(value).expect("a row has cells"));
    }
    let text: String = serde_json::from_value(value).expect("a part has a text");
    match kind {
        "heading" => Part::Heading(text),
        "item" => Part::Item(text),
        "code" => Part::Code(text),
        "note" => Part::Note(text),
        "contents" => Part::Entry(text),
        _ => Part::Paragraph(text),
    }
}

fn markdown(html: &str) -> String {
    let url = url::Url::parse("https://example.com/file.pdf").expect("the address is valid");
    let options = ContentOptions { scope: ContentScope::Full, ..ContentOptions::default() };
    let source = Source { bytes: html.as_bytes(), content_type: Some("text/html; charset=utf-8"), url: &url };
    Document::parse(source).expect("the HTML is valid").content(&options).markdown()
}

/// Returns the CPU time of this thread, or 0 if the system does not report it.
fn cpu_seconds() -> f64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    schedstat.split(' ').next().and_then(|time| time.parse::<f64>().ok()).unwrap_or_default() / 1e9
}
