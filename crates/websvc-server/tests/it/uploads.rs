//! Tests of upload URLs over HTTP.

use std::fs;

use http::header::CONTENT_TYPE;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use websvc_store::{Retention, TeamChange};
use websvc_transport::FetchResponse;

use crate::server::{TestServer, json_of, send};

const PAGE: &[u8] = b"<title>Tea</title><main><h1>Tea</h1><p>Of leaves.</p></main>";

/// An upload URL and its reference.
struct Upload {
    url: String,
    reference: String,
}

async fn request_url(server: &TestServer, key: &str, body: &Value) -> FetchResponse {
    server.send_json(Method::POST, "/v2/parse/upload-url", key, body).await
}

async fn open(server: &TestServer, key: &str) -> Upload {
    let body = json!({ "filename": "notes/tea.html", "contentType": "text/html", "declaredSizeBytes": 60 });
    let response = request_url(server, key, &body).await;
    assert_eq!(response.status, StatusCode::OK, "{:?}", response.body);
    let data = json_of(&response)["data"].take();
    let text = |name: &str| data[name].as_str().unwrap().to_owned();
    assert_eq!((data["method"].as_str(), data["maxSizeBytes"].as_u64()), (Some("PUT"), Some(50 << 20)));
    assert_eq!(data["headers"], json!({ "Content-Type": "text/html" }));
    assert!(text("uploadUrl").starts_with(&format!("{}/v2/parse/upload/", server.address)));
    Upload { url: text("uploadUrl"), reference: text("uploadRef") }
}

/// Sends a file without a key.
async fn put(url: &str, content: &[u8]) -> FetchResponse {
    send(Method::PUT, url, &[(CONTENT_TYPE, "text/html")], Some(content.to_vec().into())).await
}

async fn parse(server: &TestServer, key: &str, body: &Value) -> FetchResponse {
    server.send_json(Method::POST, "/v2/parse", key, body).await
}

fn code(response: &FetchResponse) -> (u16, String) {
    let code = json_of(response)["code"].as_str().unwrap_or_default().to_owned();
    (response.status.as_u16(), code)
}

#[tokio::test]
async fn file_is_sent_without_a_key_and_converted_once() {
    let server = TestServer::start().await;
    let key = server.create_key("red");
    let Upload { url, reference } = open(&server, &key).await;
    let body = json!({ "uploadRef": reference, "formats": ["markdown"] });
    assert_eq!(code(&parse(&server, &key, &body).await), (400, "BAD_REQUEST".to_owned()), "nothing was sent");
    let sent = put(&url, PAGE).await;
    assert_eq!((sent.status, json_of(&sent)), (StatusCode::OK, json!({ "success": true })));
    assert_eq!(code(&put(&url, PAGE).await), (410, "GONE".to_owned()), "a URL takes one file");
    let invalid = json!({ "uploadRef": reference, "timeout": 1 });
    assert_eq!(parse(&server, &key, &invalid).await.status, StatusCode::BAD_REQUEST);
    let response = parse(&server, &key, &body).await;
    assert_eq!(response.status, StatusCode::OK, "{:?}", response.body);
    let data = json_of(&response)["data"].take();
    assert_eq!(data["markdown"], json!("# Tea\n\nOf leaves.\n"));
    assert_eq!(
        (&data["metadata"]["sourceURL"], &data["metadata"]["creditsUsed"]),
        (&json!("tea.html"), &json!(1))
    );
    let again = parse(&server, &key, &body).await;
    assert_eq!(again.status, StatusCode::BAD_REQUEST);
    assert!(json_of(&again)["error"].as_str().unwrap().contains("not available"));
    assert_eq!(put(&url, PAGE).await.status, StatusCode::BAD_REQUEST, "its upload has ended");
    server.shut_down().await;
}

#[tokio::test]
async fn large_file_has_no_name_on_the_disk_while_it_waits() {
    let server = TestServer::start().await;
    let key = server.create_key("red");
    let Upload { url, reference } = open(&server, &key).await;
    let page = format!("<p>{}</p>", "Tea is made of leaves. ".repeat(100_000));
    assert_eq!(put(&url, page.as_bytes()).await.status, StatusCode::OK);
    let spooled = fs::read_dir(server.directory.path().join("uploads")).unwrap();
    assert_eq!(spooled.count(), 0);
    let response = parse(&server, &key, &json!({ "uploadRef": reference })).await;
    assert_eq!(json_of(&response)["data"]["markdown"].as_str().map(str::len), Some(100_000 * 23));
    server.shut_down().await;
}

#[tokio::test]
async fn empty_and_too_large_files_are_rejected_and_can_be_sent_again() {
    let server = TestServer::start().await;
    let key = server.create_key("red");
    let Upload { url, reference } = open(&server, &key).await;
    let empty = put(&url, b"").await;
    assert_eq!(code(&empty), (400, "BAD_REQUEST".to_owned()));
    assert_eq!(json_of(&empty)["error"], json!("Uploaded file must not be empty."));
    let large = put(&url, &vec![b' '; (50 << 20) + 1]).await;
    assert_eq!(code(&large), (413, "PAYLOAD_TOO_LARGE".to_owned()));
    assert_eq!(put(&url, PAGE).await.status, StatusCode::OK);
    assert_eq!(parse(&server, &key, &json!({ "uploadRef": reference })).await.status, StatusCode::OK);
    server.shut_down().await;
}

