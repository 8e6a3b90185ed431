//! What one page keeps and another finds: cookies and storage, of its own profile and of nobody else's.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use websvc_browser::{Changes, Cookie, RenderRequest, RenderedPage, Session, State, Step};
use websvc_testkit::{Page, TestWeb, TestWebBuilder};
use websvc_transport::TlsPolicy;

use crate::support::{Stage, request, stage, within};

/// Says what a page finds when its first script runs, and what requests were sent with.
const LOOK: &str = "<!DOCTYPE html><title>look</title><p id=found></p><script>
    found.textContent = [document.cookie, localStorage.getItem('name'), sessionStorage.getItem('tab')].join('|')
    </script>";

/// Opens and fills a database; `value` is any expression.
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

/// Returns the value that `STORE` has stored.
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

fn world() -> TestWebBuilder {
    TestWeb::builder().page("http://a.test/", Page::html(LOOK)).page("http://b.test/", Page::html(LOOK))
}

impl Stage {
    /// Opens a page with a state, runs a script there, and returns the page and what the script gave.
    async fn with(&self, url: &str, state: State, script: &str) -> (RenderedPage, Value) {
        let steps = vec![Step::Script(script.to_owned())];
        let request = RenderRequest { steps, session: session(state, Changes::Kept), ..request(url) };
        let mut rendered = self.open(&request).await.unwrap();
        let value = rendered.returns.pop().unwrap().value;
        (rendered, value)
    }

    /// Returns the state after a script.
    async fn after_script(&self, url: &str, state: State, script: &str) -> State {
        let (rendered, _) = self.with(url, state, script).await;
        assert_eq!(rendered.warnings, Vec::<String>::new());
        rendered.state.unwrap()
    }

    async fn finds(&self, url: &str, state: State) -> String {
        let (_, found) = self.with(url, state, "document.querySelector('#found').textContent").await;
        found.as_str().unwrap().to_owned()
    }
}

/// Returns a state after its bytes were changed as JSON.
fn changed(state: &State, change: impl FnOnce(&mut Value)) -> State {
    let mut value: Value = serde_json::from_slice(&state.to_bytes()).unwrap();
    change(&mut value);
    State::from_bytes(value.to_string().as_bytes()).unwrap()
}

#[tokio::test]
async fn what_a_page_keeps_is_there_before_the_first_script_of_the_next() {
    let sets = Page::html(LOOK).header("set-cookie", "until=tomorrow; Max-Age=86400; SameSite=Lax");
    let Some(stage) = stage(world().page("http://a.test/set", sets)).await else { return };
    let script = "document.cookie = 'visit=1'; localStorage.setItem('name', 'Ada \\ud800 \u{1f375}');
        sessionStorage.setItem('tab', 'one')";
    let state = stage.after_script("http://a.test/set", State::default(), script).await;
    let found = stage.finds("http://a.test/", state.clone()).await;
    assert!(found.contains("until=tomorrow") && found.contains("visit=1"), "{found}");
    assert!(found.ends_with("|Ada \u{fffd} \u{1f375}|one"), "{found}");
    // Another origin finds nothing of it, and neither does a page without the state.
    assert_eq!(stage.finds("http://b.test/", state.clone()).await, "||");
    assert_eq!(stage.finds("http://a.test/", State::default()).await, "||");
    // It survives pages that only look, and its bytes.
    let (seen, _) = stage.with("http://b.test/", state, "1").await;
    let again = State::from_bytes(&seen.state.unwrap().to_bytes()).unwrap();
    assert_eq!(stage.finds("http://a.test/", again).await, found);
    stage.browser.stop().await;
}

#[tokio::test]
async fn values_of_every_kind_come_back_from_a_database() {
    let Some(stage) = stage(world()).await else { return };
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
    let state = stage.after_script("http://a.test/", State::default(), &script).await;
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
    let (_, failed) = stage.with("http://a.test/", state, &script).await;
    assert_eq!(failed, json!([]));
    stage.browser.stop().await;
}

#[tokio::test]
async fn databases_come_back_with_their_stores_keys_and_indexes() {
    let Some(stage) = stage(world()).await else { return };
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
            // The last numbers are given out and taken back.
            const counted = request.result.transaction('counted', 'readwrite');
            for (let n = 0; n < 10; n++) counted.objectStore('counted').add(n);
            counted.objectStore('counted').delete(IDBKeyRange.lowerBound(4));
            counted.oncomplete = () => { request.result.close(); resolve(1) };
            counted.onabort = () => reject(counted.error);
        };
    })";
    let state = stage.after_script("http://a.test/", State::default(), script).await;
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
    let (_, found) = stage.with("http://a.test/", state, script).await;
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
    stage.browser.stop().await;
}

