//! A thread that works until its owner is dropped.

use std::convert::Infallible;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The owner of the thread. Dropping this stops and joins the thread.
#[derive(Debug)]
pub(crate) struct BackgroundThread {
    stop: Option<Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

/// The signal that the thread must stop.
#[derive(Debug)]
pub(crate) struct StopSignal(Receiver<Infallible>);

impl BackgroundThread {
    /// Starts a thread that runs `work`, which must return soon after the signal.
    pub(crate) fn start(name: &str, work: impl FnOnce(&StopSignal) + Send + 'static) -> io::Result<Self> {
        let (stop, stopped) = channel();
        let thread =
            std::thread::Builder::new().name(name.to_owned()).spawn(move || work(&StopSignal(stopped)))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for BackgroundThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The panic hook has already reported a panic of the thread.
            let _ = thread.join();
        }
    }
}

impl StopSignal {
    /// Waits for `interval`. Returns false, earlier, if the thread must stop.
    pub(crate) fn wait(&self, interval: Duration) -> bool {
        matches!(self.0.recv_timeout(interval), Err(RecvTimeoutError::Timeout))
    }
}
