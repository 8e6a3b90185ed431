//! Nothing that a request, a page or a document may hold leads to an internal address: a canary counts connections.
//!
//! The operations come from the published document, which a test of `websvc-server` compares with the table of routes:
//! a new one fails here until it has a row.

use http::Method;
use serde_json::{Value, json};
use websvc_testkit::{Canary, Page, TestWeb};

use crate::batch::ended;
use crate::harness::{Service, Site};

/// Everything by which a page may name another address, with `URL` in its place.
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

/// Writes an archive of files that are not compressed.
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

/// A world whose pages and documents all name the canary.
async fn bait(canary: &Canary) -> TestWeb {
    let named = |text: &str| {
        let host = canary.addr().to_string();
        text.replace("URL", &format!("http://{host}")).replace("HOST", &host)
    };
    let types = "<?xml version=\"1.0\"?><Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>";
    let (word, relations) = (named(WORD), named(RELATIONS));
    let book = archive(&[
        ("[Content_Types].xml", types),
        ("word/document.xml", &word),
        ("word/_rels/document.xml.rels", &relations),
        ("word/_rels/settings.xml.rels", &relations),
    ]);
    let robots = named("User-agent: *\nSitemap: URL/sitemap.xml\nSitemap: http://bait.test/sitemap.xml\n");
    let headers = |page: Page| {
        let link = named("<URL/push>; rel=preload, <URL/css>; rel=stylesheet");
        page.header("link", &link).header("content-location", &named("URL/location"))
    };
    TestWeb::builder()
        .page("http://bait.test/", headers(Page::html(named(PAGE))))
        .page(
            "http://bait.test/base",
            Page::html(named("<base href='URL/'><title>Base</title><p>Bait <a href=x>x</a>")),
        )
        .page("http://bait.test/leads", Page::html(named("<meta http-equiv=refresh content='0; url=URL/'>")))
        .page("http://bait.test/header", Page::html("").header("refresh", &named("0; url=URL/")))
        .page("http://bait.test/moved", Page::redirect(308, &named("URL/")))
        .page("http://bait.test/feed.xml", Page::new("application/rss+xml", named(FEED)))
        .page("http://bait.test/page.xhtml", Page::new("application/xhtml+xml", named(FEED)))
        .page("http://bait.test/paper.pdf", Page::new("application/pdf", named(PDF)))
        .page("http://bait.test/book.docx", Page::new("application/octet-stream", book))
        .page("http://bait.test/robots.txt", Page::text(robots))
        .page("http://bait.test/sitemap.xml", Page::new("application/xml", named(SITEMAP)))
        .page("http://bait.test/favicon.ico", Page::redirect(302, &named("URL/favicon.ico")))
        .start()
        .await
}

