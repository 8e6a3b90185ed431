//! Fetching of image sizes during a crawl, as seen by the hosts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use websvc_testkit::{Page, TestWeb, TestWebBuilder};

use super::{Crawled, Site, page};

/// The requested part of an image.
const RANGE: &str = "bytes=0-32767";

/// Returns the beginning of a PNG file.
fn png(width: u32, height: u32) -> Vec<u8> {
    [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &width.to_be_bytes(), &height.to_be_bytes()].concat()
}

/// Returns the pages `/` and `/next` of `a.test`, each with these images.
fn gallery(images: &[&str]) -> TestWebBuilder {
    let images: String =
        images.iter().map(|url| format!("<img src='{url}' alt='A picture of tea'>")).collect();
    TestWeb::builder()
        .page("http://a.test/", page("/", &format!("{images}<a href=/next>next</a>")))
        .page("http://a.test/next", page("/next", &images))
}

/// Returns the sizes of the images of a page, as last passed to the sink.
fn sizes(crawled: &Crawled, path: &str) -> Vec<Option<(u32, u32)>> {
    let url = format!("http://a.test{path}");
    let page = crawled.documents.iter().rfind(|document| document.url == url).unwrap();
    page.images.iter().map(|image| image.width.zip(image.height)).collect()
}

#[tokio::test]
async fn image_sizes_are_fetched_once_and_cached_for_the_next_crawl() {
    let world = gallery(&["/pot.png", "http://cdn.test/cup.png", "/text.png", "/gone.png"])
        .page("http://a.test/pot.png", Page::new("image/png", png(640, 480)))
        .page("http://cdn.test/cup.png", Page::new("image/png", png(30, 2_000)).status(206))
        .page("http://a.test/text.png", Page::text("no picture"));
    let site = Site::start(world).await;
    let crawled = site.crawl(|_| {}).await;
    let expected = [Some((640, 480)), Some((30, 2_000)), None, None];
    assert_eq!(sizes(&crawled, "/"), expected);
    assert_eq!(sizes(&crawled, "/next"), expected);
    assert_eq!((crawled.report.pages, crawled.report.image_sizes, crawled.report.errors), (2, 2, 0));
    // Pages are fetched before images, and the robots.txt of the other host before its image.
    assert_eq!(
        site.paths(),
        ["/robots.txt", "/sitemap.xml", "/", "/next", "/pot.png", "/text.png", "/gone.png"]
    );
    let requests = site.world.requests();
    let fetched: Vec<&str> =
        requests.iter().filter(|request| request.url.contains("cdn")).map(|request| &*request.url).collect();
    assert_eq!(fetched, ["http://cdn.test/robots.txt", "http://cdn.test/cup.png"]);
    for request in requests.iter().filter(|request| request.url.ends_with(".png")) {
        assert_eq!(
            (request.header("range"), request.header("accept-encoding")),
            (Some(RANGE), Some("identity"))
        );
    }

    site.world.clear_requests();
    let again = site.crawl(|_| {}).await;
    assert_eq!(sizes(&again, "/next"), expected);
    assert_eq!(again.report.image_sizes, 0);
    assert!(site.paths().iter().all(|path| !path.ends_with(".png")), "{:?}", site.paths());
}

#[tokio::test]
async fn image_size_is_read_from_hosts_that_ignore_ranges() {
    let endless = Page::endless("image/png", [png(640, 480), vec![0; 16 * 1024]].concat());
    let large = Page::new("image/png", [png(64, 48), vec![0; 8 * 1024 * 1024]].concat());
    let world = gallery(&["/endless.png", "/large.png"])
        .page("http://a.test/endless.png", endless)
        .page("http://a.test/large.png", large);
    let site = Site::start(world).await;
    let crawled = site.crawl(|_| {}).await;
    assert_eq!(sizes(&crawled, "/"), [Some((640, 480)), Some((64, 48))]);
}

