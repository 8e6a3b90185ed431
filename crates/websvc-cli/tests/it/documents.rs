//! Tests of PDF, office and other documents in scrapes and imports, including hostile ones.

use std::io::Write as _;
use std::time::{Duration, Instant};

use flate2::{Compress, Compression, FlushCompress};
use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use crate::harness::{Service, Site};

const PDF: &str = "http://papers.test/tea.pdf";
const BOMB: &str = "http://papers.test/bomb.pdf";
const SCAN: &str = "http://papers.test/scan.pdf";
const LOCKED: &str = "http://papers.test/locked.pdf";
const TABLE: &str = "http://papers.test/stock.csv";
const BOOK: &str = "http://papers.test/tea.docx";
const BOOK_BYTES: &[u8] = include_bytes!("fixtures/tea.docx");
const OLD: &str = "http://papers.test/old.doc";
const WORKBOOK: &str = "http://papers.test/stock.xls";
const STOCK: &[u8] = include_bytes!("../../../websvc-documents/tests/it/fixtures/stock.xls");
const LOST: &str = "http://papers.test/lost.xlsb";
const LOCKED_WORKBOOK: &[u8] = include_bytes!("../../../websvc-documents/tests/it/fixtures/locked.xlsx");
const HALF: &str = "http://papers.test/half.docx";
const NOTHING: &str = "http://papers.test/nothing.pdf";
const MISNAMED: &str = "http://papers.test/misnamed.docx";
const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/// Returns a PDF of pages, each given as the entries of its stream dictionary and its content stream. The PDF has no
/// cross-reference table, so readers must search for the objects.
pub(crate) fn pdf(pages: &[(&str, &[u8])], trailer: &str) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|index| format!("{} 0 R", 10 + 2 * index)).collect();
    let mut file = b"%PDF-1.7\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n".to_vec();
    let mut object = |text: String| file.extend_from_slice(text.as_bytes());
    object(format!("2 0 obj << /Type /Pages /Kids [{}] /Count {} >> endobj\n", kids.join(" "), pages.len()));
    object("3 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj\n".to_owned());
    object("4 0 obj << /Title (All about tea) >> endobj\n".to_owned());
    for (index, (entries, content)) in pages.iter().enumerate() {
        let number = 10 + 2 * index;
        write!(
            file,
            "{number} 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >> endobj\n{} 0 obj << /Length {} {entries} >>\nstream\n",
            number + 1,
            number + 1,
            content.len()
        )
        .unwrap();
        file.extend_from_slice(content);
        file.extend_from_slice(b"\nendstream endobj\n");
    }
    write!(file, "trailer << /Root 1 0 R /Info 4 0 R {trailer} >>\n%%EOF").unwrap();
    file
}

pub(crate) fn text(lines: &[(u32, u32, &str)]) -> Vec<u8> {
    let operators =
        lines.iter().map(|(size, y, line)| format!("BT /F1 {size} Tf 50 {y} Td ({line}) Tj ET\n"));
    operators.collect::<String>().into_bytes()
}

fn tea() -> Vec<u8> {
    let first =
        text(&[(20, 700, "Brewing oolong"), (10, 660, "Steep the leaves of oolong for two minutes.")]);
    let second = text(&[(10, 700, "The second page is about cups.")]);
    pdf(&[("", &first), ("", &second)], "")
}

/// Returns the start of a Word file in the format before 2007.
fn word() -> Vec<u8> {
    let mut file = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    file.resize(512, 0);
    file.extend("WordDocument\0".encode_utf16().flat_map(u16::to_le_bytes));
    file.resize(512 + 64, 0);
    file.extend([26, 0, 2]);
    file.resize(1024, 0);
    file
}

/// Returns a PDF whose only page inflates to 768 MB.
fn bomb() -> Vec<u8> {
    let mut compress = Compress::new(Compression::best(), false);
    let mut piece = Vec::with_capacity(64 * 1024);
    compress.compress_vec(&vec![b' '; 4 << 20], &mut piece, FlushCompress::Full).unwrap();
    // After a full flush, nothing refers to earlier data, so the piece can be repeated.
    let mut content = vec![0x78, 0xda];
    (0..192).for_each(|_| content.extend_from_slice(&piece));
    content.extend_from_slice(&[0x03, 0x00, 0, 0, 0, 1]);
    pdf(&[("/Filter /FlateDecode", &content)], "")
}

