//! Browsers of interactive sessions: clients over the DevTools protocol, tabs, state, and the end.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use websvc_browser::{
    Browser, BrowserError, CdpChannel, Changes, ClientRole, InteractiveBrowser, InteractiveRequest,
    PageTarget, Session, StartPage, State, Step,
};
use websvc_testkit::{Canary, Page, TestWeb};
use websvc_transport::{AddressGuard, ClientConfig, Resolve, ResolveFuture};

use crate::egress::{OTHER_ACCESSES, REQUESTS, web};
use crate::support::{Setup, config, request, setup, setup_page};

const PAGE: &str = "<!DOCTYPE html><title>first</title><h1>Tea</h1><script>setTimeout(() => 0, 10)</script>";

/// The time in which every command is answered.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client that waits for the response to each of its commands.
struct Client {
    channel: CdpChannel,
    last_id: u64,
    events: Vec<Value>,
}

impl Client {
    fn new(channel: CdpChannel) -> Self {
        Self { channel, last_id: 0, events: Vec::new() }
    }

    /// Sends a command and returns its response.
    async fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let mut message = json!({"id": self.last_id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.channel.send(&message.to_string()).unwrap();
        let response = tokio::time::timeout(PATIENCE, self.response(session)).await;
        let response =
            response.unwrap_or_else(|_| panic!("no response to {message}; events: {:?}", self.events));
        assert_eq!(response["sessionId"].as_str(), session);
        response
    }

    /// Returns the next message; `None` if the channel has ended.
    async fn receive(&mut self) -> Option<Value> {
        let message = tokio::time::timeout(PATIENCE, self.channel.receive()).await;
        let message = message.unwrap_or_else(|_| panic!("no message after {:?}", self.events))?;
        Some(serde_json::from_str(&message).unwrap())
    }

    /// Waits until the channel has ended.
    async fn closed(&mut self) {
        let closed = async { while self.channel.receive().await.is_some() {} };
        tokio::time::timeout(PATIENCE, closed).await.expect("the channel ends");
    }

    /// Returns the response to the last command, or the event of a crash: a crashed page answers no command.
    async fn response(&mut self, session: Option<&str>) -> Value {
        loop {
            let message = self.receive().await.expect("the channel is open");
            let is_crash =
                message["method"] == "Inspector.targetCrashed" && message["sessionId"].as_str() == session;
            if is_crash || message["id"] == self.last_id {
                return message;
            }
            self.events.push(message);
        }
    }

    async fn evaluate(&mut self, page: &PageTarget, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut response = self.call(Some(&page.session), "Runtime.evaluate", params).await;
        response["result"]["result"]["value"].take()
    }
}

async fn start(setup: &Setup, url: Option<&str>) -> InteractiveBrowser {
    start_with(setup, url, None, Vec::new()).await
}

async fn start_with(
    setup: &Setup,
    url: Option<&str>,
    session: Option<Session>,
    steps: Vec<Step>,
) -> InteractiveBrowser {
    let mut page = request(url.unwrap_or("about:blank"));
    page.session = session;
    page.steps = steps;
    let start = if url.is_some() { StartPage::Url } else { StartPage::Blank };
    setup.browser.start_interactive(InteractiveRequest { page, start }).await.unwrap()
}

async fn connect(browser: &InteractiveBrowser) -> (Client, PageTarget) {
    let (channel, page) = browser.connector().connect_to_page(ClientRole::Controls, None).await.unwrap();
    (Client::new(channel), page)
}

/// Waits until no process of a group is left. The processes of a killed Chromium end on their own, one after another.
async fn wait_until_stopped(group: i32) {
    let stopped = async {
        while is_running(group) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, stopped).await.unwrap();
}

/// Returns whether any process of a group is left that has not ended.
fn is_running(group: i32) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok()).any(|stat| {
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let fields: Vec<&str> = after_name.split_ascii_whitespace().collect();
        fields.get(2) == Some(&group.to_string().as_str()) && fields[0] != "Z"
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_keeps_its_state_between_clients_and_ends_without_a_trace() {
    let Some(setup) = setup_page(PAGE).await else { return };
    let steps = vec![Step::Script("window.mark = 'from an action'; window.open('about:blank')".to_owned())];
    let browser = start_with(&setup, Some("http://a.test/"), None, steps).await;
    let group = browser.root_pid().unwrap();
    let (mut client, page) = connect(&browser).await;
    assert_eq!(client.evaluate(&page, "[document.title, mark].join()").await, "first,from an action");
    client.evaluate(&page, "document.querySelector('h1').textContent = 'Coffee'").await;
    drop(client);
    let (mut client, page) = connect(&browser).await;
    assert_eq!(client.evaluate(&page, "document.querySelector('h1').textContent").await, "Coffee");
    let targets = client.call(None, "Target.getTargets", json!({})).await;
    let targets = targets["result"]["targetInfos"].as_array().unwrap();
    let urls: Vec<_> = targets.iter().map(|target| target["url"].as_str().unwrap()).collect();
    assert_eq!(urls, ["http://a.test/"], "exactly one tab is open");
    assert!(browser.close().await.is_none(), "no state is wanted");
    assert!(client.receive().await.is_none());
    wait_until_stopped(group).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_do_not_see_each_other_and_refused_commands_have_errors() {
    let Some(setup) = setup_page(PAGE).await else { return };
    let (first, second) = tokio::join!(start(&setup, Some("http://a.test/")), start(&setup, None));
    assert_ne!(first.root_pid(), second.root_pid());
    let (_, page) = connect(&first).await;
    let (mut client, own) = connect(&second).await;
    let targets = client.call(None, "Target.getTargets", json!({})).await;
    let targets = targets["result"]["targetInfos"].as_array().unwrap();
    assert!(targets.iter().all(|target| target["targetId"] == own.target.as_str()), "{targets:?}");
    let attach = json!({"targetId": page.target, "flatten": true});
    assert!(client.call(None, "Target.attachToTarget", attach).await["error"].is_object());
    let foreign = json!({"id": 77, "method": "Runtime.enable", "sessionId": page.session});
    client.channel.send(&foreign.to_string()).unwrap();
    let response = client.receive().await.unwrap();
    assert_eq!((&response["id"], &response["error"]["code"]), (&json!(77), &json!(-32001)));
    for (method, params) in [
        ("Browser.close", json!({})),
        ("Target.createBrowserContext", json!({"proxyServer": "http://127.0.0.1:1"})),
        ("Target.createTarget", json!({"url": "file:///etc/passwd"})),
        ("Target.exposeDevToolsProtocol", json!({"targetId": own.target})),
    ] {
        let response = client.call(None, method, params).await;
        assert!(response["error"]["message"].as_str().unwrap().contains(method), "{response}");
    }
    let navigate = json!({"url": "file:///etc/passwd"});
    let response = client.call(Some(&own.session), "Page.navigate", navigate).await;
    assert_eq!(response["error"]["code"], -32000, "{response}");
    // A script cannot open it either.
    client.evaluate(&own, "location = 'file:///etc/passwd'; 1").await;
    assert_eq!(client.evaluate(&own, "location.href").await, "about:blank");
    let downloads = json!({"behavior": "allow", "downloadPath": "/tmp"});
    let response = client.call(None, "Browser.setDownloadBehavior", downloads).await;
    assert_eq!(response["result"], json!({}), "it is answered, so that clients can connect");
    tokio::join!(first.close(), second.close());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_share_the_guarded_proxy_and_a_closed_page_is_replaced() {
    let web = TestWeb::builder()
        .page("http://a.test/", Page::html(PAGE))
        .page("http://b.test/", Page::html("<title>second</title>"));
    let Some(setup) = setup(web).await else { return };
    let browser = start(&setup, Some("http://a.test/")).await;
    let (mut client, page) = connect(&browser).await;
    let timer = "new Promise((resolve) => setTimeout(() => resolve('expired'), 20))";
    assert_eq!(client.evaluate(&page, timer).await, "expired", "the clock of the page runs");
    let created = client.call(None, "Target.createTarget", json!({"url": "about:blank"})).await;
    let target = created["result"]["targetId"].as_str().unwrap().to_owned();
    let attach = json!({"targetId": target, "flatten": true});
    let attached = client.call(None, "Target.attachToTarget", attach).await;
    let session = attached["result"]["sessionId"].as_str().unwrap().to_owned();
    let tab = PageTarget { target, session };
    for url in ["http://127.0.0.1:1/", "http://169.254.169.254/", "http://[::1]/"] {
        let response = client.call(Some(&tab.session), "Page.navigate", json!({"url": url})).await;
        assert!(response["result"]["errorText"].is_string(), "{url} {response}");
    }
    let response = client.call(Some(&tab.session), "Page.navigate", json!({"url": "http://b.test/"})).await;
    assert!(response["result"]["errorText"].is_null(), "{response}");
    assert_eq!(client.evaluate(&page, "document.title").await, "first");
    for target in [&page.target, &tab.target] {
        client.call(None, "Target.closeTarget", json!({"targetId": target})).await;
    }
    // The first page of a session may be closed; the next client gets a new one.
    let replaced = async {
        loop {
            let (client, new) = connect(&browser).await;
            if new.target != page.target && new.target != tab.target {
                return (client, new);
            }
        }
    };
    let (mut client, new) = tokio::time::timeout(PATIENCE, replaced).await.expect("the page is replaced");
    let response = client.call(Some(&new.session), "Page.navigate", json!({"url": "http://a.test/"})).await;
    assert!(response["result"]["errorText"].is_null(), "{response}");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn state_is_restored_and_captured_even_after_the_page_was_closed() {
    let Some(setup) = setup_page(PAGE).await else { return };
    let session = |state| Some(Session { state: Arc::new(state), changes: Changes::Captured });
    let write = "localStorage.setItem('name', 'Anna'); document.cookie = 'a=1; max-age=1000'; 1";
    let browser = start_with(&setup, Some("http://a.test/"), session(State::default()), Vec::new()).await;
    let (mut client, page) = connect(&browser).await;
    assert_eq!(client.evaluate(&page, write).await, 1);
    let state = browser.close().await.unwrap();
    assert_ne!(state, State::default());

    let read = "[localStorage.getItem('name'), document.cookie].join()";
    let browser = start_with(&setup, Some("http://a.test/"), session(state), Vec::new()).await;
    let (mut client, page) = connect(&browser).await;
    assert_eq!(client.evaluate(&page, read).await, "Anna,a=1");
    client.evaluate(&page, "localStorage.setItem('name', 'Bert')").await;
    // Another tab stays open.
    client.call(None, "Target.createTarget", json!({"url": "about:blank"})).await;
    client.call(None, "Target.closeTarget", json!({"targetId": page.target})).await;
    let state = browser.close().await.unwrap();

    let browser = start_with(&setup, Some("http://a.test/"), session(state), Vec::new()).await;
    let (mut client, page) = connect(&browser).await;
    assert_eq!(client.evaluate(&page, read).await, "Bert,a=1");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_chromium_ends_the_session_and_its_channels() {
    let Some(setup) = setup_page(PAGE).await else { return };
    let browser = start(&setup, None).await;
    let group = browser.root_pid().unwrap();
    let (mut client, _) = connect(&browser).await;
    let pid = rustix::process::Pid::from_raw(group).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    tokio::time::timeout(PATIENCE, browser.ended()).await.expect("the session ends");
    client.closed().await;
    assert!(client.channel.send("{}").is_err());
    assert!(browser.connector().connect().await.is_err());
    browser.close().await;
    wait_until_stopped(group).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_session_stops_its_chromium() {
    let Some(setup) = setup_page(PAGE).await else { return };
    let browser = start(&setup, None).await;
    let group = browser.root_pid().unwrap();
    drop(browser);
    wait_until_stopped(group).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dialogs_of_all_tabs_are_answered_when_the_last_client_leaves() {
    let Some(setup) = setup_page(PAGE).await else { return };
    let browser = start(&setup, None).await;
    let (mut client, page) = connect(&browser).await;
    let created = client.call(None, "Target.createTarget", json!({"url": "about:blank"})).await;
    let second = created["result"]["targetId"].as_str().unwrap().to_owned();
    // Neither the end of the first page nor a client that leaves changes the count of the others.
    client.call(None, "Target.closeTarget", json!({"targetId": page.target})).await;
    let (other, _) = connect(&browser).await;
    drop(other);
    let watching = browser.connector().connect_to_page(ClientRole::Watches, Some(second.clone())).await;
    let (channel, tab) = watching.unwrap();
    assert_eq!(tab.target, second);
    let mut watcher = Client::new(channel);
    watcher.call(Some(&tab.session), "Page.enable", json!({})).await;
    let ask = "window.answer = 'none'; setTimeout(() => { window.answer = confirm('?') }, 0); 1";
    assert_eq!(watcher.evaluate(&tab, ask).await, 1);
    let asked = async |watcher: &mut Client| {
        while !watcher.events.iter().any(|event| event["method"] == "Page.javascriptDialogOpening") {
            let message = watcher.receive().await.expect("the channel is open");
            watcher.events.push(message);
        }
    };
    tokio::time::timeout(PATIENCE, asked(&mut watcher)).await.expect("the dialog opens");
    // A viewer does not count, so no client is left to answer.
    drop(client);
    assert_eq!(watcher.evaluate(&tab, "window.answer").await, false);
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closed_streams_do_not_count() {
    let Some(setup) = setup_page(PAGE).await else { return };
    let browser = start(&setup, None).await;
    let (mut client, page) = connect(&browser).await;
    let print = json!({"transferMode": "ReturnAsStream"});
    // More streams than a client may have open.
    for _ in 0..66 {
        let printed = client.call(Some(&page.session), "Page.printToPDF", print.clone()).await;
        let handle = json!({"handle": printed["result"]["stream"]});
        let part = client.call(Some(&page.session), "IO.read", handle.clone()).await;
        assert!(part["result"]["data"].is_string(), "{part}");
        let closed = client.call(Some(&page.session), "IO.close", handle.clone()).await;
        assert_eq!(closed["result"], json!({}), "{closed}");
        let read = client.call(Some(&page.session), "IO.read", handle).await;
        assert_eq!(read["error"]["code"], -32000, "{read}");
        assert!(read["error"]["message"].as_str().unwrap().contains("has not opened"), "{read}");
    }
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_above_the_limit_is_refused_and_the_others_stay_open() {
    let Some(setup) = setup_page(PAGE).await else { return };
    let browser = start(&setup, None).await;
    let (mut client, page) = connect(&browser).await;
    let print = json!({"transferMode": "ReturnAsStream"});
    let mut streams = Vec::new();
    for _ in 0..64 {
        let mut printed = client.call(Some(&page.session), "Page.printToPDF", print.clone()).await;
        assert!(printed["result"]["stream"].is_string(), "{printed}");
        streams.push(printed["result"]["stream"].take());
    }
    let refused = client.call(Some(&page.session), "Page.printToPDF", print.clone()).await;
    assert_eq!(refused["result"], Value::Null, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("more than 64 streams"), "{refused}");
    for stream in &streams {
        let part = client.call(Some(&page.session), "IO.read", json!({"handle": stream, "size": 1})).await;
        assert!(part["result"]["data"].is_string(), "{part}");
    }
    client.call(Some(&page.session), "IO.close", json!({"handle": streams[0]})).await;
    let printed = client.call(Some(&page.session), "Page.printToPDF", print).await;
    assert!(printed["result"]["stream"].is_string(), "{printed}");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn end_of_a_session_does_not_wait_for_clients_that_connect() {
    let Some(setup) = setup_page(PAGE).await else { return };
    let browser = start(&setup, None).await;
    let group = browser.root_pid().unwrap();
    // A Chromium that does not respond.
    let pid = rustix::process::Pid::from_raw(group).unwrap();
    rustix::process::kill_process_group(pid, rustix::process::Signal::STOP).unwrap();
    let connector = browser.connector();
    let connecting = futures_util::future::join_all((0..12).map(|_| connector.connect()));
    // The clients first, so that their requests are in the queue.
    let (connected, _) = tokio::join!(biased; connecting, browser.close());
    for result in connected {
        // A client that was waited for has an error of its time limit.
        assert!(matches!(result, Err(BrowserError::Crashed)), "{result:?}");
    }
    wait_until_stopped(group).await;
}

/// Resolves one name to one address after another.
struct Rebinding(AtomicUsize, [IpAddr; 2]);

impl Resolve for Rebinding {
    fn resolve<'a>(&'a self, _: &'a str) -> ResolveFuture<'a> {
        let address = self.1[self.0.fetch_add(1, Ordering::SeqCst).min(1)];
        Box::pin(async move { Ok(vec![address]) })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn name_that_changes_its_address_is_checked_again_in_a_session() {
    let Some(config) = config() else { return };
    let canary = Canary::start().await;
    let port = canary.addr().port();
    let allowed = Canary::start_at(&format!("127.0.0.2:{port}")).await;
    let addresses = ["127.0.0.2".parse().unwrap(), "127.0.0.1".parse().unwrap()];
    let resolver = Arc::new(Rebinding(AtomicUsize::new(0), addresses));
    let guard = AddressGuard::public().allow("127.0.0.2".parse().unwrap());
    let client =
        websvc_transport::Client::new(ClientConfig { resolver, ..ClientConfig::new(guard) }).unwrap();
    let browser = Browser::new(config, client);
    let page = request("about:blank");
    let session =
        browser.start_interactive(InteractiveRequest { page, start: StartPage::Blank }).await.unwrap();
    let (mut client, page) = connect(&session).await;
    let url = format!("http://rebind.test:{port}/");
    let navigate = json!({ "url": url });
    let reached = client.call(Some(&page.session), "Page.navigate", navigate.clone()).await;
    assert!(reached["result"]["errorText"].is_null(), "{reached}");
    assert_eq!(allowed.connections(), 1);
    // A connection to the allowed address would be used again.
    drop(allowed);
    let refused = client.call(Some(&page.session), "Page.navigate", navigate).await;
    assert!(refused["result"]["errorText"].is_string(), "{refused}");
    assert_eq!(canary.connections(), 0);
    session.close().await;
}

/// Opens pages with these indexes in a new tab each, and lets them run.
async fn open_in_tabs(client: &mut Client, indexes: impl IntoIterator<Item = usize>, wait_ms: u64) {
    for index in indexes {
        let created = client.call(None, "Target.createTarget", json!({"url": "about:blank"})).await;
        let target = created["result"]["targetId"].as_str().unwrap().to_owned();
        let attach = json!({"targetId": target, "flatten": true});
        let attached = client.call(None, "Target.attachToTarget", attach).await;
        let session = attached["result"]["sessionId"].as_str().unwrap().to_owned();
        let url = format!("http://a.localhost/{index}");
        let page = PageTarget { target, session };
        client.call(Some(&page.session), "Page.navigate", json!({"url": url})).await;
        // An alert or a navigation may end the wait early.
        client.evaluate(&page, &format!("new Promise((resolve) => setTimeout(resolve, {wait_ms}))")).await;
        client.call(None, "Target.closeTarget", json!({"targetId": page.target})).await;
        for window in client.call(None, "Target.getTargets", json!({})).await["result"]["targetInfos"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|target| target["openerId"].is_string())
        {
            client.call(None, "Target.closeTarget", json!({"targetId": window["targetId"]})).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_a_session_do_not_reach_a_forbidden_address() {
    let canary = Canary::start().await;
    let pages: Vec<(&str, &str)> = REQUESTS.iter().chain(OTHER_ACCESSES).copied().collect();
    let host = format!("127.0.0.1:{}", canary.addr().port());
    let Some(setup) = setup(web(&pages, &host)).await else { return };
    let browser = start(&setup, None).await;
    let (mut client, page) = connect(&browser).await;
    open_in_tabs(&mut client, 0..pages.len(), 300).await;
    // Commands of the client that make requests by themselves.
    for url in [
        format!("http://{host}/x"),
        format!("https://{host}/x"),
        format!("http://localhost:{}/", canary.addr().port()),
    ] {
        let navigated = client.call(Some(&page.session), "Page.navigate", json!({"url": url})).await;
        assert!(navigated["result"]["errorText"].is_string(), "{navigated}");
        client.call(None, "Target.createTarget", json!({"url": url})).await;
    }
    client.evaluate(&page, "new Promise((resolve) => setTimeout(resolve, 300))").await;
    assert_eq!(canary.connections(), 0);
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_a_session_reach_an_allowed_address() {
    let Some(setup) = setup(web(REQUESTS, "b.test")).await else { return };
    let browser = start(&setup, None).await;
    let (mut client, _) = connect(&browser).await;
    let indexes: Vec<usize> = ["window", "fetch", "worker", "frame", "socket"]
        .map(|name| REQUESTS.iter().position(|(found, _)| *found == name).unwrap())
        .into();
    for index in indexes {
        // On a busy machine, a page may be closed too early, and Chromium sometimes crashes when it opens a window.
        let waits = (0..8).map(|attempt| 300 << attempt);
        for wait_ms in waits {
            open_in_tabs(&mut client, [index], wait_ms).await;
            if setup.web.count(&format!("http://b.test/{index}")) > 0 {
                break;
            }
        }
        assert!(setup.web.count(&format!("http://b.test/{index}")) > 0, "{}", REQUESTS[index].0);
    }
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closed_tabs_and_their_workers_do_not_count() {
    let worker =
        "<script>new Worker('data:text/javascript,0'); new Worker('data:text/javascript,1')</script>";
    let Some(setup) = setup(TestWeb::builder().page("http://a.localhost/0", Page::html(worker))).await else {
        return;
    };
    let browser = start(&setup, None).await;
    let (mut client, _) = connect(&browser).await;
    // More targets than a page may have, one tab after another.
    open_in_tabs(&mut client, std::iter::repeat_n(0, 45), 1).await;
    let (mut client, page) = connect(&browser).await;
    assert_eq!(client.evaluate(&page, "1 + 1").await, 2);
    browser.close().await;
}
