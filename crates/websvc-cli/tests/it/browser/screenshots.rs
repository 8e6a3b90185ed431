//! Tests of screenshots, which decode the images.

use std::io::Cursor;

use serde_json::{Value, json};
use websvc_testkit::{FakeS3, Page, S3Fs, TestWeb};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::{BrowserTest, TEA, path_or_skip, start, start_with_tea_page};
use crate::harness::{Service, Site};

/// A decoded image.
struct Image {
    content_type: String,
    width: usize,
    pixels: Vec<u8>,
}

/// Bytes of a pixel.
const SAMPLES: usize = 3;
type Colour = [u8; SAMPLES];

const RED: Colour = [255, 0, 0];
const GREEN: Colour = [0, 128, 0];
const BLUE: Colour = [0, 0, 255];
const GREY: Colour = [64, 64, 64];

impl Image {
    async fn fetch(browser: &BrowserTest, url: &Value) -> Self {
        let (content_type, bytes) = browser.file(url).await;
        if content_type == "image/jpeg" {
            let options = DecoderOptions::default().set_max_height(65_535);
            let mut decoder = JpegDecoder::new_with_options(Cursor::new(bytes), options);
            let pixels = decoder.decode().unwrap();
            return Self { content_type, width: decoder.info().unwrap().width.into(), pixels };
        }
        let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().unwrap();
        assert_eq!(reader.output_color_type(), (png::ColorType::Rgb, png::BitDepth::Eight));
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let width = reader.next_frame(&mut pixels).unwrap().width as usize;
        Self { content_type, width, pixels }
    }

    fn size(&self) -> (usize, usize) {
        (self.width, self.pixels.len() / SAMPLES / self.width)
    }

    /// Asserts the colour of a point. A JPEG may differ slightly.
    fn assert_colour(&self, (x, y): (usize, usize), expected: Colour) {
        let start = (y * self.width + x) * SAMPLES;
        let found = &self.pixels[start..start + SAMPLES];
        let tolerance = if self.content_type == "image/png" { 0 } else { 12 };
        let is_near =
            found.iter().zip(expected).all(|(found, expected)| found.abs_diff(expected) <= tolerance);
        assert!(is_near, "{found:?} instead of {expected:?} at {x}, {y} of a {}", self.content_type);
    }
}

#[tokio::test]
async fn screenshot_is_served_at_its_url() {
    let Some(browser) = start_with_tea_page().await else { return };
    let (page, warning) = browser.scrape("tea.test", json!({"formats": ["markdown", "screenshot"]})).await;
    assert!(page["markdown"].as_str().unwrap().contains("A script wrote this"), "{page}");
    assert_eq!(warning, Value::Null, "{page}");
    let url = page["screenshot"].as_str().unwrap();
    let path = url.strip_prefix(&browser.service.address).unwrap_or_else(|| panic!("{url}"));
    assert!(path.starts_with("/artifacts/"), "{path}");
    let image = Image::fetch(&browser, &page["screenshot"]).await;
    assert_eq!((image.content_type.as_str(), image.size()), ("image/png", (1280, 800)));
    // Screenshots are not cached.
    browser.scrape("tea.test", json!({"formats": ["markdown"]})).await;
    let (page, warning) =
        browser.scrape("tea.test", json!({"formats": ["markdown", "screenshot"], "minAge": 0})).await;
    assert_eq!((&page["screenshot"], &page["metadata"]["cacheState"]), (&Value::Null, &json!("hit")));
    assert!(warning.as_str().unwrap().contains("cached pages have none"), "{warning}");
    let full = json!({"type": "screenshot", "fullPage": true, "viewport": {"width": 600, "height": 500}});
    let (page, _) = browser.scrape("tea.test", json!({"formats": [full]})).await;
    let (width, height) = Image::fetch(&browser, &page["screenshot"]).await.size();
    assert!(width == 600 && height > 3000, "{width} by {height}");
}

