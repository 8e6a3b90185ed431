//! Crawls of a loopback web: the fetched URLs, their order, and the documents that the sink gets.

mod images;
mod large_robots;

use std::future::pending;
use std::sync::Mutex;
use std::time::Duration;

use tempfile::TempDir;
use websvc_scrape::{ScrapeConfig, Scraper};
use websvc_store::Store;
use websvc_testkit::{Page, ReceivedRequest, TestWeb, TestWebBuilder};
use websvc_types::index::IndexDocument;

use super::{CrawlEvent, CrawlOptions, CrawlReport, Sink, SinkFuture, crawl};

/// A sink that stores its documents.
#[derive(Default)]
struct MemorySink(Mutex<Vec<IndexDocument>>);

impl Sink for MemorySink {
    fn accept(&self, documents: Vec<IndexDocument>) -> SinkFuture<'_> {
        self.0.lock().unwrap().extend(documents);
        Box::pin(async { Ok(()) })
    }
}

/// A loopback web and a scraper for it.
struct Site {
    world: TestWeb,
    scraper: Scraper,
    _store: TempDir,
}

/// The report, the documents and the skipped URLs of a crawl.
struct Crawled {
    report: CrawlReport,
    documents: Vec<IndexDocument>,
    skipped: Vec<String>,
}

impl Crawled {
    /// Returns the document of a path on `http://a.test`.
    fn document(&self, path: &str) -> &IndexDocument {
        let url = format!("http://a.test{path}");
        self.documents.iter().find(|document| document.url == url).unwrap()
    }
}

impl Site {
    async fn start(world: TestWebBuilder) -> Self {
        let world = world.start().await;
        let store = tempfile::tempdir().unwrap();
        let scraper =
            Scraper::new(world.client(), Store::open(store.path()).unwrap(), ScrapeConfig::default());
        Self { world, scraper, _store: store }
    }

    async fn crawl(&self, change: impl FnOnce(&mut CrawlOptions)) -> Crawled {
        let mut options = CrawlOptions::new(vec!["http://a.test/".parse().unwrap()]);
        // One request at a time, so that the order is deterministic.
        options.per_host = 1;
        change(&mut options);
        let sink = MemorySink::default();
        let mut skipped = Vec::new();
        let mut on_event = |event| {
            if let CrawlEvent::Skipped { url, .. } = event {
                skipped.push(url.to_string());
            }
        };
        let report = crawl(&self.scraper, &options, &sink, &mut on_event, pending()).await.unwrap();
        Crawled { report, documents: sink.0.into_inner().unwrap(), skipped }
    }

    /// Returns the fetched paths of `http://a.test` in order.
    fn paths(&self) -> Vec<String> {
        let requests = self.world.requests();
        requests
            .iter()
            .filter_map(|request| request.url.strip_prefix("http://a.test").map(str::to_owned))
            .collect()
    }
}

fn page(path: &str, body: &str) -> Page {
    Page::html(format!("<title>{path}</title><main><p>The text of the page {path}.</p>{body}</main>"))
}

#[tokio::test]
async fn dates_and_images_of_a_feed_reach_the_index() {
    let feed = "<rss><channel><item><link>http://a.test/dated</link><pubDate>Fri, 02 Jan 2026 10:00:00 GMT</pubDate>\
        <enclosure url='/pot.jpg' type='image/jpeg'/></item><item><link>/undated</link></item>\
        <item><link>http://other.test/</link></item></channel></rss>";
    let world = TestWeb::builder()
        .page(
            "http://a.test/",
            page("/", "<link rel=alternate type=application/rss+xml href=/rss><a href=/dated>x</a>"),
        )
        .page("http://a.test/rss", Page::new("application/rss+xml", feed))
        .page("http://a.test/dated", page("/dated", ""))
        .page("http://a.test/undated", page("/undated", ""));
    let site = Site::start(world).await;
    let crawled = site.crawl(|_| {}).await;
    assert_eq!(crawled.report.pages, 3);
    let dated = crawled.document("/dated");
    assert_eq!(dated.published.as_deref(), Some("2026-01-02T10:00:00Z"));
    assert_eq!(dated.news.as_ref().unwrap().image_url.as_deref(), Some("http://a.test/pot.jpg"));
    assert_eq!(crawled.document("/undated").news, None);
    assert_eq!(site.paths(), ["/robots.txt", "/sitemap.xml", "/", "/rss", "/dated", "/undated"]);
}

