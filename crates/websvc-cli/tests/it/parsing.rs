//! Tests of `POST /v2/parse` and `websvc parse`.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use websvc_testkit::TestWeb;

use crate::harness::{KEY, Response, Service, Site, assert_fields};

const BOOK: &[u8] = include_bytes!("fixtures/tea.docx");
const TYPE: (&str, &str) = ("content-type", "multipart/form-data; boundary=----tea");

/// Returns a multipart body with these parts, each given as headers and content.
fn multipart(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (headers, content) in parts {
        body.extend_from_slice(b"------tea\r\nContent-Disposition: form-data; ");
        body.extend_from_slice(headers.as_bytes());
        body.extend_from_slice(b"\r\n\r\n");
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"------tea--\r\n");
    body
}

async fn send(service: &Service, body: Vec<u8>) -> Response {
    service.send(Method::POST, "/v2/parse", &[TYPE], body).await
}

pub(crate) async fn parse(service: &Service, file: &str, content: &[u8], options: &Value) -> Response {
    let options = options.to_string();
    let file = format!("name=\"file\"; filename=\"{file}\"");
    send(service, multipart(&[("name=\"options\"", options.as_bytes()), (file.as_str(), content)])).await
}

async fn service() -> (TestWeb, Service) {
    let world = TestWeb::builder().start().await;
    let service = Service::for_world(&world);
    (world, service)
}

#[tokio::test]
async fn parse_returns_formats_of_uploaded_files() {
    let (_world, service) = service().await;
    let page = b"<title>Tea</title><nav><a href=/>Home</a></nav><main><h1>Tea</h1><p>Of leaves.</p></main>";
    let formats = json!({ "formats": ["markdown", { "type": "html" }, "rawHtml"] });
    let response = parse(&service, "tea.html", page, &formats).await;
    assert_eq!(response.status, 200, "{}", response.body);
    let data = &response.body["data"];
    assert_eq!(data["markdown"], json!("# Tea\n\nOf leaves.\n"));
    assert_eq!(data["rawHtml"].as_str().unwrap().as_bytes(), page);
    assert_fields(&data["metadata"], &json!({ "creditsUsed": 1, "sourceURL": "tea.html" }));
    let response = parse(&service, "../../etc/tea.docx", BOOK, &json!({})).await;
    assert_eq!(response.status, 200, "{}", response.body);
    assert!(response.body["data"]["markdown"].as_str().unwrap().contains("oolong"), "{}", response.body);
    assert_eq!(response.body["data"]["metadata"]["url"], json!("file:///tea.docx"));
    let response = parse(&service, "stock.csv", b"tea,grams\noolong,40\n", &json!({})).await;
    assert!(response.body["data"]["markdown"].as_str().unwrap().contains("| oolong"), "{}", response.body);
    let message =
        b"From: ada@tea.test\nTo: bo@tea.test\nSubject: =?utf-8?q?Gr=C3=BCner_Tee?=\n\nOf leaves.\n";
    let response = parse(&service, "tea.eml", message, &json!({})).await;
    assert!(
        response.body["data"]["markdown"].as_str().unwrap().starts_with("# Gr\u{fc}ner Tee\n"),
        "{}",
        response.body
    );
    let notebook = br#"{"nbformat": 4, "cells": [{"cell_type": "code", "source": "brew(tea)"}]}"#;
    let response = parse(&service, "tea.ipynb", notebook, &json!({})).await;
    assert_eq!(response.body["data"]["markdown"], json!("```python\nbrew(tea)\n```\n"), "{}", response.body);
    // The upload is larger than the part that is held in memory.
    let long = format!("<p>{}</p>", "Tea is made of leaves. ".repeat(150_000));
    let response = parse(&service, "long.html", long.as_bytes(), &json!({})).await;
    assert_eq!(
        response.body["data"]["markdown"].as_str().unwrap().len(),
        150_000 * 23,
        "{}",
        response.status
    );
}

