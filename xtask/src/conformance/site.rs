//! The loopback website that the service crawls and scrapes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::loopback::LoopbackServer;
use crate::Result;

/// A running web server with the pages of the site.
#[derive(Debug)]
pub(super) struct Site {
    server: LoopbackServer,
    /// The folder of its pages, to which check scripts add pages that change.
    folder: PathBuf,
}

impl Site {
    /// Serves copies of the files of a folder from a new folder.
    pub(super) fn start(files: &Path, folder: PathBuf) -> Result<Self> {
        fs::create_dir(&folder)?;
        for file in fs::read_dir(files)? {
            let file = file?;
            fs::copy(file.path(), folder.join(file.file_name()))?;
        }
        let mut command = Command::new("python3");
        command.args(["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory"]).arg(&folder);
        Ok(Self { server: LoopbackServer::start(&mut command)?, folder })
    }

    /// Returns the folder of the pages.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the socket address of the server.
    pub(super) fn address(&self) -> String {
        self.server.address()
    }
}
