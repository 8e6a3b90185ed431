//! Maps of a loopback web: the listed URLs, the requests and the warnings.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;
use websvc_index::{Document, Index, IndexConfig};
use websvc_scrape::threat::Classifier;
use websvc_scrape::{ScrapeConfig, Scraper};
use websvc_store::Store;
use websvc_testkit::{Page, TestWeb, TestWebBuilder};
use websvc_types::ErrorCode;
use websvc_types::map::MapRequest;
use websvc_validate::{Policy, ThreatPolicy, read_request};

use super::{MapOutcome, SiteUrls};
use crate::engine::Engine;
use crate::engine_config::{EngineConfig, IndexMode};
use crate::error::EngineError;
use crate::pricing::Pricing;

/// A loopback web and an engine that maps it.
struct Site {
    world: TestWeb,
    engine: Engine,
    _data: TempDir,
}

impl Site {
    async fn start(world: TestWebBuilder) -> Self {
        Self::with_index(world, &[]).await
    }

    /// Starts with an index that contains pages with these URLs and titles.
    async fn with_index(world: TestWebBuilder, known: &[(&str, &str)]) -> Self {
        let world = world.start().await;
        let data = tempfile::tempdir().unwrap();
        let store = Store::open(data.path()).unwrap();
        let index = Index::open(&data.path().join("index"), IndexConfig::default()).unwrap();
        for (url, title) in known {
            let (url, title) = ((*url).to_owned(), (*title).to_owned());
            index.add(Document { url, title, body: "Tea".to_owned(), ..Document::default() }).unwrap();
        }
        index.flush().unwrap();
        let engine = Engine::new(EngineConfig {
            sources: Vec::new(),
            scraper: Scraper::new(world.client(), store, ScrapeConfig::default()),
            index: Some(Arc::new(index)),
            index_mode: IndexMode::Write,
            team_indexes: None,
            mirrors: Vec::new(),
            pricing: Pricing::default(),
            snapshots: websvc_store::SnapshotLimits::default(),
            threat: Classifier::none(),
            model: None,
            media: crate::MediaTools::Off,
        });
        Self { world, engine, _data: data }
    }

    async fn outcome(&self, body: Value, policy: &Policy) -> MapOutcome {
        let plan = read_request::<MapRequest>(body.to_string().as_bytes(), policy).unwrap().plan;
        self.engine.map(&plan, "default", Instant::now()).await
    }

    async fn map(&self, body: Value) -> SiteUrls {
        self.outcome(body, &Policy::default()).await.result.unwrap()
    }

    /// Returns the listed URLs, those of `http://a.test` as paths.
    async fn paths(&self, body: Value) -> Vec<String> {
        paths(self.map(body).await)
    }

    /// Returns the requested paths of `http://a.test` in order.
    fn requested_paths(&self) -> Vec<String> {
        let requests = self.world.requests();
        requests
            .iter()
            .filter_map(|request| request.url.strip_prefix("http://a.test").map(str::to_owned))
            .collect()
    }
}

fn paths(mapped: SiteUrls) -> Vec<String> {
    let path = |url: String| url.strip_prefix("http://a.test").map_or(url.clone(), str::to_owned);
    mapped.links.into_iter().map(|link| path(link.url)).collect()
}

fn robots(text: &str) -> TestWebBuilder {
    TestWeb::builder().page("http://a.test/robots.txt", Page::text(text))
}

fn index_of(urls: &[&str]) -> Page {
    let sitemaps: String = urls.iter().map(|url| format!("<sitemap><loc>{url}</loc></sitemap>")).collect();
    Page::new("application/xml", format!("<sitemapindex>{sitemaps}</sitemapindex>"))
}

