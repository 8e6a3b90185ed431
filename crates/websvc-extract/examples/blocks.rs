//! Writes the text blocks of each page of an evaluation set with their features, to fit the model of main content.
//!
//! `cargo run --release -p websvc-extract --example blocks -- SET_FOLDER OUT_FILE`
//!
//! Each line has the page ID, the text, the features, the elements around the block, its group, and the names of those
//! elements.

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
            let features: Vec<String> =
                block.features.iter().map(|feature| format!("{feature:.5}")).collect();
            let chain: Vec<String> = block.chain.iter().map(usize::to_string).collect();
            let (features, chain, names) = (features.join(" "), chain.join(" "), block.names.join(" > "));
            writeln!(out, "{id}\t{text}\t{features}\t{chain}\t{}\t{names}", block.group)?;
        }
    }
    Ok(())
}
