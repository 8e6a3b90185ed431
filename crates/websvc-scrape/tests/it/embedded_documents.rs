//! Tests of pages that only show a PDF file: their content is that of the file.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_scrape::DocumentWorkers;
use websvc_testkit::{Canary, Page, TestWeb, TestWebBuilder};
use websvc_transport::UrlPolicy;

use crate::support::{Fixture, plan};

const VIEWER: &str = "http://a.test/viewer";
const FILE: &str = "http://a.test/tea.pdf";

/// The answer of the worker about each PDF file. The readers of documents have their own tests.
const ANSWER: &str = r#"{"Ok":{"html":"<h1>Tea</h1><p>Green <a href=leaves>leaves</a>.</p>",
    "about":{"title":"A file","author":"Ann"},"pages":{"read":2,"total":3,"without_text":[]},
    "warnings":["2 of 3 pages were read"]}}"#;

fn pdf() -> Page {
    Page::new("application/pdf", "%PDF-1.7\n")
}

fn viewer(address: &str) -> Page {
    Page::html(format!("<title>Viewer</title><body><iframe src='{address}'></iframe>"))
}

fn web(pages: &[(&str, Page)]) -> TestWebBuilder {
    pages.iter().fold(TestWeb::builder(), |web, (url, page)| web.page(url, page.clone()))
}

/// Returns a scraper whose worker answers without reading.
async fn fixture(web: TestWebBuilder) -> Fixture {
    let script = format!("cat > /dev/null; printf '%s' '{ANSWER}'");
    let workers = DocumentWorkers::new("/bin/sh".into(), vec!["-c".to_owned(), script]);
    Fixture::with_config(web.start().await, |config| config.documents = Some(workers))
}

fn formats() -> Value {
    json!({ "formats": ["markdown", "links", "rawHtml"], "maxAge": 60_000 })
}

#[tokio::test]
async fn content_of_a_page_that_only_shows_a_pdf_is_that_of_the_pdf() {
    let fixture = fixture(
        web(&[(VIEWER, viewer("tea.pdf#page=2"))])
            .page("http://a.test/tea.pdf", Page::redirect(302, "http://b.test/files/tea"))
            .page("http://b.test/files/tea", pdf()),
    )
    .await;
    for _cached in [false, true] {
        let page = fixture.scrape(VIEWER, formats()).await.unwrap();
        assert_eq!(page.markdown.as_deref(), Some("# Tea\n\nGreen [leaves](http://b.test/files/leaves).\n"));
        assert_eq!(page.links.unwrap(), ["http://a.test/tea.pdf", "http://b.test/files/leaves"]);
        assert!(page.raw_html.unwrap().contains("<iframe"), "the source is that of the page");
        assert_eq!(
            page.warnings,
            [
                "the page only shows another document, whose content this is: http://a.test/tea.pdf",
                "2 of 3 pages were read",
            ]
        );
        let metadata = page.metadata;
        assert_eq!((metadata.num_pages, metadata.total_pages), (Some(2), Some(3)), "it costs two pages");
        assert_eq!(metadata.title.as_deref(), Some("Viewer"));
        assert_eq!(metadata.other.get("author"), Some(&json!("Ann")));
        assert_eq!(metadata.url.as_deref(), Some(VIEWER));
    }
    assert_eq!(fixture.web.requests().len(), 3, "the second page and its file are from the cache");
}

#[tokio::test]
async fn file_that_cannot_be_read_is_listed_with_the_reason() {
    let canary = Canary::start().await;
    let forbidden = format!("http://{}/tea.pdf", canary.addr());
    for (address, reason) in [
        ("/missing.pdf", "its host responded 404"),
        ("/page.pdf", "it is not a PDF file"),
        ("/viewer2?file=/tea.pdf", "it is not a PDF file"),
        (forbidden.as_str(), ""),
    ] {
        let fixture = fixture(web(&[
            (VIEWER, viewer(address)),
            ("http://a.test/missing.pdf", Page::html("No such file").status(404)),
            ("http://a.test/page.pdf", viewer("/real.pdf")),
            (FILE, viewer("/real.pdf")),
            ("http://a.test/real.pdf", pdf()),
        ]))
        .await;
        let page = fixture.scrape(VIEWER, json!({})).await.unwrap();
        let listed = &page.warnings[0];
        assert!(listed.starts_with("the page only shows another document: http://"), "{listed}");
        assert!(listed.contains(": it was not read: ") && listed.ends_with(reason), "{listed}");
        assert!(page.markdown.unwrap().contains(".pdf)"), "the link of the file is listed");
        assert_eq!(page.metadata.num_pages, None);
        assert_eq!(fixture.web.count("http://a.test/real.pdf"), 0, "only one step is followed");
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn file_is_not_fetched_if_the_request_does_not_read_it() {
    let fixture = fixture(web(&[(VIEWER, viewer(FILE)), (FILE, pdf())])).await;
    let listed = format!("the page only shows another document: {FILE}");
    let page = fixture.scrape(VIEWER, json!({ "parsers": [] })).await.unwrap();
    assert_eq!(page.warnings, [listed.as_str()]);
    let page = fixture.scrape(VIEWER, json!({ "formats": ["links"] })).await.unwrap();
    assert_eq!((page.links.unwrap(), page.warnings), (vec![FILE.to_owned()], vec![listed.clone()]));
    let page = fixture.scrape(VIEWER, json!({ "formats": ["rawHtml"] })).await.unwrap();
    assert_eq!(page.warnings, [] as [&str; 0]);
    // A crawl reads the file as a page of its own, within its scope, its limit and robots.txt.
    let mut crawl = plan(json!({}));
    crawl.needs_out_links = true;
    let deadline = Instant::now() + Duration::from_secs(20);
    let page = fixture.scraper.scrape(&VIEWER.parse().unwrap(), &crawl, deadline).await.unwrap();
    assert_eq!(page.warnings, [listed.as_str()]);
    assert_eq!(page.out_links.unwrap().links, [FILE.parse().unwrap()]);
    // A rule for redirects applies to the file.
    let rule = UrlPolicy::new(|_| async { Err("it is outside".to_owned()) });
    let scraper = fixture.scraper.with_redirect_rule("none", rule);
    let page = scraper.scrape(&VIEWER.parse().unwrap(), &plan(json!({})), deadline).await.unwrap();
    assert!(page.warnings[0].contains("it was not read") && page.warnings[0].contains("it is outside"));
    assert_eq!(fixture.web.count(FILE), 0);
}

#[tokio::test]
async fn headers_of_the_request_are_sent_to_a_file_of_the_same_origin_only() {
    let other = "http://b.test/tea.pdf";
    let pages = [(VIEWER, viewer(FILE)), (FILE, pdf()), ("http://a.test/2", viewer(other)), (other, pdf())];
    let fixture = fixture(web(&pages)).await;
    for url in [VIEWER, "http://a.test/2"] {
        let options = json!({ "headers": { "authorization": "Bearer secret" } });
        assert!(fixture.scrape(url, options).await.unwrap().markdown.unwrap().starts_with("# Tea"));
    }
    let requests = fixture.web.requests();
    let sent: Vec<_> = requests.iter().map(|request| request.header("authorization")).collect();
    assert_eq!(sent, [Some("Bearer secret"), Some("Bearer secret"), Some("Bearer secret"), None]);
}