/// The pages that are asked for, with a word by which each is found.
const LISTED: [(&str, &str); 9] = [
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
async fn what_pages_and_documents_name_is_not_fetched() {
    let canary = Canary::start().await;
    let world = bait(&canary).await;
    let service = Service::of(&world);
    service.list(&LISTED).await;
    let mut read = Vec::new();
    for (word, _) in LISTED {
        let answer = service.search(json!({"query": word, "limit": 1, "scrapeOptions": options()})).await;
        let result = &answer.body["data"]["web"][0];
        match result["metadata"]["error"].as_str() {
            Some(error) => {
                assert_eq!(
                    error,
                    format!("SCRAPE_FORBIDDEN_URL: {}", websvc_transport::REFUSED_ADDRESS),
                    "{word}"
                );
            }
            None => read.push((word, result["markdown"].as_str().unwrap_or_default().to_owned())),
        }
    }
    let words: Vec<&str> = read.iter().map(|(word, _)| *word).collect();
    assert_eq!(words, ["main", "base", "feed", "xhtml", "paper", "book"], "the others lead to the canary");
    for (word, markdown) in read.iter().filter(|(word, _)| ["main", "base", "paper", "book"].contains(word)) {
        assert!(markdown.to_lowercase().contains("bait"), "{word} was read: {markdown}");
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_keeps_away_from_internal_addresses() {
    let canary = Canary::start().await;
    let world = bait(&canary).await;
    let site = Site::new(&world);
    let inside = format!("http://{}/", canary.addr());
    let crawl = ["index", "crawl", "http://bait.test/", "http://bait.test/leads", &inside, "--json"];
    let output = site.run(&crawl);
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(said["pages"].as_u64().unwrap_or_default() >= 1, "{said}");
    for way in ["/robots.txt", "/sitemap.xml", "/", "/leads"] {
        assert!(world.count(&format!("http://bait.test{way}")) > 0, "{way} was asked for");
    }
    assert_eq!(canary.connections(), 0);
}

/// Returns whether an operation begins a job.
fn is_job(operation: &str) -> bool {
    matches!(
        operation,
        "post /v2/batch/scrape" | "post /v2/crawl" | "post /v1/batch/scrape" | "post /v1/crawl"
    )
}

/// Returns bodies by which an operation might be led to `inside`.
fn attacks(operation: &str, inside: &str) -> Option<Vec<Value>> {
    let page = json!({"url": inside, "title": "Inside", "body": "inside bait", "links": [{"url": inside, "text": "x"}],
        "images": [{"url": inside, "alt": "inside"}]});
    Some(match operation {
        "post /v2/index/documents" => vec![
            json!({"documents": [page]}),
            json!({"documents": [{"url": "http://bait.test/x", "title": "x", "body": "bait",
                "images": [{"url": inside, "alt": "x"}], "links": [{"url": inside, "text": "x"}]}]}),
        ],
        "post /v2/index/progress" => {
            vec![json!({"id": inside, "hosts": [inside, "bait.test"], "url": inside})]
        }
        "post /v2/crawl/params-preview" => {
            vec![json!({"url": inside, "prompt": "the docs", "base_url": inside})]
        }
        job if is_job(job) => job_attacks(job, inside),
        "post /v2/search" => vec![
            json!({"query": "inside bait", "scrapeOptions": options()}),
            json!({"query": format!("site:{inside} inside"), "scrapeOptions": options()}),
            json!({"query": "inside", "sources": ["web", "images", "news"], "scrapeOptions": options()}),
            json!({"query": "inside", "sources": [{"type": "web", "url": inside}], "scrapeOptions": options()}),
            json!({"query": "inside", "provider": inside, "searxng": inside, "endpoint": inside, "webhook": inside}),
            json!({"query": "inside", "webhook": {"url": inside, "headers": {"host": "x"}}}),
            json!({"query": "inside", "scrapeOptions": {"formats": ["markdown"], "proxy": inside}}),
            json!({"query": "inside", "scrapeOptions": {"formats": ["screenshot"], "proxy": {"server": inside}}}),
            json!({"query": "inside", "scrapeOptions": {"formats": ["screenshot"], "args": ["--no-sandbox"],
                "browserArgs": [format!("--proxy-server={inside}")], "cdpUrl": inside, "executablePath": inside}}),
            json!({"query": "inside", "browser": {"args": ["--no-proxy-server"], "cdp_url": inside, "path": inside}}),
            json!({"query": "inside", "scrapeOptions": {"formats": ["markdown"], "skipTlsVerification": true}}),
            json!({"query": "inside", "scrapeOptions": {"formats": ["markdown"], "headers": {"Host": "127.0.0.1"}}}),
            json!({"query": "inside", "scrapeOptions": {"formats": ["screenshot", "branding"], "waitFor": 1}}),
            json!({"query": "inside", "scrapeOptions": {"formats": ["markdown"],
                "actions": [{"type": "executeJavascript", "script": format!("fetch('{inside}')")}]}}),
            json!({"query": "inside", "scrapeOptions": {"formats": [{"type": "changeTracking", "webhook": inside}]}}),
        ],
        "post /v2/map" | "post /v1/map" => vec![
            json!({"url": inside}),
            json!({"url": inside, "sitemap": "only", "sitemapOnly": true, "ignoreCache": true}),
            json!({"url": "http://bait.test/", "allowExternalLinks": true, "ignoreCache": true, "limit": 100_000}),
            json!({"url": "http://bait.test/", "sitemap": "only", "sitemapOnly": true, "webhook": inside}),
            json!({"url": "http://bait.test/moved", "ignoreCache": true}),
            json!({"url": "http://bait.test/leads", "ignoreCache": true, "proxy": inside}),
            json!({"url": "bait.test", "headers": {"Referer": inside, "X-Forwarded-Host": inside}}),
            json!({"url": "bait.test", "headers": {"Host": "127.0.0.1"}}),
        ],
        "post /v2/scrape" | "post /v1/scrape" => page_attacks(inside),
        "post /v2/parse" => {
            let named = |text: &str| text.replace("URL/", inside);
            [("bait.html", PAGE), ("bait.xhtml", FEED), ("bait.pdf", PDF), ("bait.csv", "a,b\nURL/,=WEBSERVICE(\"URL/\")\n")]
                .into_iter()
                .flat_map(|(name, text)| {
                    [json!({}), options(), json!({"proxy": inside, "headers": {"Host": "127.0.0.1"}, "webhook": inside})]
                        .map(|options| json!({"name": name, "file": named(text), "options": options}))
                })
                .chain([json!({"name": inside, "file": named(PAGE), "options": {"url": inside, "formats": ["links"]}})])
                .collect()
        }
        "post /v1/search" => vec![
            json!({"query": "inside bait", "scrapeOptions": options()}),
            json!({"query": "inside", "scrapeOptions": {"formats": ["extract"], "extract": {"schema": {"$ref": inside}}}}),
            json!({"query": "inside", "location": inside, "webhook": inside}),
        ],
        "post /search" => vec![json!({"query": "inside bait", "count": 5, "url": inside})],
        "post /v1/rerank" => vec![
            json!({"query": "inside", "model": inside, "documents": [inside, {"text": inside}]}),
            json!({"query": inside, "documents": ["inside"], "base_url": inside, "endpoint": inside}),
        ],
        "post /v2/webhooks/dead-letters/{id}/retry" => vec![Value::Null],
        // What takes no body takes nothing that could lead anywhere, but its address and headers.
        other if other.starts_with("get ") || other.starts_with("delete ") => vec![Value::Null],
        _ => return None,
    })
}

/// Returns bodies by which an operation that begins a job might be led to `inside`.
fn job_attacks(operation: &str, inside: &str) -> Vec<Value> {
    match operation {
        "post /v2/batch/scrape" | "post /v1/batch/scrape" => {
            let urls: Vec<&str> = LISTED.iter().map(|(_, url)| *url).chain([inside]).collect();
            vec![
                json!({"urls": urls, "formats": ["markdown", "html", "links", "images"], "maxAge": 0}),
                json!({"urls": [inside], "skipTlsVerification": true, "maxAge": 0}),
                json!({"urls": ["http://bait.test/"], "webhook": inside}),
                json!({"urls": ["http://bait.test/"], "webhook": {"url": inside, "headers": {"host": "x"}}}),
                json!({"urls": ["http://bait.test/"], "webhook": "http://bait.test/moved"}),
                json!({"urls": ["http://bait.test/"], "webhook": {"url": "http://bait.test/moved",
                    "headers": {"X-Forwarded-Host": inside, "Referer": inside}, "metadata": {"url": inside}}}),
                json!({"urls": ["http://bait.test/"], "headers": {"Host": "127.0.0.1"}}),
                json!({"urls": ["http://bait.test/"], "appendToId": inside}),
            ]
        }
        "post /v2/crawl" | "post /v1/crawl" => vec![
            json!({"url": inside}),
            json!({"url": "http://bait.test/", "allowExternalLinks": true, "crawlEntireDomain": true, "limit": 50}),
            json!({"url": "http://bait.test/moved", "allowExternalLinks": true, "sitemap": "only"}),
            json!({"url": "http://bait.test/leads", "allowExternalLinks": true, "sitemap": "skip"}),
            json!({"url": "http://bait.test/", "webhook": inside, "robotsUserAgent": inside}),
            json!({"url": "http://bait.test/", "webhook": inside}),
            json!({"url": "http://bait.test/", "webhook": {"url": "http://bait.test/moved", "events": ["page"]}}),
            json!({"url": "http://bait.test/", "scrapeOptions": {"proxy": inside, "headers": {"Host": "127.0.0.1"}}}),
        ],
        _ => Vec::new(),
    }
}

/// Returns bodies by which a request for one page might be led to `inside`.
fn page_attacks(inside: &str) -> Vec<Value> {
    let mut bodies: Vec<Value> = LISTED
        .iter()
        .map(|(_, url)| json!({"url": url, "formats": ["markdown", "html", "rawHtml", "links", "images"]}))
        .collect();
    bodies.extend([
        json!({"url": inside}),
        json!({"url": inside, "skipTlsVerification": true, "maxAge": 0}),
        json!({"url": inside.trim_start_matches("http://")}),
        json!({"url": format!("http://bait.test@{}", inside.trim_start_matches("http://"))}),
        json!({"url": "http://bait.test/", "proxy": inside}),
        json!({"url": "http://bait.test/", "headers": {"Host": "127.0.0.1", "Referer": inside}}),
        json!({"url": "http://bait.test/", "webhook": inside, "base": inside, "cdpUrl": inside}),
        json!({"url": "http://bait.test/", "formats": [{"type": "changeTracking", "webhook": inside}]}),
        json!({"url": "http://bait.test/", "formats": [{"type": "json", "schema": {"$ref": inside}}]}),
        json!({"url": "http://bait.test/", "actions": [{"type": "executeJavascript",
            "script": format!("fetch('{inside}')")}]}),
    ]);
    bodies
}

/// Returns an uploaded file as a form; `body` has its `name`, the `file` and the `options`.
fn form(body: &Value) -> String {
    let part = |kind: &str, content: &str| {
        format!("--bait\r\nContent-Disposition: form-data; {kind}\r\n\r\n{content}\r\n")
    };
    let (name, file) = (body["name"].as_str().unwrap(), body["file"].as_str().unwrap());
    let file = part(&format!("name=\"file\"; filename=\"{name}\""), file);
    format!("{}{file}--bait--\r\n", part("name=\"options\"", &body["options"].to_string()))
}

#[tokio::test(flavor = "multi_thread")]
async fn no_operation_can_be_led_to_an_internal_address() {
    let canary = Canary::start().await;
    let inside = format!("http://{}/", canary.addr());
    let world = bait(&canary).await;
    let service = Service::of(&world);
    service.list(&[("inside", &inside), ("bait", "http://bait.test/")]).await;
    let document = websvc_types::openapi::document();
    let (mut operations, mut jobs) = (0, 0);
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let operation = format!("{method} {path}");
            let bodies =
                attacks(&operation, &inside).unwrap_or_else(|| panic!("{operation} has no attacks here"));
            let is_form = path == "/v2/parse";
            for body in bodies {
                let headers = [
                    (
                        "content-type",
                        if is_form { "multipart/form-data; boundary=bait" } else { "application/json" },
                    ),
                    ("x-forwarded-host", inside.as_str()),
                    ("forwarded", inside.as_str()),
                    ("referer", inside.as_str()),
                    ("x-original-url", inside.as_str()),
                ];
                let target = if body.is_null() {
                    format!("{path}?url={inside}&source={inside}&q=inside&format=json&engines={inside}")
                } else {
                    path.clone()
                };
                let text = match &body {
                    Value::Null => String::new(),
                    body if is_form => form(body),
                    body => body.to_string(),
                };
                let method = Method::from_bytes(method.to_ascii_uppercase().as_bytes()).unwrap();
                let answer = service.send(method, &target, &headers, text).await;
                assert!(!answer.status.is_server_error(), "{operation} {body}: {}", answer.body);
                assert!(!answer.body.to_string().contains("secret"), "{operation} {body}: {}", answer.body);
                if let (true, Some(id)) = (is_job(&operation), answer.body["id"].as_str()) {
                    // What it does, it does after its answer.
                    jobs += 1;
                    ended(&service, &format!("{path}/{id}")).await;
                }
            }
            operations += 1;
        }
    }
    assert!(operations >= 3, "{operations}");
    assert!(jobs >= 6, "{jobs} jobs were begun");
    assert_eq!(canary.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn references_out_of_a_schema_are_refused_without_a_look() {
    let canary = Canary::start().await;
    let world = bait(&canary).await;
    let service = Service::of(&world);
    service.list(&[("main", "http://bait.test/")]).await;
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), r#"{"type": "secret-of-the-file"}"#).unwrap();
    let path = secret.path().to_str().unwrap();
    let (file, inside) = (format!("file://{path}"), format!("http://{}/schema.json", canary.addr()));
    let encoded = inside.replace("http:", "%68ttp:");
    let references = [
        &file,
        &inside,
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
    let places: &[fn(Value) -> Value] = &[
        |bad| bad,
        |bad| json!({"properties": {"a": bad}}),
        |bad| json!({"items": {"anyOf": [{}, bad]}}),
        |bad| json!({"$defs": {"a": bad}, "$ref": "#/$defs/a"}),
        |bad| json!({"if": bad, "then": {"not": {"additionalProperties": {"patternProperties": {"x": {}}}}}}),
    ];
    for reference in references {
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef", "$id", "$schema"] {
            for place in places {
                let schema = place(json!({ keyword: reference }));
                let format = json!({"type": "json", "prompt": "x", "schema": schema});
                let answer =
                    service.search(json!({"query": "main", "scrapeOptions": {"formats": [format]}})).await;
                let said = answer.body.to_string();
                let is_inside = reference.starts_with('#');
                assert!(answer.status == 400 || is_inside, "{keyword} {reference} {schema}: {said}");
                assert!(!said.contains("secret"), "{said}");
            }
        }
        // Data of the caller's own is no schema, whatever it looks like: nobody follows it.
        for place in ["const", "default", "enum", "examples"] {
            let data = json!({"$ref": reference});
            let data = if matches!(place, "enum" | "examples") { json!([data]) } else { data };
            let format =
                json!({"type": "json", "prompt": "x", "schema": {"properties": {"a": {place: data}}}});
            let answer =
                service.search(json!({"query": "main", "scrapeOptions": {"formats": [format]}})).await;
            assert!(!answer.body.to_string().contains("secret"), "{}", answer.body);
        }
    }
    assert_eq!(canary.connections(), 0);
}
