//! Servers of the checks: Python processes that listen on a free port of loopback.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::Result;

/// A running server on loopback. Stops the process on drop.
#[derive(Debug)]
pub(super) struct LoopbackServer {
    process: Child,
    port: u16,
}

impl LoopbackServer {
    /// Starts a server with `python3`, which prints its port in its first line, after the word `port`.
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        let mut process = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot run python3: {error}"))?;
        let mut first_line = String::new();
        BufReader::new(process.stdout.as_mut().expect("the standard output is piped"))
            .read_line(&mut first_line)?;
        // Created before the port is known, so that the process is stopped if parsing it fails.
        let mut server = Self { process, port: 0 };
        server.port =
            parse_port(&first_line).ok_or_else(|| format!("{command:?} did not start: {first_line:?}"))?;
        Ok(server)
    }

    /// Returns the port of the server.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the socket address of the server.
    pub(super) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

impl Drop for LoopbackServer {
    fn drop(&mut self) {
        // Both calls fail if the process has already ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
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
        assert_eq!(parse_port("listening on port 40042\n"), Some(40042));
        assert_eq!(parse_port(""), None);
    }
}
