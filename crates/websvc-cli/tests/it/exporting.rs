//! Tests of `websvc index export`, and of the import of its files.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use websvc_testkit::TestWeb;

use crate::harness::{Site, signal, wait};

/// Returns documents that together have every field.
fn documents() -> Vec<Value> {
    let full = json!({
        "url": "https://b.test/full?x=1", "title": "Voll \u{1f333}", "headings": ["Erste", "Zweite"],
        "body": "Zeile eins\r\n\n\tZeile zwei.\u{a0}Ende  ", "description": "Eine Seite", "language": "de",
        "published": "2024-03-01T10:20:30.123456789Z", "modified": "2024-04-01", "contentType": "text/html",
        "country": "DE", "explicit": true,
        "images": [{"url": "https://b.test/i.png", "alt": "Baum", "caption": "Ein Baum", "context": "Zeile eins",
                    "width": 640, "height": 480}, {"url": "https://b.test/j.png"}],
        "links": [{"url": "https://a.test/1", "text": "die Eins"}, {"url": "https://c.test/"}],
        "news": {"imageUrl": "https://b.test/news.png"},
    });
    let mut all = vec![full, json!({"url": "https://c.test/", "title": "", "body": "nur Text", "news": {}})];
    all.extend((0..40).map(|number| {
        let text = format!("document {number} ").repeat(number * 40 + 1);
        json!({"url": format!("https://a.test/{number}"), "title": format!("Page {number}"), "body": text})
    }));
    all.push(json!({"url": "https://deep.a.test/x", "title": "Deep"}));
    all
}

fn import(site: &Site, file: &Path) {
    site.succeed(&["index", "import", file.to_str().unwrap()]);
}

fn export(site: &Site, file: &Path) -> Value {
    let report = site.succeed(&["index", "export", file.to_str().unwrap(), "--json"]);
    serde_json::from_str(&report).unwrap()
}

fn site_with_documents(world: &TestWeb) -> Site {
    let site = Site::new(world);
    let file = site.data_dir().join("in.jsonl");
    let lines: Vec<String> = documents().iter().map(Value::to_string).collect();
    std::fs::write(&file, lines.join("\n")).unwrap();
    import(&site, &file);
    site
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn export_round_trips_byte_for_byte() {
    let world = TestWeb::builder().start().await;
    let (first, second) = (site_with_documents(&world), Site::new(&world));
    let (packed, again) = (first.data_dir().join("all.jsonl.zst"), second.data_dir().join("again.jsonl.zst"));
    let report = export(&first, &packed);
    assert_eq!(report["documents"], json!(documents().len()));
    assert_eq!(report["bytes"], json!(std::fs::metadata(&packed).unwrap().len()));
    import(&second, &packed);
    export(&second, &again);
    assert_eq!(std::fs::read(&packed).unwrap(), std::fs::read(&again).unwrap());

    let plain = first.data_dir().join("all.jsonl");
    export(&first, &plain);
    let text = std::fs::read_to_string(&plain).unwrap();
    let unpacked = zstd::decode_all(std::fs::File::open(&packed).unwrap()).unwrap();
    assert_eq!(text.as_bytes(), unpacked);
    let urls: Vec<String> =
        lines(&text).iter().map(|line| line["url"].as_str().unwrap().to_owned()).collect();
    assert!(urls.is_sorted() && urls.len() == documents().len(), "{urls:?}");
    let mut full = documents().swap_remove(0);
    full["modified"] = json!("2024-04-01T00:00:00Z");
    assert!(lines(&text).contains(&full), "the export lacks the full document: {text:.2000}");
}

#[tokio::test(flavor = "multi_thread")]
async fn site_is_exported_to_stdout_while_the_server_runs() {
    let world = TestWeb::builder().start().await;
    let site = site_with_documents(&world);
    let service = site.serve();
    let output = site.run(&["index", "export", "-", "--site", "A.test"]);
    assert!(output.status.success(), "{output:?}");
    let found = lines(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(found.len(), 41, "the export contains the host and its subdomain");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("41 documents exported"), "{stderr}");

    // Uploaded documents are exported once they are committed.
    let added = json!({"documents": [{"url": "https://new.test/", "title": "Fresh", "body": "durian"}]});
    assert!(service.post("/v2/index/documents", added.to_string()).await.status.is_success());
    service.search_until_found("durian").await;
    let exported = site.succeed(&["index", "export", "-", "--site", "new.test"]);
    assert_eq!(lines(&exported), [json!({"url": "https://new.test/", "title": "Fresh", "body": "durian"})]);
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_or_killed_export_leaves_no_partial_file() {
    let world = TestWeb::builder().start().await;
    let site = site_with_documents(&world);
    let error = |arguments: &[&str]| {
        let output = site.run(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(error(&["index", "export", "pages.json"]).contains(".jsonl.zst or .jsonl"));
    assert!(
        error(&["index", "export", "/nowhere/at/all.jsonl"]).contains("cannot write /nowhere/at/all.jsonl")
    );
    assert!(error(&["index", "export", "-", "--site", "https://a.test/"]).contains("not a host name"));
    for kill in ["KILL", "TERM", "INT"] {
        let file = site.data_dir().join(format!("{kill}.jsonl"));
        let mut process = site
            .command(&["index", "export", file.to_str().unwrap()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        signal(&process, kill);
        // The export may end before the signal. Then the file is complete.
        let status = wait(&mut process);
        let count = std::fs::read_to_string(&file).map(|text| lines(&text).len());
        assert!(!status.success() || count.is_ok(), "{kill}: success without a file");
        assert!(
            count.is_err() || count.is_ok_and(|count| count == documents().len()),
            "{kill}: an incomplete file"
        );
    }
}
