//! The channel of a program to its browser: that of a client, and the downloads of the program, which become artifacts.
//!
//! Some commands of programs end here: the browser must not get them from a client.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use websvc_artifacts::{Artifact, ArtifactKind, FileName, TeamArtifacts};
use websvc_browser::{DownloadError, DownloadLimits, DownloadedFile};
use websvc_transport::BoxFuture;
use websvc_types::limits::{
    INTERACT_DOWNLOAD_LIFETIME_S, INTERACT_DOWNLOAD_MAX_BYTES, INTERACT_DOWNLOAD_NAME_MAX_CHARS,
    INTERACT_DOWNLOADS_MAX,
};

use crate::active::ClientConnection;
use crate::code::{CdpChannel, ChannelClosed};

/// The limits of the downloads of a program.
pub(crate) const DOWNLOAD_LIMITS: DownloadLimits =
    DownloadLimits { count: INTERACT_DOWNLOADS_MAX, bytes: INTERACT_DOWNLOAD_MAX_BYTES };
/// The maximum number of responses that a program has not read.
const MAX_RESPONSES: usize = 1024;

const _: () = assert!(websvc_artifacts::FILE_NAME_MAX_CHARS == INTERACT_DOWNLOAD_NAME_MAX_CHARS);

/// Stores a download as an artifact.
const STORE: &str = "Websvc.storeDownload";
/// Cancels a download. Only the program that has it can do this.
const CANCEL: &str = "Browser.cancelDownload";
/// Returns a part of the file of a download. The sandbox of an interpreter asks for it, and keeps the file.
const READ: &str = "Websvc.readDownload";
/// The maximum size of such a part. As base64, a message of it is much smaller than those that a sandbox accepts.
const PART_BYTES: usize = 4 * 1024 * 1024;
/// The maximum size of a command that ends here. Longer ones go to the browser, whose filter refuses them.
const MAX_COMMAND_BYTES: usize = 16 * 1024;

/// The store of the artifacts of a program, and the base of their URLs; `None` if its request may not store any.
pub(crate) type ProgramFiles = Option<(TeamArtifacts, String)>;

/// The channel of a program.
pub(crate) struct ProgramChannel {
    connection: ClientConnection,
    files: ProgramFiles,
    /// The stored downloads, by their IDs in the protocol.
    stored: HashMap<String, StoredDownload>,
    storing: JoinSet<StoreTask>,
    /// The file that a sandbox reads, and the download that it belongs to.
    opened: Option<(String, Bytes)>,
    opening: JoinSet<OpenTask>,
    /// One file at a time is in memory.
    reading: Arc<Semaphore>,
    responses: VecDeque<String>,
}

/// A download that is an artifact.
#[derive(Debug, Clone)]
struct StoredDownload {
    artifact: Artifact,
    bytes: usize,
    /// The name that the page suggested.
    name: String,
}

/// The outcome of storing a download, for the command that has asked for it.
struct StoreTask {
    command: Command,
    outcome: Result<StoredDownload, String>,
}

/// The content of a download, for the command that has asked for its first part.
struct OpenTask {
    command: Command,
    content: Result<Bytes, String>,
}

