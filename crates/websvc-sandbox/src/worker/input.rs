//! The frames from the service, read by a thread of its own so that the program can wait for a timer too.

use std::io;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use crate::frame::{self, Frame};

/// Frames that are read ahead of the program.
const QUEUE: usize = 4;
/// The stack of the reading thread. It needs little, and the memory of the process is limited.
const STACK_BYTES: usize = 128 * 1024;

pub(super) struct Input {
    frames: Receiver<Frame>,
}

impl Input {
    pub(super) fn open() -> io::Result<Self> {
        let (sender, frames) = sync_channel(QUEUE);
        thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
            let mut stdin = io::stdin().lock();
            while let Ok(Some(frame)) = frame::read(&mut stdin) {
                if sender.send(frame).is_err() {
                    return;
                }
            }
            // The service has ended. A program in an endless loop would not notice.
            std::process::exit(1);
        })?;
        Ok(Self { frames })
    }

    /// Waits for the next frame, at most for this time. Returns `None` when the time is over.
    pub(super) fn next(&self, time: Option<Duration>) -> Option<Frame> {
        match time {
            None => self.frames.recv().ok(),
            // The reading thread ends the process at the end of the input.
            Some(time) => self.frames.recv_timeout(time).ok(),
        }
    }
}
