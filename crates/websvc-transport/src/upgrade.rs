//! Handlers of another protocol on a connection, after a 101 response.

use std::fmt;
use std::future::Future;

use tokio::sync::watch;

use crate::BoxFuture;
use crate::tunnel::Tunnel;

type UpgradeFuture = BoxFuture<'static, ()>;

/// The handler of another protocol.
pub(crate) struct UpgradeHandler(Box<dyn FnOnce(Tunnel, ShutdownSignal) -> UpgradeFuture + Send>);

/// A signal that the server shuts down.
#[derive(Debug, Clone)]
pub struct ShutdownSignal(watch::Receiver<bool>);

impl ShutdownSignal {
    pub(crate) fn new(draining: watch::Receiver<bool>) -> Self {
        Self(draining)
    }

    /// Waits until the server shuts down. An upgraded connection then has two seconds to close.
    pub async fn wait(&mut self) {
        // An error means that the server was dropped, which ends this task too.
        let _ = self.0.wait_for(|draining| *draining).await;
    }
}

impl UpgradeHandler {
    pub(crate) fn new<F>(protocol: impl FnOnce(Tunnel, ShutdownSignal) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self(Box::new(move |tunnel, draining| Box::pin(protocol(tunnel, draining))))
    }

    /// Starts the protocol on a connection.
    pub(crate) fn start(self, tunnel: Tunnel, shutdown: ShutdownSignal) -> UpgradeFuture {
        (self.0)(tunnel, shutdown)
    }
}

impl fmt::Debug for UpgradeHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpgradeHandler").finish_non_exhaustive()
    }
}
