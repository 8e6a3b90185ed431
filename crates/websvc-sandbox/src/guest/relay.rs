//! The connection of an interpreter to the browser: a WebSocket of the DevTools protocol on the loopback interface of the
//! sandbox, which passes messages on to the service.
//!
//! It serves one client after another. Each one finds the browser as a new connection would: the relay gives its commands
//! IDs of their own, and detaches it from all targets at its end.
//!
//! Playwright opens protocol sessions of its own (`newCDPSession`) through a second session of the browser
//! (`Target.attachToBrowserTarget`), which the service refuses. The relay stands for it.

use std::collections::{HashMap, HashSet};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, accept_async_with_config};

use super::downloads::{self, Downloads};
use crate::frame::{Frame, Kind, MAX_FROM_WORKER};

/// The commands after which a connection has no effect any more.
const RESET: [(&str, &str); 2] = [
    ("Target.setAutoAttach", r#"{"autoAttach": false, "waitForDebuggerOnStart": false, "flatten": true}"#),
    ("Target.setDiscoverTargets", r#"{"discover": false}"#),
];

/// The second session of the browser, and the command that asks for it.
const BROWSER_SESSION: &str = "browser";
const ATTACH_TO_BROWSER: &str = "Target.attachToBrowserTarget";

/// The relay between the clients in the sandbox and the service.
pub(super) struct Relay {
    to_service: mpsc::Sender<Frame>,
    from_browser: mpsc::Receiver<String>,
    last_id: u64,
    /// The commands that are not yet answered, by the IDs of the relay.
    waiting: HashMap<u64, Command>,
    /// The protocol sessions of the client.
    sessions: HashSet<String>,
    /// Those of them that the client opened through the second session of the browser.
    of_browser_session: HashSet<String>,
    /// The targets to which the client is attaching through it.
    attaching: Vec<String>,
    downloads: Downloads,
}

/// A command of the client.
struct Command {
    /// Its ID, as the client knows it.
    id: Value,
    is_of_browser_session: bool,
}

/// The way of a command.
enum Forwarded {
    /// It was sent on.
    Sent,
    /// The relay answers it.
    Answered(String),
}

impl Relay {
    pub(super) fn new(to_service: mpsc::Sender<Frame>, from_browser: mpsc::Receiver<String>) -> Self {
        Self {
            to_service,
            from_browser,
            last_id: 0,
            waiting: HashMap::new(),
            sessions: HashSet::new(),
            of_browser_session: HashSet::new(),
            attaching: Vec::new(),
            downloads: Downloads::default(),
        }
    }

    /// Serves clients until the session ends. Detaches from `session` before, because each client attaches on its own.
    pub(super) async fn serve(mut self, listener: TcpListener, session: String) {
        self.sessions.insert(session);
        let limits = WebSocketConfig::default()
            .max_message_size(Some(MAX_FROM_WORKER))
            .max_frame_size(Some(MAX_FROM_WORKER));
        while self.reset().await.is_some() {
            let Ok((stream, _)) = listener.accept().await else { return };
            if let Ok(client) = accept_async_with_config(stream, Some(limits)).await {
                self.serve_client(client).await;
            }
        }
    }

    async fn serve_client(&mut self, mut client: WebSocketStream<TcpStream>) {
        loop {
            tokio::select! {
                message = client.next() => match message {
                    Some(Ok(Message::Text(text))) => match self.forward(text.as_str()).await {
                        Some(Forwarded::Sent) => {}
                        Some(Forwarded::Answered(answer)) => {
                            if client.send(Message::text(answer)).await.is_err() {
                                return;
                            }
                        }
                        None => return,
                    },
                    Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_))) => {}
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                },
                message = self.from_browser.recv() => {
                    let Some(message) = message else { return };
                    if let Some(text) = self.receive(&message).await
                        && client.send(Message::text(text)).await.is_err()
                    {
                        return;
                    }
                }
            }
        }
    }

    /// Sends a command of the client on. Returns `None` if it is not one, or the session has ended.
    async fn forward(&mut self, text: &str) -> Option<Forwarded> {
        let mut message: Value = serde_json::from_str(text).ok()?;
        let id = message.get_mut("id")?.take();
        let is_of_browser_session = message["sessionId"] == BROWSER_SESSION;
        if message["method"] == ATTACH_TO_BROWSER {
            let answer = json!({"id": id, "result": {"sessionId": BROWSER_SESSION}});
            return Some(Forwarded::Answered(answer.to_string()));
        }
        if message["method"] == downloads::SET_BEHAVIOR {
            self.downloads.set_directory(&message["params"]);
        }
        if is_of_browser_session {
            message.as_object_mut()?.shift_remove("sessionId");
            if message["method"] == "Target.attachToTarget" {
                self.attaching.extend(message["params"]["targetId"].as_str().map(str::to_owned));
            }
        }
        self.last_id += 1;
        self.waiting.insert(self.last_id, Command { id, is_of_browser_session });
        message["id"] = self.last_id.into();
        self.send(&message).await?;
        Some(Forwarded::Sent)
    }

    async fn send(&self, message: &Value) -> Option<()> {
        self.to_service.send(Frame { kind: Kind::Message, content: message.to_string() }).await.ok()
    }

    /// Handles a message of the browser, and returns it as the client gets it. A client hears of the end of a download when it
    /// has the file.
    async fn receive(&mut self, text: &str) -> Option<String> {
        let text = match self.downloads.receive(text).await {
            downloads::Received::Other => self.translate(text),
            downloads::Received::Held => None,
            downloads::Received::Event(event) => self.translate(&event),
        };
        if let Some(params) = self.downloads.next_part(self.last_id + 1) {
            self.last_id += 1;
            self.send(&json!({"id": self.last_id, "method": downloads::READ, "params": params})).await?;
        }
        text
    }

    /// Returns a message of the browser as the client gets it; `None` if it is for a client before.
    fn translate(&mut self, text: &str) -> Option<String> {
        let mut message: Value = serde_json::from_str(text).ok()?;
        if let Some(id) = message["id"].as_u64() {
            let Command { id, is_of_browser_session } = self.waiting.remove(&id)?;
            message["id"] = id;
            if is_of_browser_session {
                message["sessionId"] = BROWSER_SESSION.into();
            }
            return Some(message.to_string());
        }
        if let Some(session) = message["sessionId"].as_str()
            && !self.sessions.contains(session)
        {
            return None;
        }
        if self.record_session(&message["method"], &message["params"]) {
            message["sessionId"] = BROWSER_SESSION.into();
        }
        Some(message.to_string())
    }

    /// Records the start or the end of a protocol session. Returns whether the event belongs to the second session of the
    /// browser.
    fn record_session(&mut self, method: &Value, params: &Value) -> bool {
        let Some(session) = params["sessionId"].as_str() else { return false };
        match method.as_str() {
            Some("Target.attachedToTarget") => {
                self.sessions.insert(session.to_owned());
                let target = params["targetInfo"]["targetId"].as_str().unwrap_or_default();
                let Some(index) = self.attaching.iter().position(|attaching| attaching == target) else {
                    return false;
                };
                self.attaching.swap_remove(index);
                self.of_browser_session.insert(session.to_owned())
            }
            Some("Target.detachedFromTarget") => {
                self.sessions.remove(session);
                self.of_browser_session.remove(session)
            }
            _ => false,
        }
    }

    /// Undoes the effects of the client before. Returns `None` if the session has ended.
    async fn reset(&mut self) -> Option<()> {
        self.waiting.clear();
        self.attaching.clear();
        self.of_browser_session.clear();
        self.downloads = Downloads::default();
        let mut commands = Vec::new();
        for session in self.sessions.drain() {
            commands.push(("Target.detachFromTarget", json!({"sessionId": session})));
        }
        for (method, params) in RESET {
            commands.push((method, serde_json::from_str(params).ok()?));
        }
        let mut unanswered = HashSet::new();
        for (method, params) in commands {
            self.last_id += 1;
            unanswered.insert(self.last_id);
            self.send(&json!({"id": self.last_id, "method": method, "params": params})).await?;
        }
        while !unanswered.is_empty() {
            let message: Value = serde_json::from_str(&self.from_browser.recv().await?).ok()?;
            if let Some(id) = message["id"].as_u64() {
                unanswered.remove(&id);
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relay() -> (Relay, mpsc::Receiver<Frame>, mpsc::Sender<String>) {
        let (to_service, frames) = mpsc::channel(16);
        let (browser, from_browser) = mpsc::channel(16);
        (Relay::new(to_service, from_browser), frames, browser)
    }

    #[tokio::test]
    async fn next_client_gets_no_messages_of_the_one_before() {
        let (mut relay, mut frames, browser) = relay();
        relay.forward(r#"{"id": 1, "method": "Target.attachToTarget"}"#).await.unwrap();
        let attached = r#"{"method": "Target.attachedToTarget", "params": {"sessionId": "S"}}"#;
        assert!(relay.translate(attached).is_some());
        let event = r#"{"method": "Page.loadEventFired", "sessionId": "S", "params": {}}"#;
        assert!(relay.translate(event).is_some());
        for id in 2..5 {
            browser.send(format!(r#"{{"id": {id}, "result": {{}}}}"#)).await.unwrap();
        }
        relay.reset().await.unwrap();
        assert!(relay.translate(event).is_none(), "the session is no longer one of the client");
        relay.forward(r#"{"id": 1, "method": "Browser.getVersion"}"#).await.unwrap();
        assert!(relay.translate(r#"{"id": 1, "result": {}}"#).is_none(), "a late answer");
        assert_eq!(relay.translate(r#"{"id": 5, "result": {}}"#).unwrap(), r#"{"id":1,"result":{}}"#);
        let sent: Vec<String> =
            std::iter::from_fn(|| frames.try_recv().ok()).map(|frame| frame.content).collect();
        assert_eq!(sent.len(), 5, "{sent:?}");
        assert!(sent[1].contains("Target.detachFromTarget") && sent[1].contains("\"S\""), "{sent:?}");
    }

    #[tokio::test]
    async fn second_session_of_the_browser_has_its_own_targets() {
        let (mut relay, mut frames, _browser) = relay();
        let attach = r#"{"id": 1, "method": "Target.attachToBrowserTarget", "params": {}}"#;
        let Some(Forwarded::Answered(answer)) = relay.forward(attach).await else { panic!("it is sent on") };
        assert_eq!(answer, r#"{"id":1,"result":{"sessionId":"browser"}}"#);
        let attach = r#"{"id": 2, "method": "Target.attachToTarget", "sessionId": "browser", "params": {"targetId": "T"}}"#;
        assert!(matches!(relay.forward(attach).await, Some(Forwarded::Sent)));
        let sent: Value = serde_json::from_str(&frames.try_recv().unwrap().content).unwrap();
        assert!(sent["sessionId"].is_null(), "{sent}");
        let event = |method: &str, session: &str| {
            json!({"method": method, "params": {"sessionId": session, "targetInfo": {"targetId": "T"}}})
                .to_string()
        };
        for (message, session) in [
            (event("Target.attachedToTarget", "S"), json!("browser")),
            (r#"{"id": 1, "result": {"sessionId": "S"}}"#.to_owned(), json!("browser")),
            (r#"{"method": "Page.frameNavigated", "sessionId": "S", "params": {}}"#.to_owned(), json!("S")),
            (event("Target.attachedToTarget", "Q"), Value::Null),
            (event("Target.detachedFromTarget", "S"), json!("browser")),
            (event("Target.detachedFromTarget", "Q"), Value::Null),
        ] {
            let translated: Value = serde_json::from_str(&relay.translate(&message).unwrap()).unwrap();
            assert_eq!(translated["sessionId"], session, "{message}");
        }
    }
}
