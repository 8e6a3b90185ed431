//! Tests of sessions with a real Chromium, past the filter where no client can get: as pages of the browser itself could.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;
use websvc_testkit::TestWeb;

use super::*;
use crate::executable::is_headless_shell;
use crate::{Browser, BrowserConfig};

/// The time in which everything happens that a test waits for.
const PATIENCE: Duration = Duration::from_secs(60);

/// The content of the file that no client may get.
const SECRET: &str = "websvc-secret-7d1f";

/// A session and a client of the protocol.
struct Attack {
    session: InteractiveBrowser,
    channel: CdpChannel,
    /// The ID of the last command.
    last_id: u64,
    /// All messages that the client got.
    received: Vec<Value>,
    _web: TestWeb,
}

/// Returns the path of Chromium; skips the test and returns `None` without it.
fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("WEBSVC_TEST_CHROMIUM");
    if path.is_none() {
        websvc_testkit::skip("WEBSVC_TEST_CHROMIUM is not set (cargo xtask test)");
    }
    path.map(PathBuf::from)
}

impl Attack {
    async fn start(path: PathBuf) -> Self {
        let web = TestWeb::builder().start().await;
        let config = BrowserConfig { path: Some(path), start_timeout: PATIENCE, ..BrowserConfig::default() };
        let browser = Browser::new(config, web.client());
        let page = RenderRequest::new("about:blank".parse().unwrap(), Instant::now() + PATIENCE);
        let request = InteractiveRequest { page, start: StartPage::Blank };
        let session = browser.start_interactive(request).await.unwrap();
        let channel = session.connector().connect().await.unwrap();
        Self { session, channel, last_id: 0, received: Vec::new(), _web: web }
    }

