//! Writes the text blocks of every page of an evaluation set with their signals, to fit the model of main content.
//!
//! `cargo run --release -p websvc-extract --example blocks -- SET_FOLDER OUT_FILE`; a line is page id,
//! text, signals, the elements around it, its group, and the names of those elements.

use std::io::Write;
use std::path::PathBuf;
use websvc_extract::{Document, Source};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let (Some(set), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("usage: blocks SET_FOLDER OUT_FILE".into());
    };
    let mut out = std::io::BufWriter::new(std::fs::File::create(out)?);
    for line in std::fs::read_to_string(set.join("urls.tsv"))?.lines() {
        let Some((id, url)) = line.split_once('\t') else { continue };
        let Ok(url) = url::Url::parse(url) else { continue };
        let Ok(bytes) = std::fs::read(set.join("html").join(format!("{id}.html"))) else { continue };
        let source = Source { bytes: &bytes, content_type: Some("text/html"), url: &url };
        let Ok(page) = Document::parse(source) else { continue };
        for block in page.blocks() {
            let text = block.text.replace(['\t', '\n'], " ");
            let signals: Vec<String> = block.signals.iter().map(|signal| format!("{signal:.5}")).collect();
            let chain: Vec<String> = block.chain.iter().map(usize::to_string).collect();
            let (signals, chain, names) = (signals.join(" "), chain.join(" "), block.names.join(" > "));
            writeln!(out, "{id}\t{text}\t{signals}\t{chain}\t{}\t{names}", block.group)?;
        }
    }
    Ok(())
}
