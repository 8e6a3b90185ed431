//! The live view: pictures of the page, and the mouse of a viewer.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};
use websvc_transport::{Tunnel, Upgrade};

use super::cdp::CdpClient;
use super::{SessionTest, path_of};
use crate::harness::Service;
use crate::websocket::request_upgrade;

/// A page that counts clicks in its title.
pub(super) const PAGE: &str = "<!DOCTYPE html><title>0</title><body style='margin: 0'>
<button style='position: fixed; inset: 0; width: 100%' onclick='document.title++; textContent = document.title'>0</button>";

/// A viewer, as the page of the live view is one.
pub(crate) struct Viewer {
    socket: WebSocketStream<Tunnel>,
    /// The pictures that arrived while the test waited for something else.
    frames: Vec<Value>,
}

impl Viewer {
    pub(super) async fn connect(test: &SessionTest, url: &Value) -> Self {
        Self::connect_to(&test.service, &path_of(&test.service, url)).await
    }

    pub(crate) async fn connect_to(service: &Service, path: &str) -> Self {
        let response = request_upgrade(service, path, &[("authorization", "")]).await;
        let Upgrade::Switched { tunnel, .. } = response else { panic!("{response:?}") };
        let socket = WebSocketStream::from_raw_socket(tunnel, Role::Client, None).await;
        Self { socket, frames: Vec::new() }
    }

    pub(super) async fn send(&mut self, message: Value) {
        self.socket.send(Message::text(message.to_string())).await.unwrap();
    }

    pub(super) async fn click(&mut self) {
        for kind in ["mousePressed", "mouseReleased"] {
            let click =
                json!({"kind": "mouse", "type": kind, "x": 50, "y": 50, "button": "left", "clickCount": 1});
            self.send(click).await;
        }
    }

    /// Returns the next picture.
    pub(crate) async fn frame(&mut self) -> Value {
        if self.frames.is_empty() { self.receive("frame", |_| true).await } else { self.frames.remove(0) }
    }

    /// Returns a picture of the tab in view in a list of the tabs.
    async fn frame_of(&mut self, list: &Value) -> Value {
        let is_of_tab = |frame: &Value| frame["tab"] == list["current"];
        match self.frames.iter().position(is_of_tab) {
            Some(index) => self.frames.remove(index),
            None => self.receive("frame", is_of_tab).await,
        }
    }

    /// Returns the next list of the tabs that meets a condition: its labels, and that of the tab in view.
    async fn tabs(&mut self, is_met: impl Fn(&[String], &str) -> bool) -> Value {
        let read = |message: &Value| {
            let tabs = message["tabs"].as_array().unwrap();
            let label = |tab: &Value| tab["label"].as_str().unwrap().to_owned();
            let labels: Vec<String> = tabs.iter().map(label).collect();
            let current = tabs.iter().find(|tab| tab["id"] == message["current"]).map(label);
            is_met(&labels, &current.unwrap_or_default())
        };
        self.receive("tabs", read).await
    }

    /// Chooses a tab, and forgets the pictures so far: one that was taken before does not show that the tab is in view.
    async fn choose(&mut self, tab: Value) {
        self.frames.clear();
        self.send(json!({"kind": "tab", "tab": tab})).await;
    }

    /// Returns the next message of the service.
    async fn message(&mut self) -> Message {
        let message = tokio::time::timeout(std::time::Duration::from_secs(60), self.socket.next()).await;
        message.expect("a message of the service").unwrap().unwrap()
    }

    /// Waits until the service closes the connection, and returns the code and the reason.
    async fn closed(mut self) -> (u16, String) {
        loop {
            if let Message::Close(frame) = self.message().await {
                let CloseFrame { code, reason } = frame.unwrap();
                return (code.into(), reason.to_string());
            }
        }
    }

