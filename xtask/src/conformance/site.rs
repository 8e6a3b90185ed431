//! The website that the service finds and scrapes.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::Result;

/// A running web server on loopback; it is stopped when dropped.
#[derive(Debug)]
pub(super) struct Site {
    server: Child,
    port: u16,
}

impl Site {
    /// Serves the files of a folder.
    pub(super) fn start(folder: &Path) -> Result<Self> {
        let mut server = Command::new("python3")
            .args(["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory"])
            .arg(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot run python3: {error}"))?;
        let mut line = String::new();
        BufReader::new(server.stdout.as_mut().expect("the standard output is piped")).read_line(&mut line)?;
        // From here on the server is stopped whatever happens.
        let mut site = Self { server, port: 0 };
        site.port =
            port(&line).ok_or_else(|| format!("the web server of python3 did not start: {line:?}"))?;
        Ok(site)
    }

    /// Returns where the site is connected to.
    pub(super) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to stop.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Returns the port out of `Serving HTTP on 127.0.0.1 port 8000 (http://127.0.0.1:8000/) ...`.
fn port(line: &str) -> Option<u16> {
    let (_, rest) = line.split_once(" port ")?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_read_from_what_the_server_says() {
        assert_eq!(port("Serving HTTP on 127.0.0.1 port 40041 (http://127.0.0.1:40041/) ...\n"), Some(40041));
        assert_eq!(port(""), None);
    }
}
