//! The state of a session: cookies and storage that one page writes and a later page of the same profile reads.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use websvc_browser::{Changes, Cookie, RenderRequest, RenderedPage, Session, State, Step};
use websvc_testkit::{Page, TestWeb, TestWebBuilder};
use websvc_transport::TlsPolicy;

use crate::support::{Setup, request, request_within, setup};

/// A page that shows the cookies and storage at the start of its first script.
const SHOW: &str = "<!DOCTYPE html><title>look</title><p id=found></p><script>
    found.textContent = [document.cookie, localStorage.getItem('name'), sessionStorage.getItem('tab')].join('|')
    </script>";

/// A function that creates a database and stores a value in it.
const STORE: &str = "const stored = (value) => new Promise((resolve, reject) => {
        const request = indexedDB.open('notes', 3);
        request.onupgradeneeded = () => request.result.createObjectStore('kinds');
        request.onsuccess = () => {
            const writing = request.result.transaction('kinds', 'readwrite');
            writing.objectStore('kinds').put(value, 'all');
            writing.oncomplete = () => { request.result.close(); resolve('stored') };
            writing.onabort = () => reject(writing.error);
        };
    });";

/// A function that returns the value stored by [`STORE`].
const LOAD: &str = "const loaded = () => new Promise((resolve, reject) => {
        const request = indexedDB.open('notes');
        request.onsuccess = () => {
            const reading = request.result.transaction('kinds').objectStore('kinds').get('all');
            reading.onsuccess = () => resolve(reading.result);
            reading.onerror = () => reject(reading.error);
        };
    });";

fn session(state: State, changes: Changes) -> Option<Session> {
    Some(Session { state: Arc::new(state), changes })
}

fn web() -> TestWebBuilder {
    TestWeb::builder().page("http://a.test/", Page::html(SHOW)).page("http://b.test/", Page::html(SHOW))
}

impl Setup {
    /// Renders a page with a state, runs a script in it, and returns the page and the value of the script.
    async fn run_with_state(&self, url: &str, state: State, script: &str) -> (RenderedPage, Value) {
        let steps = vec![Step::Script(script.to_owned())];
        let request = RenderRequest { steps, session: session(state, Changes::Captured), ..request(url) };
        let mut rendered = self.open(&request).await.unwrap();
        let value = rendered.returns.pop().unwrap().value;
        (rendered, value)
    }

    /// Returns the captured state after a script.
    async fn state_after(&self, url: &str, state: State, script: &str) -> State {
        let (rendered, _) = self.run_with_state(url, state, script).await;
        assert_eq!(rendered.warnings, Vec::<String>::new());
        rendered.state.unwrap()
    }

    /// Returns the cookies and storage that [`SHOW`] shows.
    async fn shown(&self, url: &str, state: State) -> String {
        let (_, found) =
            self.run_with_state(url, state, "document.querySelector('#found').textContent").await;
        found.as_str().unwrap().to_owned()
    }
}

/// Returns a state after a change of its JSON.
fn modified(state: &State, change: impl FnOnce(&mut Value)) -> State {
    let mut value: Value = serde_json::from_slice(&state.to_bytes()).unwrap();
    change(&mut value);
    State::from_bytes(value.to_string().as_bytes()).unwrap()
}

#[tokio::test]
async fn captured_state_is_restored_before_the_first_script() {
    let sets = Page::html(SHOW).header("set-cookie", "until=tomorrow; Max-Age=86400; SameSite=Lax");
    let Some(setup) = setup(web().page("http://a.test/set", sets)).await else { return };
    let script = "document.cookie = 'visit=1'; localStorage.setItem('name', 'Ada \\ud800 \u{1f375}');
        sessionStorage.setItem('tab', 'one')";
    let state = setup.state_after("http://a.test/set", State::default(), script).await;
    let found = setup.shown("http://a.test/", state.clone()).await;
    assert!(found.contains("until=tomorrow") && found.contains("visit=1"), "{found}");
    assert!(found.ends_with("|Ada \u{fffd} \u{1f375}|one"), "{found}");
    // It is not visible to another origin, or to a page without the state.
    assert_eq!(setup.shown("http://b.test/", state.clone()).await, "||");
    assert_eq!(setup.shown("http://a.test/", State::default()).await, "||");
    // Pages that change nothing preserve it, as does serialization.
    let (seen, _) = setup.run_with_state("http://b.test/", state, "1").await;
    let again = State::from_bytes(&seen.state.unwrap().to_bytes()).unwrap();
    assert_eq!(setup.shown("http://a.test/", again).await, found);
    setup.browser.stop().await;
}