/// A row of four colours, 500 pixels high, above a grey area that ends at 2500 pixels.
const COLOURS: &str = "<!doctype html><meta name=viewport content='width=device-width'><title>Colours</title>
    <style>body { margin: 0 } div { display: flex; height: 500px } i { flex: 1 } p { margin: 0; height: 2000px; background: #404040 }
    </style><div><i style='background: #f00'></i><i style='background: #008000'></i><i style='background: #00f'></i>
    <i id=last style='background: #f00' onclick='style.background = \"#008000\"'></i></div><p>";

#[tokio::test]
async fn every_screenshot_option_applies() {
    let pages = [("http://colours.test/", COLOURS)];
    let Some(browser) = start(&pages).await else { return };
    let viewport = json!({"width": 400, "height": 300});
    for (screenshot, mobile, content_type, (width, height)) in [
        (json!({}), false, "image/png", (1280, 800)),
        (json!({"quality": 99}), false, "image/jpeg", (1280, 800)),
        (json!({"quality": 30, "viewport": viewport}), false, "image/jpeg", (400, 300)),
        (json!({"viewport": viewport, "fullPage": true}), false, "image/png", (400, 2500)),
        (json!({"fullPage": true}), true, "image/png", (3 * 390, 3 * 2500)),
        (json!({"viewport": viewport, "quality": 90}), true, "image/jpeg", (3 * 400, 3 * 300)),
    ] {
        let mut format = screenshot.clone();
        format["type"] = json!("screenshot");
        let options = json!({"formats": [format], "onlyMainContent": false, "mobile": mobile});
        let (page, warning) = browser.scrape("colours.test", options).await;
        assert_eq!(warning, Value::Null, "{screenshot}");
        let image = Image::fetch(&browser, &page["screenshot"]).await;
        assert_eq!(
            (image.content_type.as_str(), image.size()),
            (content_type, (width, height)),
            "{screenshot} {mobile}"
        );
        for (index, colour) in [RED, GREEN, BLUE, RED].into_iter().enumerate() {
            image.assert_colour((width / 8 + index * width / 4, 20), colour);
        }
        let scale = if mobile { 3 } else { 1 };
        if height > 500 * scale {
            image.assert_colour((20, 500 * scale + 20), GREY);
            image.assert_colour((width - 20, height - 1), GREY);
        }
    }
}

#[tokio::test]
async fn screenshot_action_captures_the_page_at_its_time() {
    let pages = [("http://colours.test/", COLOURS)];
    let Some(browser) = start(&pages).await else { return };
    let actions = json!([
        {"type": "screenshot"},
        {"type": "click", "selector": "#last"},
        {"type": "screenshot", "viewport": {"width": 500, "height": 400}, "quality": 90},
        {"type": "scroll"},
        {"type": "screenshot"},
        {"type": "screenshot", "fullPage": true},
    ]);
    let formats = json!([{"type": "screenshot", "fullPage": true, "quality": 95}]);
    let (page, _) = browser.scrape("colours.test", json!({"formats": formats, "actions": actions})).await;
    let mut images = Vec::new();
    for url in page["actions"]["screenshots"].as_array().unwrap() {
        images.push(Image::fetch(&browser, url).await);
    }
    let sizes: Vec<_> = images.iter().map(Image::size).collect();
    assert_eq!(sizes, [(1280, 800), (500, 400), (1280, 800), (1280, 2500)]);
    images[0].assert_colour((1270, 20), RED);
    images[1].assert_colour((490, 20), GREEN);
    images[2].assert_colour((1270, 20), GREY);
    images[3].assert_colour((1270, 20), GREEN);
    // The screenshot format captures the page after all actions.
    let last = Image::fetch(&browser, &page["screenshot"]).await;
    assert_eq!((last.content_type.as_str(), last.size()), ("image/jpeg", (1280, 2500)));
    last.assert_colour((1270, 20), GREEN);
}

#[tokio::test]
async fn screenshot_in_a_bucket_is_served_from_it() {
    let Some(chromium) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let bucket = S3Fs::start().await;
    let world = TestWeb::builder().page("http://tea.test/", Page::html(TEA)).start().await;
    let site = Site::new(&world);
    let mut command = site.serve_command();
    for (name, value) in [
        ("ENDPOINT", bucket.endpoint().as_str()),
        ("REGION", FakeS3::REGION),
        ("BUCKET", FakeS3::BUCKET),
        ("PREFIX", "shots"),
        ("ACCESS_KEY_ID", FakeS3::ACCESS_KEY_ID),
        ("SECRET_ACCESS_KEY", FakeS3::SECRET),
    ] {
        command.env(format!("WEBSVC__ARTIFACTS__S3__{name}"), value);
    }
    command.env("WEBSVC__BROWSER__CONCURRENCY", "1").env("WEBSVC__BROWSER__PATH", chromium);
    let service = Service::start(&mut command);
    service.index_pages(&[("listed", "http://tea.test/")]).await;
    let options = json!({"formats": ["screenshot"]});
    let response = service.search(json!({"query": "listed", "scrapeOptions": options})).await;
    let url =
        response.body["data"]["web"][0]["screenshot"].as_str().unwrap_or_else(|| panic!("{}", response.body));
    // The harness follows the redirect of the service.
    let (content_type, bytes) = service.file(url.strip_prefix(&service.address).unwrap()).await;
    assert!(content_type == "image/png" && bytes.starts_with(b"\x89PNG"), "{content_type}");
    let stored = bucket.objects().into_iter().find(|(name, _)| name.starts_with("shots/"));
    assert_eq!(stored.map(|(_, content)| content), Some(bytes));
}
