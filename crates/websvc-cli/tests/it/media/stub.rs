//! Tests with a program that stands for yt-dlp: outcomes, charges, and what the sandbox lets it do.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use http::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use websvc_store::{Retention, Store, TeamChange};
use websvc_testkit::{Canary, Page, TestWeb, until};

use super::{TIMEOUT_MS, Tools, is_running, leftovers, path_of, path_or_skip, scrape, warning};
use crate::batch::{read_all, start_at, wait_for_end};
use crate::harness::{Service, Site};
use crate::sdk;

const TWO_VIDEOS: &str = r#"<!DOCTYPE html><title>Tea</title><h1>Tea</h1><video src="/one.mp4" title="One" width="640"
    poster="one.png"></video><video><source src="two.webm" type="video/webm"></video>
    <video src="blob:http://media.test/1"></video><iframe src="https://www.youtube.com/embed/abc?x=1"></iframe>"#;

/// A service with the stub, and its pages.
struct StubTest {
    _world: TestWeb,
    site: Site,
    service: Service,
    bubblewrap: PathBuf,
    _program: TempDir,
}

async fn world() -> TestWeb {
    let mut world = TestWeb::builder().page("http://media.test/two", Page::html(TWO_VIDEOS));
    for name in
        ["ok", "hang", "private", "unsupported", "broken", "flood", "markup", "link", "inspect", "other"]
    {
        let text = format!("<title>{name}</title><main><h1>{name}</h1><p>All about tea.</p></main>");
        world = world.page_with(&format!("http://media.test/{name}"), move |_| Page::html(text.clone()));
    }
    world.start().await
}

/// Writes the stub into a directory of its own.
fn stub() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("stub");
    std::fs::write(&program, include_str!("stub.sh")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    // Other users run it, too.
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    (directory, program)
}

async fn start(variables: &[(&str, &str)]) -> Option<StubTest> {
    let bubblewrap = path_or_skip("WEBSVC_TEST_BUBBLEWRAP")?;
    let world = world().await;
    let site = Site::new(&world);
    let (directory, program) = stub();
    let tools = Tools { bubblewrap: &bubblewrap, yt_dlp: &program, ffmpeg: &program };
    let service = tools.serve(&site, variables);
    Some(StubTest { _world: world, site, service, bubblewrap, _program: directory })
}

