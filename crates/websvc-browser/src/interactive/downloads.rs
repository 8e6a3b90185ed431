//! The downloads of a session. Chromium refuses them, except while a program runs, which gets them as files.
//!
//! Chromium resets the behavior of a browser context when the protocol session that has set it ends. So a protocol session
//! that lasts as long as Chromium sets it, and no client does. The files are in the private directory of Chromium, named by
//! Chromium, and removed after they were read, at the end of the program, or with the directory.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use thiserror::Error;
use tokio::io::AsyncReadExt;
use tokio::sync::watch;

use super::channel::ChannelState;
use crate::connection::{Cdp, CdpEvent};
use crate::error::BrowserError;
use crate::process::BrowserProcess;

/// The limits of the downloads of one program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DownloadLimits {
    /// The maximum number of downloads. Further ones are canceled.
    pub count: usize,
    /// The maximum size of each, in bytes. Larger ones are canceled as soon as Chromium reports their size.
    pub bytes: u64,
}

/// A file that a page offered and a program accepted. It is there until the program ends.
#[derive(Debug, PartialEq, Eq)]
pub struct DownloadedFile {
    /// The name that the page or its server suggested.
    pub name: String,
    path: PathBuf,
    limit: u64,
}

impl DownloadedFile {
    /// Reads the file and removes it.
    ///
    /// # Errors
    /// [`DownloadError::Read`].
    pub async fn read(self) -> Result<Bytes, DownloadError> {
        let Self { name: _, path, limit } = self;
        let content = read(&path, limit).await;
        // It is removed with its directory at the latest.
        drop(tokio::fs::remove_file(&path).await);
        content.map_err(|error| {
            tracing::warn!(error = &error as &dyn std::error::Error, "a download could not be read");
            DownloadError::Read
        })
    }
}

/// The reason why there is no file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DownloadError {
    /// The program has no such download, or has already received its file.
    #[error("there is no download with this ID, or its file was already received")]
    Unknown,
    /// The download was canceled, or failed; the reason is public.
    #[error("{reason}")]
    Canceled {
        /// The reason.
        reason: String,
    },
    /// The file could not be read.
    #[error("the downloaded file could not be read")]
    Read,
}

/// The downloads of a session. Cheap to clone.
#[derive(Clone)]
pub(super) struct Downloads(Arc<Shared>);

struct Shared {
    cdp: Cdp,
    /// The browser context of the session.
    context: String,
    /// The protocol session that sets the behavior and gets the events.
    session: String,
    directory: PathBuf,
    state: Mutex<State>,
    /// Sent after every change of a download.
    changes: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    run: Option<Run>,
    /// The number of runs so far.
    runs: u64,
    /// The channels of the clients, some of which show events of downloads.
    channels: Vec<Weak<ChannelState>>,
}

/// The downloads of a running program.
struct Run {
    number: u64,
    limits: DownloadLimits,
    directory: PathBuf,
    /// By their IDs.
    downloads: HashMap<String, Download>,
}

struct Download {
    name: String,
    status: Status,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Status {
    InProgress,
    Completed,
    Canceled { reason: String },
    Received,
}

/// Accepts downloads until it is dropped, which cancels those in progress and removes all files.
pub(super) struct AcceptedDownloads {
    downloads: Downloads,
    number: u64,
}

impl Downloads {
    /// Refuses the downloads of a browser context, and follows their events.
    pub(super) async fn start(process: &BrowserProcess, context: &str) -> Result<Self, BrowserError> {
        let cdp = process.cdp().clone();
        let mut attached = cdp.call("", "Target.attachToBrowserTarget", json!({})).await?;
        let Value::String(session) = attached["sessionId"].take() else {
            return Err(BrowserError::missing_field("Target.attachToBrowserTarget", "sessionId"));
        };
        let directory = process.directory().map(|directory| directory.join("downloads")).unwrap_or_default();
        let shared = Arc::new(Shared {
            cdp: cdp.clone(),
            context: context.to_owned(),
            session: session.clone(),
            directory,
            state: Mutex::default(),
            changes: watch::Sender::new(()),
        });
        // Weak: the connection owns the listener, and the downloads own a handle to the connection.
        let downloads = Arc::downgrade(&shared);
        cdp.subscribe(&session, move |event| {
            let CdpEvent::Event { method, params } = event else { return };
            let Some(downloads) = downloads.upgrade() else { return };
            match method {
                "Browser.downloadWillBegin" => downloads.on_begin(&params.parse()),
                "Browser.downloadProgress" => downloads.on_progress(&params.parse()),
                _ => {}
            }
        });
        cdp.call(&session, "Browser.setDownloadBehavior", shared.refusal()).await?;
        Ok(Self(shared))
    }

