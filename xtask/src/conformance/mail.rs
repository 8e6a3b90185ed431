//! The mail server that the service sends emails of monitors to.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::loopback::LoopbackServer;
use crate::Result;

/// A running mail server that delivers nothing: it writes each message into a folder.
#[derive(Debug)]
pub(super) struct MailServer {
    server: LoopbackServer,
    /// The folder of the messages, from which check scripts read the links.
    folder: PathBuf,
}

impl MailServer {
    /// Starts the server of a script with a new folder.
    pub(super) fn start(script: &Path, folder: PathBuf) -> Result<Self> {
        fs::create_dir(&folder)?;
        let server = LoopbackServer::start(Command::new("python3").arg(script).arg(&folder))?;
        Ok(Self { server, folder })
    }

    /// Returns the folder of the messages.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the section `[mail]` of a configuration that uses the server.
    pub(super) fn configuration(&self) -> String {
        let port = self.server.port();
        format!(
            "[mail]\nhost = \"127.0.0.1\"\nport = {port}\ntls = \"none\"\nfrom = \"websvc <websvc@mail.test>\"\n"
        )
    }
}
