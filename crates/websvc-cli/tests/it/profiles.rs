//! Browser profiles, as their operator sees them and as requests use them.

use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use websvc_store::{LockProfileOutcome, ProfileRecord, Store};
use websvc_testkit::{Page, ReceivedRequest, TestWeb};

use crate::browser::{Stage, provided, serve};
use crate::harness::{Answer, Site};

/// A page that counts its visits and says what it finds of what `LEAVE` leaves.
const SHOP: &str = r#"<!doctype html><html lang="en"><title>Shop</title><main><h1>A shop that knows its guests</h1>
<p>Whoever comes twice is greeted by name, and whoever does not is not.</p><p id="found"></p></main><script>
const visits = Number(localStorage.getItem('visits') ?? 0) + 1;
localStorage.setItem('visits', visits);
const opening = indexedDB.open('canary');
opening.onupgradeneeded = () => opening.result.createObjectStore('canaries');
opening.onsuccess = () => {
    const reading = opening.result.transaction('canaries').objectStore('canaries').get('canary');
    reading.onsuccess = () => {
        found.textContent = `Visit number ${visits}: ` +
            [document.cookie || '-', localStorage.getItem('canary') ?? '-', reading.result ?? '-'].join(' and ') + '.';
        opening.result.close();
    };
}</script></html>"#;

/// Leaves something in every kind of storage.
const LEAVE: &str = r#"document.cookie = 'canary=cookiecanary';
localStorage.setItem('canary', 'localcanary');
return new Promise((resolve) => {
    const opening = indexedDB.open('canary');
    opening.onsuccess = () => {
        const writing = opening.result.transaction('canaries', 'readwrite');
        writing.objectStore('canaries').put('basecanary', 'canary');
        writing.oncomplete = () => resolve(opening.result.close());
    };
})"#;

/// How long something may take to become true.
const PATIENCE: Duration = Duration::from_secs(60);

/// A shop of two pages, and one that takes its time.
async fn shop(test: &str) -> Option<Stage> {
    let chromium = provided("WEBSVC_TEST_CHROMIUM", test)?;
    let world = TestWeb::builder()
        .page("http://shop.test/", Page::html(SHOP))
        .page("http://two.shop.test/", Page::html(SHOP))
        .page("http://shop.test/slow", Page::html(SHOP).delay(Duration::from_secs(4)))
        .page_with("http://shop.test/bill", |seen: &ReceivedRequest| match seen.header("cookie") {
            Some("canary=cookiecanary") => Page::text("The bill of a known guest: one pot of tea."),
            _ => Page::text("Log in first.").status(401),
        });
    let urls =
        ["http://shop.test/", "http://shop.test/slow", "http://shop.test/bill", "http://two.shop.test/"];
    Some(Stage::start(world, chromium, &urls).await)
}

impl Stage {
    async fn ask(&self, query: &str, options: &Value) -> Answer {
        let mut options = options.clone();
        options["formats"] = json!(["markdown"]);
        self.service.search(json!({"query": query, "limit": 2, "scrapeOptions": options})).await
    }

    /// Returns what the shop found of its guest.
    async fn found(&self, options: &Value) -> String {
        let answer = self.ask("site:shop.test -site:two.shop.test -inurl:slow -inurl:bill", options).await;
        assert_eq!(answer.body["warning"], Value::Null, "{}", answer.body);
        found_by(&answer.body["data"]["web"][0])
    }

    fn store(&self) -> Store {
        Store::open(self.site.data_dir()).unwrap()
    }

