//! Tests that requests, pages and documents cannot cause connections to an internal address, which a canary counts.
//!
//! The operations come from the OpenAPI document, which a test of `websvc-server` compares with the routes. A new
//! operation fails here until it has attacks.

mod extras;
mod monitors;
mod sessions;

use http::Method;
use serde_json::{Value, json};
use websvc_testkit::{Canary, Page, TestWeb};

use self::extras::{
    feedback_attacks, file_and_team_attacks, is_of_files_or_teams, llms_txt_attacks, prompt_attacks,
    rerank_attacks, run_attacks,
};
use self::monitors::{is_monitor_request, monitor_attacks, run_monitor};
use self::sessions::{is_session_request, session_attacks};
use crate::batch::wait_for_end;
use crate::harness::{Service, Site};

/// A page with every kind of reference to another URL. `URL` is a placeholder.
const PAGE: &str = r#"<!DOCTYPE html SYSTEM "URL/dtd"><html manifest="URL/manifest"><head><title>Bait</title>
<link rel="icon" href="URL/icon"><link rel="stylesheet" href="URL/css"><link rel="preload" as="image" href="URL/p">
<link rel="prefetch" href="URL/f"><link rel="dns-prefetch" href="URL"><link rel="manifest" href="URL/m">
<link rel="alternate" type="application/rss+xml" href="URL/feed"><link rel="canonical" href="URL/canonical">
<link rel="amphtml" href="URL/amp"><link rel="next" href="URL/next"><meta property="og:image" content="URL/og">
<meta http-equiv="refresh" content="9; url=URL/refresh"><style>@import "URL/i"; p { background: url(URL/b) }</style>
<script src="URL/s"></script><script type="application/ld+json">{"@context": "URL/c", "@type": "NewsArticle",
"headline": "Bait", "image": "URL/ld", "sameAs": "URL/same"}</script></head><body background="URL/bg"><main>
<h1>Bait</h1><p>The bait is a page that names one address in every way there is, and says little else.</p>
<img src="URL/img"><img src="x" srcset="URL/2x 2x"><img data-src="URL/lazy"><picture><source srcset="URL/w 9w"></picture>
<video poster="URL/v" src="URL/v"></video><audio src="URL/a"></audio><iframe src="URL/frame" srcdoc="<img src=URL/d>">
</iframe><object data="URL/o"></object><embed src="URL/e"><a href="URL/link" ping="URL/ping">link</a>
<form action="URL/form"><input type="image" src="URL/in"></form><svg><image href="URL/svg"/><use href="URL/use"/></svg>
<math><mi href="URL/math">x</mi></math><blockquote cite="URL/q">q</blockquote><a href="//HOST/">relative</a>
<div style="background-image: url('URL/style')">x</div></main></body></html>"#;

const FEED: &str = r#"<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY x SYSTEM "URL/entity"><!ENTITY % y SYSTEM "URL/y"> %y;]>
<?xml-stylesheet href="URL/xsl"?><rss version="2.0"><channel><title>&x;</title><link>URL/</link><image><url>URL/i</url>
</image><item><link>URL/item</link><enclosure url="URL/enclosure" length="9" type="audio/mpeg"/></item></channel></rss>"#;

const SITEMAP: &str = r#"<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY x SYSTEM "URL/entity">]><sitemapindex
xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>URL/map</loc></sitemap><url><loc>URL/&x;</loc></url>
<url><loc>URL/page</loc></url></sitemapindex>"#;

const PDF: &str = "%PDF-1.7\n1 0 obj << /Type /Catalog /Pages 2 0 R /OpenAction << /S /URI /URI (URL/open) >> \
/URI << /Base (URL/) >> >> endobj\n2 0 obj << /Type /Pages /Kids [10 0 R] /Count 1 >> endobj\n\
3 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj\n\
4 0 obj << /Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray /Length 0 \
/F << /FS /URL /F (URL/image) >> >>\nstream\n\nendstream endobj\n\
10 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 11 0 R /AA << /O << /S /SubmitForm \
/F << /FS /URL /F (URL/submit) >> >> >> /Annots [<< /Type /Annot /Subtype /Link /Rect [0 0 99 99] /A << /S /URI \
/URI (URL/uri) >> >>] /Resources << /Font << /F1 3 0 R >> /XObject << /I 4 0 R >> >> >> endobj\n\
11 0 obj << /Length 62 >>\nstream\nBT /F1 12 Tf 50 700 Td (A document that is bait) Tj ET /I Do  \nendstream endobj\n\
trailer << /Root 1 0 R >>\n%%EOF";

