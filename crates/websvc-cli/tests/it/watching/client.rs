//! A client of sockets: the frames it saw, and how it was closed.

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

/// The key and the answer to it of RFC 6455, section 1.3.
const NONCE: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/// An open socket.
pub(super) struct Watch {
    pub(super) headers: HeaderMap,
    socket: WebSocketStream<Tunnel>,
}

/// Events of a socket until it closed.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The first frame with a state.
    pub(super) first: Value,
    documents: Vec<Value>,
    /// A later one.
    pub(super) last: Option<Value>,
    pub(super) errors: Vec<String>,
    /// `None` when the connection broke.
    pub(super) closed: Option<(u16, String)>,
}

impl Seen {
    /// Returns the documents that were told, in their order.
    pub(super) fn documents(&self) -> Vec<Value> {
        let first = self.first["data"]["data"].as_array().into_iter().flatten();
        first.chain(&self.documents).cloned().collect()
    }
}

/// Opens a socket as the Python client does.
pub(super) async fn watch(service: &Service, path: &str) -> Watch {
    Watch::open(service, path, &[]).await
}

/// Asks for a socket, with the service's key unless the headers say otherwise; an empty value leaves a header out.
pub(super) async fn ask(service: &Service, path: &str, headers: &[(&str, &str)]) -> Upgrade {
    let mut all = HeaderMap::new();
    all.insert("sec-websocket-version", HeaderValue::from_static("13"));
    all.insert("sec-websocket-key", HeaderValue::from_static(NONCE));
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

impl Watch {
    pub(super) async fn open(service: &Service, path: &str, headers: &[(&str, &str)]) -> Self {
        Self::open_after(service, path, headers, &[]).await
    }

    /// Opens a socket and sends these bytes as they are.
    pub(super) async fn open_after(
        service: &Service,
        path: &str,
        headers: &[(&str, &str)],
        bytes: &[u8],
    ) -> Self {
        let answer = ask(service, path, headers).await;
        let Upgrade::Switched { headers, mut tunnel, .. } = answer else { panic!("{answer:?}") };
        assert_eq!(headers["sec-websocket-accept"], ACCEPT);
        tunnel.write_all(bytes).await.unwrap();
        let socket = WebSocketStream::from_raw_socket(tunnel, Role::Client, None).await;
        Self { headers, socket }
    }

    /// Returns the next frame, which has to be there.
    pub(super) async fn next(&mut self) -> Value {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => return serde_json::from_str(&text).unwrap(),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                other => panic!("no frame: {other:?}"),
            }
        }
    }

    /// Reads to the end.
    pub(super) async fn into_seen(mut self) -> Seen {
        let mut seen = Seen::default();
        while let Some(Ok(message)) = self.socket.next().await {
            match message {
                Message::Text(text) => seen.take(serde_json::from_str(&text).unwrap()),
                Message::Close(frame) => {
                    seen.closed = frame.map(|frame| (frame.code.into(), frame.reason.to_string()));
                }
                _ => {}
            }
        }
        seen
    }
}

impl Seen {
    fn take(&mut self, frame: Value) {
        match frame["type"].as_str().unwrap() {
            "catchup" => self.first = frame,
            "document" => self.documents.push(frame["data"].clone()),
            "status" => self.last = Some(frame),
            "error" => self.errors.push(frame["error"].as_str().unwrap().to_owned()),
            other => panic!("an unknown frame: {other}"),
        }
    }
}