#[tokio::test]
async fn parsed_file_is_not_stored() {
    let (_world, service) = service().await;
    let response =
        parse(&service, "a.html", b"<main><h1>Zanzibar</h1><p>Zanzibar tea.</p></main>", &json!({})).await;
    assert_eq!(response.status, 200, "{}", response.body);
    service.index_pages(&[("listed", "http://tea.test/")]).await;
    let found = service.search(json!({ "query": "zanzibar" })).await;
    assert_eq!(found.body["data"]["web"], json!([]));
    let id = response.body["data"]["metadata"]["scrapeId"].as_str().unwrap();
    assert_eq!(service.get(&format!("/v2/scrape/{id}")).await.status, 404);
}

#[tokio::test]
async fn redaction_is_charged_only_when_applied() {
    let (_world, service) = service().await;
    let check = async |file: &str, content: &[u8], options: Value, warning: Option<&str>, credits: u64| {
        let response = parse(&service, file, content, &options).await;
        assert_eq!(response.status, 200, "{}", response.body);
        let actual = response.body["warning"].as_str();
        assert_eq!(actual.is_some(), warning.is_some(), "{options}: {}", response.body);
        assert_eq!(
            response.body["data"]["warning"].as_str(),
            actual,
            "official clients read the warning in the data"
        );
        assert!(actual.unwrap_or_default().contains(warning.unwrap_or_default()), "{}", response.body);
        assert_eq!(response.body["data"]["metadata"]["creditsUsed"], json!(credits), "{options}");
        response.body["data"]["markdown"].as_str().unwrap().to_owned()
    };
    let redact = json!({ "mode": "fast" });
    let page = b"<p>Mail jane@tea.test for tea.</p>";
    let redacted = check("a.html", page, json!({ "redactPII": redact }), None, 1 + 4).await;
    assert_eq!(redacted, "Mail <EMAIL> for tea.\n");
    let unparsed = json!({ "redactPII": redact, "parsers": [] });
    let pdf = b"%PDF-1.7 jane@tea.test";
    check("a.pdf", pdf, unparsed, Some("is not redacted"), 1).await;
    check("a.pdf", pdf, json!({ "parsers": [] }), None, 1).await;
}

#[tokio::test]
async fn parse_without_credits_is_rejected_before_the_upload() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    site.succeed(&["teams", "set", "default", "--credits", "0"]);
    let service = site.serve();
    let mut connection = TcpStream::connect(service.address.strip_prefix("http://").unwrap()).await.unwrap();
    let head = format!(
        "POST /v2/parse HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {KEY}\r\nContent-Type: {}\r\n\
         Content-Length: 50000000\r\n\r\n",
        TYPE.1
    );
    connection.write_all(head.as_bytes()).await.unwrap();
    let mut response = [0; 12];
    let reading = connection.read_exact(&mut response);
    // The response arrives before the timeout for a silent client.
    tokio::time::timeout(Duration::from_secs(8), reading).await.unwrap().unwrap();
    assert_eq!(String::from_utf8_lossy(&response), "HTTP/1.1 402");
}

#[tokio::test]
async fn unsupported_files_and_options_are_rejected() {
    let (_world, service) = service().await;
    let code = |response: &Response| {
        (response.status.as_u16(), response.body["code"].as_str().unwrap_or_default().to_owned())
    };
    let image = parse(&service, "tea.png", b"\x89PNG\r\n\x1a\n\0\0", &json!({})).await;
    assert_eq!(code(&image), (400, "UNSUPPORTED_FILE_TYPE".to_owned()));
    let response =
        parse(&service, "a.html", b"<p>a", &json!({ "waitFor": 5, "formats": ["screenshot"] })).await;
    assert_eq!(code(&response), (400, "PARSE_UNSUPPORTED_OPTIONS".to_owned()));
    let paths: Vec<&Value> =
        response.body["details"].as_array().unwrap().iter().map(|detail| &detail["path"]).collect();
    assert_eq!(paths, ["/waitFor", "/formats"]);
    let response = parse(&service, "a.html", b"<p>a", &json!({ "timeout": 1 })).await;
    assert_eq!(code(&response), (400, "BAD_REQUEST".to_owned()));
    let truncated = parse(&service, "half.docx", &BOOK[..BOOK.len() / 2], &json!({})).await;
    assert!(
        truncated.status.as_u16() >= 400 && truncated.body["success"] == json!(false),
        "{}",
        truncated.body
    );
}

