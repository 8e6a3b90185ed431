//! One socket: frames out, next to nothing in, and the signs that the client is still there.

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

/// How silent a client may be.
const PATIENCE: KeepAliveTimeouts =
    KeepAliveTimeouts { ping_every: Duration::from_secs(25), pong_time: Duration::from_secs(35) };
/// The largest frame or message of a client: none is of use.
const MESSAGE_MAX_BYTES: usize = 4 * 1024;
/// Messages of a client between two pings of ours; those of a client that answers and asks are a few.
const MESSAGES_MAX: u32 = 256;
/// What is read at one time: clients send a few bytes, and there may be thousands of sockets.
const READ_BYTES: usize = 1024;
/// How long the end of the conversation may take.
const CLOSING: Duration = Duration::from_secs(5);

/// How silent a client may be: as long as both times together.
#[derive(Debug, Clone, Copy)]
struct KeepAliveTimeouts {
    /// How often it is asked whether it is there.
    ping_every: Duration,
    /// How long it may leave that unanswered.
    pong_time: Duration,
}

/// The word that the server stops.
pub(super) type ShutdownSignal = BoxFuture<'static, ()>;

/// A socket.
pub(super) struct WebSocketConnection<S> {
    socket: WebSocketStream<S>,
    stopping: ShutdownSignal,
    patience: KeepAliveTimeouts,
    frames: u64,
    /// When the next ping is sent.
    ping_at: Instant,
    /// Since when a ping is unanswered.
    unanswered_since: Option<Instant>,
    /// Messages since the last ping.
    heard: u32,
}

/// Why waiting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WakeReason {
    /// What was waited for has happened.
    Changed,
    /// It is time to look whether everything is still as it was.
    Look,
}

impl<S: AsyncRead + AsyncWrite + Unpin> WebSocketConnection<S> {
    /// Begins to speak in frames on a connection whose handshake is over.
    pub(super) async fn open(stream: S, stopping: ShutdownSignal) -> Self {
        Self::open_with(PATIENCE, stream, stopping).await
    }