#[tokio::test]
async fn every_origin_that_was_visited_is_kept_and_nothing_leaves_for_it() {
    let Some(stage) = stage(world()).await else { return };
    let steps = vec![
        Step::Script("localStorage.setItem('name', 'first'); location = 'http://b.test/'; 1".to_owned()),
        Step::Script("localStorage.setItem('name', 'second')".to_owned()),
    ];
    let first = RenderRequest {
        steps,
        session: session(State::default(), Changes::Kept),
        ..request("http://a.test/")
    };
    let state = stage.open(&first).await.unwrap().state.unwrap();
    let hosts = |stage: &Stage| -> Vec<String> {
        stage.world.requests().iter().map(|request| request.url.clone()).collect()
    };
    assert_eq!(hosts(&stage), ["http://a.test/", "http://b.test/"]);
    stage.world.clear_requests();
    assert_eq!(stage.finds("http://b.test/", state.clone()).await, "|second|");
    assert_eq!(hosts(&stage), ["http://b.test/"]);
    assert_eq!(stage.finds("http://a.test/", state).await, "|first|");
    stage.browser.stop().await;
}

#[tokio::test]
async fn cookies_keep_their_hosts_and_flags_and_end_with_their_time() {
    let sets = Page::html(LOOK)
        .header("set-cookie", "host=1; HttpOnly")
        .header("set-cookie", "wide=1; Domain=a.test; Max-Age=86400")
        .header("set-cookie", "below=1; Path=/below")
        .header("set-cookie", "gone=1; Max-Age=86400");
    let world = world().page("http://a.test/set", sets).page("http://sub.a.test/", Page::html(LOOK));
    let Some(stage) = stage(world).await else { return };
    let state = stage.after_script("http://a.test/set", State::default(), "1").await;
    let state = changed(&state, |state| {
        for cookie in state["cookies"].as_array_mut().unwrap() {
            if cookie["name"] == "gone" {
                cookie["expires"] = json!(1_000_000_000);
            }
        }
    });
    stage.world.clear_requests();
    // What scripts cannot see is sent all the same.
    assert_eq!(stage.finds("http://a.test/", state.clone()).await, "wide=1||");
    let sent = |stage: &Stage| -> Vec<String> {
        let requests = stage.world.requests();
        let sent = requests.last().unwrap().headers["cookie"].to_str().unwrap().to_owned();
        let mut sent: Vec<String> = sent.split("; ").map(str::to_owned).collect();
        sent.sort();
        sent
    };
    assert_eq!(sent(&stage), ["host=1", "wide=1"]);
    assert_eq!(stage.finds("http://sub.a.test/", state.clone()).await, "wide=1||");
    let (seen, _) = stage.with("http://b.test/", state, "1").await;
    let bytes = String::from_utf8(seen.state.unwrap().to_bytes()).unwrap();
    assert!(bytes.contains("below") && !bytes.contains("gone"), "{bytes}");
    stage.browser.stop().await;
}

#[tokio::test]
async fn cookies_of_the_caller_are_kept_only_if_the_page_sets_them() {
    let sets = Page::html(LOOK).header("set-cookie", "both=caller");
    let Some(stage) = stage(world().page("http://a.test/set", sets)).await else { return };
    let before = stage.after_script("http://a.test/", State::default(), "document.cookie = 'mine=old'").await;
    let cookie = |name: &str, value: &str| Cookie { name: name.to_owned(), value: value.to_owned() };
    let request = RenderRequest {
        cookies: vec![cookie("mine", "callers"), cookie("both", "caller"), cookie("key", "callers")],
        session: session(before, Changes::Kept),
        ..request("http://a.test/set")
    };
    let rendered = stage.open(&request).await.unwrap();
    assert!(
        rendered.html.contains("mine=callers") && rendered.html.contains("key=callers"),
        "{}",
        rendered.html
    );
    let found = stage.finds("http://a.test/", rendered.state.unwrap()).await;
    let mut cookies: Vec<&str> = found.trim_end_matches('|').split("; ").collect();
    cookies.sort_unstable();
    assert_eq!(cookies, ["both=caller", "mine=old"]);
    stage.browser.stop().await;
}

#[tokio::test]
async fn what_cannot_be_kept_is_named_and_the_rest_is_kept() {
    let Some(stage) = stage(world()).await else { return };
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
    let (rendered, _) = stage.with("http://a.test/", State::default(), script).await;
    let expected = "of the storage of http://a.test could not be kept: DOMPoint in kept/points";
    assert_eq!(rendered.warnings, [expected]);
    let script = "return new Promise((resolve) => {
        const request = indexedDB.open('kept');
        request.onsuccess = () => {
            const keys = request.result.transaction('points').objectStore('points').getAllKeys();
            keys.onsuccess = () => resolve(keys.result);
        };
    })";
    let (_, keys) = stage.with("http://a.test/", rendered.state.unwrap(), script).await;
    assert_eq!(keys, json!(["text"]));
    stage.browser.stop().await;
}

