//! The DevTools protocol over a WebSocket: each message is a text message.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::cdp::{Cdp, MAX_MESSAGE, Outgoing};

/// The time without commands after which a ping is sent.
const PING_INTERVAL: Duration = Duration::from_secs(15);
/// The time without messages and pongs after which the connection is lost.
const READ_TIMEOUT: Duration = Duration::from_secs(45);

type Sender<S> = SplitSink<WebSocketStream<S>, Message>;
type Receiver<S> = SplitStream<WebSocketStream<S>>;

/// Starts the framing on a connection whose handshake is complete.
pub(super) async fn open<S: AsyncRead + AsyncWrite + Unpin>(stream: S) -> (Sender<S>, Receiver<S>) {
    let config =
        WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE));
    WebSocketStream::from_raw_socket(stream, Role::Client, Some(config)).await.split()
}

pub(super) async fn write(
    mut queue: mpsc::Receiver<Outgoing>,
    mut commands: Sender<impl AsyncRead + AsyncWrite + Unpin>,
) {
    loop {
        let message = match timeout(PING_INTERVAL, queue.recv()).await {
            Ok(Some(Outgoing { text, .. })) => Message::text(text),
            Ok(None) => return,
            Err(_) => Message::Ping(Bytes::new()),
        };
        if commands.send(message).await.is_err() {
            // The reader also notices the end, and fails all calls.
            return;
        }
    }
}

pub(super) async fn read(cdp: Cdp, mut messages: Receiver<impl AsyncRead + AsyncWrite + Unpin>) {
    loop {
        match timeout(READ_TIMEOUT, messages.next()).await {
            Ok(Some(Ok(Message::Text(message)))) => cdp.receive(message.as_bytes()),
            Ok(Some(Ok(Message::Close(_))) | None) => break,
            Ok(Some(Ok(_))) => {}
            Ok(Some(Err(error))) => {
                tracing::debug!(%error, "the connection to the remote browser failed");
                break;
            }
            Err(_) => {
                tracing::warn!("the remote browser does not respond; closing the connection");
                break;
            }
        }
    }
    cdp.disconnect();
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::io::DuplexStream;
    use tokio::time::Instant;

    use super::*;
    use crate::connection::CdpError;

    /// Starts the protocol, and returns the other end.
    async fn connect() -> (Cdp, WebSocketStream<DuplexStream>) {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (cdp, queue) = Cdp::new();
        let (commands, messages) = open(near).await;
        tokio::spawn(read(cdp.clone(), messages));
        tokio::spawn(write(queue, commands));
        (cdp, WebSocketStream::from_raw_socket(far, Role::Server, None).await)
    }

    #[tokio::test(start_paused = true)]
    async fn connection_is_lost_when_pings_are_not_answered() {
        let (cdp, mut browser) = connect().await;
        for _ in 0..10 {
            // Reading a ping queues the pong.
            let ping = browser.next().await.unwrap().unwrap();
            assert!(ping.is_ping(), "{ping:?}");
            browser.flush().await.unwrap();
        }
        assert!(!cdp.is_lost());
        let silent_since = Instant::now();
        cdp.disconnected().await;
        assert!(silent_since.elapsed() <= READ_TIMEOUT, "{:?}", silent_since.elapsed());
    }

    #[tokio::test]
    async fn call_returns_its_result_and_a_too_long_message_ends_the_connection() {
        let (cdp, mut browser) = connect().await;
        let call = tokio::spawn({
            let cdp = cdp.clone();
            async move { cdp.call("s", "A.b", json!({})).await }
        });
        let command = browser.next().await.unwrap().unwrap();
        let command: serde_json::Value = serde_json::from_str(command.to_text().unwrap()).unwrap();
        assert_eq!((&command["method"], &command["sessionId"]), (&json!("A.b"), &json!("s")));
        browser
            .send(Message::text(json!({"id": command["id"], "result": {"c": 1}}).to_string()))
            .await
            .unwrap();
        assert_eq!(call.await.unwrap().unwrap(), json!({"c": 1}));
        let sending = tokio::spawn(async move {
            // Fails: the other end closes the connection first.
            let _ = browser.send(Message::text("x".repeat(MAX_MESSAGE + 1))).await;
        });
        cdp.disconnected().await;
        assert!(matches!(cdp.call("", "A.b", json!({})).await, Err(CdpError::Lost)));
        sending.abort();
    }
}