#[tokio::test]
async fn images_forbidden_by_robots_txt_are_not_fetched() {
    let world = gallery(&["/private/pot.png", "http://cdn.test/cup.png", "http://down.test/cup.png"])
        .page("http://a.test/robots.txt", Page::text("User-agent: *\nDisallow: /private/"))
        .page("http://cdn.test/robots.txt", Page::text("User-agent: websvc\nDisallow: /"))
        .page("http://down.test/robots.txt", Page::text("busy").status(503))
        .page("http://a.test/private/pot.png", Page::new("image/png", png(640, 480)))
        .page("http://cdn.test/cup.png", Page::new("image/png", png(640, 480)));
    let site = Site::start(world).await;
    let crawled = site.crawl(|_| {}).await;
    assert_eq!(sizes(&crawled, "/"), [None, None, None]);
    assert_eq!((crawled.report.pages, crawled.report.errors), (2, 0));
    assert!(site.world.requests().iter().all(|request| !request.url.ends_with(".png")));
}

#[tokio::test]
async fn number_of_fetched_images_is_limited() {
    let images: Vec<String> = (0..6).map(|number| format!("/{number}.png")).collect();
    let images: Vec<&str> = images.iter().map(String::as_str).collect();
    for (limit, expected) in [(0, 0), (4, 4), (100, 6)] {
        let site = Site::start(gallery(&images)).await;
        site.crawl(|options| options.image_sizes = limit).await;
        assert_eq!(site.paths().iter().filter(|path| path.ends_with(".png")).count(), expected);
    }
}

#[tokio::test]
async fn host_that_fails_to_serve_images_is_abandoned() {
    let request_count = Arc::new(AtomicUsize::new(0));
    let images: Vec<String> = (0..9).map(|number| format!("http://cdn.test/{number}.png")).collect();
    let mut world = gallery(&images.iter().map(String::as_str).collect::<Vec<_>>());
    for image in &images {
        let request_count = Arc::clone(&request_count);
        world = world.page_with(image, move |_| {
            request_count.fetch_add(1, Relaxed);
            Page::text("out of order").status(500)
        });
    }
    let site = Site::start(world).await;
    let crawled = site.crawl(|_| {}).await;
    assert_eq!((crawled.report.pages, crawled.report.errors), (2, 0));
    assert_eq!(request_count.load(Relaxed), 3);
}

#[tokio::test]
async fn pages_are_indexed_at_once_and_again_with_image_sizes() {
    let mut world =
        gallery(&["/pot.png"]).page("http://a.test/pot.png", Page::new("image/png", png(640, 480)));
    let list: String = (0..40).map(|number| format!("<a href=/{number}>{number}</a>")).collect();
    world = world.page("http://a.test/next", page("/next", &list));
    for number in 0..40 {
        let path = format!("/{number}");
        world = world.page(&format!("http://a.test{path}"), page(&path, ""));
    }
    let site = Site::start(world).await;
    let crawled = site.crawl(|_| {}).await;
    assert_eq!(crawled.report.pages, 42);
    let first: Vec<_> = crawled.documents.iter().filter(|page| page.url == "http://a.test/").collect();
    let widths: Vec<_> = first.iter().map(|page| page.images[0].width).collect();
    assert_eq!(widths, [None, Some(640)], "first without the size, then with it");
    assert_eq!(site.paths().last().map(String::as_str), Some("/pot.png"));
}

#[tokio::test]
async fn image_sizes_are_fetched_after_the_page_limit_is_reached() {
    let world = gallery(&["http://cdn.test/pot.png"])
        .page("http://cdn.test/pot.png", Page::new("image/png", png(640, 480)));
    let site = Site::start(world).await;
    let crawled = site.crawl(|options| options.limit = 1).await;
    assert_eq!((crawled.report.pages, crawled.report.image_sizes), (1, 1));
    assert_eq!(sizes(&crawled, "/"), [Some((640, 480))]);
}
