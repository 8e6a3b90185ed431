//! Tests of browser profiles, in requests and in the commands.

use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use websvc_store::{LockProfileOutcome, ProfileRecord, Store};
use websvc_testkit::{Page, ReceivedRequest, TestWeb};

use crate::browser::{BrowserTest, path_or_skip, serve};
use crate::harness::{Response, Site};

/// A page that counts its visits, and shows the data that [`STORE_DATA`] has stored.
const SHOP: &str = r#"<!doctype html><html lang="en"><title>Shop</title><main><h1>A shop that knows its guests</h1>
<p>Returning guests are greeted by name, and new guests are not.</p><p id="found"></p></main><script>
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

/// A script that stores data in a cookie, in local storage and in IndexedDB.
const STORE_DATA: &str = r#"document.cookie = 'canary=cookiecanary';
localStorage.setItem('canary', 'localcanary');
return new Promise((resolve) => {
    const opening = indexedDB.open('canary');
    opening.onsuccess = () => {
        const writing = opening.result.transaction('canaries', 'readwrite');
        writing.objectStore('canaries').put('basecanary', 'canary');
        writing.oncomplete = () => resolve(opening.result.close());
    };
})"#;

/// Time limit for a profile to reach a state.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Starts a service with a browser, and the pages of a shop, one of which is slow.
async fn shop() -> Option<BrowserTest> {
    let chromium = path_or_skip("WEBSVC_TEST_CHROMIUM")?;
    let world = TestWeb::builder()
        .page("http://shop.test/", Page::html(SHOP))
        .page("http://two.shop.test/", Page::html(SHOP))
        .page("http://shop.test/slow", Page::html(SHOP).delay(Duration::from_secs(4)))
        .page_with("http://shop.test/bill", |request: &ReceivedRequest| match request.header("cookie") {
            Some("canary=cookiecanary") => Page::text("The bill of a returning guest: one pot of tea."),
            _ => Page::text("Log in first.").status(401),
        });
    let urls =
        ["http://shop.test/", "http://shop.test/slow", "http://shop.test/bill", "http://two.shop.test/"];
    Some(BrowserTest::start(world, chromium, &urls).await)
}

impl BrowserTest {
    async fn search(&self, query: &str, options: &Value) -> Response {
        let mut options = options.clone();
        options["formats"] = json!(["markdown"]);
        self.service.search(json!({"query": query, "limit": 2, "scrapeOptions": options})).await
    }

    /// Scrapes the shop, and returns the stored data that it found.
    async fn visit(&self, options: &Value) -> String {
        let response =
            self.search("site:shop.test -site:two.shop.test -inurl:slow -inurl:bill", options).await;
        assert_eq!(response.body["warning"], Value::Null, "{}", response.body);
        visit_line(&response.body["data"]["web"][0])
    }

    fn store(&self) -> Store {
        Store::open(self.site.data_dir()).unwrap()
    }