#[tokio::test]
async fn database_values_of_every_type_are_restored() {
    let Some(setup) = setup(web()).await else { return };
    let script = format!(
        "{STORE} const twice = {{ of: 'twice' }}; const self = {{ name: 'self' }}; self.self = self;
        const buffer = new Uint8Array([1, 2, 250]).buffer; let deep = 'bottom';
        for (let n = 0; n < 2000; n++) deep = [deep];
        const sparse = [1, , 3]; sparse.extra = true;
        return stored({{
            none: undefined, zero: -0, nan: NaN, far: -Infinity, big: 2n ** 80n, empty: null, text: 'a\\ud800b',
            when: new Date(1234567890123), never: new Date(NaN), like: /a+/gi, boxed: Object('boxed'),
            map: new Map([[twice, new Set([1, 'x', twice])]]), self, deep, sparse, buffer,
            bytes: new Uint8Array(buffer, 1, 2), floats: new Float64Array([0.5, NaN]),
            view: new DataView(buffer, 2), blob: new Blob(['tea'], {{ type: 'text/plain' }}),
            file: new File(['leaf'], 'leaf.txt', {{ type: 'text/x', lastModified: 7 }}),
            error: new TypeError('no tea', {{ cause: twice }}), image: new ImageData(2, 3),
            ['__proto__']: 'own' in {{}}, large: new Uint8Array(100000).fill(7),
        }})"
    );
    let state = setup.state_after("http://a.test/", State::default(), &script).await;
    let script = format!(
        "{LOAD} const v = await loaded(); const failed = [];
        const is = (name, condition) => {{ if (!condition) failed.push(name) }};
        is('none', 'none' in v && v.none === undefined); is('zero', Object.is(v.zero, -0));
        is('nan', Number.isNaN(v.nan)); is('far', v.far === -Infinity); is('big', v.big === 2n ** 80n);
        is('empty', v.empty === null); is('text', v.text === 'a\\ud800b');
        is('when', v.when instanceof Date && v.when.getTime() === 1234567890123);
        is('never', v.never instanceof Date && Number.isNaN(v.never.getTime()));
        is('like', v.like.source === 'a+' && v.like.flags === 'gi');
        is('boxed', typeof v.boxed === 'object' && v.boxed == 'boxed');
        const [[key, set]] = [...v.map]; is('map', key.of === 'twice' && set.has(key) && set.has('x'));
        is('self', v.self.self === v.self);
        let deep = v.deep, depth = 0; while (Array.isArray(deep)) {{ deep = deep[0]; depth++ }}
        is('deep', depth === 2000 && deep === 'bottom');
        is('sparse', v.sparse.length === 3 && !(1 in v.sparse) && v.sparse.extra === true);
        is('buffer', v.buffer instanceof ArrayBuffer && new Uint8Array(v.buffer)[2] === 250);
        is('bytes', v.bytes.buffer === v.buffer && v.bytes.byteOffset === 1 && v.bytes.length === 2);
        is('floats', v.floats[0] === 0.5 && Number.isNaN(v.floats[1]));
        is('view', v.view instanceof DataView && v.view.getUint8(0) === 250);
        is('blob', v.blob.type === 'text/plain' && await v.blob.text() === 'tea');
        is('file', v.file instanceof File && v.file.name === 'leaf.txt' && v.file.lastModified === 7
            && await v.file.text() === 'leaf');
        is('error', v.error instanceof TypeError && v.error.message === 'no tea');
        is('image', v.image instanceof ImageData && v.image.width === 2 && v.image.height === 3);
        is('proto', Object.hasOwn(v, '__proto__') && v['__proto__'] === false);
        is('large', v.large.length === 100000 && v.large.every((byte) => byte === 7));
        return failed"
    );
    let (_, failed) = setup.run_with_state("http://a.test/", state, &script).await;
    assert_eq!(failed, json!([]));
    setup.browser.stop().await;
}