    /// Waits until the only profile is as it is wanted.
    async fn until(&self, is_so: impl Fn(&ProfileRecord) -> bool) {
        let (store, deadline) = (self.store(), Instant::now() + PATIENCE);
        while !store.list_profiles(None).unwrap().first().is_some_and(&is_so) {
            assert!(Instant::now() < deadline, "{:?}", store.list_profiles(None));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

fn found_by(page: &Value) -> String {
    let markdown = page["markdown"].as_str().unwrap_or_else(|| panic!("{page}"));
    let line = markdown.lines().find(|line| line.starts_with("Visit number"));
    line.unwrap_or_else(|| panic!("{page}")).to_owned()
}

fn leaving(name: &str) -> Value {
    json!({"profile": {"name": name}, "actions": [{"type": "executeJavascript", "script": LEAVE}]})
}

fn reading(name: &str) -> Value {
    json!({"profile": {"name": name, "saveChanges": false}})
}

const KNOWN: &str = "Visit number 2: canary=cookiecanary and localcanary and basecanary.";
const UNKNOWN: &str = "Visit number 1: - and - and -.";

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_is_there_for_its_team_and_name_alone() {
    let Some(mut stage) = shop("a_profile_is_there_for_its_team_and_name_alone").await else { return };
    assert_eq!(stage.found(&leaving("guest")).await, UNKNOWN);
    // Reading changes nothing, so that the next reader finds the same.
    assert_eq!(stage.found(&reading("guest")).await, KNOWN);
    assert_eq!(stage.found(&reading("guest")).await, KNOWN);
    assert_eq!(stage.found(&reading("other")).await, UNKNOWN);
    assert_eq!(stage.found(&json!({"waitFor": 1})).await, UNKNOWN);
    // A page of a profile is in no cache and no index.
    stage.world.clear_requests();
    assert_eq!(stage.found(&reading("guest")).await, KNOWN);
    assert_eq!(stage.world.count("http://shop.test/"), 1);
    for words in ["cookiecanary", "localcanary", "basecanary"] {
        let answer = stage.service.search(json!({"query": words})).await;
        assert_eq!(answer.body["data"]["web"], json!([]), "{}", answer.body);
    }
    let cached = stage.ask("site:shop.test", &json!({"profile": {"name": "guest"}, "minAge": 0})).await;
    assert_eq!((cached.status.as_u16(), &cached.body["code"]), (404, &json!("SCRAPE_NO_CACHED_DATA")));
    let cached = stage.ask("site:shop.test", &json!({"profile": {"name": "guest"}, "lockdown": true})).await;
    assert_eq!((cached.status.as_u16(), &cached.body["code"]), (404, &json!("SCRAPE_LOCKDOWN_CACHE_MISS")));
    // The same name is another profile for another team.
    let key = stage.store().create_key("others", "test").unwrap().secret.expose().to_owned();
    let own = std::mem::replace(&mut stage.service.key, key);
    assert_eq!(stage.found(&reading("guest")).await, UNKNOWN);
    assert_eq!(stage.found(&json!({"profile": {"name": "guest"}})).await, UNKNOWN);
    stage.service.key = own;
    assert_eq!(stage.found(&reading("guest")).await, KNOWN);
    let listed: Vec<_> = stage.store().list_profiles(None).unwrap();
    let listed: Vec<_> = listed.iter().map(|profile| (&*profile.team, &*profile.name)).collect();
    assert_eq!(listed, [("default", "guest"), ("others", "guest")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_one_search_find_what_the_ones_before_have_left() {
    let Some(stage) = shop("pages_of_one_search_find_what_the_ones_before_have_left").await else { return };
    let numbers = |answer: &Answer| {
        let pages = answer.body["data"]["web"].as_array().unwrap().clone();
        pages.iter().map(|page| found_by(page)[13..14].to_owned()).collect::<Vec<_>>()
    };
    let query = "site:shop.test -site:two.shop.test -inurl:bill";
    let saved = stage.ask(query, &json!({"profile": {"name": "guest"}})).await;
    assert_eq!(numbers(&saved), ["1", "2"]);
    // Who does not save sees the same from every page.
    let read = stage.ask(query, &reading("guest")).await;
    assert_eq!(numbers(&read), ["3", "3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_request_saves_a_profile_at_a_time_and_others_read_it() {
    let Some(stage) = shop("one_request_saves_a_profile_at_a_time_and_others_read_it").await else { return };
    assert_eq!(stage.found(&leaving("guest")).await, UNKNOWN);
    let saving = json!({"profile": {"name": "guest"}});
    let meanwhile = async {
        stage.until(|profile| profile.leased_until_ms.is_some()).await;
        let refused = stage.ask("site:shop.test", &saving).await;
        assert_eq!((refused.status.as_u16(), &refused.body["code"]), (409, &json!("PROFILE_LOCKED")));
        let text = refused.body["error"].as_str().unwrap();
        assert!(text.contains("\"guest\"") && text.contains("saveChanges false"), "{text}");
        assert_eq!(stage.found(&reading("guest")).await, KNOWN);
        // Still at it.
        assert!(stage.store().list_profiles(None).unwrap()[0].leased_until_ms.is_some());
    };
    let (slow, ()) = tokio::join!(stage.ask("site:shop.test inurl:slow", &saving), meanwhile);
    assert_eq!(found_by(&slow.body["data"]["web"][0]), KNOWN);
    assert_eq!(stage.store().list_profiles(None).unwrap()[0].leased_until_ms, None);
    assert!(stage.found(&saving).await.starts_with("Visit number 3:"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_broken_off_or_fails_saves_nothing_and_locks_nobody_out() {
    let test = "a_request_that_is_broken_off_or_fails_saves_nothing_and_locks_nobody_out";
    let Some(stage) = shop(test).await else { return };
    assert_eq!(stage.found(&leaving("guest")).await, UNKNOWN);
    let before = stage.store().profile("default", "guest").unwrap();
    let saving = json!({"profile": {"name": "guest"}});
    tokio::select! {
        answer = stage.ask("site:shop.test inurl:slow", &saving) => panic!("{}", answer.body),
        () = stage.until(|profile| profile.leased_until_ms.is_some()) => {}
    }
    stage.until(|profile| profile.leased_until_ms.is_none()).await;
    let missing = json!([{"type": "click", "selector": "#not-there"}]);
    let failed = stage
        .ask("site:shop.test inurl:slow", &json!({"profile": {"name": "guest"}, "actions": missing}))
        .await;
    let error = failed.body["data"]["web"][0]["metadata"]["error"].as_str().unwrap_or_default();
    assert!(error.starts_with("SCRAPE_ACTION_ERROR"), "{}", failed.body);
    stage.until(|profile| profile.leased_until_ms.is_none()).await;
    assert_eq!(stage.store().profile("default", "guest").unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_in_the_middle_leaves_the_profile_as_it_was() {
    let test = "a_kill_in_the_middle_leaves_the_profile_as_it_was";
    let Some(mut stage) = shop(test).await else { return };
    assert_eq!(stage.found(&leaving("guest")).await, UNKNOWN);
    let before = stage.store().profile("default", "guest").unwrap();
    let saving = json!({"profile": {"name": "guest"}});
    tokio::select! {
        answer = stage.ask("site:shop.test inurl:slow", &saving) => panic!("{}", answer.body),
        () = async {
            stage.until(|profile| profile.leased_until_ms.is_some()).await;
            stage.service.kill();
        } => {}
    }
    assert_eq!(stage.store().profile("default", "guest").unwrap(), before);
    stage.service = serve(&stage.site, &provided("WEBSVC_TEST_CHROMIUM", test).unwrap());
    assert_eq!(stage.found(&reading("guest")).await, KNOWN);
    // The right to save comes back by itself.
    let until_ms = stage.store().list_profiles(None).unwrap()[0].leased_until_ms.unwrap();
    let now_ms = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    assert!(u128::from(until_ms) <= now_ms + 30_000, "{until_ms} {now_ms}");
    assert_eq!(stage.ask("site:shop.test", &saving).await.status, 409);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_fetched_with_the_cookies_of_the_profile() {
    let Some(stage) = shop("files_are_fetched_with_the_cookies_of_the_profile").await else { return };
    assert_eq!(stage.found(&leaving("guest")).await, UNKNOWN);
    for (options, expected) in [(reading("guest"), "one pot of tea"), (reading("other"), "Log in first")] {
        let answer = stage.ask("site:shop.test inurl:bill", &options).await;
        let page = &answer.body["data"]["web"][0];
        assert!(page["markdown"].as_str().unwrap_or_default().contains(expected), "{}", answer.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn profiles_are_listed_and_deleted_beside_others_who_use_them() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let store = Store::open(site.data_dir()).unwrap();
    let locked = store.lock_profile("default", "shop", 1000, Duration::from_secs(60)).unwrap();
    let LockProfileOutcome::Leased(lease) = locked else { panic!("{locked:?}") };
    store.save_profile(&lease, b"cookies", 1000).unwrap();
    store.release_profile(&lease).unwrap();

    let listed: Value = serde_json::from_str(&site.succeed(&["profiles", "list", "--json"])).unwrap();
    let expected = serde_json::json!([{
        "team": "default", "name": "shop", "bytes": 7, "savedAt": "1970-01-01T00:00:01Z", "leasedUntil": null,
    }]);
    assert_eq!(listed, expected);
    assert!(site.succeed(&["profiles", "list"]).contains("shop"));
    assert_eq!(site.succeed(&["profiles", "list", "--team", "others", "--json"]), "[]\n");

    let refused = site.run(&["profiles", "delete", "shop", "--team", "others"]);
    assert!(!refused.status.success(), "{refused:?}");
    assert_eq!(site.succeed(&["profiles", "delete", "shop"]), "deleted shop of team default\n");
    assert_eq!(store.profile("default", "shop").unwrap(), None);
}