    /// Accepts downloads for a program, into a directory of its own.
    pub(super) async fn accept(&self, limits: DownloadLimits) -> Result<AcceptedDownloads, BrowserError> {
        let shared = &*self.0;
        let (number, directory) = {
            let mut state = shared.lock();
            state.runs += 1;
            let (number, directory) = (state.runs, shared.directory.join(state.runs.to_string()));
            let run = Run { number, limits, directory: directory.clone(), downloads: HashMap::new() };
            state.run = Some(run);
            (number, directory)
        };
        // From now on, the run ends if this future is dropped.
        let accepted = AcceptedDownloads { downloads: self.clone(), number };
        let created = tokio::fs::create_dir_all(&directory).await;
        created.map_err(|source| BrowserError::Start { source, log: String::new() })?;
        let params = json!({
            // Names in the responses of servers do not become names of files.
            "behavior": "allowAndName",
            "downloadPath": directory.to_string_lossy(),
            "browserContextId": shared.context,
            "eventsEnabled": true,
        });
        shared.cdp.call(&shared.session, "Browser.setDownloadBehavior", params).await?;
        Ok(accepted)
    }

    /// Adds the channel of a client, which gets the events if it shows them.
    pub(super) fn add_channel(&self, channel: &Arc<ChannelState>) {
        let mut state = self.0.lock();
        state.channels.retain(|channel| channel.strong_count() > 0);
        state.channels.push(Arc::downgrade(channel));
    }
}

impl AcceptedDownloads {
    /// Cancels a download of the program.
    pub(super) fn cancel(&self, id: &str) {
        let shared = &*self.downloads.0;
        let is_in_progress = {
            let mut state = shared.lock();
            let download = state.download(self.number, id);
            download.is_some_and(|download| download.cancel("canceled".to_owned()))
        };
        if is_in_progress {
            shared.cancel(id);
        }
    }

