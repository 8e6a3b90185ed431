//! The WebSocket of the live view: pictures of the current page, and mouse and keyboard of the viewer.
//!
//! The next picture is requested when the viewer has shown the last one, at most 15 times per second. Without viewers, no
//! pictures are taken.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::Request;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep_until};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use uuid::Uuid;
use websvc_session::{ClientConnection, PageTarget, ViewMode};
use websvc_transport::{Body, ServerBody};

use crate::handler::watch::Handshake;
use crate::response::{ApiError, HttpResponse};
use crate::service::RequestContext;

/// The minimum time between two pictures.
const FRAME_INTERVAL: Duration = Duration::from_millis(67);
/// The maximum size of a message of a viewer.
const MAX_MESSAGE_BYTES: usize = 16 * 1024;
/// The time without a message of the viewer after which it counts as gone. Its page sends one every ten seconds.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(60);
/// The interval of pings, which show a proxy and the replica that passes them on that the page only does not change.
const PING_INTERVAL: Duration = Duration::from_secs(25);

/// The parameters of commands that a viewer may send, by the type of its message.
const INPUTS: &[(&str, &str, &[&str])] = &[
    (
        "mouse",
        "Input.dispatchMouseEvent",
        &["type", "x", "y", "button", "buttons", "clickCount", "modifiers", "deltaX", "deltaY"],
    ),
    (
        "key",
        "Input.dispatchKeyEvent",
        &["type", "key", "code", "text", "modifiers", "windowsVirtualKeyCode", "autoRepeat"],
    ),
    ("text", "Input.insertText", &["text"]),
];

/// The state of one viewer.
struct Viewer {
    connection: ClientConnection,
    page: PageTarget,
    mode: ViewMode,
    last_id: u64,
    /// The picture that the viewer has not confirmed, by its number in the protocol.
    unconfirmed: Option<Value>,
    next_at: Instant,
    heard: Instant,
}

/// Connects a viewer to a session.
pub(super) async fn connect(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
    id: Uuid,
    token: &str,
) -> Result<HttpResponse, ApiError> {
    let handshake = Handshake::from_request(request)?;
    let (connection, page, mode) = context.state.browser_sessions.watch(id, token).await?;
    let body = Body::upgrade(move |stream, mut drain| async move {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES));
        let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
        let now = Instant::now();
        let mut viewer =
            Viewer { connection, page, mode, last_id: 0, unconfirmed: None, next_at: now, heard: now };
        tokio::select! {
            () = viewer.show(&mut socket) => {}
            () = drain.wait() => {}
        }
        // The viewer may be gone.
        let _ = socket.close(None).await;
    });
    Ok(handshake.into_response(body))
}

impl Viewer {
    /// Shows the page until the viewer leaves or the tab is closed.
    async fn show<S: AsyncRead + AsyncWrite + Unpin>(&mut self, socket: &mut WebSocketStream<S>) {
        let screencast =
            json!({"format": "jpeg", "quality": 60, "maxWidth": 1280, "maxHeight": 1280, "everyNthFrame": 1});
        if self.command("Page.enable", json!({})).is_none()
            || self.command("Page.startScreencast", screencast).is_none()
        {
            return;
        }
        let mut ping_at = Instant::now() + PING_INTERVAL;
        loop {
            let silent_at = self.heard + SILENCE_TIMEOUT;
            let is_shown = tokio::select! {
                message = socket.next() => match message {
                    Some(Ok(Message::Text(text))) => self.on_viewer_message(&text).await,
                    Some(Ok(Message::Close(_)) | Err(_)) | None => None,
                    Some(Ok(_)) => Some(()),
                },
                message = self.connection.receive() => match message {
                    Some(message) => self.on_browser_message(&message, socket).await,
                    None => None,
                },
                () = sleep_until(ping_at) => {
                    ping_at = Instant::now() + PING_INTERVAL;
                    socket.send(Message::Ping(Bytes::new())).await.ok()
                }
                () = sleep_until(silent_at) => None,
            };
            if is_shown.is_none() {
                return;
            }
        }
    }

    /// Sends a command that does not count as use of the session. Returns `None` if the session has ended.
    fn command(&mut self, method: &str, params: Value) -> Option<()> {
        let command = self.message(method, params);
        self.connection.send_unnoticed(&command).ok()
    }

    fn message(&mut self, method: &str, params: Value) -> String {
        self.last_id += 1;
        let mut message = json!({"id": self.last_id, "method": method, "sessionId": self.page.session_id});
        message["params"] = params;
        message.to_string()
    }

    /// Handles a message of the browser. Returns `None` if the tab is closed or the viewer is gone.
    async fn on_browser_message<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        message: &str,
        socket: &mut WebSocketStream<S>,
    ) -> Option<()> {
        let mut message: Value = serde_json::from_str(message).ok()?;
        match message["method"].as_str() {
            Some("Page.screencastFrame") => {
                let params = &mut message["params"];
                self.unconfirmed = Some(params["sessionId"].take());
                let frame = json!({
                    "data": params["data"].take(),
                    "width": params["metadata"]["deviceWidth"].take(),
                    "height": params["metadata"]["deviceHeight"].take(),
                });
                socket.send(Message::text(frame.to_string())).await.ok()
            }
            Some("Target.detachedFromTarget")
                if message["params"]["sessionId"] == self.page.session_id.as_str() =>
            {
                None
            }
            _ => Some(()),
        }
    }

    /// Handles a message of the viewer. Returns `None` if the session has ended or the message is not one of the page.
    async fn on_viewer_message(&mut self, text: &str) -> Option<()> {
        self.heard = Instant::now();
        let message: Value = serde_json::from_str(text).ok()?;
        let kind = message["kind"].as_str()?;
        match kind {
            "shown" => {
                let Some(frame) = self.unconfirmed.take() else { return Some(()) };
                sleep_until(self.next_at).await;
                self.next_at = Instant::now() + FRAME_INTERVAL;
                self.command("Page.screencastFrameAck", json!({ "sessionId": frame }))
            }
            "alive" => Some(()),
            _ => {
                let (method, params) = input(&message)?;
                if self.mode == ViewMode::ReadOnly {
                    return Some(());
                }
                let command = self.message(method, params);
                self.connection.send(&command).ok()
            }
        }
    }
}

/// Returns the command for an input of a viewer, with the parameters that it may set.
fn input(message: &Value) -> Option<(&'static str, Value)> {
    let (_, method, names) = INPUTS.iter().find(|(kind, ..)| message["kind"] == *kind)?;
    let mut params = Map::new();
    for name in *names {
        match &message[*name] {
            Value::Null => {}
            value @ (Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                params.insert((*name).to_owned(), value.clone());
            }
            Value::Array(_) | Value::Object(_) => return None,
        }
    }
    Some((method, Value::Object(params)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_has_known_parameters_only() {
        let message =
            json!({"kind": "mouse", "type": "mousePressed", "x": 1.5, "y": 2, "pointerType": "pen"});
        let params = json!({"type": "mousePressed", "x": 1.5, "y": 2});
        assert_eq!(input(&message), Some(("Input.dispatchMouseEvent", params)));
        let message = json!({"kind": "key", "type": "keyDown", "key": "a", "commands": ["paste"]});
        assert_eq!(input(&message), Some(("Input.dispatchKeyEvent", json!({"type": "keyDown", "key": "a"}))));
        assert_eq!(input(&json!({"kind": "text", "text": ["x"]})), None);
        assert_eq!(input(&json!({"kind": "Page.navigate", "url": "http://a.test/"})), None);
    }
}
