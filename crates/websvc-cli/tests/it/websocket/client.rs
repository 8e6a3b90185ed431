//! A WebSocket client that records the frames and the close code of a job's socket.

use std::time::Duration;

use futures_util::StreamExt;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;
use websvc_transport::{AddressGuard, Client, ClientConfig, Tunnel, Upgrade, UpgradeRequest};

use crate::harness::Service;

/// The example of RFC 6455, section 1.3: a `Sec-WebSocket-Key` and the `Sec-WebSocket-Accept` for it.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/// An open WebSocket of a job.
pub(super) struct JobSocket {
    pub(super) headers: HeaderMap,
    socket: WebSocketStream<Tunnel>,
}

/// Events of a socket until it closed.
#[derive(Debug, Default)]
pub(super) struct SocketEvents {
    /// The `catchup` frame.
    pub(super) first: Value,
    documents: Vec<Value>,
    /// The last `status` frame.
    pub(super) last: Option<Value>,
    pub(super) errors: Vec<String>,
    /// The close code and reason; `None` if the connection broke.
    pub(super) closed: Option<(u16, String)>,
}

impl SocketEvents {
    /// Returns the received documents in order.
    pub(super) fn documents(&self) -> Vec<Value> {
        let first = self.first["data"]["data"].as_array().into_iter().flatten();
        first.chain(&self.documents).cloned().collect()
    }
}

/// Opens a socket with the headers of the official Python client.
pub(super) async fn open_socket(service: &Service, path: &str) -> JobSocket {
    JobSocket::open(service, path, &[]).await
}

/// Requests an upgrade with the service's key and these headers. A header with an empty value is removed.
pub(crate) async fn request_upgrade(service: &Service, path: &str, headers: &[(&str, &str)]) -> Upgrade {
    let mut all = HeaderMap::new();
    all.insert("sec-websocket-version", HeaderValue::from_static("13"));
    all.insert("sec-websocket-key", HeaderValue::from_static(KEY));
    all.insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {}", service.key)).unwrap());
    for (name, value) in headers {
        let name: HeaderName = name.parse().unwrap();
        all.remove(&name);
        if !value.is_empty() {
            all.insert(name, value.parse().unwrap());
        }
    }
    let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
    let request = UpgradeRequest {
        url: format!("{}{path}", service.address).parse().unwrap(),
        protocol: "websocket",
        headers: all,
        timeout: Duration::from_secs(60),
    };
    client.upgrade(request).await.unwrap()
}

impl JobSocket {
    pub(super) async fn open(service: &Service, path: &str, headers: &[(&str, &str)]) -> Self {
        Self::open_and_write(service, path, headers, &[]).await
    }

    /// Opens a socket and writes raw bytes to it.
    pub(super) async fn open_and_write(
        service: &Service,
        path: &str,
        headers: &[(&str, &str)],
        bytes: &[u8],
    ) -> Self {
        let response = request_upgrade(service, path, headers).await;
        let Upgrade::Switched { headers, mut tunnel, .. } = response else { panic!("{response:?}") };
        assert_eq!(headers["sec-websocket-accept"], ACCEPT);
        tunnel.write_all(bytes).await.unwrap();
        let socket = WebSocketStream::from_raw_socket(tunnel, Role::Client, None).await;
        Self { headers, socket }
    }

    /// Returns the next frame; panics if the socket is closed.
    pub(super) async fn next(&mut self) -> Value {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => return serde_json::from_str(&text).unwrap(),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                other => panic!("no frame: {other:?}"),
            }
        }
    }

    /// Reads until the socket closes.
    pub(super) async fn into_events(mut self) -> SocketEvents {
        let mut events = SocketEvents::default();
        while let Some(Ok(message)) = self.socket.next().await {
            match message {
                Message::Text(text) => events.record(serde_json::from_str(&text).unwrap()),
                Message::Close(frame) => {
                    events.closed = frame.map(|frame| (frame.code.into(), frame.reason.to_string()));
                }
                _ => {}
            }
        }
        events
    }
}

impl SocketEvents {
    fn record(&mut self, frame: Value) {
        match frame["type"].as_str().unwrap() {
            "catchup" => self.first = frame,
            "document" => self.documents.push(frame["data"].clone()),
            "status" => self.last = Some(frame),
            "error" => self.errors.push(frame["error"].as_str().unwrap().to_owned()),
            other => panic!("an unknown frame: {other}"),
        }
    }
}
