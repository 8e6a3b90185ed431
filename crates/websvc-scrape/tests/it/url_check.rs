//! Tests of threat protection: no request is sent to a blocked URL, and no cached page of it is served or stored.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_scrape::threat::{Classifier, UrlChecker};
use websvc_scrape::{BackgroundLimits, Page as Scraped, ScrapeError, Scraper};
use websvc_testkit::{Page, TestWeb};
use websvc_transport::UrlPolicy;
use websvc_types::{ErrorCode, ScrapeOptions};
use websvc_validate::{Policy, ThreatPolicy, read_request};

use crate::support::{Fixture, plan};

const BLOCKED: &str = "threat protection blocks evil.test: it is on the blacklist";

/// Scrapes a page as a request with `evil.test` on its blacklist.
async fn scrape_protected(fixture: &Fixture, url: &str, mut options: Value) -> Result<Scraped, ScrapeError> {
    options["threatProtection"] = json!({ "blacklist": ["evil.test"] });
    let policy = Policy { threat: ThreatPolicy::On, threat_values: Arc::default(), ..Policy::default() };
    let plan = read_request::<ScrapeOptions>(options.to_string().as_bytes(), &policy).unwrap().plan;
    let checker = UrlChecker::new(plan.protection.as_ref().unwrap(), &Classifier::none());
    let scraper = fixture.scraper.with_url_checker(checker);
    let deadline = Instant::now() + Duration::from_secs(20);
    scraper.scrape(&url.parse().unwrap(), &plan, deadline).await
}

#[track_caller]
fn assert_blocked(outcome: Result<Scraped, ScrapeError>) {
    let error = outcome.expect_err("the page is blocked");
    assert_eq!((error.code(), error.to_string().as_str()), (ErrorCode::UnsafeDomainBlocked, BLOCKED));
}

fn web() -> websvc_testkit::TestWebBuilder {
    TestWeb::builder()
        .page("http://evil.test/", Page::html("<p>evil"))
        .page("http://good.test/", Page::html("<p>good"))
        .page("http://redirect.test/", Page::redirect(302, "http://evil.test/"))
        .page("http://chain.test/", Page::redirect(301, "http://redirect.test/"))
        .page(
            "http://refresh.test/",
            Page::html("<head><meta http-equiv=refresh content='0; url=http://evil.test/'>"),
        )
        .page("http://through.test/", Page::redirect(307, "http://good.test/"))
}

#[tokio::test]
async fn blocked_url_redirect_or_refresh_is_never_requested() {
    let fixture = Fixture::new(web().start().await);
    for url in ["http://evil.test/", "http://redirect.test/", "http://chain.test/", "http://refresh.test/"] {
        assert_blocked(scrape_protected(&fixture, url, json!({})).await);
        let cached = scrape_protected(&fixture, url, json!({ "minAge": 1 })).await;
        assert!(cached.is_err(), "{url}: the cache has the page");
    }
    assert_eq!(fixture.web.count("http://evil.test/"), 0);
    let page = scrape_protected(&fixture, "http://through.test/", json!({})).await.unwrap();
    assert_eq!(page.markdown.as_deref(), Some("good\n"));
}

#[tokio::test]
async fn cached_page_is_checked_by_its_requested_and_final_url() {
    let fixture = Fixture::new(web().start().await);
    for url in ["http://evil.test/", "http://redirect.test/"] {
        // The second response comes from the output cache.
        for _ in 0..2 {
            fixture.scrape(url, json!({})).await.unwrap();
        }
        assert_blocked(scrape_protected(&fixture, url, json!({})).await);
        assert_blocked(scrape_protected(&fixture, url, json!({ "lockdown": true })).await);
        assert_blocked(scrape_protected(&fixture, url, json!({ "formats": ["html"] })).await);
        fixture.scrape(url, json!({})).await.expect("requests without protection get the page");
    }
}

