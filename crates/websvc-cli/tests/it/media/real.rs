//! Tests with the real yt-dlp and ffmpeg, and media that ffmpeg makes.

use std::path::{Path, PathBuf};
use std::process::Command;

use http::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use websvc_testkit::{Canary, Page, TestWeb, scaled};

use super::{TIMEOUT_MS, Tools, leftovers, path_of, path_or_skip, scrape, warning};
use crate::harness::{Service, Site};

/// The programs of this machine.
struct RealTools {
    bubblewrap: PathBuf,
    yt_dlp: PathBuf,
    ffmpeg: PathBuf,
}

impl RealTools {
    fn find() -> Option<Self> {
        let [bubblewrap, yt_dlp, ffmpeg] =
            ["WEBSVC_TEST_BUBBLEWRAP", "WEBSVC_TEST_YT_DLP", "WEBSVC_TEST_FFMPEG"].map(path_or_skip);
        Some(Self { bubblewrap: bubblewrap?, yt_dlp: yt_dlp?, ffmpeg: ffmpeg? })
    }

    fn serve(&self, site: &Site, variables: &[(&str, &str)]) -> Service {
        let Self { bubblewrap, yt_dlp, ffmpeg } = self;
        Tools { bubblewrap, yt_dlp, ffmpeg }.serve(site, variables)
    }

    fn ffmpeg(&self, arguments: &[&str], directory: &Path) {
        let output = Command::new(&self.ffmpeg)
            .args(["-v", "error", "-y"])
            .args(arguments)
            .current_dir(directory)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Makes a video of two seconds, the same as a stream in segments, and one whose sound is a file of its own.
    fn make_media(&self) -> TempDir {
        let directory = tempfile::tempdir().unwrap();
        let picture = ["-f", "lavfi", "-i", "testsrc=size=160x120:rate=10"];
        let sound = ["-f", "lavfi", "-i", "sine=frequency=440"];
        let video =
            ["-t", "2", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "10", "-c:a", "aac", "tea.mp4"];
        self.ffmpeg(&[&picture[..], &sound, &video].concat(), directory.path());
        let stream =
            ["-i", "tea.mp4", "-c", "copy", "-f", "hls", "-hls_time", "1", "-hls_list_size", "0", "tea.m3u8"];
        self.ffmpeg(&stream, directory.path());
        directory
    }
}

fn player(source: &str) -> Page {
    Page::html(format!("<!DOCTYPE html><title>Tea</title><h1>Tea</h1><video src='{source}'></video>"))
}

fn file(directory: &TempDir, name: &str, content_type: &str) -> Page {
    Page::new(content_type, std::fs::read(directory.path().join(name)).unwrap())
}

/// Serves the media, and pages that lead the tool to forbidden addresses.
async fn world(media: &TempDir, forbidden: &str) -> TestWeb {
    const PLAYLIST: &str = "application/vnd.apple.mpegurl";
    let segments = format!(
        "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXTINF:2.0,\n{forbidden}/segment.ts\n#EXT-X-ENDLIST\n"
    );
    let key = format!(
        "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-KEY:METHOD=AES-128,URI=\"{forbidden}/key\"\n\
         #EXTINF:2.0,\ntea0.ts\n#EXT-X-ENDLIST\n"
    );
    let local = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2.0,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n";
    let mut world = TestWeb::builder()
        .page("http://media.test/page", player("/tea.mp4"))
        .page("http://media.test/stream", player("http://cdn.test/tea.m3u8"))
        .page("http://media.test/nothing", Page::html("<title>Tea</title><h1>Tea</h1>"))
        .page("http://media.test/missing", player("/gone.mp4"))
        .page("http://media.test/denied", player("/denied.mp4"))
        .page("http://media.test/denied.mp4", Page::text("no").status(403))
        .page("http://media.test/moved", player("/moved.mp4"))
        .page("http://media.test/moved.mp4", Page::redirect(302, &format!("{forbidden}/moved.mp4")))
        .page("http://media.test/direct", player(&format!("{forbidden}/direct.mp4")))
        .page("http://media.test/segments", player("/segments.m3u8"))
        .page("http://media.test/segments.m3u8", Page::new(PLAYLIST, segments))
        .page("http://media.test/key", player("/key.m3u8"))
        .page("http://media.test/key.m3u8", Page::new(PLAYLIST, key))
        .page("http://media.test/local", player("/local.m3u8"))
        .page("http://media.test/local.m3u8", Page::new(PLAYLIST, local))
        .page("http://media.test/tea0.ts", Page::new("video/mp2t", vec![0_u8; 1880]))
        .page("http://media.test/tea.mp4", file(media, "tea.mp4", "video/mp4"))
        .page("http://cdn.test/tea.m3u8", file(media, "tea.m3u8", PLAYLIST));
    for entry in std::fs::read_dir(media.path()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".ts") {
            world = world.page(&format!("http://cdn.test/{name}"), file(media, &name, "video/mp2t"));
        }
    }
    world.start().await
}

struct RealTest {
    tools: RealTools,
    media: TempDir,
    canary: Canary,
    world: TestWeb,
    site: Site,
}

async fn prepare() -> Option<RealTest> {
    let tools = RealTools::find()?;
    let media = tools.make_media();
    let canary = Canary::start().await;
    let world = world(&media, &format!("http://{}", canary.addr())).await;
    let site = Site::new(&world);
    Some(RealTest { tools, media, canary, world, site })
}

