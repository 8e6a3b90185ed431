//! Printed pages, read back.

use serde_json::{Value, json};
use websvc_documents::{DocumentKind, Limits, parse};

use super::{Stage, stage};

/// A page that fills several sheets of a small paper.
const ESSAY: &str =
    "<title>Essay</title><h1>On printing</h1><p style='height: 2000px'>The first word is here.</p>
    <p>The last word is here.</p>";

/// Papers, width and height in points (ISO 216, ANSI/ASME Y14.1).
const PAPERS: [(&str, f64, f64); 11] = [
    ("A0", 2383.9, 3370.4),
    ("A1", 1683.8, 2383.9),
    ("A2", 1190.6, 1683.8),
    ("A3", 841.9, 1190.6),
    ("A4", 595.3, 841.9),
    ("A5", 419.5, 595.3),
    ("A6", 297.6, 419.5),
    ("Letter", 612.0, 792.0),
    ("Legal", 612.0, 1008.0),
    ("Tabloid", 792.0, 1224.0),
    ("Ledger", 1224.0, 792.0),
];

/// A printed page that was read back.
struct Sheets {
    width: f64,
    height: f64,
    count: u32,
    html: String,
}

/// Prints the page so, and reads back what that gives.
async fn print(stage: &Stage, actions: Vec<Value>) -> Vec<Sheets> {
    let (page, _) = stage.scrape("essay.test", json!({"formats": ["markdown"], "actions": actions})).await;
    let urls = page["actions"]["pdfs"].as_array().unwrap_or_else(|| panic!("{page}"));
    assert_eq!(urls.len(), actions.len());
    let mut printed = Vec::new();
    for url in urls {
        let (kind, bytes) = stage.file(url).await;
        assert_eq!(kind, "application/pdf");
        let (width, height) = media_box(&bytes);
        let parsed = parse(DocumentKind::Pdf, bytes, &Limits::default()).unwrap();
        printed.push(Sheets { width, height, count: parsed.pages.unwrap().total, html: parsed.html });
    }
    printed
}

/// Reads the size of the first page, in points.
fn media_box(pdf: &[u8]) -> (f64, f64) {
    let text = String::from_utf8_lossy(pdf);
    let (_, after) = text.split_once("/MediaBox [").expect("a page has a size");
    let numbers = after.split(']').next().unwrap().split_ascii_whitespace();
    let numbers: Vec<f64> = numbers.map(|number| number.parse().unwrap()).collect();
    (numbers[2] - numbers[0], numbers[3] - numbers[1])
}

#[tokio::test]
async fn a_pdf_has_the_paper_the_orientation_and_the_words() {
    let pages = [("http://essay.test/", ESSAY)];
    let test = "a_pdf_has_the_paper_the_orientation_and_the_words";
    let Some(stage) = stage(test, &pages).await else { return };
    let mut actions = vec![json!({"type": "pdf"})];
    let mut expected = vec![(612.0, 792.0)];
    for (name, width, height) in PAPERS {
        actions.push(json!({"type": "pdf", "format": name}));
        actions.push(json!({"type": "pdf", "format": name, "landscape": true}));
        expected.extend([(width, height), (height, width)]);
    }
    let printed = print(&stage, actions.clone()).await;
    for ((action, (width, height)), sheets) in actions.iter().zip(expected).zip(printed) {
        let is_near = (sheets.width - width).abs() < 1.5 && (sheets.height - height).abs() < 1.5;
        assert!(is_near, "{action}: {} by {}", sheets.width, sheets.height);
        for words in ["On printing", "The first word is here.", "The last word is here."] {
            assert!(sheets.html.contains(words), "{action}: {}", sheets.html);
        }
    }
}

#[tokio::test]
async fn a_pdf_is_scaled() {
    let Some(stage) = stage("a_pdf_is_scaled", &[("http://essay.test/", ESSAY)]).await else { return };
    let scaled = |scale: f64| json!({"type": "pdf", "scale": scale});
    let printed = print(&stage, [0.5, 1.0, 2.0].map(scaled).to_vec()).await;
    let counts: Vec<u32> = printed.iter().map(|sheets| sheets.count).collect();
    assert!(counts.is_sorted_by(|fewer, more| fewer < more), "{counts:?}");
    let options = json!({"formats": ["markdown"], "actions": [scaled(9.0)]});
    let (page, warning) = stage.scrape("essay.test", options).await;
    assert_eq!(page["actions"]["pdfs"].as_array().map(Vec::len), Some(1), "{page}");
    assert!(warning.as_str().unwrap_or_default().contains("2 was used instead of 9"), "{warning}");
}
