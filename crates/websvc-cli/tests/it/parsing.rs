//! `POST /v2/parse`: files that callers bring.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use websvc_testkit::TestWeb;

use crate::harness::{Answer, KEY, Service, Site};

const BOOK: &[u8] = include_bytes!("fixtures/tea.docx");
const TYPE: (&str, &str) = ("content-type", "multipart/form-data; boundary=----tea");

/// Returns a body with these parts: headers, content.
fn body(parts: &[(&str, &[u8])]) -> Vec<u8> {
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

async fn send(service: &Service, body: Vec<u8>) -> Answer {
    service.send(Method::POST, "/v2/parse", &[TYPE], body).await
}

async fn parse(service: &Service, file: &str, content: &[u8], options: &Value) -> Answer {
    let options = options.to_string();
    let file = format!("name=\"file\"; filename=\"{file}\"");
    send(service, body(&[("name=\"options\"", options.as_bytes()), (file.as_str(), content)])).await
}

async fn service() -> (TestWeb, Service) {
    let world = TestWeb::builder().start().await;
    let service = Service::of(&world);
    (world, service)
}

#[tokio::test]
async fn files_are_read_as_pages_are() {
    let (_world, service) = service().await;
    let page = b"<title>Tea</title><nav><a href=/>Home</a></nav><main><h1>Tea</h1><p>Of leaves.</p></main>";
    let formats = json!({ "formats": ["markdown", { "type": "html" }, "rawHtml"] });
    let answer = parse(&service, "tea.html", page, &formats).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let data = &answer.body["data"];
    assert_eq!(data["markdown"], json!("# Tea\n\nOf leaves.\n"));
    assert_eq!(data["rawHtml"].as_str().unwrap().as_bytes(), page);
    assert_eq!(data["metadata"]["creditsUsed"], json!(1));
    assert_eq!(data["metadata"]["sourceURL"], json!("tea.html"));
    let answer = parse(&service, "../../etc/tea.docx", BOOK, &json!({})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.body["data"]["markdown"].as_str().unwrap().contains("oolong"), "{}", answer.body);
    assert_eq!(answer.body["data"]["metadata"]["url"], json!("file:///tea.docx"));
    let answer = parse(&service, "stock.csv", b"tea,grams\noolong,40\n", &json!({})).await;
    assert!(answer.body["data"]["markdown"].as_str().unwrap().contains("| oolong"), "{}", answer.body);
    // Larger than what is kept in memory while it arrives.
    let long = format!("<p>{}</p>", "Tea is made of leaves. ".repeat(150_000));
    let answer = parse(&service, "long.html", long.as_bytes(), &json!({})).await;
    assert_eq!(answer.body["data"]["markdown"].as_str().unwrap().len(), 150_000 * 23, "{}", answer.status);
}

#[tokio::test]
async fn nothing_of_a_file_is_found_afterwards() {
    let (_world, service) = service().await;
    let answer =
        parse(&service, "a.html", b"<main><h1>Zanzibar</h1><p>Zanzibar tea.</p></main>", &json!({})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    service.list(&[("listed", "http://tea.test/")]).await;
    let found = service.search(json!({ "query": "zanzibar" })).await;
    assert_eq!(found.body["data"]["web"], json!([]));
    let id = answer.body["data"]["metadata"]["scrapeId"].as_str().unwrap();
    assert_eq!(service.get(&format!("/v2/scrape/{id}")).await.status, 404);
}

#[tokio::test]
async fn redaction_is_charged_where_it_was_done_and_missed_where_it_was_not() {
    let (_world, service) = service().await;
    let check = async |file: &str, content: &[u8], options: Value, warning: Option<&str>, credits: u64| {
        let answer = parse(&service, file, content, &options).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let warned = answer.body["warning"].as_str();
        assert_eq!(warned.is_some(), warning.is_some(), "{options}: {}", answer.body);
        assert_eq!(answer.body["data"]["warning"].as_str(), warned, "official clients read it there");
        assert!(warned.unwrap_or_default().contains(warning.unwrap_or_default()), "{}", answer.body);
        assert_eq!(answer.body["data"]["metadata"]["creditsUsed"], json!(credits), "{options}");
        answer.body["data"]["markdown"].as_str().unwrap().to_owned()
    };
    let redact = json!({ "mode": "fast" });
    let page = b"<p>Mail jane@tea.test for tea.</p>";
    let read = check("a.html", page, json!({ "redactPII": redact }), None, 1 + 4).await;
    assert_eq!(read, "Mail <EMAIL> for tea.\n");
    let unread = json!({ "redactPII": redact, "parsers": [] });
    let pdf = b"%PDF-1.7 jane@tea.test";
    check("a.pdf", pdf, unread, Some("is not redacted"), 1).await;
    check("a.pdf", pdf, json!({ "parsers": [] }), None, 1).await;
}

#[tokio::test]
async fn who_cannot_pay_learns_it_before_the_file_is_sent() {
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
    let mut answer = [0; 12];
    let reading = connection.read_exact(&mut answer);
    // Sooner than the silence of a sender is held against it.
    tokio::time::timeout(Duration::from_secs(8), reading).await.unwrap().unwrap();
    assert_eq!(String::from_utf8_lossy(&answer), "HTTP/1.1 402");
}

#[tokio::test]
async fn what_cannot_be_read_is_refused() {
    let (_world, service) = service().await;
    let code = |answer: &Answer| {
        (answer.status.as_u16(), answer.body["code"].as_str().unwrap_or_default().to_owned())
    };
    let picture = parse(&service, "tea.png", b"\x89PNG\r\n\x1a\n\0\0", &json!({})).await;
    assert_eq!(code(&picture), (400, "UNSUPPORTED_FILE_TYPE".to_owned()));
    let answer =
        parse(&service, "a.html", b"<p>a", &json!({ "waitFor": 5, "formats": ["screenshot"] })).await;
    assert_eq!(code(&answer), (400, "PARSE_UNSUPPORTED_OPTIONS".to_owned()));
    let paths: Vec<&Value> =
        answer.body["details"].as_array().unwrap().iter().map(|one| &one["path"]).collect();
    assert_eq!(paths, ["/waitFor", "/formats"]);
    let answer = parse(&service, "a.html", b"<p>a", &json!({ "timeout": 1 })).await;
    assert_eq!(code(&answer), (400, "BAD_REQUEST".to_owned()));
    let half = parse(&service, "half.docx", &BOOK[..BOOK.len() / 2], &json!({})).await;
    assert!(half.status.as_u16() >= 400 && half.body["success"] == json!(false), "{}", half.body);
}

#[tokio::test]
async fn bodies_that_are_no_uploads_are_refused() {
    let (_world, service) = service().await;
    let file = ("name=\"file\"; filename=\"a.html\"", &b"<p>a"[..]);
    let long = format!("name=\"file\"; filename=\"{}\"", "a".repeat(10_000));
    let many: Vec<(&str, &[u8])> = vec![("name=\"x\"", b"1"); 17];
    let whole = body(&[file]);
    for (what, sent, status) in [
        ("no file", body(&[("name=\"options\"", b"{}")]), 400),
        ("two files", body(&[file, file]), 400),
        ("no name", body(&[("filename=\"a.html\"", b"<p>a")]), 400),
        ("options that are no JSON", body(&[("name=\"options\"", b"{"), file]), 400),
        ("too many parts", body(&many), 400),
        ("headers too long", body(&[(&long, b"<p>a")]), 400),
        ("no end", whole[..whole.len() - 8].to_vec(), 400),
        ("no parts", b"------tea--\r\n".to_vec(), 400),
        ("nothing like parts", b"x".repeat(100_000), 400),
        (
            "too large",
            body(&[("name=\"file\"; filename=\"a.html\"", &vec![b' '; 50 * 1024 * 1024 + 1])]),
            413,
        ),
    ] {
        let answer = send(&service, sent).await;
        assert_eq!(answer.status, status, "{what}: {}", answer.body);
        assert_eq!(answer.body["success"], json!(false), "{what}");
    }
    let answer = service.post("/v2/parse", json!({ "uploadRef": "a" }).to_string()).await;
    assert_eq!(answer.status, 415, "{}", answer.body);
    let answer = send(&service, body(&[("name=\"origin\"", b"sdk"), file])).await;
    assert!(answer.body["warning"].as_str().unwrap().contains("origin"), "{}", answer.body);
}

#[tokio::test]
async fn the_kinds_of_files_are_listed() {
    let (_world, service) = service().await;
    let answer = service.get("/v2/parse/formats").await;
    let formats = answer.body["data"]["formats"].as_array().unwrap();
    let of = |name: &str| formats.iter().find(|one| one["format"] == json!(name)).unwrap();
    assert_eq!((&of("pdf")["available"], &of("doc")["available"]), (&json!(true), &json!(false)));
    assert_eq!(of("docx")["extensions"], json!(["docx", "docm"]));
    assert_eq!(of("html")["kind"], json!("page"));
}

#[tokio::test]
async fn the_command_reads_files_into_a_directory_and_names_those_it_cannot() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (page, book) = (file("tea.html", b"<title>Tea</title><p>Of leaves.</p>"), file("tea.docx", BOOK));
    let picture = file("tea.png", b"\x89PNG\r\n\x1a\n\0\0");
    let output = folder.path().join("out");
    let run = site.run(&["parse", &page, &book, &picture, "--output", output.to_str().unwrap()]);
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success() && errors.contains("tea.png") && errors.contains("1 of 3"), "{errors}");
    let written = std::fs::read_to_string(output.join("tea.html.md")).unwrap();
    assert!(written.starts_with("---\ntitle: \"Tea\"\n") && written.ends_with("Of leaves.\n"), "{written}");
    assert!(std::fs::read_to_string(output.join("tea.docx.md")).unwrap().contains("oolong"));
    let lines = site.succeed(&["parse", &page, &book, "--jsonl"]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (lines.len(), &lines[0]["markdown"], &lines[0]["file"]),
        (2, &json!("Of leaves.\n"), &json!(page))
    );
    assert_eq!(site.succeed(&["parse", &page]), "Of leaves.\n");
}
