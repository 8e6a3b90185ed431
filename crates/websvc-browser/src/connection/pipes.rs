//! The protocol over a pair of pipes: each message ends with a zero byte.

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;

use super::cdp::{Cdp, MAX_MESSAGE};

/// As much as is kept of a message that is too long, to know whose answer it is.
const HEAD_OF_TOO_LONG: usize = 64;

pub(super) async fn write(mut queue: mpsc::Receiver<String>, mut commands: pipe::Sender) {
    while let Some(message) = queue.recv().await {
        let mut message = message.into_bytes();
        message.push(0);
        if commands.write_all(&message).await.is_err() {
            // The reader notices the end, too, and tells everybody.
            return;
        }
    }
}

pub(super) async fn read(cdp: Cdp, messages: pipe::Receiver) {
    let mut reader = BufReader::with_capacity(64 * 1024, messages);
    let mut message = Vec::new();
    let mut is_whole = true;
    while let Ok(bytes) = reader.fill_buf().await {
        if bytes.is_empty() {
            break;
        }
        let end = bytes.iter().position(|&byte| byte == 0);
        let part = &bytes[..end.unwrap_or(bytes.len())];
        if message.len() + part.len() > MAX_MESSAGE {
            is_whole = false;
            message.truncate(HEAD_OF_TOO_LONG);
        }
        if is_whole {
            message.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            cdp.receive(&message, is_whole);
            is_whole = true;
            message.clear();
            // One picture must not hold its memory for as long as Chromium runs.
            message.shrink_to(1024 * 1024);
        }
    }
    cdp.disconnect();
}