async fn world() -> TestWeb {
    let scan = b"q 600 0 0 800 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x00 EI Q".as_slice();
    let locked = "/ID [<00> <00>] /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -44 \
        /O <0000000000000000000000000000000000000000000000000000000000000000> \
        /U <1111111111111111111111111111111111111111111111111111111111111111> >>";
    TestWeb::builder()
        .page(PDF, Page::new("application/pdf", tea()))
        .page(BOMB, Page::new("application/pdf", bomb()))
        .page(SCAN, Page::new("application/pdf", pdf(&[("", scan)], "")))
        .page(LOCKED, Page::new("application/pdf", pdf(&[("", &text(&[(10, 700, "secret")]))], locked)))
        .page(OLD, Page::new("application/msword", word()))
        .page(WORKBOOK, Page::new("application/octet-stream", STOCK))
        .page(LOST, Page::new("application/octet-stream", include_bytes!("fixtures/lost.xlsb").as_slice()))
        .page(HALF, Page::new(DOCX, BOOK_BYTES[..BOOK_BYTES.len() / 2].to_vec()))
        .page(NOTHING, Page::new("application/pdf", ""))
        .page(MISNAMED, Page::new(DOCX, tea()))
        .page(TABLE, Page::new("text/csv", "tea,grams\noolong,40\n"))
        .page(BOOK, Page::new("application/octet-stream", include_bytes!("fixtures/tea.docx").as_slice()))
        .start()
        .await
}

async fn serve_indexed(world: &TestWeb, urls: &[&str]) -> Service {
    let service = Service::for_world(world);
    let documents: Vec<Value> =
        urls.iter().map(|url| json!({"url": url, "title": "Listed", "body": "listed oolong"})).collect();
    service.post("/v2/index/documents", json!({ "documents": documents }).to_string()).await;
    service.search_until_found("oolong").await;
    service
}

async fn scrape(service: &Service, options: Value, url: &str) -> Value {
    let response = service.search(json!({"query": "oolong", "limit": 20, "scrapeOptions": options})).await;
    assert_eq!(response.status, 200, "{}", response.body);
    let hits = response.body["data"]["web"].as_array().unwrap().clone();
    hits.into_iter().find(|hit| hit["url"] == json!(url)).unwrap_or_else(|| panic!("{}", response.body))
}

#[tokio::test]
async fn pdf_has_markdown_and_page_counts() {
    let world = world().await;
    let service = serve_indexed(&world, &[PDF]).await;
    let hit = scrape(&service, json!({"formats": ["markdown", "html"]}), PDF).await;
    let markdown = hit["markdown"].as_str().unwrap();
    assert!(markdown.starts_with("# Brewing oolong\n\nSteep the leaves of oolong"), "{markdown}");
    assert!(markdown.contains("The second page"), "{markdown}");
    assert_eq!(hit["metadata"]["numPages"], json!(2));
    assert_eq!(hit["metadata"]["totalPages"], json!(2));
    assert_eq!(hit["metadata"]["title"], json!("All about tea"));
    assert_eq!(hit["metadata"]["contentType"], json!("application/pdf"));
    let parsers =
        json!({"formats": ["markdown"], "parsers": [{"type": "pdf", "mode": "fast", "maxPages": 1}]});
    let hit = scrape(&service, parsers, PDF).await;
    assert!(!hit["markdown"].as_str().unwrap().contains("second page"));
    assert_eq!((&hit["metadata"]["numPages"], &hit["metadata"]["totalPages"]), (&json!(1), &json!(2)));
}

#[tokio::test]
async fn pdf_is_charged_per_page_and_unparsed_as_one_page() {
    let world = world().await;
    let service = serve_indexed(&world, &[PDF]).await;
    let search = |parsers: Value| {
        json!({"query": "oolong", "scrapeOptions": {"formats": ["markdown"], "parsers": parsers}}).to_string()
    };
    let parsed = service.post("/v2/search", search(json!(["pdf"]))).await;
    assert_eq!(parsed.body["creditsUsed"], json!(2 + 2), "{}", parsed.body);
    let unparsed = service.post("/v2/search", search(json!([]))).await;
    assert_eq!(unparsed.body["creditsUsed"], json!(2 + 1), "{}", unparsed.body);
    let base64 = unparsed.body["data"]["web"][0]["markdown"].as_str().unwrap();
    assert!(base64.starts_with("JVBERi0xLjcK"), "{base64}");
    assert_eq!(unparsed.body["data"]["web"][0]["metadata"]["numPages"], Value::Null);
}

