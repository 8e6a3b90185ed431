//! The DevTools protocol over a pair of pipes: each message ends with a zero byte.

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;

use super::cdp::{Cdp, MAX_MESSAGE, Outgoing};

/// The bytes that are retained of a message that is too long, which include the ID of its command.
const RETAINED_BYTES: usize = 64;

pub(super) async fn write(mut queue: mpsc::Receiver<Outgoing>, mut commands: pipe::Sender) {
    while let Some(Outgoing { text, _memory }) = queue.recv().await {
        let mut message = text.into_bytes();
        message.push(0);
        if commands.write_all(&message).await.is_err() {
            // The reader also notices the end, and fails all calls.
            return;
        }
    }
}

pub(super) async fn read(cdp: Cdp, messages: pipe::Receiver) {
    let mut reader = BufReader::with_capacity(64 * 1024, messages);
    let mut message = Vec::new();
    let mut is_truncated = false;
    while let Ok(bytes) = reader.fill_buf().await {
        if bytes.is_empty() {
            break;
        }
        let end = bytes.iter().position(|&byte| byte == 0);
        let part = &bytes[..end.unwrap_or(bytes.len())];
        if message.len() + part.len() > MAX_MESSAGE {
            is_truncated = true;
            message.truncate(RETAINED_BYTES);
        }
        if !is_truncated {
            message.extend_from_slice(part);
        }
        let consumed = part.len() + usize::from(end.is_some());
        reader.consume(consumed);
        if end.is_some() {
            if is_truncated {
                cdp.receive_truncated(&message);
            } else {
                cdp.receive(&message);
            }
            is_truncated = false;
            message.clear();
            // Releases the memory of a large message, such as a screenshot.
            message.shrink_to(1024 * 1024);
        }
    }
    cdp.disconnect();
}
