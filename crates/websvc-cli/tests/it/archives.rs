//! Tests of the import of WARC files and compressed JSON lines, intact and damaged.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use websvc_testkit::{Coding, TestWeb};

use crate::harness::Site;

/// Returns a WARC record in the form that crawlers write.
fn record(kind: &str, target: &str, block: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:0>\r\nWARC-Target-URI: {target}\r\n\
         Content-Type: application/http; msgtype={kind}\r\nContent-Length: {}\r\n\r\n",
        block.len()
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

/// Returns a record with an HTTP response.
fn response(target: &str, head: &str, body: &[u8]) -> Vec<u8> {
    record("response", target, &[format!("HTTP/1.1 {head}\r\n\r\n").as_bytes(), body].concat())
}

const PDF: &[u8] = b"%PDF-1.7\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n\
    2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj\n\
    3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>> endobj\n\
    4 0 obj <</Length 51>>\nstream\nBT /F 10 Tf 50 700 Td (Chestnuts are roasted) Tj ET\nendstream endobj\n\
    5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj\ntrailer <</Root 1 0 R>>";

const HTML: &str = "200 OK\r\nContent-Type: text/html; charset=utf-8";

fn page(target: &str, text: &str) -> Vec<u8> {
    let body =
        format!("<html lang=en><title>{text}</title><main><h1>{text}</h1><p>The word is {text}.</main>");
    response(target, HTML, body.as_bytes())
}

/// An installation, and a directory for the files to import.
struct ImportTest {
    site: Site,
    files: TempDir,
}

impl ImportTest {
    async fn new() -> Self {
        let world = TestWeb::builder().start().await;
        Self { site: Site::new(&world), files: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.files.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Imports a file. Returns the report from stdout, and stderr.
    fn run(&self, path: &Path) -> (Value, String) {
        self.run_with(path, &[])
    }

    fn run_with(&self, path: &Path, options: &[&str]) -> (Value, String) {
        let import = ["index", "import", path.to_str().unwrap(), "--json"];
        let output = self.site.run(&[&import, options].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{stderr}");
        (serde_json::from_slice(&output.stdout).unwrap(), stderr)
    }

    fn finds(&self, query: &str, url: &str) -> bool {
        self.site.succeed(&["search", query, "--json"]).contains(&format!("\"{url}\""))
    }
}

/// Returns the reasons for skipped records with a count above 0, in alphabetical order.
fn reasons(report: &Value) -> Vec<(&str, u64)> {
    let counts = report["skipped"].as_object().unwrap().iter();
    let mut counts: Vec<(&str, u64)> = counts
        .map(|(reason, count)| (reason.as_str(), count.as_u64().unwrap()))
        .filter(|(_, count)| *count > 0)
        .collect();
    counts.sort_unstable();
    counts
}

#[tokio::test(flavor = "multi_thread")]
async fn archive_import_counts_skipped_records_by_reason() {
    let chunked = "200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip";
    let packed = Coding::Gzip.encode(b"<title>Packed</title><p>Walnuts are packed in chunks.</p>");
    let (first, second) = packed.split_at(20);
    let body = [
        format!("{:x}\r\n", first.len()).as_bytes(),
        first,
        format!("\r\n{:x}\r\n", second.len()).as_bytes(),
        second,
        b"\r\n0\r\n\r\n",
    ]
    .concat();
    let noindex = b"<meta name=robots content=noindex><p>Almonds are secret.</p>";
    let records = [
        record("warcinfo", "", b"software: a test\r\n"),
        record("request", "http://nuts.test/hazel", b"GET /hazel HTTP/1.1\r\nHost: nuts.test\r\n\r\n"),
        page("http://nuts.test/hazel", "hazelnut"),
        response("http://nuts.test/walnut", chunked, &body),
        response(
            "http://nuts.test/latin",
            "200 OK\r\nContent-Type: text/html",
            b"<p>Ein M\xe4rchen von Pistazien.</p>",
        ),
        response("http://nuts.test/gone", "404 Not Found\r\nContent-Type: text/html", b"<p>Gone.</p>"),
        response(
            "http://nuts.test/moved",
            "301 Moved\r\nLocation: /\r\nContent-Type: text/html",
            b"<p>Moved.</p>",
        ),
        response("http://nuts.test/logo", "200 OK\r\nContent-Type: image/png", b"\x89PNG"),
        response("http://nuts.test/false", HTML, b"GIF89a not HTML"),
        response("http://nuts.test/paper.pdf", "200 OK\r\nContent-Type: application/pdf", PDF),
        response("http://nuts.test/secret", HTML, noindex),
        response(
            "http://nuts.test/header",
            &format!("{HTML}\r\nX-Robots-Tag: noindex"),
            b"<p>Almonds too.</p>",
        ),
        response("http://nuts.test/empty", HTML, b"<html><body></body></html>"),
        record("response", "dns:nuts.test", b"20260101000000\nnuts.test. 60 IN A 192.0.2.1\n"),
        record("response", "http://nuts.test/odd", b"no HTTP at all"),
    ];
    let whole: Vec<u8> = records.concat();
    let members: Vec<u8> = records.iter().flat_map(|record| Coding::Gzip.encode(record)).collect();
    for (name, bytes) in [("nuts.warc", whole), ("nuts.warc.gz", members)] {
        let import = ImportTest::new().await;
        let (report, stderr) = import.run(&import.file(name, &bytes));
        assert_eq!((&report["documents"], &report["errors"]), (&json!(4), &json!(1)), "{name}: {stderr}");
        assert_eq!(
            reasons(&report),
            [
                ("broken", 1),
                ("no_text", 1),
                ("noindex", 2),
                ("not_a_page", 3),
                ("not_html", 2),
                ("not_ok", 2)
            ],
            "{name}"
        );
        assert!(stderr.contains("http://nuts.test/odd: the block is not an HTTP response"), "{stderr}");
        assert!(import.finds("hazelnut", "http://nuts.test/hazel"));
        assert!(import.finds("walnuts chunks", "http://nuts.test/walnut"));
        assert!(import.finds("märchen pistazien", "http://nuts.test/latin"));
        assert!(import.finds("chestnuts filetype:pdf", "http://nuts.test/paper.pdf"));
        assert!(!import.finds("almonds", "http://nuts.test/secret"));
    }
}

/// Returns a record of a WET file: the text of a page, with its title in the first line.
fn text_record(target: &str, text: &str) -> Vec<u8> {
    let head = format!(
        "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: {target}\r\nContent-Type: text/plain\r\n\
         Content-Length: {}\r\n\r\n",
        text.len()
    );
    [head.as_bytes(), text.as_bytes(), b"\r\n\r\n"].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_of_pages_are_imported_through_filters() {
    let english = "The chestnuts are picked by hand in the morning, and then they are roasted for an hour, so that \
                   they are sweet and soft when they are sold at the market on the same day. ";
    let german = "Die Kastanien werden am Morgen von Hand gesammelt und dann für eine Stunde geröstet, damit sie \
                  süß und weich sind, wenn sie am selben Tag auf dem Markt verkauft werden. ";
    let page =
        |target: &str, title: &str, text: &str| text_record(target, &format!("{title}\n{}", text.repeat(3)));
    let records = [
        record("warcinfo", "", b"software: a test\r\n"),
        page("http://nuts.test/en", "Chestnuts", english),
        page("http://shop.nuts.test/en", "Chestnuts of the shop", english),
        page("http://nuts.test/de", "Kastanien", german),
        page("http://other.test/en", "Chestnuts elsewhere", english),
        text_record("http://nuts.test/short", "Menu\nHome\nAbout\n"),
    ];
    let import = ImportTest::new().await;
    let members: Vec<u8> = records.iter().flat_map(|record| Coding::Gzip.encode(record)).collect();
    let file = import.file("nuts.warc.wet.gz", &members);
    let hosts = import.file("hosts.txt", b"# nuts\nnuts.test\n");
    let options = ["--language", "en,fr", "--quality", "--hosts", hosts.to_str().unwrap()];
    let (report, stderr) = import.run_with(&file, &options);
    assert_eq!(report["documents"], json!(2), "{stderr}");
    let expected = [("low_quality", 1), ("not_a_page", 1), ("other_host", 1), ("other_language", 1)];
    assert_eq!(reasons(&report), expected);
    assert!(import.finds("intitle:chestnuts roasted", "http://nuts.test/en"));
    assert!(import.finds("intitle:shop roasted", "http://shop.nuts.test/en"));
    assert!(!import.finds("chestnuts elsewhere", "http://other.test/en"));
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_import_continues_at_its_position() {
    let import = ImportTest::new().await;
    let names = ["hazelnut", "walnut", "almond"];
    let records: Vec<u8> =
        names.iter().flat_map(|name| page(&format!("http://nuts.test/{name}"), name)).collect();
    let file = import.file("nuts.warc", &records);
    let position = import.files.path().join("position.json");
    let interrupted = json!({ file.to_str().unwrap(): { "bytes": records.len(), "items": 2 } });
    std::fs::write(&position, interrupted.to_string()).unwrap();
    let options = ["--resume", position.to_str().unwrap()];
    let (report, stderr) = import.run_with(&file, &options);
    assert_eq!((&report["documents"], &report["resumed"]), (&json!(1), &json!(2)), "{stderr}");
    assert!(import.finds("almond", "http://nuts.test/almond"));
    assert!(!import.finds("walnut", "http://nuts.test/walnut"));

    // All of it is done now, and the import still succeeds.
    let (report, stderr) = import.run_with(&file, &options);
    assert_eq!((&report["documents"], &report["resumed"]), (&json!(0), &json!(3)), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_gzip_members_lose_only_their_records() {
    let import = ImportTest::new().await;
    let member = |name: &str| Coding::Gzip.encode(&page(&format!("http://nuts.test/{name}"), name));
    let cut = member("cut");
    let mut flipped = member("flipped");
    let middle = flipped.len() / 2;
    flipped[middle..middle + 8].fill(0xff);
    let bytes = [
        member("first"),
        cut[..cut.len() / 2].to_vec(),
        member("second"),
        b"garbage between two members".to_vec(),
        member("third"),
        flipped,
        member("fourth"),
        cut[..cut.len() - 20].to_vec(),
    ]
    .concat();
    let (report, stderr) = import.run(&import.file("broken.warc.gz", &bytes));
    assert_eq!(report["documents"], json!(4), "{stderr}");
    assert_eq!(reasons(&report), [("broken", 4)], "{stderr}");
    assert_eq!(stderr.matches("damaged gzip member").count(), 3, "{stderr}");
    assert!(stderr.contains("27 bytes at "), "{stderr}");
    for name in ["first", "second", "third", "fourth"] {
        assert!(import.finds(name, &format!("http://nuts.test/{name}")), "{name}");
    }
}

fn lines() -> String {
    (1..=3).fold(String::new(), |lines, number| {
        format!("{lines}{{\"url\": \"https://notes.test/{number}\", \"title\": \"Note\", \"text\": \"chestnut{number}\"}}\n")
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn compressed_json_lines_are_imported_up_to_the_damage() {
    let text = lines();
    let packed = |coding: Coding| coding.encode(text.as_bytes());
    for (name, bytes) in [("a.jsonl.gz", packed(Coding::Gzip)), ("a.jsonl.zst", packed(Coding::Zstd))] {
        let import = ImportTest::new().await;
        let (report, stderr) = import.run(&import.file(name, &bytes));
        assert_eq!((&report["documents"], &report["errors"]), (&json!(3), &json!(0)), "{stderr}");
        assert!(import.finds("chestnut3", "https://notes.test/3"));

        // An intact member or frame, then a truncated one.
        let broken = [&bytes[..], &bytes[..bytes.len() / 2]].concat();
        let (report, stderr) = import.run(&import.file(name, &broken));
        assert_eq!((&report["documents"], &report["errors"]), (&json!(3), &json!(1)), "{name}: {stderr}");
        assert!(stderr.contains("damaged"), "{name}: {stderr}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_json_lines_are_counted_and_skipped() {
    let import = ImportTest::new().await;
    let bytes = [
        lines().as_bytes(),
        b"{\"url\": \"https://notes.test/4\", \"text\": \"\xff\xfe\"}\n",
        b"{\"url\": \"mailto:nobody@notes.test\", \"text\": \"a letter\"}\n",
        b"{\"url\": \"https://notes.test/5\", \"title\": \" \"}\n",
        b"{\"url\": \"https://notes.test/6\", \"text\": \"cashew\"}",
    ]
    .concat();
    let (report, stderr) = import.run(&import.file("a.jsonl", &bytes));
    assert_eq!((&report["documents"], &report["errors"]), (&json!(4), &json!(3)), "{stderr}");
    assert_eq!(reasons(&report), [("broken", 2), ("no_text", 1)], "{stderr}");
    assert!(import.finds("cashew", "https://notes.test/6"));
}

/// The line is a hole in a sparse file: it takes no space on the disk, but the import reads over it.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn line_of_two_gigabytes_is_skipped_within_bounded_memory() {
    let import = ImportTest::new().await;
    let path = import.file("large.jsonl", lines().as_bytes());
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    let end = file.metadata().unwrap().len() + (2 << 30);
    file.set_len(end).unwrap();
    file.write_all(b"\n{\"url\": \"https://notes.test/last\", \"text\": \"the line behind\"}\n").unwrap();
    drop(file);
    // Limits the address space, and thus memory, to three times the use of a small import.
    let limited = format!(
        "ulimit -v 1500000 && exec '{}' index import '{}' --json",
        env!("CARGO_BIN_EXE_websvc"),
        path.display()
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &limited])
        .env("WEBSVC_DATA_DIR", import.site.data_dir())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["documents"], json!(4), "{stderr}");
    assert_eq!(reasons(&report), [("too_large", 1)], "{stderr}");
    assert!(import.finds("line behind", "https://notes.test/last"));
}
