//! The frames to the service.

use std::cell::{Cell, RefCell};
use std::io;

use crate::frame::{self, Finish, Kind, MAX_FROM_WORKER};
use crate::output::Output;

/// The outputs of the program, cut here so that a flood of output costs no writes, and its end.
#[derive(Default)]
pub(super) struct Outputs {
    stdout: RefCell<Output>,
    stderr: RefCell<Output>,
    is_finished: Cell<bool>,
}

impl Outputs {
    /// Sends a message to the browser. Returns false if it is too long.
    pub(super) fn send(&self, message: &str) -> bool {
        message.len() <= MAX_FROM_WORKER && write(Kind::Message, message)
    }

    pub(super) fn print(&self, is_error: bool, text: &str) {
        let (kind, output) =
            if is_error { (Kind::Stderr, &self.stderr) } else { (Kind::Stdout, &self.stdout) };
        let was_cut = output.borrow().is_cut();
        let length = output.borrow_mut().push(text);
        if was_cut {
            return;
        }
        write(kind, &text[..length]);
        if length < text.len() {
            // The service cuts at the same place, and notices it by this byte.
            write(kind, " ");
        }
    }

    /// Reports the end of the program. Only the first end counts.
    pub(super) fn finish(&self, finish: &Finish) {
        if !self.is_finished.replace(true) {
            let content = serde_json::to_string(finish).expect("an outcome is strings and numbers");
            write(Kind::Finish, &content);
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        self.is_finished.get()
    }
}

/// Writes a frame. A service that does not read any more has ended, and this process ends with its input.
fn write(kind: Kind, content: &str) -> bool {
    frame::write(&mut io::stdout().lock(), kind, content).is_ok()
}
