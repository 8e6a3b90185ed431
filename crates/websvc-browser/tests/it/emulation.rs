//! What a page is told of who looks at it, and from where.

use http::HeaderValue;
use serde_json::{Value, json};
use websvc_browser::{Device, Geolocation, Locale, RenderRequest, Step, Viewport};
use websvc_testkit::{Page, TestWeb};
use websvc_transport::TlsPolicy;

use crate::support::{Stage, request, stage};

async fn tell(stage: &Stage, request: RenderRequest, expression: &str) -> Value {
    let steps = vec![Step::Script(expression.to_owned())];
    let rendered = stage.open(&RenderRequest { steps, ..request }).await.unwrap();
    assert_eq!(rendered.warnings, [""; 0]);
    rendered.returns.into_iter().next().unwrap().value
}

fn world() -> websvc_testkit::TestWebBuilder {
    let html = "<meta name=viewport content='width=device-width'><p>words";
    TestWeb::builder().page("http://a.test/", Page::html(html)).page("https://a.test/", Page::html(html))
}

#[tokio::test]
async fn the_browser_does_not_call_itself_headless() {
    let Some(stage) = stage(world()).await else { return };
    let expression = "new Promise((answer) => {
        const code = 'postMessage(navigator.userAgent)';
        const worker = new Worker(URL.createObjectURL(new Blob([code])));
        worker.onmessage = (message) => answer([navigator.userAgent, message.data]);
    })";
    let names = tell(&stage, request("http://a.test/"), expression).await;
    let sent = stage.world.requests()[0].header("user-agent").unwrap().to_owned();
    for name in [names[0].as_str().unwrap(), names[1].as_str().unwrap(), &sent] {
        assert!(name.contains(" Chrome/") && !name.contains("Headless"), "{name}");
    }
    let secure = RenderRequest { tls: TlsPolicy::SkipVerification, ..request("https://a.test/") };
    let brands = tell(&stage, secure, "navigator.userAgentData.brands.map((brand) => brand.brand)").await;
    assert!(brands.to_string().contains("Chromium") && !brands.to_string().contains("Headless"), "{brands}");
    stage.browser.stop().await;
}

#[tokio::test]
async fn the_window_has_its_size() {
    let Some(stage) = stage(world()).await else { return };
    let size = "[innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints]";
    assert_eq!(tell(&stage, request("http://a.test/"), size).await, json!([1280, 800, 1, 0]));
    let viewport = Some(Viewport { width: 640, height: 480 });
    let small = RenderRequest { viewport, ..request("http://a.test/") };
    assert_eq!(tell(&stage, small, size).await, json!([640, 480, 1, 0]));
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_telephone_is_small_and_is_touched() {
    let Some(stage) = stage(world()).await else { return };
    let mobile = RenderRequest { device: Device::Mobile, ..request("http://a.test/") };
    let told = "[innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints > 0,
        matchMedia('(pointer: coarse)').matches, / Mobile /.test(navigator.userAgent)]";
    assert_eq!(tell(&stage, mobile.clone(), told).await, json!([390, 844, 3, true, true, true]));
    assert!(stage.world.requests()[0].header("user-agent").unwrap().contains("Android"));
    stage.browser.stop().await;
}

#[tokio::test]
async fn languages_time_zone_formats_and_place_are_those_asked_for() {
    let Some(stage) = stage(world()).await else { return };
    let locale = Locale {
        languages: vec!["de-DE".to_owned(), "de".to_owned()],
        timezone: Some("Asia/Tokyo".to_owned()),
        formats: Some("de-DE".to_owned()),
        geolocation: Some(Geolocation { latitude: 35.68, longitude: 139.69 }),
    };
    let request = RenderRequest { locale, tls: TlsPolicy::SkipVerification, ..request("https://a.test/") };
    let told = "new Promise((answer) => navigator.geolocation.getCurrentPosition((place) => answer([
        navigator.language, navigator.languages, new Date(0).getHours(),
        Intl.DateTimeFormat().resolvedOptions().timeZone, (1234.5).toLocaleString(),
        place.coords.latitude, place.coords.longitude])))";
    let expected = json!(["de-DE", ["de-DE", "de"], 9, "Asia/Tokyo", "1.234,5", 35.68, 139.69]);
    assert_eq!(tell(&stage, request, told).await, expected);
    assert_eq!(stage.world.requests()[0].header("accept-language"), Some("de-DE,de;q=0.9"));
    stage.browser.stop().await;
}

#[tokio::test]
async fn the_names_of_the_caller_come_first() {
    let Some(stage) = stage(world()).await else { return };
    let mut request = request("http://a.test/");
    request.headers.insert("user-agent", HeaderValue::from_static("my-agent/1"));
    request.headers.insert("accept-language", HeaderValue::from_static("fr-CH, fr;q=0.9"));
    let told = "[navigator.userAgent, navigator.languages]";
    assert_eq!(tell(&stage, request, told).await, json!(["my-agent/1", ["fr-CH", "fr"]]));
    let seen = &stage.world.requests()[0];
    assert_eq!(
        (seen.header("user-agent"), seen.header("accept-language")),
        (Some("my-agent/1"), Some("fr-CH,fr;q=0.9"))
    );
    stage.browser.stop().await;
}

#[tokio::test]
async fn what_the_browser_does_not_know_is_a_warning() {
    let Some(stage) = stage(world()).await else { return };
    let locale = Locale { timezone: Some("Moon/Crater".to_owned()), ..Locale::default() };
    let rendered = stage.open(&RenderRequest { locale, ..request("http://a.test/") }).await.unwrap();
    assert_eq!(rendered.warnings, ["the browser does not know \"Moon/Crater\" and ignores it"]);
    stage.browser.stop().await;
}
