//! The files of downloads, which the relay puts where Playwright expects them: in the directory that it names to the browser.
//! The browser does not write there, because it is not in the sandbox.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

/// The command in which a client names the directory.
pub(super) const SET_BEHAVIOR: &str = "Browser.setDownloadBehavior";
/// The command with which the service returns a part of a file.
pub(super) const READ: &str = "Websvc.readDownload";

const PROGRESS: &str = "Browser.downloadProgress";

/// The downloads of a client.
#[derive(Debug, Default)]
pub(super) struct Downloads {
    directory: Option<PathBuf>,
    /// The downloads whose files are not yet complete. The first one is being read.
    pending: VecDeque<Pending>,
    /// The ID of the command that is not yet answered.
    asked: Option<u64>,
}

/// A download that is complete in the browser.
#[derive(Debug)]
struct Pending {
    guid: String,
    /// The event that says so.
    event: Value,
    /// The size of the file so far.
    written: usize,
}

/// The effect of a message of the browser.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// It is not about the file of a download.
    Other,
    /// The client does not get it, or not yet.
    Held,
    /// The client gets this event in its place.
    Event(String),
}

impl Downloads {
    /// Remembers the directory that a client names.
    pub(super) fn set_directory(&mut self, params: &Value) {
        let path = params["downloadPath"].as_str().map(PathBuf::from);
        self.directory = path.filter(|path| path.is_absolute());
    }

    /// Handles a message of the browser.
    pub(super) async fn receive(&mut self, text: &str) -> Received {
        if self.asked.is_none() && (self.directory.is_none() || !text.contains(PROGRESS)) {
            return Received::Other;
        }
        let Ok(mut message) = serde_json::from_str::<Value>(text) else { return Received::Other };
        if self.asked.is_some() && message["id"].as_u64() == self.asked {
            self.asked = None;
            return self.add_part(&message).await.map_or(Received::Held, Received::Event);
        }
        let params = &message["params"];
        if message["method"] != PROGRESS || params["state"] != "completed" || self.directory.is_none() {
            return Received::Other;
        }
        let guid = params["guid"].as_str().unwrap_or_default().to_owned();
        // It becomes the name of a file.
        if guid.is_empty() || !guid.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Received::Other;
        }
        self.pending.push_back(Pending { guid, event: message.take(), written: 0 });
        Received::Held
    }

    /// Returns the parameters of the next command, which has this ID; `None` if there is none to send now.
    pub(super) fn next_part(&mut self, id: u64) -> Option<Value> {
        let Pending { guid, written, .. } = self.pending.front().filter(|_| self.asked.is_none())?;
        self.asked = Some(id);
        Some(json!({"guid": guid, "offset": written}))
    }

    /// Adds a part to the first file. Returns the event of its end, if this is it.
    async fn add_part(&mut self, response: &Value) -> Option<String> {
        let pending = self.pending.front_mut()?;
        let path = self.directory.as_ref()?.join(&pending.guid);
        let written = match part_of(response) {
            Some(part) => append(&path, &part, pending.written == 0).await.map(|()| part.len()),
            None => Err(io::ErrorKind::InvalidData.into()),
        };
        match written {
            Ok(size) => {
                pending.written += size;
                if response["result"]["isLast"] != true {
                    return None;
                }
            }
            Err(_) => pending.event["params"]["state"] = "canceled".into(),
        }
        self.pending.pop_front().map(|pending| pending.event.to_string())
    }
}

/// Returns the part of a file in a response of the service; `None` if it is an error.
fn part_of(response: &Value) -> Option<Vec<u8>> {
    STANDARD.decode(response["result"]["data"].as_str()?).ok()
}

/// Adds a part to a file, or creates it.
async fn append(path: &std::path::Path, part: &[u8], creates: bool) -> io::Result<()> {
    let mut options = tokio::fs::OpenOptions::new();
    let mut file =
        options.create(creates).truncate(creates).append(!creates).write(creates).open(path).await?;
    file.write_all(part).await?;
    file.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(guid: &str) -> String {
        json!({"method": PROGRESS, "params": {"guid": guid, "state": "completed"}}).to_string()
    }

    #[tokio::test]
    async fn file_is_complete_before_the_client_hears_of_its_end() {
        let directory = tempfile::tempdir().unwrap();
        let mut downloads = Downloads::default();
        assert_eq!(downloads.receive(&completed("a-1")).await, Received::Other, "the client wants no files");
        downloads.set_directory(&json!({"downloadPath": directory.path()}));
        let begun = json!({"method": PROGRESS, "params": {"guid": "a-1", "state": "inProgress"}});
        assert_eq!(downloads.receive(&begun.to_string()).await, Received::Other);
        assert_eq!(downloads.next_part(1), None);
        for guid in ["a-1", "a-2"] {
            assert_eq!(downloads.receive(&completed(guid)).await, Received::Held);
        }
        assert_eq!(downloads.next_part(1), Some(json!({"guid": "a-1", "offset": 0})));
        assert_eq!(downloads.next_part(2), None, "one command at a time");
        assert_eq!(downloads.receive(r#"{"id": 7, "result": {}}"#).await, Received::Other);
        let part = |data: &str, is_last: bool, id: u64| {
            json!({"id": id, "result": {"data": STANDARD.encode(data), "isLast": is_last}}).to_string()
        };
        assert_eq!(downloads.receive(&part("one ", false, 1)).await, Received::Held);
        assert_eq!(downloads.next_part(2), Some(json!({"guid": "a-1", "offset": 4})));
        let event = Received::Event(completed("a-1"));
        assert_eq!(downloads.receive(&part("two", true, 2)).await, event);
        assert_eq!(std::fs::read_to_string(directory.path().join("a-1")).unwrap(), "one two");
        // A file that the service does not have.
        assert_eq!(downloads.next_part(3), Some(json!({"guid": "a-2", "offset": 0})));
        let Received::Event(event) = downloads.receive(r#"{"id": 3, "error": {"message": "x"}}"#).await
        else {
            panic!("no event");
        };
        assert!(event.contains("canceled"), "{event}");
        assert_eq!(downloads.next_part(4), None);
        for guid in ["../a", "", "a/b"] {
            assert_eq!(downloads.receive(&completed(guid)).await, Received::Other, "{guid}");
        }
    }
}