    async fn open_with(patience: KeepAliveTimeouts, stream: S, stopping: ShutdownSignal) -> Self {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MESSAGE_MAX_BYTES))
            .max_frame_size(Some(MESSAGE_MAX_BYTES))
            .read_buffer_size(READ_BYTES)
            .write_buffer_size(0);
        let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
        let ping_at = Instant::now() + patience.ping_every;
        Self { socket, stopping, patience, frames: 0, ping_at, unanswered_since: None, heard: 0 }
    }

    /// Sends a frame, for as long as the client takes to take it.
    ///
    /// # Errors
    /// Why the socket ends.
    pub(super) async fn send(&mut self, text: String) -> Result<(), CloseReason> {
        self.write(Message::text(text)).await?;
        self.frames += 1;
        Ok(())
    }

    async fn write(&mut self, message: Message) -> Result<(), CloseReason> {
        tokio::select! {
            biased;
            () = &mut self.stopping => Err(CloseReason::Stopping),
            sent = self.socket.send(message) => sent.map_err(|error| CloseReason::of_socket(&error)),
        }
    }

    /// Takes in what the client has sent by now.
    ///
    /// # Errors
    /// Why the socket ends.
    pub(super) fn listen(&mut self) -> Result<(), CloseReason> {
        while let Some(message) = self.socket.next().now_or_never() {
            self.receive(message)?;
        }
        Ok(())
    }

    /// Waits for what is to happen, or until it is time to look anyway.
    ///
    /// # Errors
    /// Why the socket ends.
    pub(super) async fn wait(
        &mut self,
        happens: impl Future<Output = ()>,
    ) -> Result<WakeReason, CloseReason> {
        let mut happens = std::pin::pin!(happens);
        loop {
            let deadline = self.unanswered_since.map(|since| since + self.patience.pong_time);
            let at = deadline.map_or(self.ping_at, |deadline| deadline.min(self.ping_at));
            tokio::select! {
                biased;
                () = &mut self.stopping => return Err(CloseReason::Stopping),
                message = self.socket.next() => self.receive(message)?,
                () = sleep_until(at) => {
                    if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                        return Err(CloseReason::Silent);
                    }
                    self.ping().await?;
                    return Ok(WakeReason::Look);
                }
                () = &mut happens => return Ok(WakeReason::Changed),
            }
        }
    }

    async fn ping(&mut self) -> Result<(), CloseReason> {
        let now = Instant::now();
        self.ping_at = now + self.patience.ping_every;
        self.unanswered_since.get_or_insert(now);
        self.heard = 0;
        self.write(Message::Ping(Bytes::new())).await
    }

    fn receive(&mut self, message: Option<Result<Message, Error>>) -> Result<(), CloseReason> {
        self.unanswered_since = None;
        self.heard += 1;
        match message {
            Some(Ok(Message::Close(_))) | None => Err(CloseReason::Gone),
            Some(Err(error)) => Err(CloseReason::of_socket(&error)),
            Some(Ok(
                Message::Text(_)
                | Message::Binary(_)
                | Message::Ping(_)
                | Message::Pong(_)
                | Message::Frame(_),
            )) if self.heard > MESSAGES_MAX => {
                Err(CloseReason::Broken { code: 1008, text: "no messages are expected".to_owned() })
            }
            Some(Ok(_)) => Ok(()),
        }
    }

    /// Ends the conversation, within a bound; returns how many frames were sent.
    pub(super) async fn close(mut self, farewell: CloseReason) -> u64 {
        let closing = async {
            if let Some(word) = farewell.final_message()
                && self.socket.send(Message::text(word)).await.is_ok()
            {
                self.frames += 1;
            }
            if let Some(frame) = farewell.frame() {
                // A client that has gone needs no goodbye.
                let _ = self.socket.close(Some(frame)).await;
            }
            if farewell != CloseReason::Silent {
                while let Some(Ok(_)) = self.socket.next().await {}
            }
            let _ = self.socket.get_mut().shutdown().await;
        };
        let _ = timeout(CLOSING, closing).await;
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
        let patience = KeepAliveTimeouts {
            ping_every: Duration::from_millis(100),
            pong_time: Duration::from_millis(150),
        };
        let line = WebSocketConnection::open_with(patience, near, Box::pin(pending())).await;
        (line, WebSocketStream::from_raw_socket(far, Role::Client, None).await)
    }

    #[tokio::test]
    async fn a_client_that_answers_is_kept_and_one_that_is_silent_is_not() {
        let (mut line, mut client) = pair().await;
        for _ in 0..5 {
            let (woken, ()) = tokio::join!(line.wait(pending()), async {
                assert!(client.next().await.unwrap().unwrap().is_ping());
                client.flush().await.unwrap();
            });
            assert_eq!(woken, Ok(WakeReason::Look));
        }
        let silent_since = Instant::now();
        let ended = loop {
            match line.wait(pending()).await {
                Ok(_) => {}
                Err(ended) => break ended,
            }
        };
        assert_eq!(ended, CloseReason::Silent);
        assert!(silent_since.elapsed() >= Duration::from_millis(250));
        let KeepAliveTimeouts { ping_every, pong_time } = PATIENCE;
        assert_eq!(ping_every + pong_time, Duration::from_secs(60));
    }

    #[tokio::test]
    async fn what_is_waited_for_and_a_stop_wake() {
        let (mut line, _client) = pair().await;
        assert_eq!(line.wait(ready(())).await, Ok(WakeReason::Changed));
        line.stopping = Box::pin(ready(()));
        assert_eq!(line.wait(pending()).await, Err(CloseReason::Stopping));
    }

    #[tokio::test]
    async fn a_stop_is_heard_while_a_client_takes_nothing() {
        let (mut line, _client) = pair().await;
        line.stopping = Box::pin(tokio::time::sleep(Duration::from_millis(20)));
        assert_eq!(line.send("x".repeat(1 << 20)).await, Err(CloseReason::Stopping));
    }

    #[tokio::test]
    async fn a_flood_ends_the_conversation() {
        let (mut line, mut client) = pair().await;
        let flood = async {
            for _ in 0..=MESSAGES_MAX {
                if client.send(Message::text("x")).await.is_err() {
                    break;
                }
            }
        };
        let (ended, ()) = tokio::join!(line.wait(pending()), flood);
        assert_eq!(ended.map_err(|ended| ended.code()), Err(Some(1008)));
    }
}
