//! Quality and robustness on the development pages, where `WEBSVC_EXTRACTION_DATA` names their folder.

use std::path::PathBuf;
use websvc_extract::{ContentOptions, Document, Source};

#[test]
fn every_development_page_gives_content() {
    let Some(folder) = std::env::var_os("WEBSVC_EXTRACTION_DATA").map(PathBuf::from) else {
        println!("skipped: WEBSVC_EXTRACTION_DATA is not set");
        return;
    };
    let (mut pages, mut empty) = (0, 0);
    for set in ["aeb", "readability"] {
        for entry in std::fs::read_dir(folder.join(set).join("html")).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            let url = "https://example.com/".parse().unwrap();
            let source = Source { bytes: &bytes, content_type: Some("text/html"), url: &url };
            let page = Document::parse(source).unwrap();
            pages += 1;
            empty += usize::from(page.content(&ContentOptions::default()).markdown().len() < 200);
        }
    }
    assert!(pages > 0 && empty * 50 <= pages, "{empty} of {pages} pages gave next to nothing");
}