fn gzip(text: &str) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn urls_of_all_sources_are_listed_in_order() {
    let start = "<title>Tea</title><meta name=description content='All of tea'>\
        <link rel=alternate type='application/rss+xml' href=/feed>\
        <a href=/green>Green <b>tea</b></a> <a href='http://b.test/'>Elsewhere</a> <a href=/old#top></a>";
    let feed =
        "<rss><item><link>/news</link><title>News</title><description>&lt;p>Now</description></item></rss>";
    let world = robots("Sitemap: http://a.test/index.xml\n")
        .page("http://a.test/", Page::html(start))
        .page("http://a.test/feed", Page::new("text/plain", feed))
        .page("http://a.test/index.xml", index_of(&["http://a.test/1.xml.gz", "2.txt"]))
        .page(
            "http://a.test/1.xml.gz",
            Page::new("application/x-gzip", gzip("<urlset><url><loc>http://a.test/one</loc></url></urlset>")),
        )
        .page("http://a.test/2.txt", Page::text("http://a.test/two\nhttp://a.test/green/\nhttp://b.test/x"));
    let known =
        [("http://a.test/known", "Known"), ("http://b.test/known", "No"), ("http://a.test/two", "Two")];
    let site = Site::with_index(world, &known).await;
    let mapped = site.map(json!({ "url": "a.test" })).await;
    assert_eq!(mapped.warnings, [""; 0]);
    let found_links: Vec<(&str, &str, &str)> = (mapped.links.iter())
        .map(|link| {
            let text = |text: &'_ Option<String>| text.clone().unwrap_or_default().leak() as &str;
            (link.url.as_str(), text(&link.title), text(&link.description))
        })
        .collect();
    let expected = [
        ("http://a.test/", "Tea", "All of tea"),
        ("http://a.test/green", "Green tea", ""),
        ("http://a.test/old", "", ""),
        ("http://a.test/news", "News", "Now"),
        ("http://a.test/one", "", ""),
        ("http://a.test/two", "Two", ""),
        ("http://a.test/known", "Known", ""),
    ];
    let order = |rows: &[(&str, &str, &str)]| rows.iter().map(|row| row.0.to_owned()).collect::<Vec<_>>();
    let mut found = found_links.clone();
    found.sort_unstable();
    let mut sorted = expected.to_vec();
    sorted.sort_unstable();
    assert_eq!(found, sorted);
    assert_eq!(order(&found_links)[..3], order(&expected)[..3]);
    assert_eq!(order(&found_links)[6], "http://a.test/known");
    assert_eq!(site.requested_paths()[..2], ["/robots.txt", "/"]);
    let only = site.paths(json!({ "url": "a.test", "sitemap": "only" })).await;
    assert_eq!(only, ["/one", "/two", "/green/"]);
    let skip = site.paths(json!({ "url": "a.test", "sitemap": "skip" })).await;
    assert_eq!(skip, ["/", "/green", "/old", "/news", "/known", "/two"]);
    let skip =
        json!({ "url": "a.test", "sitemap": "skip", "useIndex": false, "maxDiscoveryDepth": 0, "limit": 9 });
    assert_eq!(site.paths(skip).await, [""; 0]);
}

#[tokio::test]
async fn search_ranks_all_indexed_pages_before_the_limit_applies() {
    let others: Vec<String> = (0..60).map(|page| format!("http://a.test/a/{page}")).collect();
    let matching = ["http://a.test/x/asyncio-task", "http://a.test/x/asyncio-queue"];
    let mut known: Vec<(&str, &str)> = others.iter().map(|url| (url.as_str(), "Other")).collect();
    known.extend(matching.map(|url| (url, "Task")));
    let site = Site::with_index(robots(""), &known).await;
    let request = json!({ "url": "a.test", "sitemap": "skip", "search": "asyncio", "limit": 2 });
    assert_eq!(site.paths(request).await, ["/x/asyncio-task", "/x/asyncio-queue"]);
    let below = json!({ "url": "a.test/x", "sitemap": "skip", "limit": 2 });
    let mut found = site.paths(below).await;
    found.sort_unstable();
    assert_eq!(found, ["/x/asyncio-queue", "/x/asyncio-task"], "pages of other paths do not count");
}

