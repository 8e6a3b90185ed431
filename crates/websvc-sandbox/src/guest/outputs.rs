//! The frames from a guest to the service.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::QUEUE;
use crate::frame::{Finish, Frame, Kind, encode};
use crate::output::Output;

/// The size of the buffer for the output of a program.
const BUFFER: usize = 64 * 1024;
/// The maximum length of a character in UTF-8.
const MAX_CHARACTER: usize = 4;

/// The queue of frames, and the task that writes them.
pub(super) struct Outputs {
    frames: mpsc::Sender<Frame>,
    writer: JoinHandle<()>,
}

impl Outputs {
    pub(super) fn open() -> io::Result<Self> {
        let pipe = pipe::Sender::from_owned_fd(rustix::io::dup(io::stdout())?)?;
        let (frames, queue) = mpsc::channel(QUEUE);
        Ok(Self { frames, writer: tokio::spawn(write(queue, pipe)) })
    }

    /// Returns the queue of frames.
    pub(super) fn sender(&self) -> mpsc::Sender<Frame> {
        self.frames.clone()
    }

    /// Reports the end of the program, after all frames before.
    pub(super) async fn finish(self, finish: &Finish) -> io::Result<()> {
        let content = serde_json::to_string(finish)?;
        // Fails only if the service has ended.
        let _ = self.frames.send(Frame { kind: Kind::Finish, content }).await;
        self.writer.await.map_err(io::Error::other)
    }
}

/// Writes frames until that of the end.
async fn write(mut frames: mpsc::Receiver<Frame>, mut pipe: pipe::Sender) {
    while let Some(Frame { kind, content }) = frames.recv().await {
        if pipe.write_all(&encode(kind, &content)).await.is_err() || kind == Kind::Finish {
            return;
        }
    }
}

/// Sends the output of a program, at most its maximum, as frames. Reads on then, so that the program does not wait.
pub(super) async fn pass(mut output: impl AsyncRead + Unpin, kind: Kind, frames: mpsc::Sender<Frame>) {
    let mut sent = Output::default();
    let mut waiting = Vec::new();
    let mut part = vec![0; BUFFER];
    loop {
        let length = output.read(&mut part).await.unwrap_or(0);
        if sent.is_cut() {
            if length == 0 {
                return;
            }
            continue;
        }
        waiting.extend_from_slice(&part[..length]);
        let text = take_text(&mut waiting, length == 0);
        let fitting = sent.push(&text);
        // The service cuts at the same place, and notices it by the space.
        let end = if sent.is_cut() { " " } else { "" };
        let content = format!("{}{end}", &text[..fitting]);
        if !content.is_empty() && frames.send(Frame { kind, content }).await.is_err() {
            return;
        }
        if length == 0 {
            return;
        }
    }
}

/// Removes the text from the bytes. An incomplete character stays, unless it is the end of the output.
fn take_text(bytes: &mut Vec<u8>, is_end: bool) -> String {
    let mut text = String::new();
    let mut incomplete = Vec::new();
    let mut chunks = bytes.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        text.push_str(chunk.valid());
        let invalid = chunk.invalid();
        if !is_end && chunks.peek().is_none() && is_beginning_of_character(invalid) {
            incomplete = invalid.to_vec();
        } else if !invalid.is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    *bytes = incomplete;
    text
}

fn is_beginning_of_character(bytes: &[u8]) -> bool {
    bytes.len() < MAX_CHARACTER
        && str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none() && error.valid_up_to() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_arrive_in_parts_are_joined() {
        for (parts, expected) in [
            (vec!["a".as_bytes(), b"\xc3", b"\xa9b"], "aéb"),
            (vec![b"\xe2\x82".as_slice(), b"\xac"], "€"),
            (vec![b"x\xffy".as_slice()], "x\u{fffd}y"),
            (vec![b"x\xff".as_slice(), b"y"], "x\u{fffd}y"),
            (vec![b"x\xc3".as_slice()], "x\u{fffd}"),
        ] {
            let (mut waiting, mut text) = (Vec::new(), String::new());
            for part in &parts {
                waiting.extend_from_slice(part);
                text.push_str(&take_text(&mut waiting, false));
            }
            text.push_str(&take_text(&mut waiting, true));
            assert_eq!(text, expected, "{parts:?}");
        }
    }

    #[tokio::test]
    async fn output_beyond_the_maximum_is_read_and_dropped() {
        let long = "x".repeat(3 * 1024 * 1024);
        let (frames, mut queue) = mpsc::channel(64);
        pass(long.as_bytes(), Kind::Stdout, frames).await;
        let mut sent = String::new();
        while let Some(frame) = queue.recv().await {
            sent.push_str(&frame.content);
        }
        assert_eq!(sent.len(), crate::program::MAX_OUTPUT_BYTES + 1);
    }
}
