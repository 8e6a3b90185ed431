//! Downloads of programs: files behind the guarded proxy that become artifacts, within limits, and leave nothing else.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use websvc_testkit::{Page, TestWeb, TestWebBuilder};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest};

use super::cdp::CdpClient;
use super::{SessionTest, path, path_of};
use crate::browser::{path_or_skip, serve_command};
use crate::harness::{Service, Site};

/// Bytes in every file, by which they are found on the disk.
const MARKER: &str = "leaves of the second infusion";

const LINKS: &str = "<title>files</title><a id=plain download href='/table.csv'>plain</a>
    <a id=named href='/named'>named</a><a id=path href='/path'>path</a><a id=window target=_blank href='/named'>window</a>
    <a id=slow href='/slow'>slow</a><a id=endless href='/endless'>endless</a><a id=large href='/large'>large</a>
    <a id=blob>blob</a><script>document.querySelector('#blob').onclick = () => {
        const a = Object.assign(document.createElement('a'), { download: 'made.txt' });
        a.href = URL.createObjectURL(new Blob(['leaves of ', 'the second infusion, made']));
        a.click();
    }</script>";

fn attachment(disposition: &str, body: impl Into<bytes::Bytes>) -> Page {
    Page::new("application/octet-stream", body).header("content-disposition", disposition)
}

fn world() -> TestWebBuilder {
    let announced = 33 * 1024 * 1024;
    TestWeb::builder()
        .page("http://files.test/", Page::html(LINKS))
        .page("http://files.test/table.csv", Page::new("text/csv", format!("{MARKER},1")))
        .page(
            "http://files.test/named",
            attachment("attachment; filename*=UTF-8''K%C3%B6ln%201.csv", format!("{MARKER},2")),
        )
        .page("http://files.test/path", attachment("attachment; filename=\"../../../etc/passwd\"", MARKER))
        .page(
            "http://files.test/slow",
            attachment("attachment", MARKER.repeat(1000)).slow(10, Duration::from_millis(200)),
        )
        .page(
            "http://files.test/endless",
            Page::endless("application/octet-stream", MARKER.repeat(1000))
                .header("content-disposition", "attachment; filename=endless.bin"),
        )
        .page(
            "http://files.test/large",
            Page::new("application/octet-stream", MARKER.repeat(1000))
                .header("content-disposition", "attachment; filename=large.bin")
                .announced_length(announced),
        )
}

/// A service whose browsers have their directories in a directory of the test.
struct DownloadTest {
    test: SessionTest,
    browsers: TempDir,
}

impl DownloadTest {
    async fn start() -> Option<Self> {
        let chromium = path_or_skip("WEBSVC_TEST_CHROMIUM")?;
        let world = world().start().await;
        let site = Site::new(&world);
        let browsers = tempfile::tempdir().unwrap();
        let service = Service::start(serve_command(&site, &chromium).env("TMPDIR", browsers.path()));
        Some(Self { test: SessionTest { world, site, service }, browsers })
    }

    /// Runs a program after the page with the links was opened, and returns its result. `download(selector)` clicks.
    async fn run(&self, session: &Value, code: &str) -> Value {
        let code = format!(
            "await page.goto('http://files.test/');
            const download = async (selector) => (await Promise.all([page.waitForEvent('download'), page.click(selector)]))[0];
            const attempt = (promise) => promise.then(() => 'succeeded', (error) => error.message);
            {code}"
        );
        let ran = self.test.execute(session, "node", &code).await;
        assert_eq!(ran["exitCode"], 0, "{ran}");
        serde_json::from_str(ran["result"].as_str().unwrap()).unwrap_or_else(|_| ran["result"].clone())
    }

    /// Fetches an artifact, and returns its `Content-Disposition` and its content.
    async fn fetch(&self, url: &Value) -> (String, String) {
        let path = path_of(&self.test.service, url);
        let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
        let request = FetchRequest::get(format!("{}{path}", self.test.service.address).parse().unwrap());
        let response = client.fetch(request).await.unwrap();
        assert_eq!(response.status, 200, "{url}");
        assert_eq!(response.headers["content-type"], "application/octet-stream");
        let disposition = response.headers["content-disposition"].to_str().unwrap().to_owned();
        (disposition, String::from_utf8(response.body.to_vec()).unwrap())
    }

    /// Asserts that no file with the content of a download is in the directories of the browsers.
    fn assert_no_file(&self) {
        assert_eq!(files_with_marker(self.browsers.path()), Vec::<String>::new());
    }