    /// Waits until a download has ended, and returns its file, once.
    pub(super) fn receive(
        &self,
        id: String,
    ) -> impl Future<Output = Result<DownloadedFile, DownloadError>> + Send + use<> {
        let (downloads, number) = (self.downloads.clone(), self.number);
        async move { downloads.wait_for(number, &id).await }
    }
}

impl Downloads {
    /// Waits until a download is completed, and returns its file, once.
    async fn wait_for(&self, number: u64, id: &str) -> Result<DownloadedFile, DownloadError> {
        let mut changes = self.0.changes.subscribe();
        loop {
            {
                let mut state = self.0.lock();
                let run = state.run.as_mut().filter(|run| run.number == number);
                let run = run.ok_or(DownloadError::Unknown)?;
                let (path, limit) = (run.directory.join(id), run.limits.bytes);
                let download = run.downloads.get_mut(id).ok_or(DownloadError::Unknown)?;
                match &download.status {
                    Status::InProgress => {}
                    Status::Completed => {
                        download.status = Status::Received;
                        return Ok(DownloadedFile { name: download.name.clone(), path, limit });
                    }
                    Status::Canceled { reason } => {
                        return Err(DownloadError::Canceled { reason: reason.clone() });
                    }
                    Status::Received => return Err(DownloadError::Unknown),
                }
            }
            // Cannot fail: `self` owns the sender.
            drop(changes.changed().await);
        }
    }
}

/// Reads a file that Chromium has written.
async fn read(path: &Path, limit: u64) -> io::Result<Bytes> {
    let mut content = Vec::new();
    tokio::fs::File::open(path).await?.take(limit + 1).read_to_end(&mut content).await?;
    if content.len() as u64 > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(content.into())
}

impl Drop for AcceptedDownloads {
    fn drop(&mut self) {
        let shared = &*self.downloads.0;
        let run = shared.lock().run.take_if(|run| run.number == self.number);
        // A newer program has its own directory.
        let Some(Run { directory, downloads, .. }) = run else { return };
        shared.cdp.send_no_reply(&shared.session, "Browser.setDownloadBehavior", shared.refusal());
        for (id, download) in &downloads {
            if download.status == Status::InProgress {
                shared.cancel(id);
            }
        }
        shared.changes.send_replace(());
        // A file that cannot be removed now is removed with the directory of Chromium.
        let remove = move || drop(std::fs::remove_dir_all(directory));
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(remove)),
            Err(_) => remove(),
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Returns the parameters that refuse downloads.
    fn refusal(&self) -> Value {
        json!({"behavior": "deny", "browserContextId": self.context, "eventsEnabled": true})
    }

    fn cancel(&self, id: &str) {
        let params = json!({"guid": id, "browserContextId": self.context});
        self.cdp.send_no_reply(&self.session, "Browser.cancelDownload", params);
    }

    fn on_begin(&self, params: &Value) {
        let text = |name: &str| params[name].as_str().unwrap_or_default().to_owned();
        let id = text("guid");
        let refusal = {
            let mut state = self.lock();
            let begin = |run: &mut Run| run.begin(&id, text("suggestedFilename"));
            // Without a program, Chromium refuses it, unless a program has just ended.
            state.run.as_mut().map_or(Err(None), begin)
        };
        let event = json!({
            "frameId": params["frameId"],
            "guid": id,
            "url": params["url"],
            "suggestedFilename": params["suggestedFilename"],
        });
        self.deliver("Browser.downloadWillBegin", &event);
        if let Err(reason) = refusal {
            self.cancel(&id);
            if let Some(reason) = reason {
                let event = json!({"guid": id, "state": "canceled", "reason": reason});
                self.deliver("Browser.downloadProgress", &event);
            }
        }
    }

    fn on_progress(&self, params: &Value) {
        let id = params["guid"].as_str().unwrap_or_default();
        // Numbers of the protocol may have a fraction.
        let bytes = |name: &str| params[name].as_f64().unwrap_or_default();
        let size = bytes("totalBytes").max(bytes("receivedBytes"));
        let state = params["state"].as_str().unwrap_or_default();
        let Progress { reason, exceeds } = {
            let mut all = self.lock();
            all.run.as_mut().map(|run| run.progress(id, state, size)).unwrap_or_default()
        };
        if let Some(path) = exceeds {
            self.cancel(id);
            // A file that is complete already is not removed by that. On the runtime: this is a task that reads messages.
            drop(websvc_transport::spawn_blocking(move || drop(std::fs::remove_file(path))));
        }
        let mut event = json!({
            "guid": id,
            "totalBytes": params["totalBytes"],
            "receivedBytes": params["receivedBytes"],
            "state": state,
        });
        if let Some(reason) = reason {
            (event["state"], event["reason"]) = ("canceled".into(), reason.into());
        }
        self.deliver("Browser.downloadProgress", &event);
        self.changes.send_replace(());
    }