#[tokio::test]
async fn sitemaps_of_all_formats_are_read_before_pages() {
    let index = "<sitemapindex><sitemap><loc>http://a.test/list.txt</loc></sitemap>\
        <sitemap><loc>http://a.test/feed.xml</loc></sitemap></sitemapindex>";
    let feed = "<feed><entry><link href='/3'/><updated>2026-01-03T00:00:00Z</updated></entry></feed>";
    let world = TestWeb::builder()
        .page("http://a.test/robots.txt", Page::text("Sitemap: http://a.test/index.xml"))
        .page("http://a.test/index.xml", Page::new("application/xml", index))
        .page("http://a.test/list.txt", Page::text("http://a.test/1\nhttp://a.test/2\n"))
        .page("http://a.test/feed.xml", Page::new("application/xml", feed))
        .page("http://a.test/", page("/", ""))
        .page("http://a.test/1", page("/1", ""))
        .page("http://a.test/2", page("/2", ""))
        .page("http://a.test/3", page("/3", ""));
    let site = Site::start(world).await;
    let crawled = site.crawl(|_| {}).await;
    assert_eq!(site.paths(), ["/robots.txt", "/index.xml", "/list.txt", "/feed.xml", "/", "/1", "/2", "/3"]);
    assert_eq!(crawled.document("/3").published.as_deref(), Some("2026-01-03T00:00:00Z"));
}

#[tokio::test]
async fn path_patterns_select_fetched_pages_and_seeds_are_only_followed() {
    let world = TestWeb::builder()
        .page(
            "http://a.test/",
            page("/", "<a href=/docs/a>a</a> <a href=/blog/a>b</a> <a href=/docs/old/a>c</a>"),
        )
        .page("http://a.test/docs/a", page("/docs/a", ""))
        .page("http://a.test/blog/a", page("/blog/a", ""))
        .page("http://a.test/docs/old/a", page("/docs/old/a", ""));
    let site = Site::start(world).await;
    let choose = |options: &mut CrawlOptions| {
        let pattern = |text: &str| vec![text.to_owned()];
        options.paths =
            websvc_validate::PathFilter::new(pattern("^/docs/"), pattern("/old/"), false).unwrap();
    };
    let crawled = site.crawl(choose).await;
    let urls: Vec<&str> = crawled.documents.iter().map(|document| document.url.as_str()).collect();
    assert_eq!(urls, ["http://a.test/docs/a"]);
    assert_eq!(crawled.skipped, ["http://a.test/"]);
    assert_eq!(site.paths(), ["/robots.txt", "/sitemap.xml", "/", "/docs/a"]);
}

#[tokio::test]
async fn session_ids_do_not_make_a_page_new() {
    let visit = |request: &ReceivedRequest| {
        page(
            &request.url,
            "<a href='/x?sid=5f2d8e1c9b7a4036e1d2'>x</a> <a href='/x?PHPSESSID=2&amp;utm_source=y'>x</a>",
        )
    };
    let world = TestWeb::builder()
        .page("http://a.test/", page("/", "<a href='/x?sid=a81bc81bdead4e5dabff90865d1e13b1'>x</a>"))
        .page_with("http://a.test/x", visit);
    let site = Site::start(world).await;
    let crawled = site.crawl(|_| {}).await;
    assert_eq!(crawled.report.pages, 2);
    assert_eq!(site.paths(), ["/robots.txt", "/sitemap.xml", "/", "/x"]);
}

#[tokio::test]
async fn endless_calendar_is_limited() {
    let month = |request: &ReceivedRequest| {
        let number: u32 = request.url.rsplit('=').next().unwrap().parse().unwrap();
        page(&request.url, &format!("<a href='/calendar?month={}'>next</a>", number + 1))
    };
    let world = TestWeb::builder()
        .page("http://a.test/", page("/", "<a href='/calendar?month=1'>calendar</a>"))
        .page_with("http://a.test/calendar", month);
    let site = Site::start(world).await;
    let crawled = site.crawl(|_| {}).await;
    assert_eq!(crawled.report.pages, 101);
    assert_eq!(crawled.skipped, ["http://a.test/calendar?month=101"]);
    let skipped: Vec<usize> = crawled.report.skipped_because.values().copied().collect();
    assert_eq!((skipped, crawled.report.waiting), (vec![1], 0));
}

#[tokio::test]
async fn unchanged_pages_are_revalidated_without_a_transfer() {
    let tagged = |request: &ReceivedRequest| match request.header("if-none-match") {
        Some("\"1\"") => Page::text("").status(304),
        Some(_) | None => page("/", "<a href=/dated>x</a> <a href=/plain>x</a>").header("etag", "\"1\""),
    };
    let date = "Fri, 02 Jan 2026 10:00:00 GMT";
    let dated = move |request: &ReceivedRequest| match request.header("if-modified-since") {
        Some(since) if since == date => Page::text("").status(304),
        Some(_) | None => page("/dated", "").header("last-modified", date),
    };
    let world = TestWeb::builder()
        .page_with("http://a.test/", tagged)
        .page_with("http://a.test/dated", dated)
        .page("http://a.test/plain", page("/plain", ""));
    let site = Site::start(world).await;
    let first = site.crawl(|_| {}).await;
    let again = site.crawl(|_| {}).await;
    assert_eq!((first.report.pages, first.report.unchanged), (3, 0));
    assert_eq!((again.report.pages, again.report.unchanged), (3, 2));
    assert_eq!(again.documents, first.documents);
    // Revalidation renewed the cached pages, so a resumed crawl takes all of them from the cache.
    site.world.clear_requests();
    let third = site.crawl(|options| options.max_age = Duration::from_secs(3_600)).await;
    assert_eq!(third.report.pages, 3);
    assert_eq!(site.paths(), ["/robots.txt", "/sitemap.xml"]);
}