const RELATIONS: &str = r#"<?xml version="1.0"?><Relationships
xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" TargetMode="External" Target="URL/image.png"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"/>
<Relationship Id="rId2" TargetMode="External" Target="URL/template.dotm"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/attachedTemplate"/></Relationships>"#;

const WORD: &str = r#"<?xml version="1.0"?><!DOCTYPE w [<!ENTITY x SYSTEM "URL/entity">]><w:document
xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"
xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"
xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><w:body><w:p><w:r><w:t>Bait in an office file</w:t>
</w:r><w:r><w:drawing><a:blip r:link="rId1"/></w:drawing></w:r></w:p></w:body></w:document>"#;

/// Returns a ZIP archive of uncompressed files.
fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let mut sum = flate2::Crc::new();
        sum.update(text.as_bytes());
        let (offset, size) = (u32::try_from(out.len()).unwrap(), u32::try_from(text.len()).unwrap());
        let name_length = u16::try_from(name.len()).unwrap();
        let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        for number in [sum.sum(), size, size] {
            common.extend(number.to_le_bytes());
        }
        common.extend(name_length.to_le_bytes());
        common.extend([0, 0]);
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.bytes().chain(text.bytes()));
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(common);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.bytes());
    }
    let (count, start) = (u16::try_from(files.len()).unwrap(), u32::try_from(out.len()).unwrap());
    let length = u32::try_from(directory.len()).unwrap();
    out.extend(directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    out.extend([length.to_le_bytes(), start.to_le_bytes()].concat());
    out.extend([0, 0]);
    out
}

/// Starts a web whose pages and documents all refer to the canary.
async fn bait(canary: &Canary) -> TestWeb {
    let with_canary = |text: &str| {
        let host = canary.addr().to_string();
        text.replace("URL", &format!("http://{host}")).replace("HOST", &host)
    };
    let types = "<?xml version=\"1.0\"?><Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>";
    let (word, relations) = (with_canary(WORD), with_canary(RELATIONS));
    let book = archive(&[
        ("[Content_Types].xml", types),
        ("word/document.xml", &word),
        ("word/_rels/document.xml.rels", &relations),
        ("word/_rels/settings.xml.rels", &relations),
    ]);
    let robots =
        with_canary("User-agent: *\nSitemap: URL/sitemap.xml\nSitemap: http://bait.test/sitemap.xml\n");
    let headers = |page: Page| {
        let link = with_canary("<URL/push>; rel=preload, <URL/css>; rel=stylesheet");
        page.header("link", &link).header("content-location", &with_canary("URL/location"))
    };
    TestWeb::builder()
        .page("http://bait.test/", headers(Page::html(with_canary(PAGE))))
        .page(
            "http://bait.test/base",
            Page::html(with_canary("<base href='URL/'><title>Base</title><p>Bait <a href=x>x</a>")),
        )
        .page(
            "http://bait.test/leads",
            Page::html(with_canary("<meta http-equiv=refresh content='0; url=URL/'>")),
        )
        .page("http://bait.test/header", Page::html("").header("refresh", &with_canary("0; url=URL/")))
        .page("http://bait.test/moved", Page::redirect(308, &with_canary("URL/")))
        .page("http://bait.test/feed.xml", Page::new("application/rss+xml", with_canary(FEED)))
        .page("http://bait.test/page.xhtml", Page::new("application/xhtml+xml", with_canary(FEED)))
        .page("http://bait.test/paper.pdf", Page::new("application/pdf", with_canary(PDF)))
        .page("http://bait.test/book.docx", Page::new("application/octet-stream", book))
        .page("http://bait.test/robots.txt", Page::text(robots))
        .page("http://bait.test/sitemap.xml", Page::new("application/xml", with_canary(SITEMAP)))
        .page("http://bait.test/favicon.ico", Page::redirect(302, &with_canary("URL/favicon.ico")))
        .start()
        .await
}

/// The indexed pages, each with a word by which a search finds it.
const PAGES: [(&str, &str); 9] = [
    ("main", "http://bait.test/"),
    ("base", "http://bait.test/base"),
    ("leads", "http://bait.test/leads"),
    ("header", "http://bait.test/header"),
    ("moved", "http://bait.test/moved"),
    ("feed", "http://bait.test/feed.xml"),
    ("xhtml", "http://bait.test/page.xhtml"),
    ("paper", "http://bait.test/paper.pdf"),
    ("book", "http://bait.test/book.docx"),
];

