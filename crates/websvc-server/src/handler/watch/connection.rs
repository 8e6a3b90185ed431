//! A WebSocket connection: sends frames, expects almost none, and checks with pings that the client is alive.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt, SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};
use websvc_transport::BoxFuture;

use super::close::CloseReason;

/// The timeouts of connections.
const TIMEOUTS: KeepAliveTimeouts =
    KeepAliveTimeouts { ping_interval: Duration::from_secs(25), pong_timeout: Duration::from_secs(35) };
/// The maximum size of a client's frame or message. Their content is not used.
const MESSAGE_MAX_BYTES: usize = 4 * 1024;
/// The maximum number of a client's messages between two pings. A normal client sends a few pings and pongs.
const MAX_MESSAGES: u32 = 256;
/// The size of the read buffer: clients send a few bytes, and there may be thousands of connections.
const READ_BUFFER_BYTES: usize = 1024;
/// The maximum time for the closing handshake.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The timeouts after which a silent client counts as gone. Together they are the maximum time of silence.
#[derive(Debug, Clone, Copy)]
struct KeepAliveTimeouts {
    ping_interval: Duration,
    /// The maximum time from a ping to the next message of the client.
    pong_timeout: Duration,
}

/// A future that resolves when the server shuts down.
pub(super) type ShutdownSignal = BoxFuture<'static, ()>;

/// A WebSocket connection.
pub(super) struct WebSocketConnection<S> {
    stream: WebSocketStream<S>,
    shutdown: ShutdownSignal,
    timeouts: KeepAliveTimeouts,
    /// The number of frames with text that were sent.
    frames: u64,
    /// The time of the next ping.
    ping_at: Instant,
    /// The time of the first ping since the last message of the client.
    unanswered_since: Option<Instant>,
    /// The number of the client's messages since the last ping.
    messages: u32,
}

/// The reason for which [`WebSocketConnection::wait`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WakeReason {
    /// The event has happened.
    Event,
    /// A ping was sent. It is time to check the caller's key again.
    Ping,
}

impl<S: AsyncRead + AsyncWrite + Unpin> WebSocketConnection<S> {
    /// Opens a connection after its handshake.
    pub(super) async fn open(stream: S, shutdown: ShutdownSignal) -> Self {
        Self::open_with(TIMEOUTS, stream, shutdown).await
    }