    /// Sends a command of the client; fails if the channel has ended.
    fn send(&mut self, session: Option<&str>, method: &str, params: &Value) -> Result<u64, ChannelClosed> {
        self.last_id += 1;
        let mut message = json!({"id": self.last_id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.channel.send(&message.to_string())?;
        Ok(self.last_id)
    }

    /// Returns the next message; `None` if the channel has ended.
    async fn receive(&mut self) -> Option<Value> {
        let message = timeout(PATIENCE, self.channel.receive()).await;
        let message = message.unwrap_or_else(|_| panic!("no message after {:?}", self.received))?;
        let message: Value = serde_json::from_str(&message).unwrap();
        self.received.push(message.clone());
        Some(message)
    }

    /// Sends a command of the client, and returns its response.
    async fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        let id = self.send(session, method, &params).unwrap();
        loop {
            let message = self.receive().await.expect("the channel is open");
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Opens a tab and attaches the client to it. Returns its target and its session.
    async fn open_tab(&mut self) -> (String, String) {
        let created = self.call(None, "Target.createTarget", json!({"url": "about:blank"})).await;
        let target = created["result"]["targetId"].as_str().unwrap().to_owned();
        let attach = json!({"targetId": target, "flatten": true});
        let attached = self.call(None, "Target.attachToTarget", attach).await;
        (target, attached["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{attached}")).to_owned())
    }

    /// Returns all targets of Chromium.
    async fn all_targets(&self) -> Vec<Value> {
        let all = json!({"filter": [{}]});
        let mut targets = self.session.process.cdp().call("", "Target.getTargets", all).await.unwrap();
        serde_json::from_value(targets["targetInfos"].take()).unwrap()
    }

    /// Returns the browser context of a target.
    async fn context_of(&self, target: &str) -> String {
        let targets = self.all_targets().await;
        let info = targets.iter().find(|info| info["targetId"] == target).unwrap();
        info["browserContextId"].as_str().unwrap().to_owned()
    }

    /// Makes a page report its text to the client in every way.
    fn read_page(&mut self, session: &str) -> Result<(), ChannelClosed> {
        let report = "setInterval(() => report(document.documentElement.innerText), 1); \
                      addEventListener('load', () => report(document.documentElement.innerText))";
        for (method, params) in [
            ("Page.enable", json!({})),
            ("Runtime.enable", json!({})),
            ("Runtime.addBinding", json!({"name": "report"})),
            ("Page.addScriptToEvaluateOnNewDocument", json!({"source": report, "runImmediately": true})),
            ("Runtime.runIfWaitingForDebugger", json!({})),
            ("DOMSnapshot.captureSnapshot", json!({"computedStyles": []})),
            ("Runtime.evaluate", json!({"expression": "document.documentElement.innerText"})),
        ] {
            self.send(Some(session), method, &params)?;
        }
        Ok(())
    }

    /// Attacks until the session has ended, and checks that the client got nothing of the file.
    async fn until_end(mut self) {
        while let Some(message) = self.receive().await {
            if message["method"] == "Target.attachedToTarget" {
                let attached = message["params"]["sessionId"].as_str().unwrap().to_owned();
                // Fails as soon as the session ends.
                let _ = self.read_page(&attached);
            }
        }
        timeout(PATIENCE, self.session.ended()).await.expect("the session ends");
        let received: Vec<String> = self.received.iter().map(Value::to_string).collect();
        let leak = received.iter().find(|message| message.contains(SECRET));
        assert_eq!(leak, None);
        timeout(PATIENCE, self.session.close()).await.expect("Chromium stops");
    }
}

/// Writes the file that no client may get, and returns its directory and its URL.
fn secret_file() -> (TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("secret.txt");
    std::fs::write(&path, SECRET).unwrap();
    let url = format!("file://{}", path.display());
    (directory, url)
}

#[tokio::test(flavor = "multi_thread")]
async fn forbidden_document_in_any_tab_ends_the_session() {
    let Some(path) = chromium() else { return };
    let (_directory, url) = secret_file();
    let mut attack = Attack::start(path).await;
    let (target, session) = attack.open_tab().await;
    let context = attack.context_of(&target).await;
    let cdp = attack.session.process.cdp().clone();
    let tab = attack.session.process.targets().session(&context, &target).unwrap();
    // An allowed document first.
    cdp.call(&tab, "Page.navigate", json!({"url": "data:text/html,x"})).await.unwrap();
    assert!(!attack.session.has_ended());
    attack.read_page(&session).unwrap();
    cdp.send_no_reply(&tab, "Page.navigate", json!({"url": url}));
    attack.until_end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn file_that_the_browser_opens_in_a_new_tab_is_not_delivered() {
    let Some(path) = chromium() else { return };
    let (_directory, url) = secret_file();
    // Chromium is not equally fast in all of them.
    for _ in 0..3 {
        let mut attack = Attack::start(path.clone()).await;
        let (target, _) = attack.open_tab().await;
        let context = attack.context_of(&target).await;
        let wait = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
        attack.call(None, "Target.setAutoAttach", wait).await;
        attack.call(None, "Target.setDiscoverTargets", json!({"discover": true})).await;
        let new_tab = json!({"url": url, "browserContextId": context});
        attack.session.process.cdp().send_no_reply("", "Target.createTarget", new_tab);
        attack.until_end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chromium_has_no_targets_but_pages_and_their_tabs() {
    let Some(path) = chromium() else { return };
    let mut attack = Attack::start(path).await;
    attack.open_tab().await;
    for target in attack.all_targets().await {
        let kind = target["type"].as_str().unwrap();
        assert!(matches!(kind, "page" | "tab") && target["url"] == "about:blank", "{target}");
    }
    timeout(PATIENCE, attack.session.close()).await.expect("Chromium stops");
}

/// Creates a program that starts Chromium with the pages of its own that its flags switch off. Their defaults differ between
/// machines.
fn with_pages_of_the_browser(path: &std::path::Path, directory: &TempDir) -> PathBuf {
    // The file name decides whether Chromium is the headless shell.
    let program = directory.path().join(path.file_name().unwrap());
    let features = "PreloadTopChromeWebUI,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,WebUIOmniboxPopup";
    let path = path.display();
    let script =
        format!("#!/bin/sh\nexec {path} \"$@\" --disable-features=None --enable-features={features}\n");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    program
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_the_browser_are_hidden_and_no_command_reaches_them() {
    let Some(path) = chromium() else { return };
    let directory = tempfile::tempdir().unwrap();
    let program = with_pages_of_the_browser(&path, &directory);
    let deadline = Instant::now() + PATIENCE;
    let mut attack = Attack::start(program).await;
    let (own, _) = attack.open_tab().await;
    let is_hidden = |target: &Value| target["url"].as_str().unwrap().starts_with("chrome:");
    let mut hidden: Vec<Value> = Vec::new();
    // The headless shell has none.
    while !is_headless_shell(&path) && hidden.is_empty() {
        hidden = attack.all_targets().await.into_iter().filter(is_hidden).collect();
        assert!(Instant::now() < deadline, "Chromium has no pages of its own");
    }
    // Both may have the context of another.
    let cdp = attack.session.process.cdp().clone();
    let other = cdp.call("", "Target.createBrowserContext", json!({})).await.unwrap();
    let other = json!({"url": "about:blank", "browserContextId": other["browserContextId"]});
    hidden.push(cdp.call("", "Target.createTarget", other).await.unwrap());
    let hidden: Vec<&str> = hidden.iter().map(|target| target["targetId"].as_str().unwrap()).collect();

    let everything = json!([{}]);
    attack.call(None, "Target.setDiscoverTargets", json!({"discover": true, "filter": everything})).await;
    let attach = json!({
        "autoAttach": true,
        "waitForDebuggerOnStart": true,
        "flatten": true,
        "filter": everything,
    });
    attack.call(None, "Target.setAutoAttach", attach).await;
    let targets = attack.call(None, "Target.getTargets", json!({"filter": everything})).await;
    assert!(targets.to_string().contains(&own), "{targets}");
    for target in &hidden {
        let named = json!({"targetId": target, "flatten": true});
        for method in [
            "Target.attachToTarget",
            "Target.activateTarget",
            "Target.closeTarget",
            "Target.getTargetInfo",
            "Target.exposeDevToolsProtocol",
            "Target.autoAttachRelated",
            "Target.openDevTools",
            "Browser.getWindowForTarget",
        ] {
            let response = attack.call(None, method, named.clone()).await;
            assert!(response["error"]["message"].is_string(), "{method} {response}");
        }
    }
    let left = attack.all_targets().await;
    for target in hidden {
        assert!(left.iter().any(|info| info["targetId"] == *target), "{target} was closed");
        let named = |message: &&Value| message["error"].is_null() && message.to_string().contains(target);
        assert_eq!(attack.received.iter().find(named), None);
    }
    assert!(!attack.session.has_ended(), "they do not end the session either");
    let own = attack.call(None, "Target.getTargetInfo", json!({"targetId": own})).await;
    assert_eq!(own["result"]["targetInfo"]["url"], "about:blank", "{own}");
    timeout(PATIENCE, attack.session.close()).await.expect("Chromium stops");
}

#[tokio::test(flavor = "multi_thread")]
async fn new_tab_that_navigates_at_once_does_not_crash() {
    let Some(path) = chromium() else { return };
    let mut attack = Attack::start(path).await;
    for _ in 0..8 {
        let (target, session) = attack.open_tab().await;
        let navigated =
            attack.call(Some(&session), "Page.navigate", json!({"url": "data:text/html,x"})).await;
        assert!(navigated["result"]["errorText"].is_null(), "{navigated}");
        let text = "new Promise((resolve) => {
            const read = () => document.body ? resolve(document.body.innerText) : setTimeout(read, 5);
            read();
        })";
        let params = json!({"expression": text, "awaitPromise": true, "returnByValue": true});
        let text = attack.call(Some(&session), "Runtime.evaluate", params).await;
        assert_eq!(text["result"]["result"]["value"], "x", "{text} {:?}", attack.received);
        attack.call(None, "Target.closeTarget", json!({"targetId": target})).await;
    }
    timeout(PATIENCE, attack.session.close()).await.expect("Chromium stops");
}

#[tokio::test(flavor = "multi_thread")]
async fn created_tab_and_its_window_are_attached_before_they_run() {
    let Some(path) = chromium() else { return };
    let mut attack = Attack::start(path).await;
    let wait = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    attack.call(None, "Target.setAutoAttach", wait).await;
    let pages = |received: &[Value]| -> Vec<String> {
        let attached = received.iter().filter(|message| message["method"] == "Target.attachedToTarget");
        attached.map(|event| event["params"]["sessionId"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(pages(&attack.received).len(), 1, "{:?}", attack.received);
    // Playwright relies on the order of the event and the response.
    attack.call(None, "Target.createTarget", json!({"url": "about:blank"})).await;
    let [_, created] = &pages(&attack.received)[..] else { panic!("{:?}", attack.received) };
    let created = created.clone();
    attack.send(Some(&created), "Runtime.runIfWaitingForDebugger", &json!({})).unwrap();
    let open = json!({"expression": "window.open('about:blank'); 1", "userGesture": true});
    attack.send(Some(&created), "Runtime.evaluate", &open).unwrap();
    while pages(&attack.received).len() < 3 {
        attack.receive().await.expect("the channel is open");
    }
    timeout(PATIENCE, attack.session.close()).await.expect("Chromium stops");
}