#[tokio::test]
async fn databases_are_restored_with_stores_keys_and_indexes() {
    let Some(setup) = setup(web()).await else { return };
    let script = "return new Promise((resolve, reject) => {
        const request = indexedDB.open('shop', 7);
        request.onupgradeneeded = () => {
            const made = request.result;
            const inline = made.createObjectStore('inline', { keyPath: 'deep.id', autoIncrement: true });
            inline.createIndex('tags', 'tags', { multiEntry: true });
            inline.createIndex('pair', ['a', 'b'], { unique: true });
            const loose = made.createObjectStore('loose');
            made.createObjectStore('counted', { autoIncrement: true });
            made.createObjectStore('empty', { keyPath: ['x', 'y'] });
            for (let n = 0; n < 120; n++) inline.add({ tags: ['t' + n % 3, 'all'], a: n, b: 1 });
            const keys = [new Uint8Array([9, 8]), new Date(5), 'text', -Infinity, [1, ['two']], 0.25];
            for (const key of keys) loose.put('value', key);
        };
        request.onsuccess = () => {
            // Uses the key generator and deletes the last records.
            const counted = request.result.transaction('counted', 'readwrite');
            for (let n = 0; n < 10; n++) counted.objectStore('counted').add(n);
            counted.objectStore('counted').delete(IDBKeyRange.lowerBound(4));
            counted.oncomplete = () => { request.result.close(); resolve(1) };
            counted.onabort = () => reject(counted.error);
        };
    })";
    let state = setup.state_after("http://a.test/", State::default(), script).await;
    let script = "const done = (request) => new Promise((resolve, reject) => {
            request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error) });
        const shop = await done(indexedDB.open('shop'));
        const store = (name) => shop.transaction(name, 'readwrite').objectStore(name);
        const inline = store('inline'), tags = inline.index('tags'), pair = inline.index('pair');
        const keys = await done(store('loose').getAllKeys());
        const unique = await done(store('inline').add({ a: 3, b: 1 })).catch((error) => error.name);
        return [shop.version, [...shop.objectStoreNames], inline.keyPath, inline.autoIncrement, tags.multiEntry,
            pair.keyPath, pair.unique, store('empty').keyPath,
            await done(store('inline').index('tags').count('t1')), await done(store('inline').count()),
            (await done(store('inline').get(100))).a, await done(store('inline').add({ a: -1, b: 1 })),
            keys.map((key) => key instanceof ArrayBuffer ? [...new Uint8Array(key)] : key instanceof Date ? +key
                : key === -Infinity ? '-' : key),
            await done(store('counted').getAllKeys()), await done(store('counted').add('next')), unique]";
    let (_, found) = setup.run_with_state("http://a.test/", state, script).await;
    let expected = json!([
        7,
        ["counted", "empty", "inline", "loose"],
        "deep.id",
        true,
        true,
        ["a", "b"],
        true,
        ["x", "y"],
        40,
        120,
        99,
        121,
        ["-", 0.25, 5, "text", [9, 8], [1, ["two"]]],
        [1, 2, 3],
        11,
        "ConstraintError"
    ]);
    assert_eq!(found, expected);
    setup.browser.stop().await;
}

#[tokio::test]
async fn every_visited_origin_is_captured_without_network_requests() {
    let Some(setup) = setup(web()).await else { return };
    let steps = vec![
        Step::Script("localStorage.setItem('name', 'first'); location = 'http://b.test/'; 1".to_owned()),
        Step::Script("localStorage.setItem('name', 'second')".to_owned()),
    ];
    let first = RenderRequest {
        steps,
        session: session(State::default(), Changes::Captured),
        ..request("http://a.test/")
    };
    let state = setup.open(&first).await.unwrap().state.unwrap();
    let hosts = |setup: &Setup| -> Vec<String> {
        let urls = setup.web.requests().into_iter().map(|request| request.url);
        // The whole Chromium requests the icons of pages.
        urls.filter(|url| !url.ends_with("/favicon.ico")).collect()
    };
    assert_eq!(hosts(&setup), ["http://a.test/", "http://b.test/"]);
    setup.web.clear_requests();
    assert_eq!(setup.shown("http://b.test/", state.clone()).await, "|second|");
    assert_eq!(hosts(&setup), ["http://b.test/"]);
    assert_eq!(setup.shown("http://a.test/", state).await, "|first|");
    setup.browser.stop().await;
}

