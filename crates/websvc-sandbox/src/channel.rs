//! The connection of a program to the browser.

use std::pin::Pin;

/// A boxed future, for a trait that is used as an object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A channel of messages of the DevTools protocol, as JSON text, of one session.
///
/// The messages of a target carry its `sessionId` (the flattened protocol). The channel admits only what the session
/// may do, and answers a message that it refuses with an error of the protocol. A response has the `id` of its request:
/// the worker counts its requests from 1, so a channel that shares a connection replaces the ids in both directions.
///
/// The library sends the methods of [`METHODS`](crate::METHODS). A hostile program can send any text.
pub trait CdpChannel: Send {
    /// Sends a message to the browser.
    fn send(&mut self, message: String) -> BoxFuture<'_, Result<(), ChannelClosed>>;

    /// Returns the next message of the browser, or `None` at the end of the session.
    ///
    /// The future is dropped when something else happens first, and must not lose a message then.
    fn receive(&mut self) -> BoxFuture<'_, Option<String>>;
}

/// The end of a session while its program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the browser session has ended")]
pub struct ChannelClosed;
