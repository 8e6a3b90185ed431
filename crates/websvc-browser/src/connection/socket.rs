//! The protocol over a WebSocket: each message is one of text.

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

use super::cdp::{Cdp, MAX_MESSAGE};

/// How long nothing is said before the other end is asked whether it is there.
const PING_AFTER: Duration = Duration::from_secs(15);
/// How long the other end may be silent: it does not answer any more.
const DEAF_AFTER: Duration = Duration::from_secs(45);

type Sending<S> = SplitSink<WebSocketStream<S>, Message>;
type Receiving<S> = SplitStream<WebSocketStream<S>>;

/// Begins to speak in frames on a connection whose handshake is over.
pub(super) async fn open<S: AsyncRead + AsyncWrite + Unpin>(stream: S) -> (Sending<S>, Receiving<S>) {
    let config =
        WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE));
    WebSocketStream::from_raw_socket(stream, Role::Client, Some(config)).await.split()
}

pub(super) async fn write(
    mut queue: mpsc::Receiver<String>,
    mut commands: Sending<impl AsyncRead + AsyncWrite + Unpin>,
) {
    loop {
        let message = match timeout(PING_AFTER, queue.recv()).await {
            Ok(Some(message)) => Message::text(message),
            Ok(None) => return,
            Err(_) => Message::Ping(Bytes::new()),
        };
        if commands.send(message).await.is_err() {
            // The reader notices the end, too, and tells everybody.
            return;
        }
    }
}

pub(super) async fn read(cdp: Cdp, mut messages: Receiving<impl AsyncRead + AsyncWrite + Unpin>) {
    loop {
        match timeout(DEAF_AFTER, messages.next()).await {
            Ok(Some(Ok(Message::Text(message)))) => cdp.receive(message.as_bytes(), true),
            Ok(Some(Ok(Message::Close(_))) | None) => break,
            Ok(Some(Ok(_))) => {}
            Ok(Some(Err(error))) => {
                tracing::debug!(%error, "the connection to the remote browser broke");
                break;
            }
            Err(_) => {
                tracing::warn!("the remote browser does not answer any more");
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

    /// Starts to speak, and returns the other end.
    async fn conversation() -> (Cdp, WebSocketStream<DuplexStream>) {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (cdp, queue) = Cdp::new();
        let (commands, messages) = open(near).await;
        tokio::spawn(read(cdp.clone(), messages));
        tokio::spawn(write(queue, commands));
        (cdp, WebSocketStream::from_raw_socket(far, Role::Server, None).await)
    }

    #[tokio::test(start_paused = true)]
    async fn an_end_that_answers_pings_is_kept_and_one_that_does_not_is_given_up() {
        let (cdp, mut browser) = conversation().await;
        for _ in 0..10 {
            // Reading is what answers.
            let ping = browser.next().await.unwrap().unwrap();
            assert!(ping.is_ping(), "{ping:?}");
            browser.flush().await.unwrap();
        }
        assert!(!cdp.is_lost());
        let silent_since = Instant::now();
        cdp.disconnected().await;
        assert!(silent_since.elapsed() <= DEAF_AFTER, "{:?}", silent_since.elapsed());
    }

    #[tokio::test]
    async fn commands_are_answered_and_what_is_too_long_ends_the_connection() {
        let (cdp, mut browser) = conversation().await;
        let asked = tokio::spawn({
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
        assert_eq!(asked.await.unwrap().unwrap(), json!({"c": 1}));
        let sending = tokio::spawn(async move {
            // It is hung up on before it is through.
            let _ = browser.send(Message::text("x".repeat(MAX_MESSAGE + 1))).await;
        });
        cdp.disconnected().await;
        assert!(matches!(cdp.call("", "A.b", json!({})).await, Err(CdpError::Lost)));
        sending.abort();
    }
}