    /// Returns the next message of a kind that meets a condition.
    async fn receive(&mut self, kind: &str, is_met: impl Fn(&Value) -> bool) -> Value {
        loop {
            match self.message().await {
                Message::Text(text) => {
                    let message: Value = serde_json::from_str(&text).unwrap();
                    if message["kind"] == kind && is_met(&message) {
                        return message;
                    }
                    if message["kind"] == "frame" {
                        self.frames.push(message);
                    }
                }
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn viewers_see_the_page_and_only_interactive_ones_use_the_mouse() {
    let Some(test) = SessionTest::start().await else { return };
    let session = test.create(json!({})).await;
    let mut client = CdpClient::connect(&test, &session["cdpUrl"]).await;
    let page = client.attach().await;
    client.call(Some(&page), "Page.enable", json!({})).await;
    client.call(Some(&page), "Page.navigate", json!({"url": "http://click.test/"})).await;
    let mut title = async |at_least: u64| loop {
        // The first document of a tab has neither.
        let expression = "document.querySelector('button') && Number(document.title)";
        let params = json!({"expression": expression, "returnByValue": true});
        let response = client.call(Some(&page), "Runtime.evaluate", params).await;
        match response["result"]["result"]["value"].as_u64() {
            Some(count) if count >= at_least => return count,
            _ => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
        }
    };
    title(0).await;
    let mut reader = Viewer::connect(&test, &session["liveViewUrl"]).await;
    let mut user = Viewer::connect(&test, &session["interactiveLiveViewUrl"]).await;
    let frame = reader.frame().await;
    // A JPEG begins with FF D8.
    assert!(frame["data"].as_str().unwrap().starts_with("/9j/"), "{frame}");
    assert!(frame["width"].as_u64().unwrap() > 100);
    user.frame().await;
    reader.click().await;
    user.click().await;
    assert_eq!(title(1).await, 1);
    // The change of the page is a new picture, also for the reader, whose clicks were handled before it confirmed.
    reader.send(json!({"kind": "shown"})).await;
    reader.frame().await;
    assert_eq!(title(1).await, 1);
    test.delete(&session).await;
    assert_eq!(reader.closed().await, (1000, "the browser session has ended".to_owned()));
}

/// Returns the ID of the tab with a label.
fn tab(list: &Value, label: &str) -> Value {
    let tabs = list["tabs"].as_array().unwrap();
    tabs.iter().find(|tab| tab["label"] == label).unwrap_or_else(|| panic!("{label}: {list}"))["id"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn viewers_choose_tabs_for_themselves_and_only_interactive_ones_close_them() {
    let Some(test) = SessionTest::start().await else { return };
    let session = test.create(json!({})).await;
    let mut client = CdpClient::connect(&test, &session["cdpUrl"]).await;
    let page = client.attach().await;
    client.call(Some(&page), "Page.enable", json!({})).await;
    client.call(Some(&page), "Page.navigate", json!({"url": "http://click.test/"})).await;
    let mut reader = Viewer::connect(&test, &session["liveViewUrl"]).await;
    let mut user = Viewer::connect(&test, &session["interactiveLiveViewUrl"]).await;
    for viewer in [&mut reader, &mut user] {
        let list = viewer.tabs(|labels, current| labels == ["0"] && current == "0").await;
        viewer.frame_of(&list).await;
    }
    // Both follow a new tab, because their viewers have not chosen one.
    client.call(None, "Target.createTarget", json!({"url": "http://tea.test/"})).await;
    let list = reader.tabs(|labels, current| labels == ["0", "Tea"] && current == "Tea").await;
    user.tabs(|labels, current| labels == ["0", "Tea"] && current == "Tea").await;
    reader.frame_of(&list).await;
    // The reader goes back, and cannot close anything. The view of the user stays.
    reader.send(json!({"kind": "close", "tab": tab(&list, "Tea")})).await;
    reader.choose(json!("none")).await;
    reader.choose(tab(&list, "0")).await;
    let list = reader.tabs(|labels, current| labels == ["0", "Tea"] && current == "0").await;
    reader.frame_of(&list).await;
    // A tab that a program opens is not followed by a viewer who has chosen one.
    let created = client.call(None, "Target.createTarget", json!({"url": "http://tea.test/2"})).await;
    let list = user.tabs(|labels, current| labels.len() == 3 && current != "Tea" && current != "0").await;
    reader.tabs(|labels, current| labels.len() == 3 && current == "0").await;
    user.frame_of(&list).await;
    // The input of the user goes to the tab in view once a picture has followed the choice. Before, it may be lost.
    user.choose(tab(&list, "0")).await;
    let list = user.tabs(|_, current| current == "0").await;
    user.frame_of(&list).await;
    user.click().await;
    reader.tabs(|labels, _| labels[0] == "1").await;
    // The user closes the new tab, and then the one in view, whose neighbor follows.
    user.send(json!({"kind": "close", "tab": created["result"]["targetId"]})).await;
    let list = user.tabs(|labels, current| labels.len() == 2 && current == "1").await;
    user.send(json!({"kind": "close", "tab": tab(&list, "1")})).await;
    let mut last = Value::Null;
    for viewer in [&mut reader, &mut user] {
        let list = viewer.tabs(|labels, current| labels == ["Tea"] && current == "Tea").await;
        viewer.frame_of(&list).await;
        last = list["current"].clone();
    }
    // A session without a tab gets a new one for the next viewer.
    user.send(json!({"kind": "close", "tab": last})).await;
    for viewer in [reader, user] {
        assert_eq!(viewer.closed().await, (1000, "the last tab was closed".to_owned()));
    }
    let mut next = Viewer::connect(&test, &session["liveViewUrl"]).await;
    let list = next.tabs(|labels, _| labels == ["New tab"]).await;
    next.frame_of(&list).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn viewer_learns_that_its_message_is_not_one_of_the_live_view() {
    let Some(test) = SessionTest::start().await else { return };
    let session = test.create(json!({})).await;
    for message in [json!({"kind": "navigate", "url": "http://tea.test/"}), json!({"kind": "tab"}), json!([])]
    {
        let mut viewer = Viewer::connect(&test, &session["interactiveLiveViewUrl"]).await;
        viewer.send(message).await;
        let expected = (1008, "the message is not one of the live view".to_owned());
        assert_eq!(viewer.closed().await, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn viewers_are_limited_and_do_not_keep_clients_out() {
    let Some(test) = SessionTest::start().await else { return };
    let session = test.create(json!({})).await;
    let mut viewers = Vec::new();
    for _ in 0..8 {
        let mut viewer = Viewer::connect(&test, &session["liveViewUrl"]).await;
        viewer.frame().await;
        viewers.push(viewer);
    }
    let path = path_of(&test.service, &session["liveViewUrl"]);
    let refused = request_upgrade(&test.service, &path, &[("authorization", "")]).await;
    let Upgrade::Refused { status, .. } = refused else { panic!("{refused:?}") };
    assert_eq!(status, 429);
    let mut client = CdpClient::connect(&test, &session["cdpUrl"]).await;
    let version = client.call(None, "Browser.getVersion", json!({})).await;
    assert!(version["result"].is_object(), "{version}");
}
