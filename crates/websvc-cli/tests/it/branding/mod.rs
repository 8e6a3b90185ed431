//! Tests of the format `branding` (operations.md, acceptance list 7), with a real browser and loopback pages.

mod sets;
mod with_model;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb, TestWebBuilder};

use crate::batch::{read_all, start_at, wait_for_end};
use crate::browser::{path_or_skip, serve};
use crate::harness::{Service, Site, assert_fields};
use crate::sdk;

const URL: &str = "http://brand.test/";

/// A page with known colors, fonts, sizes and buttons.
const SHOP: &str = r##"<!doctype html><html lang="en"><head><title>Teahouse | Teapots</title>
<meta property="og:image" content="/og.png"><link rel="icon" href="/icon.png"><style>
body { margin: 0; background: #fffaf0; color: #2d2a26; font-family: "__Inter_abc12345", "__Inter_Fallback_abc12345", sans-serif }
h1 { font-family: "Playfair Display", serif; font-size: 44px } p a { color: #8a2be2 }
.buy { background: #c8102e; color: #fff; border: 0; border-radius: 12px; padding: 12px 24px }
.more { background: rgba(200, 16, 46, 0.6); color: #2d2a26; border: 1px solid #c8102e; border-radius: 12px; padding: 12px 24px }
</style></head><body><header><a href="/"><img src="/logo.png" alt="Teahouse" width="120" height="40"></a></header>
<main><h1>Teapots of iron</h1><p>Each of them is cast by hand, <a href="/how">see how</a>, and lasts for a lifetime.</p>
<p>We sell them since 1990, and repair those that fall from the table.</p><button class="buy">Buy now</button>
<button class="more">Our workshop</button><div class="customers"><img src="/c/one-logo.png" alt="One logo" width="90" height="30">
<img src="/c/two-logo.png" alt="Two logo" width="90" height="30"><img src="/c/three-logo.png" alt="Three logo" width="90"
height="30"><img src="/c/four-logo.png" alt="Four logo" width="90" height="30"></div></main></body></html>"##;

const IMAGE: &str =
    r#"<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><path d="M0 0h10v10z"/></svg>"#;

/// A service with a browser.
pub(super) struct BrandTest {
    pub(super) service: Service,
    _world: TestWeb,
    _site: Site,
}

impl BrandTest {
    async fn start(world: TestWebBuilder) -> Option<Self> {
        let chromium = path_or_skip("WEBSVC_TEST_CHROMIUM")?;
        let world = world.start().await;
        let site = Site::new(&world);
        let service = serve(&site, &chromium);
        Some(Self { service, _world: world, _site: site })
    }

    async fn with_page(html: &str) -> Option<Self> {
        Self::start(with_images(TestWeb::builder().page(URL, Page::html(html)), URL, html)).await
    }

    pub(super) async fn scrape(&self, options: Value) -> Value {
        scrape(&self.service, options).await
    }
}

/// Adds an image for each `src` of a page that begins with a slash.
pub(super) fn with_images(world: TestWebBuilder, url: &str, html: &str) -> TestWebBuilder {
    let base = url::Url::parse(url).unwrap();
    let sources = html.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let mut images: Vec<String> =
        sources.map(|source| base.join(&source.replace("&amp;", "&")).unwrap().into()).collect();
    images.sort_unstable();
    images.dedup();
    images.iter().fold(world, |world, image| world.page(image, Page::new("image/svg+xml", IMAGE)))
}

pub(super) async fn scrape(service: &Service, mut options: Value) -> Value {
    if options["url"].is_null() {
        options["url"] = json!(URL);
    }
    let response = service.post("/v2/scrape", options.to_string()).await;
    assert_eq!(response.status, StatusCode::OK, "{}", response.body);
    response.body["data"].clone()
}

/// Asserts that nothing in a design is null, and that no key is one of those for debugging.
fn assert_shape(value: &Value, path: &str) {
    match value {
        Value::Null => panic!("{path} is null"),
        Value::Object(fields) => {
            for (name, value) in fields {
                assert!(!name.starts_with("__"), "{path}/{name}");
                assert_shape(value, &format!("{path}/{name}"));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| assert_shape(item, path)),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_hex(value: &Value) -> bool {
    value.as_str().and_then(|text| text.strip_prefix('#')).is_some_and(|digits| {
        digits.len() == 6 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'))
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn design_has_the_colors_fonts_sizes_and_buttons_of_the_page() {
    let Some(test) = BrandTest::with_page(SHOP).await else { return };
    let document =
        test.scrape(json!({ "formats": ["markdown", "screenshot", "branding"], "maxAge": 60_000 })).await;
    assert!(document["markdown"].as_str().unwrap().contains("# Teapots of iron"), "{document}");
    assert!(document["screenshot"].is_string(), "{document}");
    assert_eq!(document["metadata"]["creditsUsed"], 1);
    let design = &document["branding"];
    assert_shape(design, "");
    let colors = &design["colors"];
    assert_eq!(
        (&colors["primary"], &colors["background"]),
        (&json!("#C8102E"), &json!("#FFFAF0")),
        "{design}"
    );
    assert_eq!((&colors["textPrimary"], &colors["link"]), (&json!("#2D2A26"), &json!("#8A2BE2")), "{design}");
    assert_eq!(design["colorScheme"], "light");
    assert_eq!(design["fonts"][0]["family"], "Inter", "{design}");
    assert_eq!(design["typography"]["fontFamilies"]["heading"], "Playfair Display");
    assert_eq!(design["typography"]["fontSizes"]["h1"], "44px");
    let unit = design["spacing"]["baseUnit"].as_u64().unwrap();
    assert!((1..=128).contains(&unit), "{unit}");
    let components = &design["components"];
    assert_fields(&components["buttonPrimary"], &json!({ "background": "#C8102E", "borderRadius": "12px" }));
    // 60 % of #C8102E on #FFFAF0.
    assert_eq!(components["buttonSecondary"]["background"], "#DE6E7C", "{components}");
    for button in ["buttonPrimary", "buttonSecondary"] {
        assert!(is_hex(&components[button]["background"]) && is_hex(&components[button]["textColor"]));
    }
    assert_eq!(design["brandName"], "Teahouse");
    assert_eq!(
        design["images"],
        json!({
            "logo": "http://brand.test/logo.png", "logoHref": URL, "logoAlt": "Teahouse",
            "favicon": "http://brand.test/icon.png", "ogImage": "http://brand.test/og.png",
        })
    );
    assert_eq!(design["logo"], design["images"]["logo"]);
    assert!(design.get("personality").is_none() && design.get("confidence").is_none(), "{design}");
    let warning = document["warning"].as_str().unwrap();
    assert!(warning.contains("format branding: no language model is configured"), "{warning}");
}

#[tokio::test(flavor = "multi_thread")]
async fn design_is_that_of_the_page_now_and_never_cached() {
    let light =
        "<title>A</title><body style='background:#fff;color:#111'><h1>A</h1><p>One, two and three.</p>";
    let Some(test) = BrandTest::with_page(light).await else { return };
    let cached = test.scrape(json!({ "formats": ["markdown"] })).await;
    assert_eq!(cached["metadata"]["cacheState"], "miss");
    let document = test.scrape(json!({ "formats": ["branding"], "maxAge": 14_400_000 })).await;
    assert_eq!(
        (&document["branding"]["colorScheme"], &document["metadata"]["cacheState"]),
        (&json!("light"), &json!("miss"))
    );
    let document = test.scrape(json!({ "formats": ["markdown", "branding"], "minAge": 0 })).await;
    assert!(document.get("branding").is_none() && document["markdown"].is_string(), "{document}");
    let warning = document["warning"].as_str().unwrap();
    assert!(warning.contains("no branding: cached pages have no computed styles"), "{warning}");
}

#[tokio::test(flavor = "multi_thread")]
async fn page_that_overrides_prototypes_and_hides_properties_is_read() {
    let hostile = "<title>Hostile</title><style>body { background: #101010; color: #eee } h1 { font-size: 33px }</style>\
        <script>for (const name of ['getAttribute', 'getBoundingClientRect', 'checkVisibility'])\
        Element.prototype[name] = () => { throw new Error('hostile') };\
        window.getComputedStyle = () => ({}); Array.prototype.push = () => 0; JSON.stringify = () => '{}';</script>\
        <form name=body><input name=parentNode><input name=localName></form><img name=documentElement>\
        <img name=createTreeWalker><h1 class='\u{1F375}' style='transform: translateX(1e300px)'>Still here</h1>\
        <div id=half></div><script>half.className = 'logo \\ud83d'; half.textContent = '\\ud83d'</script><p>It has one text and another one.</p>";
    let Some(test) = BrandTest::with_page(hostile).await else { return };
    let document = test.scrape(json!({ "formats": ["branding"] })).await;
    let design = &document["branding"];
    assert_eq!(
        (&design["colorScheme"], &design["colors"]["background"]),
        (&json!("dark"), &json!("#101010")),
        "{document}"
    );
    assert_eq!(design["typography"]["fontSizes"]["h1"], "33px");
}

/// Adds elements to a logo that only a script can make. A parser of HTML reads `SCRIPT` and `HREF` like `script` and `href`.
const SCRIPTED: &str = "
    const add = (name) => document.querySelector('.logo')
        .appendChild(document.createElementNS('http://www.w3.org/2000/svg', name));
    add('SCRIPT').textContent = 'bad(7)';
    add('a').setAttributeNS(null, 'HREF', 'javascript:bad(8)');
    add('set').setAttributeNS(null, 'ATTRIBUTENAME', 'href');
    add('object').setAttribute('data', 'javascript:bad(9)');
    const form = document.createElement('form');
    form.innerHTML = '<input name=attributes><input name=remove><button formaction=\\'javascript:bad(10)\\'>';
    document.querySelector('.logo').append(form);";

/// A reader may write the SVG into a page of its own. The elements that `use` adds are the last ones.
#[tokio::test(flavor = "multi_thread")]
async fn logo_of_the_page_has_no_scripts_links_or_handlers() {
    let symbols: String = (0..7)
        .map(|i| format!("<symbol id=s{i}>{}<g onclick='bad(1)' /></symbol>", "<g/>".repeat(190)))
        .collect();
    let uses: String = (0..7).map(|i| format!("<use href='#s{i}' />")).collect();
    let html = format!(
        "<title>A</title><svg width=0 height=0>{symbols}</svg><header><a href=/><svg class=logo width=60 height=40>\
         {}{uses}<a href='javascript:bad(2)' xlink:href='javascript:bad(3)'>\
         <set attributeName=href to='javascript:bad(4)'></set><rect width=9 height=9 onload='bad(5)'></rect></a>\
         <image href='data:image/png;base64,AA'></image><script>bad(6)</script></svg></a></header><h1>A</h1>\
         <script>{SCRIPTED}</script>",
        "<g/>".repeat(900)
    );
    let Some(test) = BrandTest::with_page(&html).await else { return };
    let document = test.scrape(json!({ "formats": ["branding"] })).await;
    let logo = document["branding"]["logo"].as_str().unwrap_or_default();
    let encoded = logo.strip_prefix("data:image/svg+xml;base64,").unwrap_or_else(|| panic!("{document}"));
    let svg = String::from_utf8(STANDARD.decode(encoded).unwrap()).unwrap();
    for part in ["<rect", "data:image/png", "href=\"#s6\"", "id=\"s6\""] {
        assert!(svg.contains(part), "{part} is missing: {svg}");
    }
    for part in ["bad(", "attributeName", "ATTRIBUTENAME", "form"] {
        assert!(!svg.contains(part), "{part}: {svg}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn huge_page_is_read_in_part() {
    let rows =
        "<div class='row'><p>Some text with <a href='/x'>a link</a> in it.</p><button>More</button></div>"
            .repeat(3_000);
    let html = format!("<title>Huge</title><style>h1 {{ font-size: 31px }}</style><h1>Huge</h1>{rows}");
    let Some(test) = BrandTest::with_page(&html).await else { return };
    let document = test.scrape(json!({ "formats": ["branding"], "timeout": 100_000 })).await;
    assert_eq!(document["branding"]["typography"]["fontSizes"]["h1"], "31px", "{document}");
    let warning = document["warning"].as_str().unwrap();
    assert!(warning.contains("only a part of its elements was examined"), "{warning}");
}

#[tokio::test]
async fn missing_browser_leaves_branding_out_with_a_warning() {
    let world = TestWeb::builder().page(URL, Page::html(SHOP)).start().await;
    let service = Service::for_world(&world);
    let document = scrape(&service, json!({ "formats": ["markdown", "branding"] })).await;
    assert!(document.get("branding").is_none() && document["markdown"].is_string(), "{document}");
    let warning = document["warning"].as_str().unwrap();
    assert!(warning.contains("format branding: no browser is installed"), "{warning}");
    // A format that is not produced costs nothing.
    let document = scrape(&service, json!({ "formats": ["branding"] })).await;
    assert_eq!(document["metadata"]["creditsUsed"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_have_no_branding() {
    let world = TestWeb::builder()
        .page("http://brand.test/a.txt", Page::text("A plain text."))
        .page("http://brand.test/a.csv", Page::new("text/csv", "a,b\n1,2\n"));
    let Some(test) = BrandTest::start(world).await else { return };
    for file in ["a.txt", "a.csv"] {
        let url = format!("http://brand.test/{file}");
        let document = test.scrape(json!({ "url": url, "formats": ["markdown", "branding"] })).await;
        assert!(document.get("branding").is_none() && document["markdown"].is_string(), "{document}");
        let warning = document["warning"].as_str().unwrap();
        assert!(warning.contains("no branding: the URL is a file, not a page"), "{warning}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_operations_return_branding() {
    let Some(test) = BrandTest::with_page(SHOP).await else { return };
    let service = &test.service;
    let primary = |document: &Value| document["branding"]["colors"]["primary"].clone();
    let options = json!({ "formats": ["markdown", "branding"] });

    let batch = json!({ "urls": [URL], "formats": ["markdown", "branding"] });
    let path = start_at(service, "/v2/batch/scrape", batch).await;
    wait_for_end(service, &path).await;
    let documents = read_all(service, &path).await.0;
    assert_eq!(primary(&documents[0]), "#C8102E", "{documents:?}");

    let crawl = json!({ "url": URL, "limit": 1, "scrapeOptions": options });
    let path = start_at(service, "/v2/crawl", crawl).await;
    wait_for_end(service, &path).await;
    let documents = read_all(service, &path).await.0;
    assert_eq!(primary(&documents[0]), "#C8102E", "{documents:?}");

    service.search_until_found("teapots").await;
    let search = service.search(json!({ "query": "teapots iron", "scrapeOptions": options })).await;
    let results = search.body["data"]["web"].as_array().unwrap();
    assert!(results.iter().any(|result| primary(result) == "#C8102E"), "{}", search.body);
}

/// A script that reads the design through the models of the SDK.
const SCRIPT: &str = r##"
import sys
from firecrawl import Firecrawl

app = Firecrawl(api_key=sys.argv[2], api_url=sys.argv[1])
design = app.scrape("http://brand.test/", formats=["markdown", "branding"], only_main_content=True).branding
print(design.color_scheme, design.brand_name, design.logo)
print(design.colors["primary"], design.colors["background"], design.colors.get("success"))
print(design.fonts[0]["family"], design.typography["fontSizes"]["h1"], design.images["favicon"])
print(design.components["buttonPrimary"]["borderRadius"], design.personality)
"##;

#[tokio::test(flavor = "multi_thread")]
async fn official_python_sdk_reads_branding() {
    let Some(test) = BrandTest::with_page(SHOP).await else { return };
    let expected = "light Teahouse http://brand.test/logo.png\n\
                    #C8102E #FFFAF0 None\n\
                    Inter 44px http://brand.test/icon.png\n\
                    12px None\n";
    sdk::check(SCRIPT, &test.service, expected);
}