#[tokio::test]
async fn requests_with_different_protection_do_not_share_a_fetch() {
    let slow = Page::redirect(302, "http://evil.test/").delay(Duration::from_millis(200));
    let fixture = Fixture::new(web().page("http://slow.test/", slow).start().await);
    let (unprotected, protected) = tokio::join!(
        fixture.scrape("http://slow.test/", json!({})),
        scrape_protected(&fixture, "http://slow.test/", json!({})),
    );
    assert_eq!(unprotected.unwrap().markdown.as_deref(), Some("evil\n"));
    assert_blocked(protected);
}

#[tokio::test]
async fn requests_with_the_same_policy_share_a_fetch() {
    let slow = |text: &str| Page::html(format!("<p>{text}")).delay(Duration::from_millis(200));
    let web = web().page("http://slow.test/", slow("protected")).page("http://job.test/", slow("job"));
    let fixture = Fixture::new(web.start().await);
    let scrape_slow = || scrape_protected(&fixture, "http://slow.test/", json!({}));
    let (first, second, third) = tokio::join!(scrape_slow(), scrape_slow(), scrape_slow());
    for page in [first, second, third] {
        assert_eq!(page.unwrap().markdown.as_deref(), Some("protected\n"));
    }
    assert_eq!(fixture.web.count("http://slow.test/"), 1);

    let jobs = fixture.scraper.with_background_limits(BackgroundLimits::default());
    let crawl = || jobs.with_redirect_rule("any", UrlPolicy::new(|_| async { Ok(()) }));
    let (first, second, other_rule) = (crawl(), crawl(), jobs.with_redirect_rule("none", rejecting()));
    let scrape_with = |scraper: &Scraper| {
        let (scraper, plan) = (scraper.clone(), plan(json!({})));
        async move {
            let deadline = Instant::now() + Duration::from_secs(20);
            scraper.scrape(&"http://job.test/".parse().unwrap(), &plan, deadline).await
        }
    };
    let (first, second, other_rule, foreground) = tokio::join!(
        scrape_with(&first),
        scrape_with(&second),
        scrape_with(&other_rule),
        scrape_with(&fixture.scraper)
    );
    for page in [first, second, other_rule, foreground] {
        assert_eq!(page.unwrap().markdown.as_deref(), Some("job\n"));
    }
    let count = fixture.web.count("http://job.test/");
    assert_eq!(
        count, 3,
        "one for two requests with one rule, one for the other rule, one for the HTTP caller"
    );
}

#[tokio::test]
async fn rejected_redirect_is_reported_to_the_rule_of_each_request() {
    let redirect = Page::redirect(302, "http://evil.test/").delay(Duration::from_millis(100));
    let fixture = Fixture::new(web().page("http://moved.test/", redirect).start().await);
    let checks = [Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0))];
    let scrape_counting = |checks: &Arc<AtomicUsize>| {
        let checks = Arc::clone(checks);
        let rule = UrlPolicy::new(move |_| {
            checks.fetch_add(1, SeqCst);
            async { Err("not there".to_owned()) }
        });
        let (scraper, plan) = (fixture.scraper.with_redirect_rule("none", rule), plan(json!({})));
        async move {
            let deadline = Instant::now() + Duration::from_secs(20);
            scraper.scrape(&"http://moved.test/".parse().unwrap(), &plan, deadline).await
        }
    };
    let (first, second) = tokio::join!(scrape_counting(&checks[0]), scrape_counting(&checks[1]));
    for outcome in [first, second] {
        assert_eq!(outcome.unwrap_err().code(), ErrorCode::UnsafeDomainBlocked);
    }
    assert_eq!(checks.map(|checks| checks.load(SeqCst)), [1, 1]);
    assert_eq!(fixture.web.count("http://evil.test/"), 0);
}

fn rejecting() -> UrlPolicy {
    UrlPolicy::new(|_| async { Err("not there".to_owned()) })
}

#[tokio::test]
async fn page_of_a_protected_request_is_cached_for_all() {
    let fixture = Fixture::new(web().start().await);
    scrape_protected(&fixture, "http://good.test/", json!({})).await.unwrap();
    scrape_protected(&fixture, "http://good.test/", json!({})).await.unwrap();
    fixture.scrape("http://good.test/", json!({})).await.unwrap();
    assert_eq!(fixture.web.count("http://good.test/"), 1);
}
