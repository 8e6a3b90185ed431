//! The loopback website that the service crawls and scrapes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::Result;

/// A running web server on loopback. Stops the process on drop.
#[derive(Debug)]
pub(super) struct Site {
    server: Child,
    port: u16,
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
        let mut server = Command::new("python3")
            .args(["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory"])
            .arg(&folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot run python3: {error}"))?;
        let mut first_line = String::new();
        BufReader::new(server.stdout.as_mut().expect("the standard output is piped"))
            .read_line(&mut first_line)?;
        // Created before the port is known, so that the server is stopped if parsing it fails.
        let mut site = Self { server, port: 0, folder };
        site.port = parse_port(&first_line)
            .ok_or_else(|| format!("python3 -m http.server did not start: {first_line:?}"))?;
        Ok(site)
    }

    /// Returns the folder of the pages.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the socket address of the server.
    pub(super) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // Both calls fail if the process has already ended.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Parses the port in `Serving HTTP on 127.0.0.1 port 8000 (http://127.0.0.1:8000/) ...`.
fn parse_port(line: &str) -> Option<u16> {
    let (_, rest) = line.split_once(" port ")?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_port_reads_first_line_of_http_server() {
        assert_eq!(
            parse_port("Serving HTTP on 127.0.0.1 port 40041 (http://127.0.0.1:40041/) ...\n"),
            Some(40041)
        );
        assert_eq!(parse_port(""), None);
    }
}
