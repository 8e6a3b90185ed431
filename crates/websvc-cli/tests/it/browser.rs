//! Pages that need a browser, through the interface.

use std::path::PathBuf;

use serde_json::{Value, json};
use websvc_testkit::{Canary, Page, World, WorldBuilder};

use crate::harness::{KEY, Service, Site, skip};

/// What the tests of the browser need from the machine, told by `cargo xtask test`.
fn provided(variable: &str, test: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    if path.is_none() {
        skip(test, &format!("{variable} is not set (cargo xtask test)"));
    }
    path
}

/// A page with a button, a field, and a text that only scripts write.
const TEA: &str = r#"<!doctype html><html lang="en"><head><title>Tea</title>
<style>body { margin: 0 } #top { background: rgb(0, 128, 0); height: 400px } #late { height: 3000px }</style></head>
<body><div id="top"></div><main><h1>Brewing tea by hand</h1><p>Water of eighty degrees, two minutes, no more, and
the leaves are good for a second and a third infusion.</p><p id="drawn"></p>
<input id="name"><button id="more" onclick="document.querySelector('#drawn').textContent =
'More was asked for by ' + document.querySelector('#name').value + '.'">More</button><div id="late"></div></main>
<script>document.querySelector('#drawn').textContent = 'A script wrote this in ' +
Intl.DateTimeFormat().resolvedOptions().timeZone + ' for ' + navigator.languages[0] + '.'</script></body></html>"#;

struct Stage {
    world: World,
    service: Service,
    _site: Site,
}

impl Stage {
    /// Starts a service with a browser, and an index that finds `urls` by their hosts.
    async fn start(world: WorldBuilder, chromium: PathBuf, urls: &[&str]) -> Self {
        let world = world.start().await;
        let site = Site::new(&world);
        let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.env("WEBSVC_API_KEY", KEY).env("WEBSVC__BROWSER__CONCURRENCY", "2");
        let service = Service::start(command.env("WEBSVC__BROWSER__PATH", chromium));
        let documents: Vec<_> =
            urls.iter().map(|url| json!({"url": url, "title": "A page", "body": "listed"})).collect();
        service.post("/v2/index/documents", json!({ "documents": documents }).to_string()).await;
        service.search_until_found("listed").await;
        Self { world, service, _site: site }
    }

    /// Scrapes the page of this host, and returns it with the warning.
    async fn scrape(&self, host: &str, options: Value) -> (Value, Value) {
        let query = format!("site:{host}");
        let answer = self.service.search(json!({"query": query, "limit": 1, "scrapeOptions": options})).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        (answer.body["data"]["web"][0].clone(), answer.body["warning"].clone())
    }
}

async fn tea(test: &str) -> Option<Stage> {
    let chromium = provided("WEBSVC_TEST_CHROMIUM", test)?;
    let world = World::builder().page("http://tea.test/", Page::html(TEA));
    Some(Stage::start(world, chromium, &["http://tea.test/"]).await)
}

#[tokio::test]
async fn applications_of_the_usual_frameworks_are_read_as_they_are_drawn() {
    let test = "applications_of_the_usual_frameworks_are_read_as_they_are_drawn";
    let Some(chromium) = provided("WEBSVC_TEST_CHROMIUM", test) else { return };
    let Some(apps) = provided("WEBSVC_TEST_APPS", test) else { return };
    let names = ["react", "vue", "svelte"];
    let notes: Vec<_> = (1..=8)
        .map(|id| json!({"id": id, "title": format!("Note {id}"), "text": format!("day {id}")}))
        .collect();
    let mut world = World::builder();
    for name in names {
        world = world
            .page(
                &format!("http://{name}.test/notes.json"),
                Page::new("application/json", json!(notes).to_string()),
            )
            .page(
                &format!("http://{name}.test/comments.json"),
                Page::new("application/json", "[\"Well seen\"]"),
            )
            .directory(&format!("{name}.test"), apps.join(name));
    }
    let urls = names.map(|name| format!("http://{name}.test/index.html"));
    let stage = Stage::start(world, chromium, &urls.each_ref().map(String::as_str)).await;
    for (name, title) in names.into_iter().zip(["React", "Vue", "Svelte"]) {
        let host = format!("{name}.test");
        let (page, warning) = stage.scrape(&host, json!({"formats": ["markdown"]})).await;
        let markdown = page["markdown"].as_str().unwrap_or_default();
        assert!(markdown.contains(&format!("# Field notes, written with {title}")), "{page} {warning}");
        assert!(markdown.contains(&format!("The article of the {title} application arrives")), "{markdown}");
        assert!(markdown.contains("| Whitby | 5.6 m |"), "{markdown}");
        assert!((1..=8).all(|id| markdown.contains(&format!("day {id}"))), "{markdown}");
        assert!(!markdown.contains("Well seen") && !markdown.contains("Loading"), "{markdown}");
        assert_eq!(warning, Value::Null);
        let click =
            json!([{"type": "click", "selector": "#more"}, {"type": "wait", "selector": "#comments p"}]);
        let (page, _) = stage.scrape(&host, json!({"formats": ["markdown"], "actions": click})).await;
        assert!(page["markdown"].as_str().unwrap().contains("Well seen"), "{page}");
    }
    // What was drawn once is in the cache, and nothing is asked of the host again.
    stage.world.forget();
    let (page, _) = stage.scrape("react.test", json!({"formats": ["markdown"]})).await;
    assert_eq!(page["metadata"]["cacheState"], json!("hit"));
    assert!(stage.world.requests().is_empty());
}