#[tokio::test]
async fn resumed_slow_crawl_uses_cached_pages_of_the_first_crawl() {
    let world = TestWeb::builder()
        .page("http://a.test/", Page::html("<p>Start.</p><a href=/slow>slow</a>"))
        .page(
            "http://a.test/slow",
            Page::html("<p>Slow.</p><a href=/last>last</a>").delay(Duration::from_millis(400)),
        )
        .page("http://a.test/last", Page::html("<p>Last.</p>"));
    let site = Site::start(world).await;
    let started = std::time::Instant::now();
    site.crawl(|options| options.seeds = vec!["http://a.test/last".parse().unwrap()]).await;
    site.world.clear_requests();
    let crawled = site.crawl(|options| options.max_age = started.elapsed()).await;
    assert_eq!(crawled.report.pages, 3);
    assert_eq!(
        site.world.count("http://a.test/last"),
        0,
        "the maximum age counts from the start of the crawl"
    );
}

#[tokio::test]
async fn robots_meta_tags_and_headers_are_obeyed() {
    let link = |path: &str| format!("<a href={path}>{path}</a>");
    let meta = |value: &str, body: &str| {
        Page::html(format!(
            "<title>x</title><meta name=robots content='{value}'><main><p>Some text. {body}</main>"
        ))
    };
    let start: String =
        ["/header", "/named", "/other", "/meta", "/late", "/stop"].into_iter().map(link).collect();
    let leaf = |path: &'static str| page(path, "");
    let world = TestWeb::builder()
        .page("http://a.test/", page("/", &start))
        .page("http://a.test/header", page("/header", &link("/1")).header("x-robots-tag", "noindex"))
        .page(
            "http://a.test/named",
            page("/named", &link("/2"))
                .header("x-robots-tag", "otherbot: nofollow")
                .header("x-robots-tag", "websvc: none"),
        )
        .page("http://a.test/other", page("/other", &link("/3")).header("x-robots-tag", "otherbot: none"))
        .page("http://a.test/meta", meta("noindex", &link("/4")))
        .page(
            "http://a.test/late",
            page("/late", &link("/5")).header("x-robots-tag", "unavailable_after: 25 Jun 2010 15:00:00 PST"),
        )
        .page("http://a.test/stop", meta("nofollow", &link("/6")));
    let world = (["/1", "/2", "/3", "/4", "/5", "/6"].into_iter())
        .fold(world, |world, path| world.page(&format!("http://a.test{path}"), leaf(path)));
    let site = Site::start(world).await;
    let crawled = site.crawl(|_| {}).await;
    let mut urls: Vec<&str> =
        crawled.documents.iter().filter_map(|page| page.url.strip_prefix("http://a.test")).collect();
    urls.sort_unstable();
    assert_eq!(urls, ["/", "/1", "/3", "/4", "/5", "/other", "/stop"]);
    let paths = site.paths();
    assert!(!paths.contains(&"/2".to_owned()) && !paths.contains(&"/6".to_owned()), "{paths:?}");

    // A crawl from the cache obeys the same rules.
    let again = site.crawl(|options| options.max_age = Duration::from_secs(3_600)).await;
    assert_eq!(again.documents, crawled.documents);
}

#[tokio::test]
async fn images_and_news_dates_of_sitemaps_reach_the_index() {
    let map = "<urlset><url><loc>http://a.test/</loc><image:image><image:loc>http://a.test/pot.jpg</image:loc>\
        <image:caption>A pot</image:caption></image:image><image:image><image:loc>http://a.test/cup.jpg</image:loc>\
        </image:image></url><url><loc>http://a.test/news</loc><news:news>\
        <news:publication_date>2026-01-02T10:00:00+00:00</news:publication_date></news:news></url></urlset>";
    let world = TestWeb::builder()
        .page("http://a.test/sitemap.xml", Page::new("application/xml", map))
        .page("http://a.test/", page("/", "<img src=/cup.jpg alt=Cup width=640 height=480>"))
        .page("http://a.test/news", page("/news", ""));
    let site = Site::start(world).await;
    let crawled = site.crawl(|options| options.image_sizes = 0).await;
    let images = &crawled.document("/").images;
    let found: Vec<(&str, &str)> = images.iter().map(|image| (&*image.url, &*image.caption)).collect();
    assert_eq!(found, [("http://a.test/cup.jpg", ""), ("http://a.test/pot.jpg", "A pot")]);
    assert_eq!(crawled.document("/news").published.as_deref(), Some("2026-01-02T10:00:00Z"));
    assert!(crawled.document("/news").news.is_some() && crawled.document("/").news.is_none());
    assert_eq!(site.paths(), ["/robots.txt", "/sitemap.xml", "/", "/news"]);
}