#[tokio::test(flavor = "multi_thread")]
async fn real_tools_download_the_media_of_pages() {
    let Some(test) = prepare().await else { return };
    let service = test.tools.serve(&test.site, &[]);
    let original = std::fs::read(test.media.path().join("tea.mp4")).unwrap();
    let urls = ["https://media.test/page", "http://media.test/stream", "http://media.test/page"];
    for url in urls.into_iter().take(scaled(1, 3)) {
        let body = json!({ "url": url, "formats": ["audio", "video"], "skipTlsVerification": true,
            "timeout": TIMEOUT_MS });
        let response = service.post("/v2/scrape", body.to_string()).await;
        assert_eq!(response.status, StatusCode::OK, "{}", response.body);
        let data = &response.body["data"];
        assert!(data["metadata"]["creditsUsed"] == 9, "{data}");
        // Of the certificate of this web.
        assert_eq!(data.get("warning").is_some(), url.starts_with("https"), "{data}");
        let (content_type, sound) = service.file(path_of(&service, &data["audio"])).await;
        assert_eq!(content_type, "audio/mpeg");
        let (content_type, video) = service.file(path_of(&service, &data["video"])).await;
        assert_eq!(content_type, "video/mp4");
        if url.ends_with("/page") {
            assert!(video == original, "the file is the one of the page");
        }
        // ffmpeg reads both to their ends.
        for (name, bytes) in [("out.mp3", sound), ("out.mp4", video)] {
            std::fs::write(test.media.path().join(name), bytes).unwrap();
            test.tools.ffmpeg(&["-i", name, "-t", "1", "-f", "null", "-"], test.media.path());
        }
    }
    assert_eq!(leftovers(&test.site), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn real_tool_reports_failures_by_the_rules() {
    let Some(test) = prepare().await else { return };
    let service = test.tools.serve(&test.site, &[("WEBSVC__MEDIA__MAX_BYTES", "2000")]);
    let failures = [
        ("nothing", "audio", 400, "SCRAPE_AUDIO_UNSUPPORTED_URL"),
        ("denied", "video", 403, "SCRAPE_MEDIA_ACCESS_DENIED"),
        ("page", "video", 200, "larger than"),
        ("nothing", "video", 200, "the page has no supported medium"),
        ("missing", "video", 200, "HTTP Error 404"),
    ];
    for (page, format, status, text) in failures.into_iter().take(scaled(2, 5)) {
        let response = scrape(&service, &format!("http://media.test/{page}"), &json!([format])).await;
        assert_eq!(response.status.as_u16(), status, "{page}: {}", response.body);
        assert!(response.body.to_string().contains(text), "{page}: {}", response.body);
    }
    assert_eq!(leftovers(&test.site), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn real_tool_does_not_reach_forbidden_addresses() {
    let Some(test) = prepare().await else { return };
    let service = test.tools.serve(&test.site, &[]);
    for page in ["direct", "segments", "moved", "key"].into_iter().take(scaled(2, 4)) {
        let response = scrape(&service, &format!("http://media.test/{page}"), &json!(["video"])).await;
        assert_eq!(response.status, StatusCode::OK, "{page}: {}", response.body);
        assert!(response.body["data"]["video"].is_null(), "{page}: {}", response.body);
        // The tool has tried, so that the test cannot pass by doing nothing.
        let address = format!("a connection to {} is not allowed", test.canary.addr());
        // ffmpeg, to which yt-dlp may leave an encrypted stream, does not use the proxy and has no other network.
        let is_left_to_ffmpeg = page == "key" && warning(&response).contains("ffmpeg exited with code 1");
        assert!(is_left_to_ffmpeg || warning(&response).contains(&address), "{page}: {}", response.body);
    }
    assert_eq!(test.canary.connections(), 0);
    // A playlist of files of the machine has no segment that can be read.
    let local = scrape(&service, "http://media.test/local", &json!(["video"])).await;
    assert!(local.body["data"]["video"].is_null(), "{}", local.body);
    // The same with segments of an allowed host.
    let allowed = scrape(&service, "http://media.test/stream", &json!(["video"])).await;
    assert!(allowed.body["data"]["video"].is_string(), "{}", allowed.body);
    assert!(test.world.count("http://cdn.test/tea.m3u8") > 0);
    assert_eq!(leftovers(&test.site), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn cookies_of_the_rendered_page_reach_the_tool() {
    let Some(chromium) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let Some(tools) = RealTools::find() else { return };
    let media = tools.make_media();
    let bytes = std::fs::read(media.path().join("tea.mp4")).unwrap();
    let page = "<!DOCTYPE html><title>Tea</title><h1>Tea</h1><video src='/tea.mp4'></video>\
                <script>document.cookie = 'seen=yes'</script>";
    let world = TestWeb::builder()
        .page("http://media.test/page", Page::html(page))
        .page_with("http://media.test/tea.mp4", move |request| {
            let has = |cookie| request.header("cookie").is_some_and(|header| header.contains(cookie));
            if has("seen=yes") && has("lang=en") {
                Page::new("video/mp4", bytes.clone())
            } else {
                Page::text("no").status(403)
            }
        })
        .start()
        .await;
    let site = Site::new(&world);
    let chromium = chromium.display().to_string();
    let variables = [("WEBSVC__BROWSER__CONCURRENCY", "1"), ("WEBSVC__BROWSER__PATH", &chromium)];
    let service = tools.serve(&site, &variables);
    let scrape = async |wait: u32| {
        let body = json!({ "url": "http://media.test/page", "formats": ["video"], "waitFor": wait, "timeout": TIMEOUT_MS,
            "headers": { "Cookie": "lang=en" } });
        service.post("/v2/scrape", body.to_string()).await
    };
    let rendered = scrape(1).await;
    assert!(rendered.body["data"]["video"].is_string(), "{}", rendered.body);
    let served: Value = scrape(0).await.body;
    assert_eq!(served["code"], "SCRAPE_MEDIA_ACCESS_DENIED", "without the cookie of its script: {served}");
}
