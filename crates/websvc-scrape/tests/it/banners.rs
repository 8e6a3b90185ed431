//! Tests that cookie banners are not content, and that content which resembles a banner stays.

use serde_json::json;
use websvc_testkit::{Page, TestWeb};

use crate::support::Fixture;

pub(crate) const STORY: &str = "<main><h1>The tide</h1><p>The tide comes in twice a day, and it goes out twice a day, as it has \
    always done along this coast, where the boats lie on the sand and wait for it.</p></main>";

/// Cookie banners as they occur on sites: name and HTML.
pub(crate) const BANNERS: &[(&str, &str)] = &[
    (
        "dialog of a product",
        "<div id=onetrust-consent-sdk><div role=dialog><h2>Your choice</h2><p>We value your privacy.</p>
         <button>Accept all</button></div></div>",
    ),
    ("bar", "<div class='cookie-bar fixed'><p>We value your privacy.</p><button>Accept</button></div>"),
    ("dialog", "<dialog open id=cookie-consent><p>We value your privacy.</p></dialog>"),
    (
        "section",
        "<section id=cookie-banner><p>We value your privacy.</p><form><button>No</button></form></section>",
    ),
    ("aside", "<aside class=cookie-notice>We value your privacy.</aside>"),
    (
        "in a frame",
        "<div id=sp_message_container_7><p>We value your privacy.</p><iframe src='/ask'></iframe></div>",
    ),
];

/// Content with the names and words of a cookie banner: name and HTML.
pub(crate) const CONTENT: &[(&str, &str)] = &[
    (
        "heading",
        "<main><h1>Law</h1><h2 id=cookie-consent>We value your privacy</h2><p>So they say.</p></main>",
    ),
    ("paragraph", "<p class=cookie-notice>We value your privacy, they say on each page of this site.</p>"),
    (
        "an example in an article",
        "<article><h1>Banners</h1><p>A banner looks like this:</p><div class=cookie-banner>
         We value your privacy</div><p>It is asked often.</p></article>",
    ),
    (
        "box around the page",
        "<div class=cookie-consent><main><h1>Law</h1><p>We value your privacy.</p></main></div>",
    ),
    (
        "class of the body",
        "<body class=cookie-banner><h1>Law</h1><p>We value your privacy, they say.</p></body>",
    ),
    (
        "article with the name",
        "<article id=cookie-consent><h1>Law</h1><p>We value your privacy.</p></article>",
    ),
];

async fn markdown(fixture: &Fixture, index: usize, options: serde_json::Value) -> String {
    let page = fixture.scrape(&format!("http://a.test/{index}"), options).await.unwrap();
    page.markdown.unwrap()
}

async fn fixture(pages: impl Iterator<Item = String>) -> Fixture {
    let mut web = TestWeb::builder();
    for (index, html) in pages.enumerate() {
        web = web.page(&format!("http://a.test/{index}"), Page::html(html));
    }
    Fixture::new(web.start().await)
}

#[tokio::test]
async fn cookie_banner_is_removed_unless_ads_are_allowed() {
    let fixture = fixture(BANNERS.iter().map(|(_, banner)| format!("{banner}{STORY}"))).await;
    for (index, (name, _)) in BANNERS.iter().enumerate() {
        for only_main in [true, false] {
            let options = json!({"formats": ["markdown"], "onlyMainContent": only_main});
            let markdown = markdown(&fixture, index, options).await;
            assert!(markdown.contains("The tide comes in"), "{name}: {markdown}");
            assert!(!markdown.contains("We value your privacy"), "{name}: {markdown}");
        }
        let all = json!({"formats": ["markdown"], "onlyMainContent": false, "blockAds": false});
        assert!(markdown(&fixture, index, all).await.contains("We value your privacy"), "{name}");
    }
}

#[tokio::test]
async fn content_that_resembles_a_banner_stays() {
    let fixture = fixture(CONTENT.iter().map(|(_, html)| (*html).to_owned())).await;
    for (index, (name, _)) in CONTENT.iter().enumerate() {
        let markdown =
            markdown(&fixture, index, json!({"formats": ["markdown"], "onlyMainContent": false})).await;
        assert!(markdown.contains("We value your privacy"), "{name}: {markdown}");
    }
}
