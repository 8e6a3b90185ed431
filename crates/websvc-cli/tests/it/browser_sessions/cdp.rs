//! The WebSocket of the DevTools protocol.

use std::path::Path;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;
use websvc_transport::{Tunnel, Upgrade};

use super::{SessionTest, path, path_of};
use crate::browser::path_or_skip;
use crate::harness::Service;
use crate::websocket::request_upgrade;

/// The time in which everything happens that a client waits for.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client that sends no headers of its own, like Playwright.
pub(crate) struct CdpClient {
    socket: WebSocketStream<Tunnel>,
    last_id: u64,
    /// The events that arrived before the response to the last command.
    events: Vec<Value>,
}

impl CdpClient {
    pub(super) async fn connect(test: &SessionTest, url: &Value) -> Self {
        Self::connect_to(&test.service, &path_of(&test.service, url)).await
    }

    pub(crate) async fn connect_to(service: &Service, path: &str) -> Self {
        let response = request_upgrade(service, path, &[("authorization", "")]).await;
        let Upgrade::Switched { tunnel, .. } = response else { panic!("{response:?}") };
        let socket = WebSocketStream::from_raw_socket(tunnel, Role::Client, None).await;
        Self { socket, last_id: 0, events: Vec::new() }
    }

    pub(crate) async fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let mut command = json!({"id": self.last_id, "method": method, "params": params});
        if let Some(session) = session {
            command["sessionId"] = session.into();
        }
        self.socket.send(Message::text(command.to_string())).await.unwrap();
        self.events.clear();
        loop {
            let message = self.message().await;
            if message["id"] == self.last_id {
                return message;
            }
            self.events.push(message);
        }
    }

    async fn message(&mut self) -> Value {
        serde_json::from_str(&self.text().await).unwrap()
    }

    /// Returns the text of the next message.
    async fn text(&mut self) -> String {
        let message = async {
            loop {
                match self.socket.next().await.unwrap().unwrap() {
                    Message::Text(text) => return text.to_string(),
                    Message::Ping(_) | Message::Pong(_) => {}
                    other => panic!("{other:?}"),
                }
            }
        };
        timeout(PATIENCE, message).await.expect("a message of the service")
    }

    /// Returns the next event with this name since the last command.
    pub(super) async fn event(&mut self, method: &str) -> Value {
        if let Some(at) = self.events.iter().position(|event| event["method"] == method) {
            return self.events.remove(at);
        }
        loop {
            let message = self.message().await;
            if message["method"] == method {
                return message;
            }
        }
    }

    /// Opens a tab with an empty page, and returns the session of the protocol.
    pub(super) async fn open_tab(&mut self) -> String {
        let created = self.call(None, "Target.createTarget", json!({"url": "about:blank"})).await;
        let attach = json!({"targetId": created["result"]["targetId"], "flatten": true});
        let attached = self.call(None, "Target.attachToTarget", attach).await;
        attached["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{created} {attached}")).to_owned()
    }

    /// Closes all tabs except the one with this target.
    pub(super) async fn close_tabs_except(&mut self, kept: &str) {
        let targets = self.call(None, "Target.getTargets", json!({})).await;
        let targets = targets["result"]["targetInfos"].as_array().unwrap().clone();
        for target in targets.iter().filter(|target| target["type"] == "page" && target["targetId"] != kept) {
            self.call(None, "Target.closeTarget", json!({"targetId": target["targetId"]})).await;
        }
    }

    /// Attaches to the only page of the session, and returns the session of the protocol.
    pub(super) async fn attach(&mut self) -> String {
        self.attach_to_only_page().await.1
    }

    /// Attaches to the only page of the session, and returns its target and the session of the protocol.
    pub(super) async fn attach_to_only_page(&mut self) -> (String, String) {
        let targets = self.call(None, "Target.getTargets", json!({})).await;
        let targets = targets["result"]["targetInfos"].as_array().unwrap();
        assert_eq!(targets.len(), 1, "{targets:?}");
        let attach = json!({"targetId": targets[0]["targetId"], "flatten": true});
        let attached = self.call(None, "Target.attachToTarget", attach).await;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&targets[0]["targetId"]), text(&attached["result"]["sessionId"]))
    }

    /// Waits until the service closes the connection.
    pub(crate) async fn closed(mut self) {
        let closed = async {
            while let Some(Ok(message)) = self.socket.next().await {
                if matches!(message, Message::Close(_)) {
                    return;
                }
            }
        };
        timeout(PATIENCE, closed).await.expect("the service closes the connection");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn client_drives_its_session_and_sees_no_other_one() {
    let Some(test) = SessionTest::start().await else { return };
    let (session, other) = tokio::join!(test.create(json!({})), test.create(json!({})));
    let mut client = CdpClient::connect(&test, &session["cdpUrl"]).await;
    let version = client.call(None, "Browser.getVersion", json!({})).await;
    assert!(version["result"]["product"].as_str().unwrap().contains("Chrome"), "{version}");
    let page = client.attach().await;
    for (url, is_reached) in
        [("http://tea.test/", true), ("http://127.0.0.1:9/", false), ("http://[::ffff:7f00:1]/", false)]
    {
        let navigated = client.call(Some(&page), "Page.navigate", json!({ "url": url })).await;
        assert_eq!(navigated["result"]["errorText"].is_null(), is_reached, "{url} {navigated}");
    }
    for (method, params) in [
        ("Page.navigate", json!({"url": "file:///etc/passwd"})),
        ("Target.createBrowserContext", json!({})),
        ("Browser.close", json!({})),
    ] {
        let refused = client.call(Some(&page), method, params).await;
        assert_eq!(refused["error"]["code"], -32000, "{method} {refused}");
    }
    let mut second = CdpClient::connect(&test, &other["cdpUrl"]).await;
    let foreign = second.call(Some(&page), "Runtime.evaluate", json!({"expression": "1"})).await;
    assert!(foreign["error"].is_object(), "{foreign}");
    assert_eq!(test.delete(&session).await.status, 200);
    client.closed().await;
    let still = second.call(None, "Browser.getVersion", json!({})).await;
    assert!(still["result"].is_object());
}

#[tokio::test(flavor = "multi_thread")]
async fn playwright_drives_a_session() {
    let Some(playwright) = path_or_skip("WEBSVC_TEST_PLAYWRIGHT") else { return };
    let Some(test) = SessionTest::start().await else { return };
    let session = test.create(json!({})).await;
    let (stdout, stderr) = run_script("playwright.mjs", &playwright, &session).await;
    let expected = "1 1 about:blank\nTea\ndialog Sure?\ntrue Anna\nTea 2\n1 true\nfile:///etc/passwd refused\n\
                    chrome://version refused\nhttp://127.0.0.1:9999/ refused\ncontext refused\n";
    assert_eq!(stdout, expected, "{stderr}");
    // The client has left, and the session is there.
    assert_eq!(test.listed(&session).await["status"], "active");
}

#[tokio::test(flavor = "multi_thread")]
async fn puppeteer_reads_no_file_of_the_server() {
    let Some(puppeteer) = path_or_skip("WEBSVC_TEST_PUPPETEER") else { return };
    let Some(test) = SessionTest::start().await else { return };
    let session = test.create(json!({})).await;
    let (stdout, stderr) = run_script("puppeteer.mjs", &puppeteer, &session).await;
    let expected = "Tea true\nfile:///etc/passwd refused\nview-source:file:///etc/passwd refused\n\
                    chrome://version refused\nchrome://omnibox-popup.top-chrome/ refused\n\
                    Target.createTarget refused\nTarget.exposeDevToolsProtocol refused\n\
                    DOM.setFileInputFiles refused\nfetch refused\nframe refused\n";
    assert_eq!(stdout, expected, "{stderr}");
    assert_eq!(test.listed(&session).await["status"], "active");
}

/// Runs a script of Node with the folder of a package and the URL of a session's protocol. Returns its output and errors.
async fn run_script(script: &str, package: &Path, session: &Value) -> (String, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/browser_sessions").join(script);
    let mut node = tokio::process::Command::new("node");
    node.arg(script).arg(package).arg(session["cdpUrl"].as_str().unwrap()).kill_on_drop(true);
    let output = node.output().await.unwrap();
    [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).into()
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_token_is_refused() {
    let Some(test) = SessionTest::start().await else { return };
    let (session, other) = tokio::join!(test.create(json!({})), test.create(json!({})));
    let own = path_of(&test.service, &session["cdpUrl"]);
    let token = |session: &Value, url: &str| {
        let url = session[url].as_str().unwrap().to_owned();
        url.split_once("token=").unwrap().1.split('&').next().unwrap().to_owned()
    };
    let endpoint = format!("{}/cdp", path(&session));
    for refused in [
        endpoint.clone(),
        format!("{endpoint}?token="),
        format!("{endpoint}?token={}", token(&other, "cdpUrl")),
        // The token of the view does not control the browser.
        format!("{endpoint}?token={}", token(&session, "liveViewUrl")),
        own[..own.len() - 1].to_owned(),
    ] {
        let response = request_upgrade(&test.service, &refused, &[]).await;
        let Upgrade::Refused { status, .. } = response else { panic!("{refused} {response:?}") };
        assert_eq!(status, 404, "{refused}");
    }
    // Without a handshake, the endpoint says what it is.
    assert_eq!(test.service.get(&own).await.status, 426);
    let view = format!("{}/live?token={}", path(&session), token(&other, "liveViewUrl"));
    assert_eq!(test.service.get(&view).await.status, 404);
    let unknown = "/v2/browser/0193528c-0000-7000-8000-000000000000/live?token=1";
    assert_eq!(test.service.get(unknown).await.status, 404);
}

/// Returns a memory value of a service in bytes.
fn memory(service: &Service, name: &str) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", service.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

#[tokio::test(flavor = "multi_thread")]
async fn message_takes_a_small_multiple_of_its_size() {
    let Some(test) = SessionTest::start().await else { return };
    let session = test.create(json!({})).await;
    let mut client = CdpClient::connect(&test, &session["cdpUrl"]).await;
    let page = client.attach().await;
    // Each of these small objects takes a hundred times its size as a tree.
    let values = |count: usize| vec![r#"{"":0}"#; count].join(",");
    let (many, fewer) = (values(2_000_000), values(500_000));
    for (method, params) in [
        ("Page.unknown", format!(r#"{{"x":[{many}]}}"#)),
        ("Page.navigate", format!(r#"{{"url":[{many}]}}"#)),
        ("Target.createTarget", format!(r#"{{"url":"about:blank","x":[{many}]}}"#)),
        ("Input.dispatchDragEvent", format!(r#"{{"data":{{"items":[{many}],"files":[1]}}}}"#)),
        // These get to Chromium, which ignores the parameter that it does not know. The last one is a large answer.
        ("Runtime.evaluate", format!(r#"{{"expression":"1","x":[{fewer}]}}"#)),
        (
            "Runtime.evaluate",
            r#"{"expression":"Array.from({length: 1000000}, () => ({'': 0}))","returnByValue":true}"#
                .to_owned(),
        ),
    ] {
        let idle = {
            std::fs::write(format!("/proc/{}/clear_refs", test.service.id()), "5").unwrap();
            memory(&test.service, "VmRSS")
        };
        client.last_id += 1;
        let command = format!(
            r#"{{"id":{},"sessionId":"{page}","params":{params},"method":"{method}"}}"#,
            client.last_id
        );
        let sent = command.len();
        client.socket.send(Message::text(command)).await.unwrap();
        let answer = client.text().await;
        assert!(
            answer.starts_with(&format!(r#"{{"id":{}"#, client.last_id)) || answer.contains("error"),
            "{answer:.300}"
        );
        let size = sent + answer.len();
        let added = memory(&test.service, "VmHWM").saturating_sub(idle);
        println!("{method}: {} MB for {} MB", added / 1_000_000, size / 1_000_000);
        assert!(added < 16 * size, "{method}: {added} bytes for a message of {size}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn client_sees_targets_of_the_web_only() {
    let Some(test) = SessionTest::start().await else { return };
    let session = test.create(json!({})).await;
    let mut client = CdpClient::connect(&test, &session["cdpUrl"]).await;
    let page = client.attach().await;
    client.call(Some(&page), "Page.navigate", json!({"url": "http://tea.test/"})).await;
    let all = json!([{}]);
    client.call(None, "Target.setDiscoverTargets", json!({"discover": true, "filter": all})).await;
    let discovered = std::mem::take(&mut client.events);
    let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true, "filter": all});
    client.call(None, "Target.setAutoAttach", attach).await;
    let attached = std::mem::take(&mut client.events);
    let listed = client.call(None, "Target.getTargets", json!({"filter": all})).await;
    let listed = listed["result"]["targetInfos"].as_array().unwrap();
    let reported = discovered.iter().chain(&attached).map(|event| &event["params"]["targetInfo"]);
    let infos: Vec<&Value> = listed.iter().chain(reported).filter(|info| info.is_object()).collect();
    assert!(infos.iter().any(|info| info["type"] == "page"), "{infos:?}");
    for info in infos {
        let (kind, url) = (info["type"].as_str().unwrap(), info["url"].as_str().unwrap());
        assert!(matches!(kind, "page" | "tab"), "{info}");
        // A tab may have no document yet.
        assert!(matches!(url, "http://tea.test/" | "about:blank" | ""), "{info}");
    }
    for method in
        ["Target.attachToTarget", "Target.closeTarget", "Target.activateTarget", "Target.getTargetInfo"]
    {
        let named = json!({"targetId": "0123456789ABCDEF0123456789ABCDEF", "flatten": true});
        let refused = client.call(None, method, named).await;
        assert!(refused["error"]["message"].as_str().unwrap().contains("no target"), "{method} {refused}");
    }
}
