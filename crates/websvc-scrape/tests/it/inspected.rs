//! Threat protection of pages: nothing is sent to a blocked URL, and nothing of it is given or kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_scrape::{BackgroundLimits, Page as Scraped, ScrapeError, Scraper};
use websvc_testkit::{Page, TestWeb};
use websvc_threat::{Classifier, UrlChecker};
use websvc_transport::UrlPolicy;
use websvc_types::ErrorCode;
use websvc_validate::{Policy, ThreatPolicy, read_scrape_options};

use crate::support::{Bench, plan};

const BLOCKED: &str = "threat protection blocks evil.test: it is on the blacklist";

/// Gets a page as a request does whose protection has `evil.test` on its blacklist.
async fn get(bench: &Bench, url: &str, mut options: Value) -> Result<Scraped, ScrapeError> {
    options["threatProtection"] = json!({ "blacklist": ["evil.test"] });
    let policy = Policy { threat: ThreatPolicy::On, threat_values: Arc::default(), ..Policy::default() };
    let plan = read_scrape_options(options.to_string().as_bytes(), &policy).unwrap().plan;
    let inspection = UrlChecker::new(plan.protection().unwrap(), &Classifier::none());
    let scraper = bench.scraper.with_url_checker(inspection);
    let deadline = Instant::now() + Duration::from_secs(20);
    scraper.scrape(&url.parse().unwrap(), &plan, deadline).await
}

#[track_caller]
fn is_blocked(outcome: Result<Scraped, ScrapeError>) {
    let error = outcome.expect_err("it is blocked");
    assert_eq!((error.code(), error.to_string().as_str()), (ErrorCode::UnsafeDomainBlocked, BLOCKED));
}

fn world() -> websvc_testkit::TestWebBuilder {
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
async fn wherever_a_page_leads_a_blocked_url_ends_it_before_anything_is_sent_there() {
    let bench = Bench::new(world().start().await);
    for url in ["http://evil.test/", "http://redirect.test/", "http://chain.test/", "http://refresh.test/"] {
        is_blocked(get(&bench, url, json!({})).await);
        let again = get(&bench, url, json!({ "minAge": 1 })).await;
        assert!(again.is_err(), "{url}: nothing is in the cache");
    }
    assert_eq!(bench.world.count("http://evil.test/"), 0);
    let page = get(&bench, "http://through.test/", json!({})).await.unwrap();
    assert_eq!(page.markdown.as_deref(), Some("good\n"));
}

#[tokio::test]
async fn what_others_put_into_the_cache_is_checked_by_its_beginning_and_its_end() {
    let bench = Bench::new(world().start().await);
    for url in ["http://evil.test/", "http://redirect.test/"] {
        // The second time it is given from memory, as it was written.
        for _ in 0..2 {
            bench.get(url, json!({})).await.unwrap();
        }
        is_blocked(get(&bench, url, json!({})).await);
        is_blocked(get(&bench, url, json!({ "lockdown": true })).await);
        is_blocked(get(&bench, url, json!({ "formats": ["html"] })).await);
        bench.get(url, json!({})).await.expect("it is still there for others");
    }
}

#[tokio::test]
async fn requests_of_different_rules_do_not_share_what_they_meet() {
    let slow = Page::redirect(302, "http://evil.test/").delay(Duration::from_millis(200));
    let bench = Bench::new(world().page("http://slow.test/", slow).start().await);
    let (free, guarded) =
        tokio::join!(bench.get("http://slow.test/", json!({})), get(&bench, "http://slow.test/", json!({})),);
    assert_eq!(free.unwrap().markdown.as_deref(), Some("evil\n"));
    is_blocked(guarded);
}

#[tokio::test]
async fn requests_of_the_same_rules_share_a_fetch() {
    let slow = |text: &str| Page::html(format!("<p>{text}")).delay(Duration::from_millis(200));
    let world = world().page("http://slow.test/", slow("protected")).page("http://job.test/", slow("job"));
    let bench = Bench::new(world.start().await);
    let get_slow = || get(&bench, "http://slow.test/", json!({}));
    let (one, other, last) = tokio::join!(get_slow(), get_slow(), get_slow());
    for page in [one, other, last] {
        assert_eq!(page.unwrap().markdown.as_deref(), Some("protected\n"));
    }
    assert_eq!(bench.world.count("http://slow.test/"), 1);

    let jobs = bench.scraper.with_background_limits(BackgroundLimits::default());
    let crawl = || jobs.with_redirect_rule("any", UrlPolicy::new(|_| async { Ok(()) }));
    let (one, other, stricter) = (crawl(), crawl(), jobs.with_redirect_rule("none", refusing()));
    let get_by = |scraper: &Scraper| {
        let (scraper, plan) = (scraper.clone(), plan(json!({})));
        async move {
            let deadline = Instant::now() + Duration::from_secs(20);
            scraper.scrape(&"http://job.test/".parse().unwrap(), &plan, deadline).await
        }
    };
    let (one, other, stricter, waited_for) =
        tokio::join!(get_by(&one), get_by(&other), get_by(&stricter), get_by(&bench.scraper));
    for page in [one, other, stricter, waited_for] {
        assert_eq!(page.unwrap().markdown.as_deref(), Some("job\n"));
    }
    let count = bench.world.count("http://job.test/");
    assert_eq!(count, 3, "one for the rule of two pages, one for the other rule, one for who waits");
}

#[tokio::test]
async fn a_refusal_is_told_to_each_request_by_its_own_rule() {
    let redirect = Page::redirect(302, "http://evil.test/").delay(Duration::from_millis(100));
    let bench = Bench::new(world().page("http://moved.test/", redirect).start().await);
    let asked = [Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0))];
    let get_by = |asked: &Arc<AtomicUsize>| {
        let asked = Arc::clone(asked);
        let rule = UrlPolicy::new(move |_| {
            asked.fetch_add(1, SeqCst);
            async { Err("not there".to_owned()) }
        });
        let (scraper, plan) = (bench.scraper.with_redirect_rule("none", rule), plan(json!({})));
        async move {
            let deadline = Instant::now() + Duration::from_secs(20);
            scraper.scrape(&"http://moved.test/".parse().unwrap(), &plan, deadline).await
        }
    };
    let (one, other) = tokio::join!(get_by(&asked[0]), get_by(&asked[1]));
    for outcome in [one, other] {
        assert_eq!(outcome.unwrap_err().code(), ErrorCode::UnsafeDomainBlocked);
    }
    assert_eq!(asked.map(|asked| asked.load(SeqCst)), [1, 1]);
    assert_eq!(bench.world.count("http://evil.test/"), 0);
}

fn refusing() -> UrlPolicy {
    UrlPolicy::new(|_| async { Err("not there".to_owned()) })
}

#[tokio::test]
async fn an_inspected_page_is_cached_as_every_other() {
    let bench = Bench::new(world().start().await);
    get(&bench, "http://good.test/", json!({})).await.unwrap();
    get(&bench, "http://good.test/", json!({})).await.unwrap();
    bench.get("http://good.test/", json!({})).await.unwrap();
    assert_eq!(bench.world.count("http://good.test/"), 1);
}