#[tokio::test]
async fn pdf_pages_beyond_the_budget_are_not_charged() {
    let world = world().await;
    let site = Site::new(&world);
    let change = websvc_store::TeamChange { credits: Some(Some(5)), ..websvc_store::TeamChange::default() };
    websvc_store::Store::open(site.data_dir()).unwrap().set_team("default", &change).unwrap();
    let service = site.serve();
    service.index_pages(&[("oolong", PDF)]).await;
    // The setup has cost 2 credits. The 3 remaining ones are reserved for the result and one page.
    let body = json!({"query": "oolong", "limit": 1, "scrapeOptions": {"formats": ["markdown"]}});
    let response = service.search(body.clone()).await;
    assert_eq!(
        (response.status.as_u16(), &response.body["creditsUsed"]),
        (200, &json!(3)),
        "{}",
        response.body
    );
    assert_eq!(
        response.body["data"]["web"][0]["metadata"]["creditsUsed"],
        json!(2),
        "the result reports the price of both pages"
    );
    assert_eq!(service.search(body).await.status, 402);
    let usage = service.get("/v2/team/credit-usage").await.body;
    assert_eq!(usage["data"]["remainingCredits"], json!(0));
}

#[tokio::test]
async fn office_files_and_tables_have_markdown() {
    let world = world().await;
    let service = serve_indexed(&world, &[TABLE, BOOK]).await;
    let hit = scrape(&service, json!({"formats": ["markdown"]}), TABLE).await;
    let markdown = hit["markdown"].as_str().unwrap();
    assert!(markdown.contains("| oolong | 40") && markdown.contains("| tea"), "{markdown}");
    let hit = scrape(&service, json!({"formats": ["markdown"]}), BOOK).await;
    assert!(hit["markdown"].as_str().unwrap().contains("A document about oolong"), "{hit}");
}

#[tokio::test]
async fn document_bomb_is_an_error_of_its_result_only() {
    let world = world().await;
    let service = serve_indexed(&world, &[BOMB, LOCKED, PDF]).await;
    let started = Instant::now();
    let hit = scrape(&service, json!({"formats": ["markdown"], "timeout": 30_000}), BOMB).await;
    assert!(started.elapsed() < Duration::from_secs(31), "{:?}", started.elapsed());
    let error = hit["metadata"]["error"].as_str().unwrap_or_default();
    assert!(error.contains("exceeds the limits of a document worker"), "{hit}");
    let hit = scrape(&service, json!({"formats": ["markdown"]}), LOCKED).await;
    assert!(hit["metadata"]["error"].as_str().unwrap_or_default().contains("needs a password"), "{hit}");
    let hit = scrape(&service, json!({"formats": ["markdown"]}), PDF).await;
    assert!(hit["markdown"].as_str().unwrap().contains("Brewing oolong"), "{hit}");
}

#[tokio::test]
async fn unreadable_files_have_errors_that_name_the_format() {
    let world = world().await;
    let service = serve_indexed(&world, &[OLD, LOST, HALF, NOTHING, MISNAMED, WORKBOOK]).await;
    for (url, expected) in [
        (
            OLD,
            "SCRAPE_UNSUPPORTED_FILE_ERROR: Word files from before 2007 (.doc) are not supported: save the file as .docx",
        ),
        // The reader fails on a sheet without its part.
        (LOST, "SCRAPE_UNSUPPORTED_FILE_ERROR: the xlsb file is damaged: the reader failed on its content"),
        (HALF, "SCRAPE_UNSUPPORTED_FILE_ERROR: the docx file is damaged: "),
        (NOTHING, "SCRAPE_UNSUPPORTED_FILE_ERROR: the pdf file is damaged: it is empty"),
    ] {
        let hit = scrape(&service, json!({"formats": ["markdown"]}), url).await;
        assert!(hit["metadata"]["error"].as_str().unwrap_or_default().starts_with(expected), "{hit}");
    }
    let hit = scrape(&service, json!({"formats": ["markdown"]}), MISNAMED).await;
    assert!(hit["markdown"].as_str().unwrap_or_default().contains("Brewing oolong"), "{hit}");
    let hit = scrape(&service, json!({"formats": ["markdown"]}), WORKBOOK).await;
    assert!(hit["markdown"].as_str().unwrap_or_default().contains("| Sencha"), "{hit}");
}

