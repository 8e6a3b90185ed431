//! The guest that runs a program of the operator: it passes connections to the proxy of the service.

use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use tokio::io::copy_bidirectional;
use tokio::net::unix::pipe;
use tokio::net::{TcpListener, UnixStream};
use tokio::process::Command;
use tokio::sync::Semaphore;

use super::interpreter::{Interpreter, PATH};
use super::outputs::Outputs;
use crate::frame::{MAX_TO_WORKER, Start};
use crate::guest_settings::{HOME, PROXY_SOCKET, TEMPORARY_FILES, TOOL_OUTPUT, ToolSettings};
use crate::process::read_frame;
use crate::tool::{TOOL_PROXY_PORT, ToolTask};

/// The maximum number of concurrent connections.
const MAX_CONNECTIONS: usize = 64;

/// Runs the program of the settings with the task on standard input.
pub(super) async fn run(settings: &ToolSettings) -> io::Result<()> {
    let mut input = pipe::Receiver::from_owned_fd(rustix::io::dup(io::stdin())?)?;
    let outputs = Outputs::open()?;
    let frame = read_frame(&mut input, MAX_TO_WORKER).await?;
    let start: Start = serde_json::from_str(&frame.content)?;
    let ToolTask { arguments, files } = serde_json::from_str(&start.code)?;
    for (path, content) in &files {
        write_private(Path::new(path), content)?;
    }
    if settings.has_proxy {
        let listener = TcpListener::bind(("127.0.0.1", TOOL_PROXY_PORT)).await?;
        tokio::spawn(forward(listener));
    }
    tokio::spawn(async move {
        // The service has ended when its pipe does. bubblewrap ends with it, too; this is a second way.
        while read_frame(&mut input, MAX_TO_WORKER).await.is_ok() {}
        std::process::exit(1);
    });
    let output = Path::new(TOOL_OUTPUT);
    let mut command = Command::new(&settings.program);
    command.args(arguments).env_clear().env("PATH", PATH).env("HOME", HOME).env("LANG", "C.UTF-8");
    command.env("TMPDIR", TEMPORARY_FILES).current_dir(if output.is_dir() { TOOL_OUTPUT } else { HOME });
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let finish = Interpreter::from_child(command.spawn()?).finish(&outputs).await?;
    outputs.finish(&finish).await
}

/// Writes a file that other users cannot read.
fn write_private(path: &Path, content: &str) -> io::Result<()> {
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    io::Write::write_all(&mut file, content.as_bytes())
}

/// Passes the connections of the program to the socket of the service.
async fn forward(listener: TcpListener) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
        let Ok((mut client, _)) = listener.accept().await else { return };
        tokio::spawn(async move {
            if let Ok(mut service) = UnixStream::connect(PROXY_SOCKET).await {
                // An error on either side ends the connection, as it would without a proxy.
                let _ = copy_bidirectional(&mut client, &mut service).await;
            }
            drop(permit);
        });
    }
}
