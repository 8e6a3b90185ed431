//! Tests of the pages of a PDF (`pages`, `pageMarkers`, `blocks`) and of the format `rawBase64`, which official clients send.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use crate::documents::{pdf, text};
use crate::harness::{Service, Site, assert_fields};

const PDF: &str = "http://papers.test/tea.pdf";
const HTML: &str = "http://papers.test/tea.html";
const IMAGE: &str = "http://papers.test/tea.png";
const HTML_BYTES: &[u8] = b"<title>T\xe9a</title><main><h1>T\xe9a</h1><p>Of leaves.</p></main>";
const IMAGE_BYTES: &[u8] = b"\x89PNG\r\n\x1a\n\0\xff";

fn tea() -> Vec<u8> {
    let first = text(&[
        (20, 700, "Brewing oolong"),
        (10, 660, "Ask Jane Doe at jane@papers.test about the water."),
        (10, 80, "The sentence that begins on this page goes on and on for so long that"),
    ]);
    let second = text(&[(10, 700, "it ends on the next page only."), (10, 400, "A second paragraph.")]);
    let third = text(&[(10, 700, "The third page is about cups.")]);
    pdf(&[("", &first), ("", &second), ("", b""), ("", &third)], "")
}

async fn service() -> (TestWeb, Service) {
    let world = TestWeb::builder()
        .page(PDF, Page::new("application/pdf", tea()))
        .page(HTML, Page::new("text/html; charset=iso-8859-1", HTML_BYTES))
        .page(IMAGE, Page::new("image/png", IMAGE_BYTES))
        .start()
        .await;
    let service = Service::for_world(&world);
    (world, service)
}

async fn scrape(service: &Service, options: Value) -> Value {
    let response = service.post("/v2/scrape", options.to_string()).await;
    assert_eq!(response.status, 200, "{}", response.body);
    response.body
}

#[tokio::test]
async fn pages_of_a_pdf_have_their_own_markdown() {
    let (_world, service) = service().await;
    let plain = scrape(&service, json!({ "url": PDF })).await;
    assert!(plain["data"].get("pages").is_none(), "{plain}");
    // The older name, and a limit.
    for (parser, count) in [
        (json!({ "type": "pdf", "pages": true }), 4),
        (json!({ "type": "pdf", "pageMarkdown": true, "maxPages": 2 }), 2),
    ] {
        let body = scrape(&service, json!({ "url": PDF, "parsers": [parser] })).await;
        let pages = body["data"]["pages"].as_array().unwrap_or_else(|| panic!("{body}"));
        assert_eq!(pages.len(), count, "{body}");
        let expected =
            json!({ "pageNumber": 2, "markdown": "it ends on the next page only.\n\nA second paragraph.\n" });
        assert_eq!(pages[1], expected);
        assert!(pages[0]["markdown"].as_str().unwrap().starts_with("# Brewing oolong\n\n"), "{body}");
        if count == 4 {
            assert_eq!(pages[2], json!({ "pageNumber": 3, "markdown": "" }));
            assert_eq!(body["data"]["markdown"], plain["data"]["markdown"]);
            assert!(body.get("warning").is_none(), "{body}");
        }
        assert_eq!(body["data"]["metadata"]["creditsUsed"], count);
    }
    let body = scrape(
        &service,
        json!({ "url": PDF, "formats": ["links"], "parsers": [{ "type": "pdf", "pages": true }] }),
    )
    .await;
    assert!(
        body["data"].get("markdown").is_none()
            && body["data"]["pages"][3]["markdown"] == "The third page is about cups.\n",
        "{body}"
    );
    let body = scrape(
        &service,
        json!({ "url": HTML, "parsers": [{ "type": "pdf", "pages": true, "pageMarkers": true }] }),
    )
    .await;
    assert!(
        body["data"].get("pages").is_none() && !body["data"]["markdown"].as_str().unwrap().contains("page"),
        "{body}"
    );
}

#[tokio::test]
async fn page_markers_separate_the_pages_in_the_markdown() {
    let (_world, service) = service().await;
    let plain = scrape(&service, json!({ "url": PDF })).await;
    let marked =
        scrape(&service, json!({ "url": PDF, "parsers": [{ "type": "pdf", "pageMarkers": true }] })).await;
    let markdown = marked["data"]["markdown"].as_str().unwrap();
    assert!(
        markdown.starts_with("# Brewing oolong")
            && markdown.contains("so long that it ends on the next page only."),
        "{markdown}"
    );
    let parts: Vec<&str> = markdown.split("\n\n---\n\n<!-- page ").collect();
    // The third page is empty.
    assert_eq!(
        parts[1..],
        ["2 -->\n\nA second paragraph.", "4 -->\n\nThe third page is about cups.\n"],
        "{markdown}"
    );
    let without: String =
        markdown.replace("\n\n---\n\n<!-- page 2 -->", "").replace("\n\n---\n\n<!-- page 4 -->", "");
    assert_eq!(without, plain["data"]["markdown"].as_str().unwrap());
    assert!(marked["data"].get("pages").is_none() && marked.get("warning").is_none(), "{marked}");
}