#[tokio::test]
async fn invalid_multipart_bodies_are_rejected() {
    let (_world, service) = service().await;
    let file = ("name=\"file\"; filename=\"a.html\"", &b"<p>a"[..]);
    let long = format!("name=\"file\"; filename=\"{}\"", "a".repeat(10_000));
    let many: Vec<(&str, &[u8])> = vec![("name=\"x\"", b"1"); 17];
    let whole = multipart(&[file]);
    for (name, body, status) in [
        ("no file", multipart(&[("name=\"options\"", b"{}")]), 400),
        ("two files", multipart(&[file, file]), 400),
        ("no name", multipart(&[("filename=\"a.html\"", b"<p>a")]), 400),
        ("options that are not JSON", multipart(&[("name=\"options\"", b"{"), file]), 400),
        ("too many parts", multipart(&many), 400),
        ("headers too long", multipart(&[(&long, b"<p>a")]), 400),
        ("no end", whole[..whole.len() - 8].to_vec(), 400),
        ("no parts", b"------tea--\r\n".to_vec(), 400),
        ("not multipart", b"x".repeat(100_000), 400),
        (
            "too large",
            multipart(&[("name=\"file\"; filename=\"a.html\"", &vec![b' '; 50 * 1024 * 1024 + 1])]),
            413,
        ),
    ] {
        let response = send(&service, body).await;
        assert_eq!(response.status, status, "{name}: {}", response.body);
        assert_eq!(response.body["success"], json!(false), "{name}");
    }
    let headers = [("content-type", "text/plain")];
    let response = service.send(Method::POST, "/v2/parse", &headers, "<p>a".to_owned()).await;
    assert_eq!(response.status, 415, "{}", response.body);
    let response = service.post("/v2/parse", json!({ "uploadRef": "a" }).to_string()).await;
    assert_eq!(response.status, 400, "{}", response.body);
    let response = send(&service, multipart(&[("name=\"origin\"", b"sdk"), file])).await;
    assert!(response.body["warning"].as_str().unwrap().contains("origin"), "{}", response.body);
}

#[tokio::test]
async fn parse_formats_are_listed() {
    let (_world, service) = service().await;
    let response = service.get("/v2/parse/formats").await;
    let formats = response.body["data"]["formats"].as_array().unwrap();
    let format = |name: &str| formats.iter().find(|format| format["format"] == json!(name)).unwrap();
    assert_eq!((&format("pdf")["available"], &format("doc")["available"]), (&json!(true), &json!(false)));
    assert_eq!(format("docx")["extensions"], json!(["docx", "docm"]));
    assert_eq!(format("csv")["extensions"], json!(["csv", "tsv"]));
    assert_eq!(format("eml")["mimeTypes"], json!(["message/rfc822"]));
    assert_eq!(format("html")["kind"], json!("page"));
}

#[tokio::test]
async fn parse_command_writes_files_and_reports_unreadable_ones() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (page, book) = (file("tea.html", b"<title>Tea</title><p>Of leaves.</p>"), file("tea.docx", BOOK));
    let image = file("tea.png", b"\x89PNG\r\n\x1a\n\0\0");
    let directory = folder.path().join("out");
    let output = site.run(&["parse", &page, &book, &image, "--output", directory.to_str().unwrap()]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("tea.png") && errors.contains("1 of 3"), "{errors}");
    let written = std::fs::read_to_string(directory.join("tea.html.md")).unwrap();
    assert!(written.starts_with("---\ntitle: \"Tea\"\n") && written.ends_with("Of leaves.\n"), "{written}");
    assert!(std::fs::read_to_string(directory.join("tea.docx.md")).unwrap().contains("oolong"));
    let lines = site.succeed(&["parse", &page, &book, "--jsonl"]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (lines.len(), &lines[0]["markdown"], &lines[0]["file"]),
        (2, &json!("Of leaves.\n"), &json!(page))
    );
    assert_eq!(site.succeed(&["parse", &page]), "Of leaves.\n");
}
