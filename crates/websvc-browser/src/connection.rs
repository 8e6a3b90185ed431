//! The DevTools protocol: JSON messages, over a pair of pipes or over a WebSocket.

mod cdp;
mod json;
mod pipes;
mod socket;

use tokio::net::unix::pipe;
use tokio::task::JoinHandle;
use websvc_transport::Tunnel;

pub(crate) use cdp::{Cdp, CdpError, CdpEvent, Response};
pub(crate) use json::Json;

/// A connection and its two tasks, which end with it.
pub(crate) struct Connection {
    cdp: Cdp,
    tasks: [JoinHandle<()>; 2],
}

impl Connection {
    /// Starts the protocol over a pair of pipes.
    pub(crate) fn over_pipes(commands: pipe::Sender, messages: pipe::Receiver) -> Self {
        let (cdp, queue) = Cdp::new();
        let reader = tokio::spawn(pipes::read(cdp.clone(), messages));
        let writer = tokio::spawn(pipes::write(queue, commands));
        Self { cdp, tasks: [reader, writer] }
    }

    /// Starts the protocol over a WebSocket whose handshake is complete.
    pub(crate) async fn over_socket(tunnel: Tunnel) -> Self {
        let (cdp, queue) = Cdp::new();
        let (commands, messages) = socket::open(tunnel).await;
        let reader = tokio::spawn(socket::read(cdp.clone(), messages));
        let writer = tokio::spawn(socket::write(queue, commands));
        Self { cdp, tasks: [reader, writer] }
    }

    /// Closes the connection.
    pub(crate) fn abort(&self) {
        for task in &self.tasks {
            task.abort();
        }
        self.cdp.disconnect();
    }

    pub(crate) fn cdp(&self) -> &Cdp {
        &self.cdp
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.abort();
    }
}