/// A command of a program that the browser does not get.
#[derive(Debug, PartialEq, Eq)]
struct Command {
    id: u64,
    kind: CommandKind,
    /// The ID of the download in the protocol.
    download: String,
    /// The name of the artifact; that of the download if it is `None`.
    name: Option<String>,
    /// The first byte of the part of the file.
    offset: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandKind {
    Store,
    Cancel,
    Read,
}

impl Command {
    /// Reads a message of a program; `None` if the browser handles it.
    fn parse(message: &str) -> Option<Self> {
        if message.len() > MAX_COMMAND_BYTES
            || ![STORE, CANCEL, READ].iter().any(|name| message.contains(name))
        {
            return None;
        }
        let message: Value = serde_json::from_str(message).ok()?;
        let kind = match message["method"].as_str()? {
            STORE => CommandKind::Store,
            CANCEL => CommandKind::Cancel,
            READ => CommandKind::Read,
            _ => return None,
        };
        let text = |name: &str| message["params"][name].as_str().map(str::to_owned);
        Some(Self {
            id: message["id"].as_u64()?,
            kind,
            download: text("guid").unwrap_or_default(),
            name: text("name"),
            offset: message["params"]["offset"].as_u64().and_then(|at| at.try_into().ok()).unwrap_or(0),
        })
    }
}

impl ProgramChannel {
    pub(crate) fn new(connection: ClientConnection, files: ProgramFiles) -> Self {
        Self {
            connection,
            files,
            stored: HashMap::new(),
            storing: JoinSet::new(),
            opened: None,
            opening: JoinSet::new(),
            reading: Arc::new(Semaphore::new(1)),
            responses: VecDeque::new(),
        }
    }

    /// Handles a command. Fails if the program does not read the responses to its commands.
    fn handle(&mut self, command: Command) -> Result<(), ChannelClosed> {
        if self.responses.len() >= MAX_RESPONSES {
            return Err(ChannelClosed);
        }
        match command.kind {
            CommandKind::Cancel => {
                self.connection.cancel_download(&command.download);
                self.responses.push_back(json!({"id": command.id, "result": {}}).to_string());
            }
            CommandKind::Store => self.store(command),
            CommandKind::Read => self.read(command),
        }
        Ok(())
    }

    fn store(&mut self, command: Command) {
        if let Some(stored) = self.stored.get(&command.download) {
            let outcome = Ok(stored.clone());
            return self.respond(&command, outcome);
        }
        let Some((artifacts, _)) = &self.files else {
            let reason = "a request without stored data keeps no files: the download has no URL";
            return self.respond(&command, Err(reason.to_owned()));
        };
        if self.storing.len() >= INTERACT_DOWNLOADS_MAX {
            let reason = format!("{INTERACT_DOWNLOADS_MAX} downloads are being stored already");
            return self.respond(&command, Err(reason));
        }
        let (artifacts, receiving) =
            (artifacts.clone(), self.connection.receive_download(command.download.clone()));
        let reading = Arc::clone(&self.reading);
        self.storing.spawn(async move {
            let outcome = match receiving.await {
                Ok(file) => {
                    let _permit = reading.acquire().await;
                    store(&artifacts, file).await
                }
                Err(error) => Err(error.to_string()),
            };
            StoreTask { command, outcome }
        });
    }

    /// Answers with a part of a file. The file is opened with its first part, and is gone after its last one.
    fn read(&mut self, command: Command) {
        if let Some((download, content)) = self.opened.take_if(|(download, _)| *download == command.download)
        {
            let part = content.get(command.offset..).unwrap_or_default();
            let part = &part[..part.len().min(PART_BYTES)];
            let is_last = command.offset + part.len() >= content.len();
            let result = json!({"data": STANDARD.encode(part), "isLast": is_last});
            self.responses.push_back(json!({"id": command.id, "result": result}).to_string());
            if !is_last {
                self.opened = Some((download, content));
            }
            return;
        }
        if !self.opening.is_empty() {
            return self.refuse(command.id, "another download is being opened");
        }
        let receiving = self.connection.receive_download(command.download.clone());
        self.opening.spawn(async move {
            let content = async { receiving.await?.read().await };
            OpenTask { command, content: content.await.map_err(|error: DownloadError| error.to_string()) }
        });
    }

    fn open(&mut self, OpenTask { command, content }: OpenTask) {
        match content {
            Ok(content) => {
                self.opened = Some((command.download.clone(), content));
                self.read(command);
            }
            Err(reason) => self.refuse(command.id, &reason),
        }
    }

    fn refuse(&mut self, id: u64, reason: &str) {
        let response = json!({"id": id, "error": {"code": -32000, "message": reason}});
        self.responses.push_back(response.to_string());
    }