#[tokio::test]
async fn a_screenshot_has_a_url_under_which_it_can_be_had() {
    let Some(stage) = tea("a_screenshot_has_a_url_under_which_it_can_be_had").await else { return };
    let (page, warning) = stage.scrape("tea.test", json!({"formats": ["markdown", "screenshot"]})).await;
    assert!(page["markdown"].as_str().unwrap().contains("A script wrote this"), "{page}");
    assert_eq!(warning, Value::Null, "{page}");
    let url = page["screenshot"].as_str().unwrap();
    let path = url.strip_prefix(&stage.service.address).unwrap_or_else(|| panic!("{url}"));
    let (kind, picture) = stage.service.file(path).await;
    assert_eq!((kind.as_str(), &picture[..8]), ("image/png", &b"\x89PNG\r\n\x1a\n"[..]));
    assert_eq!((width_of(&picture), height_of(&picture)), (1280, 800));
    // A picture is of now, and the cache is of then.
    stage.scrape("tea.test", json!({"formats": ["markdown"]})).await;
    let (page, warning) =
        stage.scrape("tea.test", json!({"formats": ["markdown", "screenshot"], "minAge": 0})).await;
    assert_eq!((&page["screenshot"], &page["metadata"]["cacheState"]), (&Value::Null, &json!("hit")));
    assert!(warning.as_str().unwrap().contains("the cache holds no pictures"), "{warning}");
    let full = json!({"type": "screenshot", "fullPage": true, "viewport": {"width": 600, "height": 500}});
    let (page, _) = stage.scrape("tea.test", json!({"formats": [full]})).await;
    let url = page["screenshot"].as_str().unwrap();
    let (_, picture) = stage.service.file(&url[stage.service.address.len()..]).await;
    assert_eq!(width_of(&picture), 600);
    assert!(height_of(&picture) > 3000, "{}", height_of(&picture));
}

fn width_of(png: &[u8]) -> u32 {
    u32::from_be_bytes(png[16..20].try_into().unwrap())
}

fn height_of(png: &[u8]) -> u32 {
    u32::from_be_bytes(png[20..24].try_into().unwrap())
}

#[tokio::test]
async fn all_actions_leave_what_they_are_for() {
    let Some(stage) = tea("all_actions_leave_what_they_are_for").await else { return };
    let actions = json!([
        {"type": "wait", "milliseconds": 10},
        {"type": "wait", "selector": "#more"},
        {"type": "click", "selector": "#name"},
        {"type": "write", "text": "Ada"},
        {"type": "press", "key": "Tab"},
        {"type": "click", "selector": "#more"},
        {"type": "scroll", "direction": "down"},
        {"type": "screenshot", "quality": 50},
        {"type": "scrape"},
        {"type": "executeJavascript", "script": "return {'answer': [40 + 2]}"},
        {"type": "executeJavascript", "script": "document.title"},
        {"type": "pdf", "format": "A4", "landscape": true},
    ]);
    let (page, warning) =
        stage.scrape("tea.test", json!({"formats": ["markdown"], "actions": actions})).await;
    let done = &page["actions"];
    assert!(
        page["markdown"].as_str().unwrap_or_default().contains("More was asked for by Ada."),
        "{page} {warning}"
    );
    assert_eq!(done["javascriptReturns"][0], json!({"type": "object", "value": {"answer": [42]}}));
    assert_eq!(done["javascriptReturns"][1], json!({"type": "string", "value": "Tea"}));
    assert_eq!(done["scrapes"][0]["url"], json!("http://tea.test/"));
    assert!(done["scrapes"][0]["html"].as_str().unwrap().contains("More was asked for by Ada."), "{done}");
    for (file, expected, magic) in [
        (&done["screenshots"][0], "image/jpeg", &b"\xff\xd8\xff"[..]),
        (&done["pdfs"][0], "application/pdf", &b"%PDF-"[..]),
    ] {
        let url = file.as_str().unwrap();
        let (kind, bytes) = stage.service.file(&url[stage.service.address.len()..]).await;
        assert_eq!(kind, expected);
        assert!(bytes.starts_with(magic), "{url}");
    }
    // A page that was acted on is nobody else's.
    let (page, _) = stage.scrape("tea.test", json!({"formats": ["markdown"]})).await;
    assert_eq!(page["metadata"]["cacheState"], json!("miss"));
}