    async fn open_with(timeouts: KeepAliveTimeouts, stream: S, shutdown: ShutdownSignal) -> Self {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MESSAGE_MAX_BYTES))
            .max_frame_size(Some(MESSAGE_MAX_BYTES))
            .read_buffer_size(READ_BUFFER_BYTES)
            .write_buffer_size(0);
        let stream = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
        let ping_at = Instant::now() + timeouts.ping_interval;
        Self { stream, shutdown, timeouts, frames: 0, ping_at, unanswered_since: None, messages: 0 }
    }

    /// Sends a frame, and waits until it is written to the connection.
    ///
    /// # Errors
    /// The reason to close the connection.
    pub(super) async fn send(&mut self, text: String) -> Result<(), CloseReason> {
        self.write(Message::text(text)).await?;
        self.frames += 1;
        Ok(())
    }

    async fn write(&mut self, message: Message) -> Result<(), CloseReason> {
        tokio::select! {
            biased;
            () = &mut self.shutdown => Err(CloseReason::Shutdown),
            sent = self.stream.send(message) => sent.map_err(|error| CloseReason::of_stream_error(&error)),
        }
    }

    /// Receives the messages that have already arrived.
    ///
    /// # Errors
    /// The reason to close the connection.
    pub(super) fn receive_available(&mut self) -> Result<(), CloseReason> {
        while let Some(message) = self.stream.next().now_or_never() {
            self.receive(message)?;
        }
        Ok(())
    }

    /// Waits for an event or until the next ping, and receives messages meanwhile.
    ///
    /// # Errors
    /// The reason to close the connection.
    pub(super) async fn wait(&mut self, event: impl Future<Output = ()>) -> Result<WakeReason, CloseReason> {
        let mut event = std::pin::pin!(event);
        loop {
            let deadline = self.unanswered_since.map(|since| since + self.timeouts.pong_timeout);
            let next = deadline.map_or(self.ping_at, |deadline| deadline.min(self.ping_at));
            tokio::select! {
                biased;
                () = &mut self.shutdown => return Err(CloseReason::Shutdown),
                message = self.stream.next() => self.receive(message)?,
                () = sleep_until(next) => {
                    if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                        return Err(CloseReason::Unresponsive);
                    }
                    self.ping().await?;
                    return Ok(WakeReason::Ping);
                }
                () = &mut event => return Ok(WakeReason::Event),
            }
        }
    }

    async fn ping(&mut self) -> Result<(), CloseReason> {
        let now = Instant::now();
        self.ping_at = now + self.timeouts.ping_interval;
        self.unanswered_since.get_or_insert(now);
        self.messages = 0;
        self.write(Message::Ping(Bytes::new())).await
    }

    fn receive(&mut self, message: Option<Result<Message, Error>>) -> Result<(), CloseReason> {
        self.unanswered_since = None;
        self.messages += 1;
        match message {
            Some(Ok(Message::Close(_))) | None => Err(CloseReason::Disconnected),
            Some(Err(error)) => Err(CloseReason::of_stream_error(&error)),
            Some(Ok(
                Message::Text(_)
                | Message::Binary(_)
                | Message::Ping(_)
                | Message::Pong(_)
                | Message::Frame(_),
            )) if self.messages > MAX_MESSAGES => {
                Err(CloseReason::Protocol { code: 1008, text: "no messages are expected".to_owned() })
            }
            Some(Ok(_)) => Ok(()),
        }
    }

    /// Closes the connection, within [`CLOSE_TIMEOUT`]. Returns the number of frames with text that were sent.
    pub(super) async fn close(mut self, reason: CloseReason) -> u64 {
        let closing = async {
            if let Some(message) = reason.final_message()
                && self.stream.send(Message::text(message)).await.is_ok()
            {
                self.frames += 1;
            }
            if let Some(frame) = reason.frame() {
                // The client may be gone already.
                let _ = self.stream.close(Some(frame)).await;
            }
            if reason != CloseReason::Unresponsive {
                while let Some(Ok(_)) = self.stream.next().await {}
            }
            let _ = self.stream.get_mut().shutdown().await;
        };
        let _ = timeout(CLOSE_TIMEOUT, closing).await;
        self.frames
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::io::DuplexStream;

    use super::*;

    type Client = WebSocketStream<DuplexStream>;

    async fn pair() -> (WebSocketConnection<DuplexStream>, Client) {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let timeouts = KeepAliveTimeouts {
            ping_interval: Duration::from_millis(100),
            pong_timeout: Duration::from_millis(150),
        };
        let connection = WebSocketConnection::open_with(timeouts, near, Box::pin(pending())).await;
        (connection, WebSocketStream::from_raw_socket(far, Role::Client, None).await)
    }

    #[tokio::test]
    async fn connection_stays_open_while_the_client_sends_pongs() {
        let (mut connection, mut client) = pair().await;
        for _ in 0..5 {
            let (woken, ()) = tokio::join!(connection.wait(pending()), async {
                assert!(client.next().await.unwrap().unwrap().is_ping());
                client.flush().await.unwrap();
            });
            assert_eq!(woken, Ok(WakeReason::Ping));
        }
        let silent_since = Instant::now();
        let reason = loop {
            match connection.wait(pending()).await {
                Ok(_) => {}
                Err(reason) => break reason,
            }
        };
        assert_eq!(reason, CloseReason::Unresponsive);
        assert!(silent_since.elapsed() >= Duration::from_millis(250));
        let KeepAliveTimeouts { ping_interval, pong_timeout } = TIMEOUTS;
        assert_eq!(ping_interval + pong_timeout, Duration::from_secs(60));
    }

    #[tokio::test]
    async fn wait_returns_after_the_event_and_at_shutdown() {
        let (mut connection, _client) = pair().await;
        assert_eq!(connection.wait(ready(())).await, Ok(WakeReason::Event));
        connection.shutdown = Box::pin(ready(()));
        assert_eq!(connection.wait(pending()).await, Err(CloseReason::Shutdown));
    }

    #[tokio::test]
    async fn send_to_a_client_that_does_not_read_returns_at_shutdown() {
        let (mut connection, _client) = pair().await;
        connection.shutdown = Box::pin(tokio::time::sleep(Duration::from_millis(20)));
        assert_eq!(connection.send("x".repeat(1 << 20)).await, Err(CloseReason::Shutdown));
    }

    #[tokio::test]
    async fn too_many_messages_close_the_connection() {
        let (mut connection, mut client) = pair().await;
        let flood = async {
            for _ in 0..=MAX_MESSAGES {
                if client.send(Message::text("x")).await.is_err() {
                    break;
                }
            }
        };
        let (woken, ()) = tokio::join!(connection.wait(pending()), flood);
        assert_eq!(woken.map_err(|reason| reason.code()), Err(Some(1008)));
    }
}
