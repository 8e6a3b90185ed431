//! The emulated device, user agent and locale of a page.

use http::HeaderValue;
use serde_json::{Value, json};
use websvc_browser::{Device, Geolocation, Locale, RenderRequest, Step, Viewport};
use websvc_testkit::{Page, TestWeb};
use websvc_transport::TlsPolicy;

use crate::support::{Setup, request, setup};

async fn evaluate(setup: &Setup, request: RenderRequest, expression: &str) -> Value {
    let steps = vec![Step::Script(expression.to_owned())];
    let rendered = setup.open(&RenderRequest { steps, ..request }).await.unwrap();
    assert_eq!(rendered.warnings, [""; 0]);
    rendered.returns.into_iter().next().unwrap().value
}

fn web() -> websvc_testkit::TestWebBuilder {
    let html = "<meta name=viewport content='width=device-width'><p>words";
    TestWeb::builder().page("http://a.test/", Page::html(html)).page("https://a.test/", Page::html(html))
}

#[tokio::test]
async fn user_agent_does_not_mention_headless() {
    let Some(setup) = setup(web()).await else { return };
    let expression = "new Promise((answer) => {
        const code = 'postMessage(navigator.userAgent)';
        const worker = new Worker(URL.createObjectURL(new Blob([code])));
        worker.onmessage = (message) => answer([navigator.userAgent, message.data]);
    })";
    let names = evaluate(&setup, request("http://a.test/"), expression).await;
    let sent = setup.web.requests()[0].header("user-agent").unwrap().to_owned();
    for name in [names[0].as_str().unwrap(), names[1].as_str().unwrap(), &sent] {
        assert!(name.contains(" Chrome/") && !name.contains("Headless"), "{name}");
    }
    let secure = RenderRequest { tls: TlsPolicy::SkipVerification, ..request("https://a.test/") };
    let brands = evaluate(&setup, secure, "navigator.userAgentData.brands.map((brand) => brand.brand)").await;
    assert!(brands.to_string().contains("Chromium") && !brands.to_string().contains("Headless"), "{brands}");
    setup.browser.stop().await;
}

#[tokio::test]
async fn window_has_default_or_requested_size() {
    let Some(setup) = setup(web()).await else { return };
    let size = "[innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints]";
    assert_eq!(evaluate(&setup, request("http://a.test/"), size).await, json!([1280, 800, 1, 0]));
    let viewport = Some(Viewport { width: 640, height: 480 });
    let small = RenderRequest { viewport, ..request("http://a.test/") };
    assert_eq!(evaluate(&setup, small, size).await, json!([640, 480, 1, 0]));
    setup.browser.stop().await;
}

#[tokio::test]
async fn mobile_device_has_small_touch_screen() {
    let Some(setup) = setup(web()).await else { return };
    let mobile = RenderRequest { device: Device::Mobile, ..request("http://a.test/") };
    let expression = "[innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints > 0,
        matchMedia('(pointer: coarse)').matches, / Mobile /.test(navigator.userAgent)]";
    assert_eq!(evaluate(&setup, mobile.clone(), expression).await, json!([390, 844, 3, true, true, true]));
    assert!(setup.web.requests()[0].header("user-agent").unwrap().contains("Android"));
    setup.browser.stop().await;
}

#[tokio::test]
async fn locale_sets_languages_time_zone_formats_and_geolocation() {
    let Some(setup) = setup(web()).await else { return };
    let locale = Locale {
        languages: vec!["de-DE".to_owned(), "de".to_owned()],
        timezone: Some("Asia/Tokyo".to_owned()),
        formats: Some("de-DE".to_owned()),
        geolocation: Some(Geolocation { latitude: 35.68, longitude: 139.69 }),
    };
    let request = RenderRequest { locale, tls: TlsPolicy::SkipVerification, ..request("https://a.test/") };
    let expression = "new Promise((answer) => navigator.geolocation.getCurrentPosition((place) => answer([
        navigator.language, navigator.languages, new Date(0).getHours(),
        Intl.DateTimeFormat().resolvedOptions().timeZone, (1234.5).toLocaleString(),
        place.coords.latitude, place.coords.longitude])))";
    let expected = json!(["de-DE", ["de-DE", "de"], 9, "Asia/Tokyo", "1.234,5", 35.68, 139.69]);
    assert_eq!(evaluate(&setup, request, expression).await, expected);
    assert_eq!(setup.web.requests()[0].header("accept-language"), Some("de-DE,de;q=0.9"));
    setup.browser.stop().await;
}

#[tokio::test]
async fn user_agent_and_language_headers_take_precedence() {
    let Some(setup) = setup(web()).await else { return };
    let mut request = request("http://a.test/");
    request.headers.insert("user-agent", HeaderValue::from_static("my-agent/1"));
    request.headers.insert("accept-language", HeaderValue::from_static("fr-CH, fr;q=0.9"));
    let expression = "[navigator.userAgent, navigator.languages]";
    assert_eq!(evaluate(&setup, request, expression).await, json!(["my-agent/1", ["fr-CH", "fr"]]));
    let received = &setup.web.requests()[0];
    assert_eq!(
        (received.header("user-agent"), received.header("accept-language")),
        (Some("my-agent/1"), Some("fr-CH,fr;q=0.9"))
    );
    setup.browser.stop().await;
}

#[tokio::test]
async fn unknown_time_zone_adds_a_warning() {
    let Some(setup) = setup(web()).await else { return };
    let locale = Locale { timezone: Some("Moon/Crater".to_owned()), ..Locale::default() };
    let rendered = setup.open(&RenderRequest { locale, ..request("http://a.test/") }).await.unwrap();
    assert_eq!(rendered.warnings, ["the browser does not know \"Moon/Crater\" and ignores it"]);
    setup.browser.stop().await;
}