#[tokio::test]
async fn an_action_that_fails_names_its_place_and_why() {
    let Some(stage) = tea("an_action_that_fails_names_its_place_and_why").await else { return };
    let actions = json!([{"type": "wait", "milliseconds": 1}, {"type": "click", "selector": "#not-there"}]);
    let (page, _) = stage.scrape("tea.test", json!({"formats": ["markdown"], "actions": actions})).await;
    let error = page["metadata"]["error"].as_str().unwrap_or_else(|| panic!("{page}"));
    assert!(
        error.starts_with("SCRAPE_ACTION_ERROR: action 1 (click)") && error.contains("#not-there"),
        "{error}"
    );
}

#[tokio::test]
async fn a_place_is_emulated() {
    let Some(stage) = tea("a_place_is_emulated").await else { return };
    for (location, expected) in [
        (json!({"country": "DE"}), "A script wrote this in Europe/Berlin for de-DE."),
        (
            json!({"country": "JP", "languages": ["fr-FR", "en"]}),
            "A script wrote this in Asia/Tokyo for fr-FR.",
        ),
    ] {
        let (page, _) =
            stage.scrape("tea.test", json!({"formats": ["markdown"], "location": location})).await;
        assert!(page["markdown"].as_str().unwrap_or_default().contains(expected), "{page}");
    }
}

#[tokio::test]
async fn a_telephone_and_banners_are_as_asked_for() {
    let test = "a_telephone_and_banners_are_as_asked_for";
    let Some(chromium) = provided("WEBSVC_TEST_CHROMIUM", test) else { return };
    let advert = "http://securepubads.g.doubleclick.net/tag/js/gpt.js";
    let html = format!(
        "<meta name=viewport content='width=device-width'><h1>News of the day</h1><p id=ad>quiet</p>
         <div id=onetrust-banner-sdk>We value your privacy</div><script src={advert}></script>"
    );
    let world = World::builder()
        .page("http://news.test/", Page::html(html))
        .page(advert, Page::new("text/javascript", "document.querySelector('#ad').textContent = 'loud'"));
    let stage = Stage::start(world, chromium, &["http://news.test/"]).await;
    let look = "return [innerWidth, navigator.maxTouchPoints, document.querySelector('#ad').textContent,
                getComputedStyle(document.querySelector('#onetrust-banner-sdk')).display]";
    let actions = json!([{"type": "executeJavascript", "script": look}]);
    for (options, expected) in [
        (json!({}), json!([1280, 0, "quiet", "none"])),
        (json!({"blockAds": false}), json!([1280, 0, "loud", "block"])),
        (json!({"mobile": true}), json!([390, 5, "quiet", "none"])),
    ] {
        let mut options = options;
        options["actions"] = actions.clone();
        options["formats"] = json!(["markdown"]);
        let (page, warning) = stage.scrape("news.test", options.clone()).await;
        let returned = &page["actions"]["javascriptReturns"][0]["value"];
        assert_eq!(*returned, expected, "{options} {page} {warning}");
    }
}

#[tokio::test]
async fn a_page_in_the_browser_reaches_nothing_that_the_guard_refuses() {
    let test = "a_page_in_the_browser_reaches_nothing_that_the_guard_refuses";
    let Some(chromium) = provided("WEBSVC_TEST_CHROMIUM", test) else { return };
    let canary = Canary::start().await;
    let target = format!("http://{}/", canary.addr());
    let html = format!(
        "<h1>A page that looks around</h1><p id=out>nothing yet</p><img src={target}i><iframe src={target}f></iframe>
         <script>fetch('{target}x', {{mode: 'no-cors'}}).then(() => out.textContent = 'reached',
         () => out.textContent = 'refused')</script>"
    );
    let world = World::builder().page("http://spy.test/", Page::html(html));
    let stage = Stage::start(world, chromium, &["http://spy.test/"]).await;
    let (page, warning) = stage.scrape("spy.test", json!({"formats": ["markdown"], "waitFor": 300})).await;
    assert!(page["markdown"].as_str().unwrap_or_default().contains("refused"), "{page}");
    assert!(warning.as_str().unwrap_or_default().contains("refused a connection to 127.0.0.1"), "{warning}");
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn without_a_browser_nothing_is_silently_left_out() {
    let world = World::builder().page("http://tea.test/", Page::html(TEA)).start().await;
    let service = Service::of(&world);
    let request = |options: Value| json!({"query": "tea", "scrapeOptions": options});
    let answer =
        service.search(request(json!({"actions": [{"type": "scrape"}], "formats": ["markdown"]}))).await;
    assert_eq!((answer.status.as_u16(), &answer.body["code"]), (400, &json!("SCRAPE_ACTIONS_NOT_SUPPORTED")));
    for (options, named) in [
        (json!({"formats": ["screenshot"]}), "screenshot"),
        (json!({"formats": ["markdown"], "waitFor": 5}), "waitFor"),
    ] {
        let answer = service.search(request(options)).await;
        let warning = answer.body["warning"].as_str().unwrap();
        assert!(warning.contains(named) && !warning.contains("there is no screenshot"), "{warning}");
    }
}