#[tokio::test]
async fn storage_beyond_the_bounds_stays_as_it_was() {
    let Some(stage) = stage(world()).await else { return };
    let state =
        stage.after_script("http://a.test/", State::default(), "localStorage.setItem('name', 'small')").await;
    let script = format!(
        "{STORE} localStorage.setItem('name', 'large'); return stored(new Blob([new Uint8Array(4e7)]))"
    );
    let (rendered, _) = stage.with("http://a.test/", state.clone(), &script).await;
    assert_eq!(rendered.warnings, ["the storage of http://a.test is larger than 32 MiB and stays as it was"]);
    assert_eq!(stage.finds("http://a.test/", rendered.state.unwrap()).await, "|small|");
    let full = changed(&state, |state| {
        let text = state["origins"]["http://a.test"].clone();
        state["origins"] = (0..64)
            .map(|n| (format!("http://{n}.test"), text.clone()))
            .collect::<serde_json::Map<_, _>>()
            .into();
    });
    let (rendered, _) =
        stage.with("http://a.test/", full.clone(), "localStorage.setItem('name', 'one more')").await;
    let expected = "the storage of http://a.test was not kept: the profile has that of 64 origins already";
    assert_eq!(rendered.warnings, [expected]);
    assert_eq!(rendered.state.unwrap(), full);
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_state_that_is_only_read_is_not_taken_and_one_without_time_is_told() {
    let Some(stage) = stage(world()).await else { return };
    let state =
        stage.after_script("http://a.test/", State::default(), "localStorage.setItem('name', 'old')").await;
    let reading =
        RenderRequest { session: session(state.clone(), Changes::Forgotten), ..request("http://a.test/") };
    let rendered = stage.open(&reading).await.unwrap();
    assert!(rendered.html.contains("|old|") && rendered.state.is_none(), "{}", rendered.html);
    // A page that does not let itself be left is given up, and what it shows is there all the same.
    let script = "addEventListener('pagehide', () => { for (;;) {} })";
    let request = RenderRequest {
        steps: vec![Step::Script(script.to_owned())],
        session: session(state, Changes::Kept),
        ..within("http://a.test/", Duration::from_secs(6))
    };
    let rendered = stage.open(&request).await.unwrap();
    assert!(rendered.html.contains("|old|"), "{}", rendered.html);
    assert!(rendered.state.is_none());
    assert!(rendered.warnings[0].contains("no time to save the profile"), "{:?}", rendered.warnings);
    stage.browser.stop().await;
}

#[tokio::test]
async fn workers_of_a_page_neither_answer_for_it_nor_let_anything_out() {
    let worker = "addEventListener('install', () => skipWaiting());
        addEventListener('activate', (event) => event.waitUntil(clients.claim()));
        addEventListener('fetch', (event) => event.respondWith(fetch(event.request)));";
    // Workers need a host that is trusted, as this machine is.
    let world = TestWeb::builder()
        .page("http://shop.localhost/", Page::html(LOOK))
        .page("http://shop.localhost/worker.js", Page::new("text/javascript", worker));
    let Some(stage) = stage(world).await else { return };
    let script = "localStorage.setItem('name', 'safe'); await navigator.serviceWorker.register('/worker.js');
        await navigator.serviceWorker.ready;
        while (!navigator.serviceWorker.controller) await new Promise((go) => setTimeout(go, 10));
        return 'controlled'";
    let (rendered, value) = stage.with("http://shop.localhost/", State::default(), script).await;
    assert_eq!((value, rendered.warnings), (json!("controlled"), vec![]));
    assert_eq!(stage.world.count("http://shop.localhost/"), 1);
    assert_eq!(stage.finds("http://shop.localhost/", rendered.state.unwrap()).await, "|safe|");
    stage.browser.stop().await;
}

#[tokio::test]
async fn secure_origins_and_partitions_are_kept_apart() {
    let sets = Page::html(LOOK)
        .header("set-cookie", "part=1; Path=/; Secure; SameSite=None; Partitioned")
        .header("set-cookie", "safe=1; Path=/; Secure");
    let Some(stage) = stage(world().page("https://a.test/", sets)).await else { return };
    let https = |state: State, script: &str| RenderRequest {
        tls: TlsPolicy::SkipVerification,
        steps: vec![Step::Script(script.to_owned())],
        session: session(state, Changes::Kept),
        ..request("https://a.test/?")
    };
    let setting = https(State::default(), "localStorage.setItem('name', 'secret')");
    let state = stage.open(&setting).await.unwrap().state.unwrap();
    let again = https(state.clone(), "document.querySelector('#found').textContent");
    let found = stage.open(&again).await.unwrap().returns.pop().unwrap().value;
    let (cookies, storage) = found.as_str().unwrap().split_once('|').unwrap();
    assert!(cookies.contains("safe=1") && cookies.contains("part=1"), "{cookies}");
    assert_eq!(storage, "secret|");
    assert_eq!(stage.finds("http://a.test/", state.clone()).await, "||");
    let kept: Value = serde_json::from_slice(&state.to_bytes()).unwrap();
    let part = kept["cookies"].as_array().unwrap().iter().find(|cookie| cookie["name"] == "part").unwrap();
    assert_eq!(part["partitionKey"]["topLevelSite"], json!("https://a.test"));
    stage.browser.stop().await;
}