    /// Ends a session, after which its directory is gone.
    async fn end(&self, session: &Value) {
        assert_eq!(self.test.delete(session).await.status, 200);
        let left: Vec<_> = std::fs::read_dir(self.browsers.path()).unwrap().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// Returns the paths of the files below a directory that contain the marker.
fn files_with_marker(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(files_with_marker(&path));
        } else if entry.file_name().to_string_lossy().ends_with(".crdownload")
            || std::fs::read(&path)
                .is_ok_and(|bytes| bytes.windows(MARKER.len()).any(|part| part == MARKER.as_bytes()))
        {
            // The caches of Chromium contain what it has loaded, and are removed with it.
            let path = path.display().to_string();
            if path.to_lowercase().contains("/downloads/") {
                found.push(path);
            }
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn download_becomes_an_artifact_with_its_content() {
    let Some(test) = DownloadTest::start().await else { return };
    let session = test.test.create(json!({})).await;
    for (selector, url, name, content) in [
        ("#plain", "http://files.test/table.csv", "table.csv", format!("{MARKER},1")),
        ("#named", "http://files.test/named", "Köln 1.csv", format!("{MARKER},2")),
        ("#window", "http://files.test/named", "Köln 1.csv", format!("{MARKER},2")),
        ("#blob", "blob:http://files.test/", "made.txt", format!("{MARKER}, made")),
    ] {
        let code = format!(
            "const file = await download('{selector}');
            [file.url(), file.suggestedFilename(), await file.failure(), await file.artifactUrl(), await file.artifactUrl()]"
        );
        let result = test.run(&session, &code).await;
        assert!(result[0].as_str().unwrap().starts_with(url), "{result}");
        assert_eq!((&result[1], &result[2]), (&json!(name), &Value::Null), "{result}");
        assert_eq!(result[3], result[4], "it is stored once");
        let (disposition, fetched) = test.fetch(&result[3]).await;
        assert_eq!(fetched, content, "{selector}");
        assert!(disposition.starts_with("attachment; filename=\""), "{disposition}");
        test.assert_no_file();
    }
    test.end(&session).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_downloads_are_no_paths() {
    let Some(test) = DownloadTest::start().await else { return };
    let session = test.test.create(json!({})).await;
    let code = "const file = await download('#path');
        const first = await file.artifactUrl();
        await file.saveAs('../../reports/Sum mary.csv');
        [file.suggestedFilename(), first, await file.artifactUrl(), await attempt(file.saveAs('')),
         await attempt((async () => file.path())()), await attempt((async () => file.createReadStream())())]";
    let result = test.run(&session, code).await;
    assert!(!result[0].as_str().unwrap().contains('/'), "{result}");
    let (disposition, content) = test.fetch(&result[1]).await;
    assert!(!disposition.contains('/') && !disposition.contains("%2F"), "{disposition}");
    assert_eq!(content, MARKER);
    let (disposition, content) = test.fetch(&result[2]).await;
    assert_eq!(disposition, "attachment; filename=\"Sum mary.csv\"; filename*=UTF-8''Sum%20mary.csv");
    assert_eq!(content, MARKER);
    assert!(result[3].as_str().unwrap().contains("the name of the file"), "{result}");
    for refused in [&result[4], &result[5]] {
        let text = refused.as_str().unwrap();
        assert!(text.contains("programs have no files") && text.contains("artifactUrl()"), "{text}");
    }
    // The name cannot be changed without the service.
    let changed = result[2].as_str().unwrap().replace("mary.csv", "mary.exe");
    assert_eq!(test.test.service.get(&path_of(&test.test.service, &changed.into())).await.status, 404);
    test.end(&session).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn download_above_a_limit_fails_with_its_reason() {
    let Some(test) = DownloadTest::start().await else { return };
    let session = test.test.create(json!({})).await;
    for selector in ["#endless", "#large"] {
        let code = format!(
            "const file = await download('{selector}'); [await file.failure(), await attempt(file.artifactUrl())]"
        );
        let result = test.run(&session, &code).await;
        for text in [&result[0], &result[1]] {
            assert!(
                text.as_str().unwrap().contains("the file has more than 33554432 bytes"),
                "{selector} {result}"
            );
        }
    }
    let many = "const files = [];
        page.on('download', (file) => files.push(file));
        // Chromium ignores more than ten in a second.
        while (files.length < 18) {
            await page.evaluate((i) => {
                Object.assign(document.createElement('a'), { download: 'x', href: `data:text/plain,${i}` }).click();
            }, files.length);
            await page.waitForTimeout(100);
        }
        const failures = [];
        for (const file of files) failures.push(await file.failure());
        failures";
    let failures = test.run(&session, many).await;
    let reasons: Vec<&Value> =
        failures.as_array().unwrap().iter().filter(|failure| !failure.is_null()).collect();
    assert!(reasons.iter().all(|reason| **reason == "a program may have 16 downloads"), "{failures}");
    assert_eq!(failures.as_array().unwrap().len() - reasons.len(), 16, "{failures}");
    // The next program has its own downloads.
    let next = test.run(&session, "await (await download('#plain')).failure() ?? 'none'").await;
    assert_eq!(next, "none");
    test.end(&session).await;
}

/// Waits until a download ends, and returns its state.
async fn end_of_download(client: &mut CdpClient) -> Value {
    loop {
        let mut progress = client.event("Browser.downloadProgress").await;
        if progress["params"]["state"] != "inProgress" {
            return progress["params"]["state"].take();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn canceled_and_unwanted_downloads_leave_no_file() {
    let Some(test) = DownloadTest::start().await else { return };
    let session = test.test.create(json!({})).await;
    let canceled = "const file = await download('#slow'); await file.cancel();
        [await file.failure(), await attempt(file.artifactUrl())]";
    let result = test.run(&session, canceled).await;
    assert_eq!(result[0], "canceled", "{result}");
    assert!(result[1].as_str().unwrap().contains("canceled"), "{result}");
    // A client of the protocol sees how the downloads of a page end.
    let mut client = CdpClient::connect(&test.test, &session["cdpUrl"]).await;
    let allow = json!({"behavior": "allow", "downloadPath": test.browsers.path(), "eventsEnabled": true});
    let allowed = client.call(None, "Browser.setDownloadBehavior", allow).await;
    assert_eq!(allowed["result"], json!({}), "{allowed}");
    let page = client.attach().await;
    let click = json!({"expression": "document.querySelector('#plain').click(); 1", "userGesture": true});
    client.call(Some(&page), "Runtime.evaluate", click.clone()).await;
    let begun = client.event("Browser.downloadWillBegin").await;
    assert_eq!(begun["params"]["suggestedFilename"], "table.csv", "{begun}");
    assert_eq!(end_of_download(&mut client).await, "canceled");
    // A program that runs, but does not wait for a download.
    let running = test.run(
        &session,
        "await page.evaluate(() => document.querySelector('#slow').click()); await page.title()",
    );
    let (ran, state) = tokio::join!(running, end_of_download(&mut client));
    assert_eq!((ran, state), (json!("files"), json!("canceled")));
    // The clients that leave change nothing: Chromium would write to its home directory.
    drop(client);
    let mut client = CdpClient::connect(&test.test, &session["cdpUrl"]).await;
    client
        .call(None, "Browser.setDownloadBehavior", json!({"behavior": "default", "eventsEnabled": true}))
        .await;
    let page = client.attach().await;
    client.call(Some(&page), "Runtime.evaluate", click).await;
    assert_eq!(end_of_download(&mut client).await, "canceled");
    test.assert_no_file();
    let written = std::fs::read_dir(test.browsers.path()).unwrap().flatten();
    let names: Vec<_> = written.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert!(names.iter().all(|name| name.starts_with("websvc-browser-")), "{names:?}");
    test.end(&session).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn download_ends_with_its_session_and_leaves_no_file() {
    let Some(test) = DownloadTest::start().await else { return };
    let session = test.test.create(json!({})).await;
    let body = json!({
        "code": "await page.goto('http://files.test/');
            const [file] = await Promise.all([page.waitForEvent('download'), page.click('#slow')]);
            await file.artifactUrl()",
        "timeout": 100,
    });
    let execute = format!("{}/execute", path(&session));
    let (ran, ()) = tokio::join!(test.test.service.post(&execute, body.to_string()), async {
        // The file has begun to arrive when Chromium has written its beginning.
        let is_written = || {
            let found = files_with_marker(test.browsers.path());
            found.iter().any(|path| path.ends_with(".crdownload"))
        };
        while !is_written() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        test.end(&session).await;
    });
    assert_eq!(ran.status, 410, "{}", ran.body);
    assert_eq!(ran.body["code"], "BROWSER_SESSION_ENDED");
    assert_eq!(files_with_marker(&test.test.site.data_dir().join("artifacts")), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn session_without_stored_data_has_no_artifacts() {
    let Some(test) = DownloadTest::start().await else { return };
    test.test.site.succeed(&["teams", "set", "default", "--zdr", "forced"]);
    let session = test.test.create(json!({})).await;
    let code =
        "const file = await download('#plain'); [await file.failure(), await attempt(file.artifactUrl())]";
    let result = test.run(&session, code).await;
    assert_eq!(result[0], Value::Null, "{result}");
    assert!(result[1].as_str().unwrap().contains("keeps no files"), "{result}");
    let artifacts = test.test.site.data_dir().join("artifacts");
    assert_eq!(std::fs::read_dir(artifacts).into_iter().flatten().count(), 0);
    test.end(&session).await;
}