#[tokio::test]
async fn map_lists_up_to_the_maximum_and_fetches_no_more_than_needed() {
    let mut world = robots("Sitemap: http://a.test/index.xml");
    let names: Vec<String> = (0..10).map(|file| format!("http://a.test/{file}.xml.gz")).collect();
    for (file, name) in names.iter().enumerate() {
        let mut text = "<urlset>".to_owned();
        for page in 0..11_000 {
            write!(text, "<url><loc>http://a.test/p/{file}/{page}</loc></url>").unwrap();
        }
        world = world.page(name, Page::new("application/gzip", gzip(&(text + "</urlset>"))));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let site = Site::start(world.page("http://a.test/index.xml", index_of(&names))).await;
    let all = json!({ "url": "a.test", "sitemap": "only", "limit": 100_000, "timeout": 300_000 });
    let paths = site.paths(all).await;
    assert_eq!((paths.len(), paths[0].as_str(), paths[99_999].as_str()), (100_000, "/p/0/0", "/p/9/999"));
    site.world.clear_requests();
    let some = site.paths(json!({ "url": "a.test", "sitemap": "only", "timeout": 300_000 })).await;
    assert_eq!((some.len(), some[4_999].as_str()), (5_000, "/p/0/4999"));
    // The others were in flight while the first was read.
    assert!(site.requested_paths().len() <= 3 + 3, "{:?}", site.requested_paths());
    let best =
        json!({ "url": "a.test", "sitemap": "only", "search": "10999", "limit": 1, "timeout": 300_000 });
    assert_eq!(site.paths(best).await, ["/p/0/10999"]);
}

#[tokio::test]
async fn circular_and_deeply_nested_sitemap_indexes_end() {
    let world = robots("Sitemap: /a.xml")
        .page(
            "http://a.test/a.xml",
            index_of(&["/a.xml", "/b.xml", "http://a.test/a.xml#again", "/pages.xml"]),
        )
        .page("http://a.test/b.xml", index_of(&["/a.xml", "/c.xml"]))
        .page("http://a.test/c.xml", index_of(&["/d.xml"]))
        .page("http://a.test/d.xml", index_of(&["/e.xml", "http://b.test/far.xml"]))
        .page("http://a.test/pages.xml", Page::sitemap(&["http://a.test/1"]));
    let site = Site::start(world).await;
    let mapped = site.map(json!({ "url": "http://a.test/", "sitemap": "only" })).await;
    let warnings = mapped.warnings.join("\n");
    assert_eq!(paths(mapped), ["/1"]);
    let mut requested_paths = site.requested_paths();
    requested_paths.sort();
    assert_eq!(
        requested_paths,
        ["/a.xml", "/b.xml", "/c.xml", "/d.xml", "/pages.xml", "/robots.txt", "/sitemap.xml"]
    );
    assert!(
        warnings.contains("1 sitemap was not read: they are too many or nested too deeply"),
        "{warnings}"
    );
    assert!(warnings.contains("1 sitemap was not read: they are on other hosts"), "{warnings}");
}

#[tokio::test]
async fn problems_are_reported_only_for_named_sitemaps() {
    let world = robots(
        "Sitemap: http://a.test/page\nSitemap: http://a.test/gone.xml\nSitemap: http://a.test/cut.xml",
    )
    .page("http://a.test/page", Page::html("<p>Not found <a href=/never>x</a>"))
    .page("http://a.test/sitemap.xml", Page::html("<p>Not found"))
    .page("http://a.test/sitemap.txt", Page::new("text/html", "\u{feff}http://a.test/text"))
    .page("http://a.test/cut.xml", Page::new("text/plain", "<urlset><url><loc>relative</loc></url><url"));
    let site = Site::start(world).await;
    let mapped = site.map(json!({ "url": "http://a.test", "sitemap": "only" })).await;
    let expected = [
        "http://a.test/page is neither a sitemap nor a feed",
        "http://a.test/gone.xml responded with 404",
        "http://a.test/cut.xml is damaged: it was read as far as possible",
    ];
    assert_eq!(mapped.warnings, expected);
    assert_eq!(paths(mapped), ["/relative"]);
}

#[tokio::test]
async fn usual_paths_are_tried_if_no_sitemap_is_named() {
    let world = TestWeb::builder()
        .page("http://a.test/docs/sitemap.xml", Page::sitemap(&["http://a.test/docs/x", "http://a.test/y"]));
    let site = Site::start(world).await;
    let mapped = site.map(json!({ "url": "http://a.test/docs/", "ignoreCache": true })).await;
    let warnings = mapped.warnings.join("\n");
    assert_eq!(paths(mapped), ["/docs/x"]);
    assert!(warnings.contains("the start page responded with 404"), "{warnings}");
    assert!(
        warnings.contains("1 URL was found: to find more, map the base of the site, http://a.test,"),
        "{warnings}"
    );
}

#[tokio::test]
async fn map_obeys_robots_txt() {
    let forbidden = robots("\u{feff}USER-AGENT: *\r\nDisallow: /\r\nSITEMAP: http://a.test/map.xml\r\n");
    let site = Site::with_index(forbidden, &[("http://a.test/known", "Known")]).await;
    let mapped = site.map(json!({ "url": "http://a.test/" })).await;
    assert_eq!(site.requested_paths(), ["/robots.txt"]);
    assert_eq!(mapped.warnings[0], "robots.txt disallows the start page, so its links are missing");
    assert_eq!(paths(mapped), ["/known"]);
    let broken =
        Site::start(TestWeb::builder().page("http://a.test/robots.txt", Page::text("Allow: /").status(503)))
            .await;
    let mapped = broken.map(json!({ "url": "http://a.test/" })).await;
    assert_eq!(broken.requested_paths(), ["/robots.txt"]);
    assert!(mapped.warnings[0].contains("robots.txt responded with 503"), "{:?}", mapped.warnings);
}

#[tokio::test]
async fn other_hosts_are_contacted_only_for_sitemaps_that_robots_txt_names() {
    let world = robots("Sitemap: http://files.test/map.xml\nSitemap: http://shut.test/map.xml")
        .page("http://files.test/map.xml", Page::sitemap(&["http://a.test/1", "http://files.test/2"]))
        .page("http://shut.test/robots.txt", Page::text("User-agent: websvc\nDisallow: /map"))
        .page("http://shut.test/map.xml", Page::sitemap(&["http://a.test/3"]));
    let site = Site::start(world).await;
    let mapped = site.map(json!({ "url": "http://a.test/", "sitemap": "only" })).await;
    assert_eq!(mapped.warnings, ["1 sitemap was not read: disallowed by robots.txt"]);
    assert_eq!(paths(mapped), ["/1"]);
    assert_eq!(
        (site.world.count("http://shut.test/map.xml"), site.world.count("http://files.test/robots.txt")),
        (0, 1)
    );
}

#[tokio::test]
async fn redirect_target_of_the_start_page_belongs_to_the_site() {
    let world = TestWeb::builder()
        .page("http://a.test/", Page::redirect(302, "http://www.moved.test/en/"))
        .page("http://www.moved.test/robots.txt", Page::text("Sitemap: http://www.moved.test/map.xml"))
        .page("http://www.moved.test/map.xml", Page::sitemap(&["http://www.moved.test/mapped"]))
        .page(
            "http://www.moved.test/en/",
            Page::html("<title>Here</title><a href=/x>X</a><a href='http://a.test/y'>Y</a>"),
        );
    let site = Site::start(world).await;
    let urls = site.paths(json!({ "url": "http://a.test/" })).await;
    assert_eq!(
        urls,
        ["http://www.moved.test/en/", "http://www.moved.test/x", "/y", "http://www.moved.test/mapped"]
    );
}

#[tokio::test]
async fn custom_headers_are_sent_only_to_the_start_host() {
    let world =
        robots("Sitemap: http://files.test/map.xml").page("http://a.test/", Page::html("<a href=/x>x</a>"));
    let site = Site::start(world).await;
    let location = json!({ "country": "DE", "languages": ["de-DE"] });
    site.map(json!({ "url": "http://a.test", "headers": { "X-Site": "1" }, "location": location })).await;
    for request in site.world.requests() {
        let is_start_host = request.url.starts_with("http://a.test/");
        assert_eq!(request.header("x-site"), is_start_host.then_some("1"), "{}", request.url);
        assert_eq!(request.header("accept-language"), Some("de-DE"), "{}", request.url);
    }
    assert_eq!(site.world.count("http://files.test/map.xml"), 1);
}

#[tokio::test]
async fn timeout_returns_the_urls_found_so_far() {
    let world = robots("Sitemap: http://a.test/slow.xml")
        .page("http://a.test/", Page::html("<a href=/x>x</a>"))
        .page("http://a.test/slow.xml", Page::unresponsive())
        .page("http://silent.test/robots.txt", Page::unresponsive());
    let site = Site::start(world).await;
    let mapped = site.map(json!({ "url": "http://a.test/", "timeout": 2_000 })).await;
    assert!(
        mapped.warnings.contains(&"the timeout was reached before everything was read".to_owned()),
        "{:?}",
        mapped.warnings
    );
    assert_eq!(paths(mapped), ["/", "/x"]);
    let outcome =
        site.outcome(json!({ "url": "http://silent.test/", "timeout": 1_000 }), &Policy::default()).await;
    assert!(
        matches!(outcome.result, Err(EngineError::MapTimeout { timeout_ms: 1_000 })),
        "{:?}",
        outcome.result
    );
    assert_eq!(outcome.bill.total(), 0);
}

#[tokio::test]
async fn unreachable_site_fails_with_the_reason() {
    let Site { world, engine, _data } = Site::start(TestWeb::builder()).await;
    let plan = |url: &str| {
        read_request::<MapRequest>(json!({ "url": url }).to_string().as_bytes(), &Policy::default())
            .unwrap()
            .plan
    };
    let outcome = engine.map(&plan("http://127.0.0.1/"), "default", Instant::now()).await;
    let Err(EngineError::Page(error)) = &outcome.result else { panic!("{:?}", outcome.result) };
    assert_eq!((error.code(), outcome.bill.total()), (ErrorCode::ScrapeForbiddenUrl, 0));
    drop(world);
    let outcome = engine.map(&plan("http://a.test/"), "default", Instant::now()).await;
    let Err(EngineError::MapFailed(error)) = &outcome.result else { panic!("{:?}", outcome.result) };
    assert_eq!((error.code(), outcome.bill.total()), (ErrorCode::ScrapeSiteError, 0));
}

#[tokio::test]
async fn threat_protection_removes_blocked_urls() {
    let world = TestWeb::builder()
        .page("http://a.test/", Page::html("<a href='http://bad.a.test/'>x</a><a href=/fine>y</a>"));
    let site = Site::start(world).await;
    let policy = Policy { threat: ThreatPolicy::On, ..Policy::default() };
    let protection = json!({ "blacklist": ["bad.a.test"], "failurePolicy": "open" });
    let body = json!({ "url": "http://a.test/", "threatProtection": protection });
    let outcome = site.outcome(body, &policy).await;
    assert_eq!(outcome.bill.total(), 1);
    let mapped = outcome.result.unwrap();
    assert_eq!(mapped.warnings[0], "threat protection removed 1 URL");
    assert_eq!(paths(mapped), ["/", "/fine"]);
    let blocked = json!({ "url": "http://bad.a.test/", "threatProtection": protection });
    site.world.clear_requests();
    let outcome = site.outcome(blocked, &policy).await;
    let Err(EngineError::Page(error)) = outcome.result else { panic!("it is blocked") };
    assert_eq!(error.code(), ErrorCode::UnsafeDomainBlocked);
    assert!(site.world.requests().is_empty());
}