#[tokio::test]
async fn cookies_are_restored_with_hosts_and_flags_unless_expired() {
    let sets = Page::html(SHOW)
        .header("set-cookie", "host=1; HttpOnly")
        .header("set-cookie", "wide=1; Domain=a.test; Max-Age=86400")
        .header("set-cookie", "below=1; Path=/below")
        .header("set-cookie", "gone=1; Max-Age=86400");
    let web = web().page("http://a.test/set", sets).page("http://sub.a.test/", Page::html(SHOW));
    let Some(setup) = setup(web).await else { return };
    let state = setup.state_after("http://a.test/set", State::default(), "1").await;
    let state = modified(&state, |state| {
        for cookie in state["cookies"].as_array_mut().unwrap() {
            if cookie["name"] == "gone" {
                cookie["expires"] = json!(1_000_000_000);
            }
        }
    });
    setup.web.clear_requests();
    // HttpOnly cookies are sent, although scripts cannot read them.
    assert_eq!(setup.shown("http://a.test/", state.clone()).await, "wide=1||");
    let sent = |setup: &Setup| -> Vec<String> {
        let requests = setup.web.requests();
        let sent = requests.last().unwrap().headers["cookie"].to_str().unwrap().to_owned();
        let mut sent: Vec<String> = sent.split("; ").map(str::to_owned).collect();
        sent.sort();
        sent
    };
    assert_eq!(sent(&setup), ["host=1", "wide=1"]);
    assert_eq!(setup.shown("http://sub.a.test/", state.clone()).await, "wide=1||");
    let (seen, _) = setup.run_with_state("http://b.test/", state, "1").await;
    let bytes = String::from_utf8(seen.state.unwrap().to_bytes()).unwrap();
    assert!(bytes.contains("below") && !bytes.contains("gone"), "{bytes}");
    setup.browser.stop().await;
}

#[tokio::test]
async fn cookies_of_the_caller_are_captured_only_if_the_page_sets_them() {
    let sets = Page::html(SHOW).header("set-cookie", "both=caller");
    let Some(setup) = setup(web().page("http://a.test/set", sets)).await else { return };
    let before = setup.state_after("http://a.test/", State::default(), "document.cookie = 'mine=old'").await;
    let cookie = |name: &str, value: &str| Cookie { name: name.to_owned(), value: value.to_owned() };
    let request = RenderRequest {
        cookies: vec![cookie("mine", "callers"), cookie("both", "caller"), cookie("key", "callers")],
        session: session(before, Changes::Captured),
        ..request("http://a.test/set")
    };
    let rendered = setup.open(&request).await.unwrap();
    assert!(
        rendered.html.contains("mine=callers") && rendered.html.contains("key=callers"),
        "{}",
        rendered.html
    );
    let found = setup.shown("http://a.test/", rendered.state.unwrap()).await;
    let mut cookies: Vec<&str> = found.trim_end_matches('|').split("; ").collect();
    cookies.sort_unstable();
    assert_eq!(cookies, ["both=caller", "mine=old"]);
    setup.browser.stop().await;
}

#[tokio::test]
async fn values_that_cannot_be_captured_are_named_in_a_warning() {
    let Some(setup) = setup(web()).await else { return };
    let script = "return new Promise((resolve, reject) => {
        const request = indexedDB.open('kept');
        request.onupgradeneeded = () => request.result.createObjectStore('points');
        request.onsuccess = () => {
            const writing = request.result.transaction('points', 'readwrite');
            writing.objectStore('points').put({ at: new DOMPoint(1, 2) }, 'point');
            writing.objectStore('points').put('kept', 'text');
            writing.oncomplete = () => { request.result.close(); resolve(1) };
            writing.onabort = () => reject(writing.error);
        };
    })";
    let (rendered, _) = setup.run_with_state("http://a.test/", State::default(), script).await;
    let expected = "parts of the storage of http://a.test could not be saved: DOMPoint in kept/points";
    assert_eq!(rendered.warnings, [expected]);
    let script = "return new Promise((resolve) => {
        const request = indexedDB.open('kept');
        request.onsuccess = () => {
            const keys = request.result.transaction('points').objectStore('points').getAllKeys();
            keys.onsuccess = () => resolve(keys.result);
        };
    })";
    let (_, keys) = setup.run_with_state("http://a.test/", rendered.state.unwrap(), script).await;
    assert_eq!(keys, json!(["text"]));
    setup.browser.stop().await;
}

#[tokio::test]
async fn storage_beyond_the_limits_is_not_captured() {
    let Some(setup) = setup(web()).await else { return };
    let state =
        setup.state_after("http://a.test/", State::default(), "localStorage.setItem('name', 'small')").await;
    let script = format!(
        "{STORE} localStorage.setItem('name', 'large'); return stored(new Blob([new Uint8Array(4e7)]))"
    );
    let (rendered, _) = setup.run_with_state("http://a.test/", state.clone(), &script).await;
    assert_eq!(rendered.warnings, ["the storage of http://a.test is larger than 32 MiB and was not saved"]);
    assert_eq!(setup.shown("http://a.test/", rendered.state.unwrap()).await, "|small|");
    let full = modified(&state, |state| {
        let text = state["origins"]["http://a.test"].clone();
        state["origins"] = (0..64)
            .map(|n| (format!("http://{n}.test"), text.clone()))
            .collect::<serde_json::Map<_, _>>()
            .into();
    });
    let (rendered, _) = setup
        .run_with_state("http://a.test/", full.clone(), "localStorage.setItem('name', 'one more')")
        .await;
    let expected = "the storage of http://a.test was not saved: the profile already has 64 origins";
    assert_eq!(rendered.warnings, [expected]);
    assert_eq!(rendered.state.unwrap(), full);
    setup.browser.stop().await;
}

