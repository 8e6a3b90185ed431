//! The DevTools protocol: JSON messages, over a pair of pipes or over a WebSocket.

mod cdp;
mod pipes;
mod socket;

use tokio::net::unix::pipe;
use tokio::task::JoinHandle;
use websvc_transport::Tunnel;

pub(crate) use cdp::{Cdp, CdpError, CdpEvent};

/// The connection and its two tasks, which end with it.
pub(crate) struct Connection {
    cdp: Cdp,
    tasks: [JoinHandle<()>; 2],
}

impl Connection {
    /// Starts to speak over the pipes.
    pub(crate) fn over_pipes(commands: pipe::Sender, messages: pipe::Receiver) -> Self {
        let (cdp, queue) = Cdp::new();
        let reading = tokio::spawn(pipes::read(cdp.clone(), messages));
        let writing = tokio::spawn(pipes::write(queue, commands));
        Self { cdp, tasks: [reading, writing] }
    }

    /// Starts to speak over a WebSocket whose handshake is over.
    pub(crate) async fn over_socket(tunnel: Tunnel) -> Self {
        let (cdp, queue) = Cdp::new();
        let (commands, messages) = socket::open(tunnel).await;
        let reading = tokio::spawn(socket::read(cdp.clone(), messages));
        let writing = tokio::spawn(socket::write(queue, commands));
        Self { cdp, tasks: [reading, writing] }
    }

    /// Hangs up.
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
