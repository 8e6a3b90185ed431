//! The live view: pictures of the page, and the mouse of a viewer.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;
use websvc_transport::{Tunnel, Upgrade};

use super::cdp::CdpClient;
use super::{SessionTest, path_of};
use crate::websocket::request_upgrade;

/// A page that counts clicks in its title.
pub(super) const PAGE: &str = "<!DOCTYPE html><title>0</title><body style='margin: 0'>
<button style='position: fixed; inset: 0; width: 100%' onclick='document.title++; textContent = document.title'>0</button>";

/// A viewer, as the page of the live view is one.
pub(super) struct Viewer(WebSocketStream<Tunnel>);

impl Viewer {
    pub(super) async fn connect(test: &SessionTest, url: &Value) -> Self {
        let path = path_of(&test.service, url);
        let response = request_upgrade(&test.service, &path, &[("authorization", "")]).await;
        let Upgrade::Switched { tunnel, .. } = response else { panic!("{response:?}") };
        Self(WebSocketStream::from_raw_socket(tunnel, Role::Client, None).await)
    }

    pub(super) async fn send(&mut self, message: Value) {
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }

    pub(super) async fn click(&mut self) {
        for kind in ["mousePressed", "mouseReleased"] {
            let click =
                json!({"kind": "mouse", "type": kind, "x": 50, "y": 50, "button": "left", "clickCount": 1});
            self.send(click).await;
        }
    }

    /// Returns the next picture.
    pub(super) async fn frame(&mut self) -> Value {
        loop {
            match self.0.next().await.unwrap().unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn viewers_see_the_page_and_only_interactive_ones_use_the_mouse() {
    let name = "viewers_see_the_page_and_only_interactive_ones_use_the_mouse";
    let Some(test) = SessionTest::start(name).await else { return };
    let session = test.create(json!({})).await;
    let mut client = CdpClient::connect(&test, &session["cdpUrl"]).await;
    let page = client.attach().await;
    client.call(Some(&page), "Page.enable", json!({})).await;
    client.call(Some(&page), "Page.navigate", json!({"url": "http://click.test/"})).await;
    let mut title = async |at_least: u64| loop {
        let params = json!({"expression": "Number(document.title)", "returnByValue": true});
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
    while let Some(Ok(message)) = reader.0.next().await {
        if message.is_close() {
            break;
        }
    }
}