    fn finish(&mut self, task: StoreTask) {
        let StoreTask { command, outcome } = task;
        if let Ok(stored) = &outcome {
            self.stored.insert(command.download.clone(), stored.clone());
        }
        self.respond(&command, outcome);
    }

    fn respond(&mut self, command: &Command, outcome: Result<StoredDownload, String>) {
        let id = command.id;
        let response = match (outcome, &self.files) {
            (Ok(StoredDownload { artifact, bytes, name }), Some((artifacts, base_url))) => {
                let name = FileName::new(command.name.as_deref().unwrap_or(&name));
                let url = artifacts.named(&artifact, &name).url(base_url);
                json!({"id": id, "result": {"url": url, "name": name.as_str(), "bytes": bytes}})
            }
            (Ok(_), None) => {
                json!({"id": id, "error": {"code": -32000, "message": "there is no store of files"}})
            }
            (Err(reason), _) => json!({"id": id, "error": {"code": -32000, "message": reason}}),
        };
        self.responses.push_back(response.to_string());
    }
}

/// Stores a downloaded file.
async fn store(artifacts: &TeamArtifacts, file: DownloadedFile) -> Result<StoredDownload, String> {
    let name = file.name.clone();
    let content = file.read().await.map_err(|error: DownloadError| error.to_string())?;
    let (bytes, lifetime) = (content.len(), Duration::from_secs(INTERACT_DOWNLOAD_LIFETIME_S));
    let artifact = artifacts.put(ArtifactKind::File, content, lifetime).await.map_err(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, "a download could not be stored");
        format!("the file could not be stored: {error}")
    })?;
    Ok(StoredDownload { artifact, bytes, name })
}

impl CdpChannel for ProgramChannel {
    fn send(&mut self, message: String) -> BoxFuture<'_, Result<(), ChannelClosed>> {
        Box::pin(async move {
            match Command::parse(&message) {
                Some(command) => self.handle(command),
                None => self.connection.send(&message),
            }
        })
    }

    fn receive(&mut self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move {
            loop {
                if let Some(response) = self.responses.pop_front() {
                    return Some(response);
                }
                tokio::select! {
                    Some(stored) = self.storing.join_next() => match stored {
                        Ok(task) => self.finish(task),
                        Err(error) => {
                            tracing::error!(error = &error as &dyn std::error::Error, "storing a download panicked");
                        }
                    },
                    Some(opened) = self.opening.join_next() => match opened {
                        Ok(task) => self.open(task),
                        Err(error) => {
                            tracing::error!(error = &error as &dyn std::error::Error, "opening a download panicked");
                        }
                    },
                    message = self.connection.receive() => return message,
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commands_about_downloads_are_not_for_the_browser() {
        let command = |kind, name: Option<&str>| {
            let (download, name) = ("g".to_owned(), name.map(str::to_owned));
            Some(Command { id: 7, kind, download, name, offset: 0 })
        };
        for (message, expected) in [
            (
                json!({"id": 7, "method": STORE, "params": {"guid": "g", "name": "a.pdf"}}),
                command(CommandKind::Store, Some("a.pdf")),
            ),
            (json!({"id": 7, "method": STORE, "params": {"guid": "g"}}), command(CommandKind::Store, None)),
            (json!({"id": 7, "method": CANCEL, "params": {"guid": "g"}}), command(CommandKind::Cancel, None)),
            (
                json!({"id": 7, "method": READ, "params": {"guid": "g", "offset": 9}}),
                command(CommandKind::Read, None).map(|command| Command { offset: 9, ..command }),
            ),
            (json!({"id": 7, "method": "Runtime.evaluate", "params": {"expression": STORE}}), None),
            (
                json!({"id": 7, "method": STORE, "params": {"guid": "g", "x": "0".repeat(MAX_COMMAND_BYTES)}}),
                None,
            ),
            (json!({"method": STORE, "params": {}}), None),
        ] {
            assert_eq!(Command::parse(&message.to_string()), expected, "{message}");
        }
        assert_eq!(Command::parse(STORE), None);
    }
}