fn options() -> Value {
    json!({"formats": ["markdown", "html", "rawHtml", "links", "images"], "onlyMainContent": false, "maxAge": 0})
}

#[tokio::test(flavor = "multi_thread")]
async fn internal_urls_in_pages_and_documents_are_not_fetched() {
    let canary = Canary::start().await;
    let world = bait(&canary).await;
    let service = Service::for_world(&world);
    service.index_pages(&PAGES).await;
    let mut scraped = Vec::new();
    for (word, _) in PAGES {
        let response = service.search(json!({"query": word, "limit": 1, "scrapeOptions": options()})).await;
        let result = &response.body["data"]["web"][0];
        match result["metadata"]["error"].as_str() {
            Some(error) => {
                assert_eq!(
                    error,
                    format!("SCRAPE_FORBIDDEN_URL: {}", websvc_transport::REFUSED_ADDRESS),
                    "{word}"
                );
            }
            None => scraped.push((word, result["markdown"].as_str().unwrap_or_default().to_owned())),
        }
    }
    let words: Vec<&str> = scraped.iter().map(|(word, _)| *word).collect();
    assert_eq!(
        words,
        ["main", "base", "leads", "header", "feed", "xhtml", "paper", "book"],
        "the other page redirects to the canary"
    );
    for (word, markdown) in
        scraped.iter().filter(|(word, _)| ["main", "base", "paper", "book"].contains(word))
    {
        assert!(markdown.to_lowercase().contains("bait"), "{word}: {markdown}");
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn crawl_does_not_connect_to_internal_addresses() {
    let canary = Canary::start().await;
    let world = bait(&canary).await;
    let site = Site::new(&world);
    let internal = format!("http://{}/", canary.addr());
    let crawl = ["index", "crawl", "http://bait.test/", "http://bait.test/leads", &internal, "--json"];
    let output = site.run(&crawl);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["pages"].as_u64().unwrap_or_default() >= 1, "{report}");
    for path in ["/robots.txt", "/sitemap.xml", "/", "/leads"] {
        assert!(world.count(&format!("http://bait.test{path}")) > 0, "{path} was not requested");
    }
    assert_eq!(canary.connections(), 0);
}

/// Returns whether an operation starts a job.
fn is_job(operation: &str) -> bool {
    matches!(
        operation,
        "post /v2/batch/scrape"
            | "post /v2/crawl"
            | "post /v1/batch/scrape"
            | "post /v1/crawl"
            | "post /v1/llmstxt"
    )
}

/// Returns request bodies that might make an operation connect to `internal`.
fn attacks(operation: &str, internal: &str) -> Option<Vec<Value>> {
    let page = json!({"url": internal, "title": "Inside", "body": "inside bait", "links": [{"url": internal, "text": "x"}],
        "images": [{"url": internal, "alt": "inside"}]});
    Some(match operation {
        "post /v2/index/documents" => vec![
            json!({"documents": [page]}),
            json!({"documents": [{"url": "http://bait.test/x", "title": "x", "body": "bait",
                "images": [{"url": internal, "alt": "x"}], "links": [{"url": internal, "text": "x"}]}]}),
        ],
        "post /v2/index/progress" => {
            vec![json!({"id": internal, "hosts": [internal, "bait.test"], "url": internal})]
        }
        "post /v2/crawl/params-preview" => prompt_attacks(internal),
        job if is_job(job) => job_attacks(job, internal),
        "post /v2/search" => vec![
            json!({"query": "inside bait", "scrapeOptions": options()}),
            json!({"query": format!("site:{internal} inside"), "scrapeOptions": options()}),
            json!({"query": "inside", "sources": ["web", "images", "news"], "scrapeOptions": options()}),
            json!({"query": "inside", "sources": [{"type": "web", "url": internal}], "scrapeOptions": options()}),
            json!({"query": "inside", "provider": internal, "searxng": internal, "endpoint": internal, "webhook": internal}),
            json!({"query": "inside", "webhook": {"url": internal, "headers": {"host": "x"}}}),
            json!({"query": "inside", "scrapeOptions": {"formats": ["markdown"], "proxy": internal}}),
            json!({"query": "inside", "scrapeOptions": {"formats": ["screenshot"], "proxy": {"server": internal}}}),
            json!({"query": "inside", "scrapeOptions": {"formats": ["screenshot"], "args": ["--no-sandbox"],
                "browserArgs": [format!("--proxy-server={internal}")], "cdpUrl": internal, "executablePath": internal}}),
            json!({"query": "inside", "browser": {"args": ["--no-proxy-server"], "cdp_url": internal, "path": internal}}),
            json!({"query": "inside", "scrapeOptions": {"formats": ["markdown"], "skipTlsVerification": true}}),
            json!({"query": "inside", "scrapeOptions": {"formats": ["markdown"], "headers": {"Host": "127.0.0.1"}}}),
            json!({"query": "inside", "scrapeOptions": {"formats": ["screenshot", {"type": "branding", "logo": internal}], "waitFor": 1}}),
            json!({"query": "inside", "scrapeOptions": {"formats": ["markdown"],
                "actions": [{"type": "executeJavascript", "script": format!("fetch('{internal}')")}]}}),
            json!({"query": "inside", "scrapeOptions": {"formats": ["markdown", {"type": "changeTracking", "webhook": internal}]}}),
        ],
        "post /v2/map" | "post /v1/map" => vec![
            json!({"url": internal}),
            json!({"url": internal, "sitemap": "only", "sitemapOnly": true, "ignoreCache": true}),
            json!({"url": "http://bait.test/", "allowExternalLinks": true, "ignoreCache": true, "limit": 100_000}),
            json!({"url": "http://bait.test/", "sitemap": "only", "sitemapOnly": true, "webhook": internal}),
            json!({"url": "http://bait.test/moved", "ignoreCache": true}),
            json!({"url": "http://bait.test/leads", "ignoreCache": true, "proxy": internal}),
            json!({"url": "bait.test", "headers": {"Referer": internal, "X-Forwarded-Host": internal}}),
            json!({"url": "bait.test", "headers": {"Host": "127.0.0.1"}}),
        ],
        "post /v2/scrape" | "post /v1/scrape" => page_attacks(internal),
        "post /v2/parse" => {
            let with_canary = |text: &str| text.replace("URL/", internal);
            [("bait.html", PAGE), ("bait.xhtml", FEED), ("bait.pdf", PDF), ("bait.csv", "a,b\nURL/,=WEBSERVICE(\"URL/\")\n")]
                .into_iter()
                .flat_map(|(name, text)| {
                    [json!({}), options(), json!({"proxy": internal, "headers": {"Host": "127.0.0.1"}, "webhook": internal})]
                        .map(|options| json!({"name": name, "file": with_canary(text), "options": options}))
                })
                .chain([json!({"name": internal, "file": with_canary(PAGE), "options": {"url": internal, "formats": ["links"]}})])
                .collect()
        }
        other if is_of_files_or_teams(other) => file_and_team_attacks(other, internal),
        "post /v1/search" => vec![
            json!({"query": "inside bait", "scrapeOptions": options()}),
            json!({"query": "inside", "scrapeOptions": {"formats": ["extract"], "extract": {"schema": {"$ref": internal}}}}),
            json!({"query": "inside", "location": internal, "webhook": internal}),
        ],
        "post /search" => vec![json!({"query": "inside bait", "count": 5, "url": internal})],
        "post /load" => vec![json!({"urls": ["http://bait.test/moved", "http://bait.test/leads", internal]})],
        "post /v1/rerank" => rerank_attacks(internal),
        "post /v2/feedback" | "post /v2/search/{id}/feedback" => feedback_attacks(internal),
        "post /v2/agent" | "post /v2/extract" | "post /v1/extract" => run_attacks(operation, internal),
        "post /v2/webhooks/dead-letters/{id}/retry" => vec![Value::Null],
        // Without a body, only the URL and the headers could refer to an address.
        other if other.starts_with("get ") || other.starts_with("delete ") => vec![Value::Null],
        _ => return None,
    })
}

/// Returns request bodies that might make a job connect to `internal`.
fn job_attacks(operation: &str, internal: &str) -> Vec<Value> {
    match operation {
        "post /v2/batch/scrape" | "post /v1/batch/scrape" => {
            let urls: Vec<&str> = PAGES.iter().map(|(_, url)| *url).chain([internal]).collect();
            vec![
                json!({"urls": urls, "formats": ["markdown", "html", "links", "images"], "maxAge": 0}),
                json!({"urls": [internal], "skipTlsVerification": true, "maxAge": 0}),
                json!({"urls": ["http://bait.test/"], "webhook": internal}),
                json!({"urls": ["http://bait.test/"], "webhook": {"url": internal, "headers": {"host": "x"}}}),
                json!({"urls": ["http://bait.test/"], "webhook": "http://bait.test/moved"}),
                json!({"urls": ["http://bait.test/"], "webhook": {"url": "http://bait.test/moved",
                    "headers": {"X-Forwarded-Host": internal, "Referer": internal}, "metadata": {"url": internal}}}),
                json!({"urls": ["http://bait.test/"], "headers": {"Host": "127.0.0.1"}}),
                json!({"urls": ["http://bait.test/"], "appendToId": internal}),
            ]
        }
        "post /v2/crawl" | "post /v1/crawl" => vec![
            json!({"url": internal}),
            json!({"url": "http://bait.test/", "allowExternalLinks": true, "crawlEntireDomain": true, "limit": 50}),
            json!({"url": "http://bait.test/moved", "allowExternalLinks": true, "sitemap": "only"}),
            json!({"url": "http://bait.test/leads", "allowExternalLinks": true, "sitemap": "skip"}),
            json!({"url": "http://bait.test/", "webhook": internal, "robotsUserAgent": internal}),
            json!({"url": "http://bait.test/", "webhook": internal}),
            json!({"url": "http://bait.test/", "webhook": {"url": "http://bait.test/moved", "events": ["page"]}}),
            json!({"url": "http://bait.test/", "scrapeOptions": {"proxy": internal, "headers": {"Host": "127.0.0.1"}}}),
        ],
        "post /v1/llmstxt" => llms_txt_attacks(internal),
        _ => Vec::new(),
    }
}

/// Returns request bodies that might make a scrape connect to `internal`.
fn page_attacks(internal: &str) -> Vec<Value> {
    let mut bodies: Vec<Value> = PAGES
        .iter()
        .map(|(_, url)| json!({"url": url, "formats": ["markdown", "html", "rawHtml", "links", "images"]}))
        .collect();
    bodies.extend([
        json!({"url": internal}),
        json!({"url": internal, "skipTlsVerification": true, "maxAge": 0}),
        json!({"url": internal.trim_start_matches("http://")}),
        json!({"url": format!("http://bait.test@{}", internal.trim_start_matches("http://"))}),
        json!({"url": "http://bait.test/", "proxy": internal}),
        json!({"url": "http://bait.test/", "headers": {"Host": "127.0.0.1", "Referer": internal}}),
        json!({"url": "http://bait.test/", "webhook": internal, "base": internal, "cdpUrl": internal}),
        json!({"url": "http://bait.test/", "formats": ["markdown", {"type": "changeTracking", "webhook": internal}]}),
        json!({"url": "http://bait.test/", "formats": [{"type": "json", "schema": {"$ref": internal}}]}),
        json!({"url": "http://bait.test/", "actions": [{"type": "executeJavascript",
            "script": format!("fetch('{internal}')")}]}),
    ]);
    bodies
}

/// Returns a multipart form with a file; `body` has its `name`, the `file` and the `options`.
fn form(body: &Value) -> String {
    let part = |kind: &str, content: &str| {
        format!("--bait\r\nContent-Disposition: form-data; {kind}\r\n\r\n{content}\r\n")
    };
    let (name, file) = (body["name"].as_str().unwrap(), body["file"].as_str().unwrap());
    let file = part(&format!("name=\"file\"; filename=\"{name}\""), file);
    format!("{}{file}--bait--\r\n", part("name=\"options\"", &body["options"].to_string()))
}

#[tokio::test(flavor = "multi_thread")]
async fn no_operation_connects_to_an_internal_address() {
    let canary = Canary::start().await;
    let internal = format!("http://{}/", canary.addr());
    let world = bait(&canary).await;
    let service = Service::for_world(&world);
    service.index_pages(&[("inside", &internal), ("bait", "http://bait.test/")]).await;
    let document = websvc_testkit::openapi_document();
    let (mut operations, mut jobs, mut monitors) = (0, 0, 0);
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let operation = format!("{method} {path}");
            let bodies = match is_monitor_request(&operation) {
                true => monitor_attacks(&operation, &internal),
                false if is_session_request(&operation) => session_attacks(&operation, &internal),
                false => {
                    attacks(&operation, &internal).unwrap_or_else(|| panic!("add attacks for {operation}"))
                }
            };
            let is_form = path == "/v2/parse";
            for body in bodies {
                let headers = [
                    (
                        "content-type",
                        if is_form { "multipart/form-data; boundary=bait" } else { "application/json" },
                    ),
                    ("x-forwarded-host", internal.as_str()),
                    ("forwarded", internal.as_str()),
                    ("referer", internal.as_str()),
                    ("x-original-url", internal.as_str()),
                ];
                let target = if body.is_null() {
                    format!("{path}?url={internal}&source={internal}&q=inside&format=json&engines={internal}")
                } else {
                    path.clone()
                };
                let text = match &body {
                    Value::Null => String::new(),
                    body if is_form => form(body),
                    body => body.to_string(),
                };
                let method = Method::from_bytes(method.to_ascii_uppercase().as_bytes()).unwrap();
                let response = service.send(method, &target, &headers, text).await;
                let is_refused = response.body["code"] == "BROWSER_UNAVAILABLE"
                    || response.body["code"] == "LLM_NOT_CONFIGURED";
                let is_failure = response.status.is_server_error() && !is_refused;
                assert!(!is_failure, "{operation} {body}: {}", response.body);
                assert!(
                    !response.body.to_string().contains("secret"),
                    "{operation} {body}: {}",
                    response.body
                );
                if let (true, Some(id)) = (is_job(&operation), response.body["id"].as_str()) {
                    // A job fetches pages after the response.
                    jobs += 1;
                    wait_for_end(&service, &format!("{}/{id}", path.replace("/v1/llmstxt", "/v2/crawl")))
                        .await;
                }
                if let ("post /v2/monitor", Some(id)) =
                    (operation.as_str(), response.body["data"]["id"].as_str())
                {
                    monitors += 1;
                    run_monitor(&service, id).await;
                }
            }
            operations += 1;
        }
    }
    assert!(operations >= 3, "{operations}");
    assert!(jobs >= 6, "{jobs} jobs were started");
    assert!(monitors >= 4, "{monitors} monitors were created");
    assert_eq!(canary.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn external_schema_references_are_rejected_without_a_fetch() {
    let canary = Canary::start().await;
    let world = bait(&canary).await;
    let service = Service::for_world(&world);
    service.index_pages(&[("main", "http://bait.test/")]).await;
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), r#"{"type": "secret-of-the-file"}"#).unwrap();
    let path = secret.path().to_str().unwrap();
    let (file, internal) = (format!("file://{path}"), format!("http://{}/schema.json", canary.addr()));
    let encoded = internal.replace("http:", "%68ttp:");
    let references = [
        &file,
        &internal,
        &encoded,
        path,
        "../../../../etc/passwd",
        "schema.json#/a",
        "FILE:///etc/passwd",
        "//x.test/a",
        "data:application/json,{}",
        "\\\\host\\share",
        " http://127.0.0.1/",
        "#/../x",
        "urn:x",
    ];
    let positions: &[fn(Value) -> Value] = &[
        |reference| reference,
        |reference| json!({"properties": {"a": reference}}),
        |reference| json!({"items": {"anyOf": [{}, reference]}}),
        |reference| json!({"$defs": {"a": reference}, "$ref": "#/$defs/a"}),
        |reference| json!({"if": reference, "then": {"not": {"additionalProperties": {"patternProperties": {"x": {}}}}}}),
    ];
    for reference in references {
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef", "$id", "$schema"] {
            for position in positions {
                let schema = position(json!({ keyword: reference }));
                let format = json!({"type": "json", "prompt": "x", "schema": schema});
                let response =
                    service.search(json!({"query": "main", "scrapeOptions": {"formats": [format]}})).await;
                let text = response.body.to_string();
                let is_local = reference.starts_with('#');
                assert!(response.status == 400 || is_local, "{keyword} {reference} {schema}: {text}");
                assert!(!text.contains("secret"), "{text}");
            }
        }
        // A reference within example data is not a schema reference, so it is accepted but never followed.
        for position in ["const", "default", "enum", "examples"] {
            let data = json!({"$ref": reference});
            let data = if matches!(position, "enum" | "examples") { json!([data]) } else { data };
            let format =
                json!({"type": "json", "prompt": "x", "schema": {"properties": {"a": {position: data}}}});
            let response =
                service.search(json!({"query": "main", "scrapeOptions": {"formats": [format]}})).await;
            assert!(!response.body.to_string().contains("secret"), "{}", response.body);
        }
    }
    assert_eq!(canary.connections(), 0);
}