#[tokio::test]
async fn state_is_not_captured_if_discarded_or_without_time() {
    let Some(setup) = setup(web()).await else { return };
    let state =
        setup.state_after("http://a.test/", State::default(), "localStorage.setItem('name', 'old')").await;
    let reading =
        RenderRequest { session: session(state.clone(), Changes::Discarded), ..request("http://a.test/") };
    let rendered = setup.open(&reading).await.unwrap();
    assert!(rendered.html.contains("|old|") && rendered.state.is_none(), "{}", rendered.html);
    // A page that blocks its unloading: the state is abandoned, but the content is returned.
    let script = "addEventListener('pagehide', () => { for (;;) {} })";
    let request = RenderRequest {
        steps: vec![Step::Script(script.to_owned())],
        session: session(state, Changes::Captured),
        ..request_within("http://a.test/", Duration::from_secs(6))
    };
    let rendered = setup.open(&request).await.unwrap();
    assert!(rendered.html.contains("|old|"), "{}", rendered.html);
    assert!(rendered.state.is_none());
    assert!(rendered.warnings[0].contains("no time to save the profile"), "{:?}", rendered.warnings);
    setup.browser.stop().await;
}

#[tokio::test]
async fn service_workers_do_not_interfere_with_capture() {
    let worker = "addEventListener('install', () => skipWaiting());
        addEventListener('activate', (event) => event.waitUntil(clients.claim()));
        addEventListener('fetch', (event) => event.respondWith(fetch(event.request)));";
    // Service workers need a secure context, as that of `localhost`.
    let web = TestWeb::builder()
        .page("http://shop.localhost/", Page::html(SHOW))
        .page("http://shop.localhost/worker.js", Page::new("text/javascript", worker));
    let Some(setup) = setup(web).await else { return };
    let script = "localStorage.setItem('name', 'safe'); await navigator.serviceWorker.register('/worker.js');
        await navigator.serviceWorker.ready;
        while (!navigator.serviceWorker.controller) await new Promise((go) => setTimeout(go, 10));
        return 'controlled'";
    let (rendered, value) = setup.run_with_state("http://shop.localhost/", State::default(), script).await;
    assert_eq!((value, rendered.warnings), (json!("controlled"), vec![]));
    assert_eq!(setup.web.count("http://shop.localhost/"), 1);
    assert_eq!(setup.shown("http://shop.localhost/", rendered.state.unwrap()).await, "|safe|");
    setup.browser.stop().await;
}

#[tokio::test]
async fn secure_origins_and_partitioned_cookies_are_separate() {
    let sets = Page::html(SHOW)
        .header("set-cookie", "part=1; Path=/; Secure; SameSite=None; Partitioned")
        .header("set-cookie", "safe=1; Path=/; Secure");
    let Some(setup) = setup(web().page("https://a.test/", sets)).await else { return };
    let https = |state: State, script: &str| RenderRequest {
        tls: TlsPolicy::SkipVerification,
        steps: vec![Step::Script(script.to_owned())],
        session: session(state, Changes::Captured),
        ..request("https://a.test/?")
    };
    let setting = https(State::default(), "localStorage.setItem('name', 'secret')");
    let state = setup.open(&setting).await.unwrap().state.unwrap();
    let again = https(state.clone(), "document.querySelector('#found').textContent");
    let found = setup.open(&again).await.unwrap().returns.pop().unwrap().value;
    let (cookies, storage) = found.as_str().unwrap().split_once('|').unwrap();
    assert!(cookies.contains("safe=1") && cookies.contains("part=1"), "{cookies}");
    assert_eq!(storage, "secret|");
    assert_eq!(setup.shown("http://a.test/", state.clone()).await, "||");
    let json: Value = serde_json::from_slice(&state.to_bytes()).unwrap();
    let part = json["cookies"].as_array().unwrap().iter().find(|cookie| cookie["name"] == "part").unwrap();
    assert_eq!(part["partitionKey"]["topLevelSite"], json!("https://a.test"));
    setup.browser.stop().await;
}
