//! The session that commands use: named by an option or a variable, or the last one that was started.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::args::{SESSION_VARIABLE, variable};
use crate::data_dir::DataDir;

/// The largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// The file with the last started session, for one server.
#[derive(Debug)]
pub(super) struct CurrentSession {
    data_dir: DataDir,
    server: String,
}

/// The content of the file. It has no URLs, because their tokens give control of the browser.
#[derive(Debug, Serialize, Deserialize)]
struct StoredSession {
    server: String,
    id: String,
}

impl CurrentSession {
    pub(super) fn new(data_dir: &DataDir, server: &Url) -> Self {
        Self { data_dir: data_dir.clone(), server: server.to_string() }
    }

    fn path(&self) -> PathBuf {
        self.data_dir.path().join(DataDir::BROWSER_SESSION)
    }

    /// Returns the session that a command uses.
    ///
    /// # Errors
    /// No session is named, and none was started at this server.
    pub(super) fn choose(&self, option: Option<String>) -> Result<String> {
        if let Some(id) = option.or_else(|| variable(SESSION_VARIABLE)) {
            return Ok(id);
        }
        match self.read()? {
            Some(stored) if stored.server == self.server => Ok(stored.id),
            Some(StoredSession { server, id }) => bail!(
                "the session {id} was started at {server}, and this command uses {}: `websvc browser start` starts one, \
                 --session or {SESSION_VARIABLE} names one",
                self.server
            ),
            None => bail!(
                "there is no session: `websvc browser start` starts one, --session or {SESSION_VARIABLE} names one"
            ),
        }
    }

    fn read(&self) -> Result<Option<StoredSession>> {
        let path = self.path();
        let read = || -> std::io::Result<Option<Vec<u8>>> {
            match fs::metadata(&path) {
                Ok(metadata) if metadata.len() <= MAX_FILE_BYTES => fs::read(&path).map(Some),
                Ok(_) => Err(std::io::Error::other("the file is too large")),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error),
            }
        };
        let Some(bytes) = read().with_context(|| path.display().to_string())? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).with_context(|| path.display().to_string())
    }

    /// Stores a session as the one that commands use.
    pub(super) fn store(&self, id: &str) -> Result<()> {
        self.data_dir.ensure_exists()?;
        let stored = StoredSession { server: self.server.clone(), id: id.to_owned() };
        let path = self.path();
        fs::write(&path, serde_json::to_vec(&stored)?).with_context(|| path.display().to_string())
    }

    /// Removes a session that has ended. Another one stays.
    pub(super) fn forget(&self, id: &str) {
        if let Ok(Some(stored)) = self.read()
            && stored.id == id
            && stored.server == self.server
        {
            // A file that stays only leads to the same message again.
            let _ = fs::remove_file(self.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_started_session_of_the_server_is_used_until_it_ends() {
        let directory = tempfile::tempdir().unwrap();
        let data_dir = DataDir::open(Some(&directory.path().join("data"))).unwrap();
        let at = |server: &str| CurrentSession::new(&data_dir, &server.parse().unwrap());
        let (first, other) = (at("http://a.test"), at("http://b.test"));
        let error = first.choose(None).unwrap_err().to_string();
        assert!(error.contains("there is no session") && error.contains("websvc browser start"), "{error}");
        first.store("7").unwrap();
        assert_eq!(first.choose(None).unwrap(), "7");
        assert_eq!(first.choose(Some("8".to_owned())).unwrap(), "8");
        let error = other.choose(None).unwrap_err().to_string();
        assert!(error.contains("7 was started at http://a.test/"), "{error}");
        other.forget("7");
        first.forget("8");
        assert_eq!(first.choose(None).unwrap(), "7");
        first.forget("7");
        assert!(first.choose(None).is_err());
    }

    #[test]
    fn damaged_file_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let data_dir = DataDir::open(Some(directory.path())).unwrap();
        fs::write(directory.path().join(DataDir::BROWSER_SESSION), "{").unwrap();
        let current = CurrentSession::new(&data_dir, &"http://a.test".parse().unwrap());
        let error = current.choose(None).unwrap_err().to_string();
        assert!(error.contains(DataDir::BROWSER_SESSION), "{error}");
    }
}