#[tokio::test]
async fn blocks_have_their_kind_place_and_order() {
    let (_world, service) = service().await;
    let parser = json!({ "type": "pdf", "blocks": true });
    let body = scrape(&service, json!({ "url": PDF, "parsers": [parser] })).await;
    let pages = body["data"]["blocks"].as_array().unwrap_or_else(|| panic!("{body}"));
    let statuses: Vec<&str> = pages.iter().map(|page| page["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["ok", "ok", "empty", "ok"]);
    assert_fields(&pages[0], &json!({ "pageNumber": 1, "width": 600.0, "height": 800.0 }));
    let mut title = pages[0]["items"][0].clone();
    let bbox: Vec<f64> = serde_json::from_value(title["bbox"].take()).unwrap();
    assert!(
        bbox.len() == 4 && bbox.iter().all(|edge| (0.0..=1.0).contains(edge)) && bbox[1] < bbox[3],
        "{bbox:?}"
    );
    let expected = json!({
        "id": "p1.b0", "type": "title", "label": null, "bbox": null, "content": "# Brewing oolong",
        "markdownSpan": null, "readingOrder": 0, "source": "native_text",
        "confidence": { "layout": null, "ocr": null },
    });
    assert_eq!(title, expected);
    let contents: Vec<&Value> =
        pages[1]["items"].as_array().unwrap().iter().map(|item| &item["content"]).collect();
    assert_eq!(contents, ["it ends on the next page only.", "A second paragraph."]);
    assert!(body["data"].get("pages").is_none() && body.get("warning").is_none(), "{body}");
}

#[tokio::test]
async fn pages_are_redacted_like_the_markdown() {
    let (_world, service) = service().await;
    let parser = json!({ "type": "pdf", "pages": true, "pageMarkers": true, "blocks": true });
    let body =
        scrape(&service, json!({ "url": PDF, "parsers": [parser], "redactPII": { "mode": "fast" } })).await;
    let page = body["data"]["pages"][0]["markdown"].as_str().unwrap();
    assert!(page.contains("<EMAIL>") && !body.to_string().contains("jane@papers.test"), "{body}");
}

#[tokio::test]
async fn raw_base64_has_the_bytes_as_received() {
    let (_world, service) = service().await;
    let scrape_formats =
        |url: &'static str, formats: Value| scrape(&service, json!({ "url": url, "formats": formats }));
    let body = scrape_formats(PDF, json!([{ "type": "rawBase64" }])).await;
    assert_eq!(body["data"]["rawBase64"], STANDARD.encode(tea()));
    // The file was not read, so its pages are not charged.
    assert!(body["data"]["metadata"].get("numPages").is_none(), "{body}");
    assert_eq!(body["data"]["metadata"]["creditsUsed"], 1);
    let body = scrape_formats(PDF, json!(["markdown", "rawBase64"])).await;
    assert_eq!(body["data"]["rawBase64"], STANDARD.encode(tea()));
    assert!(body["data"]["markdown"].as_str().unwrap().starts_with("# Brewing"), "{body}");
    let body = scrape_formats(HTML, json!(["markdown", "rawBase64"])).await;
    assert_eq!(body["data"]["rawBase64"], STANDARD.encode(HTML_BYTES));
    assert_eq!(body["data"]["markdown"], "# Téa\n\nOf leaves.\n");
    // A file that cannot be parsed is returned, too.
    let body = scrape_formats(IMAGE, json!(["rawBase64"])).await;
    assert_eq!(body["data"]["rawBase64"], STANDARD.encode(IMAGE_BYTES));
    assert!(body.get("warning").is_none(), "{body}");
    let body = scrape(&service, json!({ "url": HTML, "formats": ["rawBase64"], "redactPII": true })).await;
    assert!(body["warning"].as_str().unwrap_or_default().contains("is not redacted"), "{body}");
}

/// Writes programs that stand in for those of character recognition: the image of a page is its number.
#[cfg(unix)]
fn write_recognizers(directory: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    for (name, script) in [
        ("pdftoppm", "[ \"$1\" = -v ] && exit 0\necho \"$2\"\n"),
        (
            "tesseract",
            "[ \"$1\" = --version ] && exit 0\nread -r page\nx=0\n\
             for word in Recognized words of page \"$page.\"; do x=$((x + 100))\n\
             printf '5\\t1\\t1\\t1\\t1\\t1\\t%s\\t10\\t90\\t20\\t90\\t%s\\n' \"$x\" \"$word\"; done\n",
        ),
    ] {
        let path = directory.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[cfg(unix)]
#[tokio::test]
async fn recognized_text_is_separated_too() {
    let scan = b"q 600 0 0 800 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x00 EI Q".as_slice();
    let page = text(&[(10, 700, "The second page has a text of its own.")]);
    let file = pdf(&[("", scan), ("", &page), ("", scan)], "");
    let world = TestWeb::builder().page(PDF, Page::new("application/pdf", file)).start().await;
    let programs = tempfile::tempdir().unwrap();
    write_recognizers(programs.path());
    let site = Site::new(&world);
    let mut command = site.serve_command();
    let service = Service::start(command.env("PATH", programs.path()));
    for (mode, second, source) in [
        ("auto", "The second page has a text of its own.", "native_text"),
        ("ocr", "Recognized words of page 2.", "ocr"),
    ] {
        let parser =
            json!({ "type": "pdf", "mode": mode, "pages": true, "pageMarkers": true, "blocks": true });
        let body = scrape(&service, json!({ "url": PDF, "parsers": [parser] })).await;
        let data = &body["data"];
        let pages: Vec<&str> = data["pages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|page| page["markdown"].as_str().unwrap().trim())
            .collect();
        let (first, third) = ("Recognized words of page 1.", "Recognized words of page 3.");
        assert_eq!(pages, [first, second, third], "{body}");
        let marker = |page: u32| format!("\n\n---\n\n<!-- page {page} -->\n\n");
        assert_eq!(data["markdown"], format!("{first}{}{second}{}{third}\n", marker(2), marker(3)));
        let items: Vec<&Value> = (0..3).map(|page| &data["blocks"][page]["items"][0]).collect();
        assert_eq!((&items[0]["source"], &items[0]["bbox"]), (&json!("ocr"), &Value::Null));
        assert_eq!((&items[1]["source"], &items[1]["content"]), (&json!(source), &json!(second)));
        assert_eq!(items[2]["content"], third);
    }
}