    /// Waits until the only profile fulfils a condition.
    async fn wait_for_profile(&self, is_expected: impl Fn(&ProfileRecord) -> bool) {
        let (store, deadline) = (self.store(), Instant::now() + TIMEOUT);
        while !store.list_profiles(None).unwrap().first().is_some_and(&is_expected) {
            assert!(Instant::now() < deadline, "{:?}", store.list_profiles(None));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

fn visit_line(page: &Value) -> String {
    let markdown = page["markdown"].as_str().unwrap_or_else(|| panic!("{page}"));
    let line = markdown.lines().find(|line| line.starts_with("Visit number"));
    line.unwrap_or_else(|| panic!("{page}")).to_owned()
}

/// Returns options that store data in a profile.
fn store_data(name: &str) -> Value {
    json!({"profile": {"name": name}, "actions": [{"type": "executeJavascript", "script": STORE_DATA}]})
}

/// Returns options that use a profile without saving it.
fn read_only(name: &str) -> Value {
    json!({"profile": {"name": name, "saveChanges": false}})
}

const WITH_DATA: &str = "Visit number 2: canary=cookiecanary and localcanary and basecanary.";
const WITHOUT_DATA: &str = "Visit number 1: - and - and -.";

#[tokio::test(flavor = "multi_thread")]
async fn profile_is_visible_to_its_team_and_name_only() {
    let Some(mut browser) = shop().await else { return };
    assert_eq!(browser.visit(&store_data("guest")).await, WITHOUT_DATA);
    // A request that does not save changes nothing.
    assert_eq!(browser.visit(&read_only("guest")).await, WITH_DATA);
    assert_eq!(browser.visit(&read_only("guest")).await, WITH_DATA);
    assert_eq!(browser.visit(&read_only("other")).await, WITHOUT_DATA);
    assert_eq!(browser.visit(&json!({"waitFor": 1})).await, WITHOUT_DATA);
    // Pages with a profile are neither cached nor indexed.
    browser.world.clear_requests();
    assert_eq!(browser.visit(&read_only("guest")).await, WITH_DATA);
    assert_eq!(browser.world.count("http://shop.test/"), 1);
    for words in ["cookiecanary", "localcanary", "basecanary"] {
        let response = browser.service.search(json!({"query": words})).await;
        assert_eq!(response.body["data"]["web"], json!([]), "{}", response.body);
    }
    let cached = browser.search("site:shop.test", &json!({"profile": {"name": "guest"}, "minAge": 0})).await;
    assert_eq!((cached.status.as_u16(), &cached.body["code"]), (404, &json!("SCRAPE_NO_CACHED_DATA")));
    let cached =
        browser.search("site:shop.test", &json!({"profile": {"name": "guest"}, "lockdown": true})).await;
    assert_eq!((cached.status.as_u16(), &cached.body["code"]), (404, &json!("SCRAPE_LOCKDOWN_CACHE_MISS")));
    // The same name is another profile for another team.
    let key = browser.store().create_key("others", "test").unwrap().secret.expose().to_owned();
    let first_key = std::mem::replace(&mut browser.service.key, key);
    assert_eq!(browser.visit(&read_only("guest")).await, WITHOUT_DATA);
    assert_eq!(browser.visit(&json!({"profile": {"name": "guest"}})).await, WITHOUT_DATA);
    browser.service.key = first_key;
    assert_eq!(browser.visit(&read_only("guest")).await, WITH_DATA);
    let listed: Vec<_> = browser.store().list_profiles(None).unwrap();
    let listed: Vec<_> = listed.iter().map(|profile| (&*profile.team, &*profile.name)).collect();
    assert_eq!(listed, [("default", "guest"), ("others", "guest")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_one_search_share_the_saved_profile() {
    let Some(browser) = shop().await else { return };
    let numbers = |response: &Response| {
        let pages = response.body["data"]["web"].as_array().unwrap().clone();
        pages.iter().map(|page| visit_line(page)[13..14].to_owned()).collect::<Vec<_>>()
    };
    let query = "site:shop.test -site:two.shop.test -inurl:bill";
    let saved = browser.search(query, &json!({"profile": {"name": "guest"}})).await;
    assert_eq!(numbers(&saved), ["1", "2"]);
    // Without saving, every page sees the same profile.
    let read = browser.search(query, &read_only("guest")).await;
    assert_eq!(numbers(&read), ["3", "3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn profile_has_one_writer_and_many_readers() {
    let Some(browser) = shop().await else { return };
    assert_eq!(browser.visit(&store_data("guest")).await, WITHOUT_DATA);
    let saving = json!({"profile": {"name": "guest"}});
    let meanwhile = async {
        browser.wait_for_profile(|profile| profile.leased_until_ms.is_some()).await;
        let rejected = browser.search("site:shop.test", &saving).await;
        assert_eq!((rejected.status.as_u16(), &rejected.body["code"]), (409, &json!("PROFILE_LOCKED")));
        let text = rejected.body["error"].as_str().unwrap();
        assert!(text.contains("\"guest\"") && text.contains("set saveChanges to false"), "{text}");
        assert_eq!(browser.visit(&read_only("guest")).await, WITH_DATA);
        // The first request still holds the profile.
        assert!(browser.store().list_profiles(None).unwrap()[0].leased_until_ms.is_some());
    };
    let (slow, ()) = tokio::join!(browser.search("site:shop.test inurl:slow", &saving), meanwhile);
    assert_eq!(visit_line(&slow.body["data"]["web"][0]), WITH_DATA);
    assert_eq!(browser.store().list_profiles(None).unwrap()[0].leased_until_ms, None);
    assert!(browser.visit(&saving).await.starts_with("Visit number 3:"));
}

#[tokio::test(flavor = "multi_thread")]
async fn aborted_or_failed_request_saves_nothing_and_releases_the_profile() {
    let Some(browser) = shop().await else { return };
    assert_eq!(browser.visit(&store_data("guest")).await, WITHOUT_DATA);
    let before = browser.store().profile("default", "guest").unwrap();
    let saving = json!({"profile": {"name": "guest"}});
    tokio::select! {
        response = browser.search("site:shop.test inurl:slow", &saving) => panic!("{}", response.body),
        () = browser.wait_for_profile(|profile| profile.leased_until_ms.is_some()) => {}
    }
    browser.wait_for_profile(|profile| profile.leased_until_ms.is_none()).await;
    let missing = json!([{"type": "click", "selector": "#not-there"}]);
    let failed = browser
        .search("site:shop.test inurl:slow", &json!({"profile": {"name": "guest"}, "actions": missing}))
        .await;
    let error = failed.body["data"]["web"][0]["metadata"]["error"].as_str().unwrap_or_default();
    assert!(error.starts_with("SCRAPE_ACTION_ERROR"), "{}", failed.body);
    browser.wait_for_profile(|profile| profile.leased_until_ms.is_none()).await;
    assert_eq!(browser.store().profile("default", "guest").unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_while_saving_leaves_the_profile_unchanged() {
    let Some(mut browser) = shop().await else { return };
    assert_eq!(browser.visit(&store_data("guest")).await, WITHOUT_DATA);
    let before = browser.store().profile("default", "guest").unwrap();
    let saving = json!({"profile": {"name": "guest"}});
    tokio::select! {
        response = browser.search("site:shop.test inurl:slow", &saving) => panic!("{}", response.body),
        () = async {
            browser.wait_for_profile(|profile| profile.leased_until_ms.is_some()).await;
            browser.service.kill();
        } => {}
    }
    assert_eq!(browser.store().profile("default", "guest").unwrap(), before);
    browser.service = serve(&browser.site, &path_or_skip("WEBSVC_TEST_CHROMIUM").unwrap());
    assert_eq!(browser.visit(&read_only("guest")).await, WITH_DATA);
    // The lease of the killed process expires.
    let until_ms = browser.store().list_profiles(None).unwrap()[0].leased_until_ms.unwrap();
    let now_ms = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    assert!(u128::from(until_ms) <= now_ms + 30_000, "{until_ms} {now_ms}");
    assert_eq!(browser.search("site:shop.test", &saving).await.status, 409);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_fetched_with_profile_cookies() {
    let Some(browser) = shop().await else { return };
    assert_eq!(browser.visit(&store_data("guest")).await, WITHOUT_DATA);
    for (options, expected) in [(read_only("guest"), "one pot of tea"), (read_only("other"), "Log in first")]
    {
        let response = browser.search("site:shop.test inurl:bill", &options).await;
        let page = &response.body["data"]["web"][0];
        assert!(page["markdown"].as_str().unwrap_or_default().contains(expected), "{}", response.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn profiles_are_listed_and_deleted_per_team() {
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

    let rejected = site.run(&["profiles", "delete", "shop", "--team", "others"]);
    assert!(!rejected.status.success(), "{rejected:?}");
    assert_eq!(site.succeed(&["profiles", "delete", "shop"]), "deleted shop of team default\n");
    assert_eq!(store.profile("default", "shop").unwrap(), None);
}