#[tokio::test]
async fn missing_tesseract_is_a_warning_for_scans_and_an_error_in_ocr_mode() {
    let world = world().await;
    let site = Site::new(&world);
    let service = Service::start(site.serve_command().env("PATH", ""));
    let documents = json!({"documents": [{"url": SCAN, "title": "Listed", "body": "listed oolong"}]});
    service.post("/v2/index/documents", documents.to_string()).await;
    service.search_until_found("oolong").await;
    let search = |mode: &str| {
        let parsers = json!([{"type": "pdf", "mode": mode}]);
        json!({"query": "oolong", "scrapeOptions": {"formats": ["markdown"], "parsers": parsers}})
    };
    let automatic = service.search(search("auto")).await.body;
    assert!(automatic["warning"].as_str().unwrap_or_default().contains("not installed"), "{automatic}");
    let ocr = service.search(search("ocr")).await.body;
    let error = ocr["data"]["web"][0]["metadata"]["error"].as_str().unwrap_or_default();
    assert!(error.contains("`pdftoppm`, which is not installed"), "{ocr}");
}

#[tokio::test]
async fn document_directory_is_imported() {
    let world = world().await;
    let site = Site::new(&world);
    let papers = site.data_dir().join("papers");
    std::fs::create_dir(&papers).unwrap();
    std::fs::write(papers.join("tea.pdf"), tea()).unwrap();
    std::fs::write(papers.join("tea.docx"), include_bytes!("fixtures/tea.docx")).unwrap();
    std::fs::write(papers.join("bomb.pdf"), bomb()).unwrap();
    let cups = pdf(&[("", &text(&[(10, 700, "The cups of a file with a wrong extension.")]))], "");
    std::fs::write(papers.join("misnamed.docx"), cups).unwrap();
    std::fs::write(papers.join("locked.xlsx"), LOCKED_WORKBOOK).unwrap();
    let arguments =
        ["index", "import", "--json", "--base-url", "http://papers.test/", papers.to_str().unwrap()];
    let output = site.run(&arguments);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["documents"], &report["errors"]), (&json!(3), &json!(2)), "{report}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("locked.xlsx: the office file is encrypted and needs a password"), "{stderr}");
    let found = site.succeed(&["search", "--json", "filetype:pdf brewing oolong"]);
    assert!(found.contains("http://papers.test/tea.pdf") && found.contains("All about tea"), "{found}");
}

/// Returns PDF operators that draw words, one per line, with letters of vertical and horizontal bars.
fn draw_words(words: &[&str]) -> Vec<u8> {
    let bars = |letter: char| -> &[[u32; 4]] {
        match letter {
            'E' => &[[0, 0, 8, 50], [0, 0, 28, 8], [0, 21, 24, 8], [0, 42, 28, 8]],
            'H' => &[[0, 0, 8, 50], [24, 0, 8, 50], [0, 21, 32, 8]],
            'I' => &[[12, 0, 8, 50]],
            'L' => &[[0, 0, 8, 50], [0, 0, 28, 8]],
            'T' => &[[12, 0, 8, 50], [0, 42, 32, 8]],
            _ => &[],
        }
    };
    let mut content = String::new();
    for (word, line) in words.iter().zip(0..) {
        for (letter, column) in word.chars().zip(0..) {
            for [x, y, width, height] in bars(letter) {
                let (x, y) = (60 + 42 * column + x, 650 - 90 * line + y);
                content.push_str(&format!("{x} {y} {width} {height} re f\n"));
            }
        }
    }
    content.into_bytes()
}

#[tokio::test]
async fn scanned_pages_are_recognised_with_tesseract() {
    let installed = |program: &str| std::process::Command::new(program).arg("--version").output().is_ok();
    if !installed("tesseract") || !installed("pdftoppm") {
        crate::harness::skip("tesseract or pdftoppm is not installed");
        return;
    }
    let scan = pdf(&[("", &draw_words(&["LITTLE", "TEETH"]))], "");
    let world = TestWeb::builder().page(SCAN, Page::new("application/pdf", scan)).start().await;
    let service = serve_indexed(&world, &[SCAN]).await;
    let parsers = json!([{"type": "pdf", "mode": "ocr"}]);
    let hit = scrape(&service, json!({"formats": ["markdown"], "parsers": parsers}), SCAN).await;
    let markdown = hit["markdown"].as_str().unwrap_or_default();
    assert!(markdown.contains("LITTLE") && markdown.contains("TEETH"), "{hit}");
    assert_eq!(hit["metadata"]["numPages"], json!(1));
}
