//! Tests of PDF files of pages, which parse the files.

use serde_json::{Value, json};
use websvc_documents::{DocumentKind, Limits, parse};

use super::{BrowserTest, start};

/// A page that fills several sheets of small paper.
const ESSAY: &str =
    "<title>Essay</title><h1>On printing</h1><p style='height: 2000px'>The first word is here.</p>
    <p>The last word is here.</p>";

/// Paper formats with width and height in points (ISO 216, ANSI/ASME Y14.1).
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

/// A parsed PDF.
struct ParsedPdf {
    width: f64,
    height: f64,
    page_count: u32,
    html: String,
}

/// Scrapes the page with PDF actions, and parses the resulting files.
async fn print(browser: &BrowserTest, actions: Vec<Value>) -> Vec<ParsedPdf> {
    let (page, _) = browser.scrape("essay.test", json!({"formats": ["markdown"], "actions": actions})).await;
    let urls = page["actions"]["pdfs"].as_array().unwrap_or_else(|| panic!("{page}"));
    assert_eq!(urls.len(), actions.len());
    let mut pdfs = Vec::new();
    for url in urls {
        let (content_type, bytes) = browser.file(url).await;
        assert_eq!(content_type, "application/pdf");
        let (width, height) = media_box(&bytes);
        let parsed = parse(DocumentKind::Pdf, bytes, &Limits::default()).unwrap();
        pdfs.push(ParsedPdf { width, height, page_count: parsed.pages.unwrap().total, html: parsed.html });
    }
    pdfs
}

/// Returns the size of the first page in points.
fn media_box(pdf: &[u8]) -> (f64, f64) {
    let text = String::from_utf8_lossy(pdf);
    let (_, after) = text.split_once("/MediaBox [").expect("the PDF has a media box");
    let numbers = after.split(']').next().unwrap().split_ascii_whitespace();
    let numbers: Vec<f64> = numbers.map(|number| number.parse().unwrap()).collect();
    (numbers[2] - numbers[0], numbers[3] - numbers[1])
}

#[tokio::test]
async fn pdf_action_has_paper_orientation_and_text() {
    let pages = [("http://essay.test/", ESSAY)];
    let test = "pdf_action_has_paper_orientation_and_text";
    let Some(browser) = start(test, &pages).await else { return };
    let mut actions = vec![json!({"type": "pdf"})];
    let mut expected = vec![(612.0, 792.0)];
    for (name, width, height) in PAPERS {
        actions.push(json!({"type": "pdf", "format": name}));
        actions.push(json!({"type": "pdf", "format": name, "landscape": true}));
        expected.extend([(width, height), (height, width)]);
    }
    let pdfs = print(&browser, actions.clone()).await;
    for ((action, (width, height)), pdf) in actions.iter().zip(expected).zip(pdfs) {
        let is_near = (pdf.width - width).abs() < 1.5 && (pdf.height - height).abs() < 1.5;
        assert!(is_near, "{action}: {} by {}", pdf.width, pdf.height);
        for text in ["On printing", "The first word is here.", "The last word is here."] {
            assert!(pdf.html.contains(text), "{action}: {}", pdf.html);
        }
    }
}

#[tokio::test]
async fn pdf_action_scale_changes_the_page_count() {
    let Some(browser) =
        start("pdf_action_scale_changes_the_page_count", &[("http://essay.test/", ESSAY)]).await
    else {
        return;
    };
    let scaled = |scale: f64| json!({"type": "pdf", "scale": scale});
    let pdfs = print(&browser, [0.5, 1.0, 2.0].map(scaled).to_vec()).await;
    let counts: Vec<u32> = pdfs.iter().map(|pdf| pdf.page_count).collect();
    assert!(counts.is_sorted_by(|fewer, more| fewer < more), "{counts:?}");
    let options = json!({"formats": ["markdown"], "actions": [scaled(9.0)]});
    let (page, warning) = browser.scrape("essay.test", options).await;
    assert_eq!(page["actions"]["pdfs"].as_array().map(Vec::len), Some(1), "{page}");
    assert!(warning.as_str().unwrap_or_default().contains("2 was used instead of 9"), "{warning}");
}