#[tokio::test]
async fn request_for_a_url_is_checked() {
    let server = TestServer::start().await;
    let key = server.create_key("red");
    let paths = |response: FetchResponse| {
        assert_eq!(response.status, StatusCode::BAD_REQUEST);
        let details = json_of(&response)["details"].as_array().unwrap().clone();
        details.iter().map(|detail| detail["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let wrong = json!({ "filename": "", "contentType": "a\nb", "declaredSizeBytes": (50 << 20) + 1 });
    assert_eq!(
        paths(request_url(&server, &key, &wrong).await),
        ["/contentType", "/declaredSizeBytes", "/filename"]
    );
    assert_eq!(paths(request_url(&server, &key, &json!({})).await), ["/filename"]);
    assert_eq!(paths(parse(&server, &key, &json!({})).await), ["/uploadRef"]);
    let anonymous = send(Method::POST, &format!("{}/v2/parse/upload-url", server.address), &[], None).await;
    assert_eq!(anonymous.status, StatusCode::UNAUTHORIZED);
    server.shut_down().await;
}

#[tokio::test]
async fn team_has_at_most_ten_open_urls() {
    let server = TestServer::start().await;
    let key = server.create_key("red");
    let first = open(&server, &key).await;
    for _ in 1..10 {
        open(&server, &key).await;
    }
    let body = json!({ "filename": "tea.html" });
    let limited = request_url(&server, &key, &body).await;
    assert_eq!(code(&limited), (429, "PARSE_UPLOAD_UNPARSED_LIMIT_REACHED".to_owned()));
    assert!(limited.headers.contains_key("retry-after"));
    open(&server, &server.create_key("blue")).await;
    assert_eq!(put(&first.url, PAGE).await.status, StatusCode::OK);
    assert_eq!(request_url(&server, &key, &body).await.status, StatusCode::TOO_MANY_REQUESTS);
    let parsed = parse(&server, &key, &json!({ "uploadRef": first.reference })).await;
    assert_eq!(parsed.status, StatusCode::OK);
    assert_eq!(request_url(&server, &key, &body).await.status, StatusCode::OK);
    server.shut_down().await;
}

#[tokio::test]
async fn only_the_signed_reference_and_its_team_give_access() {
    let server = TestServer::start().await;
    let (key, other_key) = (server.create_key("red"), server.create_key("blue"));
    let (upload, other) = (open(&server, &key).await, open(&server, &key).await);
    let forged = format!("{}A", upload.reference);
    let (path, _) = upload.url.split_once('?').unwrap();
    for (url, part) in [
        (path.to_owned(), "must be the value"),
        (format!("{path}?uploadRef={forged}"), "signature"),
        (format!("{path}?uploadRef={}", other.reference), "does not belong to this URL"),
    ] {
        let response = put(&url, PAGE).await;
        assert_eq!(code(&response), (400, "BAD_REQUEST".to_owned()), "{url}");
        assert!(json_of(&response)["error"].as_str().unwrap().contains(part), "{:?}", response.body);
    }
    assert_eq!(put(&upload.url, PAGE).await.status, StatusCode::OK);
    let body = json!({ "uploadRef": upload.reference });
    let foreign = parse(&server, &other_key, &body).await;
    assert_eq!(code(&foreign), (403, "FORBIDDEN".to_owned()));
    assert!(json_of(&foreign)["error"].as_str().unwrap().contains("authenticated team"));
    let tampered = parse(&server, &key, &json!({ "uploadRef": forged })).await;
    assert_eq!(tampered.status, StatusCode::BAD_REQUEST);
    assert!(json_of(&tampered)["error"].as_str().unwrap().contains("signature"));
    assert_eq!(parse(&server, &key, &body).await.status, StatusCode::OK, "the file is still there");
    server.shut_down().await;
}

#[tokio::test]
async fn teams_that_store_nothing_get_no_upload_urls() {
    let server = TestServer::start().await;
    let (zero, anonymous) = (
        TeamChange { zdr: Some(Retention::Forced), ..TeamChange::default() },
        TeamChange { anon: Some(Retention::Forced), ..TeamChange::default() },
    );
    for (team, change) in [("zero", zero), ("anonymous", anonymous)] {
        let key = server.create_key(team);
        server.store().set_team(team, &change).unwrap();
        let response = request_url(&server, &key, &json!({ "filename": "tea.html" })).await;
        assert_eq!(code(&response), (403, "FORBIDDEN".to_owned()), "{team}");
        assert!(json_of(&response)["error"].as_str().unwrap().contains("send the file with POST /v2/parse"));
    }
    server.shut_down().await;
}