    fn deliver(&self, method: &str, params: &Value) {
        let channels = self.lock().channels.clone();
        for channel in channels {
            if let Some(channel) = channel.upgrade() {
                channel.show_download(method, params);
            }
        }
    }
}

impl State {
    fn download(&mut self, number: u64, id: &str) -> Option<&mut Download> {
        let run = self.run.as_mut().filter(|run| run.number == number);
        run.and_then(|run| run.downloads.get_mut(id))
    }
}

/// The effect of an event on a download.
#[derive(Debug, Default, PartialEq, Eq)]
struct Progress {
    /// The reason why it was canceled.
    reason: Option<String>,
    /// The path of a file that has just exceeded the maximum size.
    exceeds: Option<PathBuf>,
}

impl Run {
    /// Adds a download. Fails with the reason if it must be canceled, `None` if it is not one of a page.
    fn begin(&mut self, id: &str, name: String) -> Result<(), Option<String>> {
        // The ID becomes the name of a file.
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(None);
        }
        if self.downloads.len() >= self.limits.count {
            return Err(Some(format!("a program may have {} downloads", self.limits.count)));
        }
        self.downloads.insert(id.to_owned(), Download { name, status: Status::InProgress });
        Ok(())
    }

    /// Handles the progress of a download, of which Chromium expects or has received `size` bytes.
    fn progress(&mut self, id: &str, state: &str, size: f64) -> Progress {
        let Some(download) = self.downloads.get_mut(id) else { return Progress::default() };
        let mut progress = Progress::default();
        let limit = self.limits.bytes;
        #[expect(clippy::cast_precision_loss, reason = "limits are far below 2^53")]
        let is_too_large = size > limit as f64;
        if is_too_large && download.cancel(format!("the file has more than {limit} bytes")) {
            progress.exceeds = Some(self.directory.join(id));
        }
        match state {
            "completed" if download.status == Status::InProgress => download.status = Status::Completed,
            "canceled" => drop(download.cancel("canceled".to_owned())),
            _ => {}
        }
        if let Status::Canceled { reason } = &download.status {
            progress.reason = Some(reason.clone());
        }
        progress
    }
}

impl Download {
    /// Records that it was canceled. Returns false if it had ended before.
    fn cancel(&mut self, reason: String) -> bool {
        let is_in_progress = self.status == Status::InProgress;
        if is_in_progress {
            self.status = Status::Canceled { reason };
        }
        is_in_progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        let limits = DownloadLimits { count: 2, bytes: 10 };
        Run { number: 1, limits, directory: "/run".into(), downloads: HashMap::new() }
    }

    #[test]
    fn downloads_beyond_the_limit_and_names_of_other_files_are_refused() {
        let mut run = run();
        assert_eq!(run.begin("../x", "x".to_owned()), Err(None));
        assert_eq!(run.begin("", "x".to_owned()), Err(None));
        assert_eq!(run.begin("a-1", "x".to_owned()), Ok(()));
        assert_eq!(run.begin("a-2", "x".to_owned()), Ok(()));
        assert_eq!(run.begin("a-3", "x".to_owned()), Err(Some("a program may have 2 downloads".to_owned())));
    }

    #[test]
    fn download_ends_once_and_an_exceeding_one_is_canceled() {
        let mut run = run();
        run.begin("a", "x".to_owned()).unwrap();
        run.begin("b", "x".to_owned()).unwrap();
        assert_eq!(run.progress("a", "inProgress", 10.0), Progress::default());
        assert_eq!(run.progress("a", "completed", 10.0), Progress::default());
        assert_eq!(run.progress("a", "canceled", 10.0), Progress::default(), "it is complete");
        let reason = Some("the file has more than 10 bytes".to_owned());
        let exceeds = Some(PathBuf::from("/run/b"));
        assert_eq!(run.progress("b", "inProgress", 11.0), Progress { reason: reason.clone(), exceeds });
        // The event that confirms the cancellation.
        assert_eq!(run.progress("b", "canceled", 11.0), Progress { reason, exceeds: None });
        assert_eq!(
            run.progress("c", "inProgress", 99.0),
            Progress::default(),
            "it is not one of the program"
        );
    }
}