impl StubTest {
    async fn remaining_credits(&self) -> u64 {
        let usage = self.service.get("/v2/team/credit-usage").await;
        usage.body["data"]["remainingCredits"].as_u64().unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_tools_pages_have_a_warning_and_their_videos() {
    let world = world().await;
    let service = Service::for_world(&world);
    let response = scrape(&service, "http://media.test/two", &json!(["audio", "video"])).await;
    assert_eq!(response.status, StatusCode::OK, "{}", response.body);
    let data = &response.body["data"];
    assert!(data.get("audio").is_none() && data.get("video").is_none(), "{data}");
    for format in ["audio", "video"] {
        assert!(warning(&response).contains(&format!("format {format}: no media extractor")), "{data}");
    }
    let expected = json!([
        { "url": "http://media.test/one.mp4", "sourceURL": "http://media.test/two", "source": "video", "kind": "file",
          "title": "One", "thumbnail": "http://media.test/one.png", "width": 640 },
        { "url": "http://media.test/two.webm", "sourceURL": "http://media.test/two", "source": "video", "kind": "file",
          "mimeType": "video/webm" },
        { "url": "https://www.youtube.com/watch?v=abc", "sourceURL": "http://media.test/two", "source": "iframe",
          "kind": "player", "provider": "youtube" },
    ]);
    assert_eq!(data["videos"], expected);
    assert_eq!(data["metadata"]["creditsUsed"], 1);
    // A page without any requested format is free.
    let nothing = scrape(&service, "http://media.test/ok", &json!(["video"])).await;
    assert_eq!(nothing.body["data"]["metadata"]["creditsUsed"], 0, "{}", nothing.body);
    assert!(nothing.body["data"].get("videos").is_none(), "{}", nothing.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn downloaded_media_are_served_by_signed_urls_for_an_hour() {
    let test = start(&[]).await;
    let Some(StubTest { service, site, .. }) = &test else { return };
    let response = scrape(service, "http://media.test/ok", &json!(["markdown", "audio", "video"])).await;
    assert_eq!(response.status, StatusCode::OK, "{}", response.body);
    let data = &response.body["data"];
    assert_eq!(data["metadata"]["creditsUsed"], 9, "{data}");
    assert!(data.get("warning").is_none(), "{data}");
    for (format, content_type, content) in
        [("audio", "audio/mpeg", &b"ID3 sound"[..]), ("video", "video/mp4", &b"\0\0\0\x18ftypisom video"[..])]
    {
        let path = path_of(service, &data[format]);
        assert_eq!(service.file(path).await, (content_type.to_owned(), content.to_vec()));
        let (before, signature) = path.rsplit_once('=').unwrap();
        let other = format!("{before}={}", signature.chars().rev().collect::<String>());
        assert_eq!(service.get(&other).await.status, StatusCode::NOT_FOUND, "{other}");
        let url: url::Url = data[format].as_str().unwrap().parse().unwrap();
        let expires =
            url.query_pairs().find(|(name, _)| name == "expires").unwrap().1.parse::<u64>().unwrap();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        assert!((now..=now + 3_601).contains(&expires), "{expires} is within an hour of {now}");
        let later = path.replace(&expires.to_string(), &(expires + 60).to_string());
        assert_eq!(service.get(&later).await.status, StatusCode::NOT_FOUND, "the expiry is signed");
    }
    assert_eq!(leftovers(site), 0);
    let metrics = service.text("/metrics").await;
    for line in [
        r#"websvc_media_downloads_total{format="audio",outcome="done"} 1"#,
        r#"websvc_media_downloads_total{format="video",outcome="done"} 1"#,
        "websvc_media_bytes_total 27",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}: {metrics}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_have_their_status_and_cost_nothing() {
    let variables = [("WEBSVC__MEDIA__MAX_BYTES", "5000000")];
    let Some(test) = start(&variables).await else { return };
    let StubTest { service, site, .. } = &test;
    let store = Store::open(site.data_dir()).unwrap();
    store.set_team("default", &TeamChange { credits: Some(Some(100)), ..TeamChange::default() }).unwrap();
    let audio = json!(["audio"]);
    let video = json!(["video"]);
    for (page, formats, status, code, text) in [
        ("unsupported", &audio, 400, "SCRAPE_AUDIO_UNSUPPORTED_URL", "http://media.test/unsupported"),
        ("private", &audio, 403, "SCRAPE_MEDIA_ACCESS_DENIED", "Private video"),
        ("private", &video, 403, "SCRAPE_MEDIA_ACCESS_DENIED", "Private video"),
    ] {
        let response = scrape(service, &format!("http://media.test/{page}"), formats).await;
        assert_eq!(response.status.as_u16(), status, "{}", response.body);
        assert_eq!((&response.body["success"], &response.body["code"]), (&json!(false), &json!(code)));
        let error = response.body["error"].as_str().unwrap();
        assert!(error.contains(text) && error.chars().count() < 600, "{error}");
    }
    for (page, formats, text) in [
        ("unsupported", &video, "the page has no supported medium"),
        ("broken", &audio, "the player has changed"),
        ("flood", &video, "larger than 4 MiB"),
        ("markup", &video, "of another format"),
        ("link", &video, "of another format"),
    ] {
        let response = scrape(service, &format!("http://media.test/{page}"), formats).await;
        assert_eq!(response.status, StatusCode::OK, "{page}: {}", response.body);
        assert!(warning(&response).contains(text), "{page}: {}", response.body);
        assert_eq!(response.body["data"]["metadata"]["creditsUsed"], 0, "{page}: {}", response.body);
    }
    assert_eq!(test.remaining_credits().await, 100);
    let both = scrape(service, "http://media.test/broken", &json!(["markdown", "audio"])).await;
    assert_eq!(both.body["data"]["metadata"]["creditsUsed"], 1, "{}", both.body);
    assert_eq!(test.remaining_credits().await, 99);
    assert_eq!(leftovers(site), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn hanging_tool_ends_with_the_timeout_of_the_scrape() {
    let Some(test) = start(&[]).await else { return };
    let StubTest { service, site, .. } = &test;
    let body = json!({ "url": "http://media.test/hang", "formats": ["audio"], "timeout": 10_000 });
    let scraping = service.post("/v2/scrape", body.to_string());
    let (response, ()) = tokio::join!(scraping, until("the tool runs", || is_running("86420.5")));
    assert_eq!(response.status, StatusCode::REQUEST_TIMEOUT, "{}", response.body);
    until("no process of the tool is left", || !is_running("86420.5")).await;
    until("no file of the download is left", || leftovers(site) == 0).await;
    // The slot of the team is free again.
    let next = scrape(service, "http://media.test/ok", &json!(["audio"])).await;
    assert!(next.body["data"]["audio"].is_string(), "{}", next.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_sees_only_its_cookies_and_reaches_only_allowed_hosts() {
    let test = start(&[]).await;
    let Some(StubTest { service, .. }) = &test else { return };
    let canary = Canary::start().await;
    let url = format!("http://media.test/inspect?port={}", canary.addr().port());
    let body = json!({ "url": url, "formats": ["audio"], "timeout": TIMEOUT_MS, "headers": { "Cookie": "session=s3cret; lang=en" } });
    let response = service.post("/v2/scrape", body.to_string()).await;
    assert_eq!(response.status, StatusCode::OK, "{}", response.body);
    let (_, content) = service.file(path_of(service, &response.body["data"]["audio"])).await;
    let text = String::from_utf8(content).unwrap();
    for part in [
        "media.test\tFALSE\t/\tFALSE\t0\tsession\ts3cret\n",
        "media.test\tFALSE\t/\tFALSE\t0\tlang\ten\n",
        "--ignore-config",
        "No such file",
        "interfaces: lo \n",
        "direct: refused\n",
        // Not allowed by the rules of the proxy (RFC 1928, section 6).
        "loopback by proxy: 2\n",
        "metadata service by proxy: 2\n",
        "mail by proxy: 2\n",
        // The positive control.
        "allowed by proxy: 0\n",
    ] {
        assert!(text.contains(part), "{part:?}: {text}");
    }
    let arguments = text.lines().find(|line| line.starts_with("arguments: ")).unwrap();
    assert!(arguments.ends_with(&format!("-- {url}")) && !arguments.contains("s3cret"), "{arguments}");
    let environment = text.lines().find(|line| line.starts_with("environment: ")).unwrap();
    assert!(!environment.contains("WEBSVC"), "{environment}");
    assert_eq!(canary.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_crawls_and_searches_have_media() {
    let Some(test) = start(&[]).await else { return };
    let StubTest { service, .. } = &test;
    let formats = json!(["markdown", "audio"]);
    let urls = ["http://media.test/ok", "http://media.test/unsupported", "http://media.test/other"];
    let batch = start_at(service, "/v2/batch/scrape", json!({ "urls": urls, "formats": formats })).await;
    let end = wait_for_end(service, &batch).await;
    assert_eq!(end["creditsUsed"], 10, "{end}");
    let (documents, _) = read_all(service, &batch).await;
    let sounds: Vec<bool> = documents.iter().map(|document| document["audio"].is_string()).collect();
    assert_eq!(sounds.iter().filter(|has| **has).count(), 2, "{documents:?}");
    let crawl =
        json!({ "url": "http://media.test/ok", "limit": 1, "scrapeOptions": { "formats": ["video"] } });
    let crawl = start_at(service, "/v2/crawl", crawl).await;
    wait_for_end(service, &crawl).await;
    let (documents, _) = read_all(service, &crawl).await;
    assert!(documents[0]["video"].is_string(), "{documents:?}");
    service.index_pages(&[("searched", "http://media.test/other")]).await;
    let body = json!({ "query": "searched", "scrapeOptions": { "formats": formats } });
    let found = service.search(body).await.body;
    let result = &found["data"]["web"][0];
    assert!(result["audio"].is_string() && result["metadata"]["creditsUsed"] == 5, "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_downloaded_where_nothing_may_be_stored() {
    let Some(test) = start(&[]).await else { return };
    let StubTest { service, site, .. } = &test;
    let check = async |options: Value, expected: Option<&str>| {
        let mut body = json!({ "url": "http://media.test/ok", "formats": ["markdown", "audio", "video"] });
        body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        let response = service.post("/v2/scrape", body.to_string()).await;
        assert_eq!(response.status, StatusCode::OK, "{}", response.body);
        let data = &response.body["data"];
        assert!(data.get("audio").is_none() && data.get("video").is_none(), "{data}");
        match expected {
            Some(text) => assert!(warning(&response).contains(text), "{data}"),
            None => assert!(data.get("warning").is_none(), "{data}"),
        }
    };
    let stored = scrape(service, "http://media.test/ok", &json!(["markdown"])).await;
    assert_eq!(stored.status, StatusCode::OK);
    check(json!({ "minAge": 1 }), Some("minAge")).await;
    check(json!({ "lockdown": true }), None).await;
    let store = Store::open(site.data_dir()).unwrap();
    store
        .set_team("default", &TeamChange { zdr: Some(Retention::Allowed), ..TeamChange::default() })
        .unwrap();
    until_zero_retention(service, check).await;
    let metrics = service.text("/metrics").await;
    assert!(
        !metrics
            .lines()
            .any(|line| line.starts_with("websvc_media_downloads_total") && !line.ends_with(" 0"))
    );
}

/// Repeats the check with zero data retention until the service has read that the team may use it.
async fn until_zero_retention(service: &Service, check: impl AsyncFn(Value, Option<&str>)) {
    let body = json!({ "url": "http://media.test/ok", "zeroDataRetention": true }).to_string();
    while service.post("/v2/scrape", body.clone()).await.status == StatusCode::FORBIDDEN {
        tokio::task::yield_now().await;
    }
    check(json!({ "zeroDataRetention": true }), Some("without storing the file")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_without_a_sandbox_are_never_run() {
    let Some(bubblewrap) = path_or_skip("WEBSVC_TEST_BUBBLEWRAP") else { return };
    let world = world().await;
    let site = Site::new(&world);
    let (_directory, program) = stub();
    let tools = |bubblewrap, yt_dlp| Tools { bubblewrap, yt_dlp, ffmpeg: &program };
    let nowhere = PathBuf::from("/nowhere/bwrap");
    // As on a system that does not let it create namespaces.
    let refusing = PathBuf::from("/bin/false");
    for (bubblewrap, yt_dlp, reason) in [
        (&nowhere, &program, "/nowhere/bwrap is not the absolute path of the program bwrap"),
        (&refusing, &program, "a first program failed in the sandbox"),
        (&bubblewrap, &nowhere, "/nowhere/bwrap is not the absolute path of a program"),
    ] {
        let tools = tools(bubblewrap.as_path(), yt_dlp.as_path());
        let doctor = tools.configure(&mut site.command(&["doctor"])).output().unwrap();
        let text = String::from_utf8_lossy(&doctor.stdout).into_owned();
        assert!(!doctor.status.success() && text.contains(reason), "{text}");
        let service = tools.serve(&site, &[]);
        let response = scrape(&service, "http://media.test/ok", &json!(["markdown", "audio"])).await;
        assert_eq!(response.status, StatusCode::OK, "{}", response.body);
        assert!(warning(&response).contains("cannot run safely on this machine"), "{}", response.body);
        assert_eq!(response.body["data"]["metadata"]["creditsUsed"], 1);
    }
    let tools = tools(bubblewrap.as_path(), program.as_path());
    let doctor = tools.configure(&mut site.command(&["doctor"])).output().unwrap();
    let text = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(text.contains("yt-dlp 2026.01.01, ffmpeg version 5.1"), "{text}");
}

/// A user's script.
const SCRIPT: &str = r#"
import sys
from firecrawl import Firecrawl
app = Firecrawl(api_key=sys.argv[2], api_url=sys.argv[1])
page = app.scrape("http://media.test/ok", formats=["audio", "video"])
print(page.audio.startswith(sys.argv[1]), page.video.startswith(sys.argv[1]), page.metadata.credits_used)
try:
    app.scrape("http://media.test/unsupported", formats=["audio"])
except Exception as error:
    print("http://media.test/unsupported" in str(error))
"#;

#[tokio::test(flavor = "multi_thread")]
async fn official_python_sdk_reads_media() {
    let Some(test) = start(&[]).await else { return };
    assert!(test.bubblewrap.is_file());
    sdk::check(SCRIPT, &test.service, "True True 9\nTrue\n");
}
