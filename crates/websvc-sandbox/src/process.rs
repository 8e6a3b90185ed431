//! A worker process and its pipes, seen from the service.

use std::io;
use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::frame::{self, Frame, HEADER, Kind, MAX_FROM_WORKER};
use crate::program::WorkerConfig;

/// Frames that wait in each direction. Few, because each can have megabytes.
const QUEUE: usize = 2;

/// A running worker. It is killed on drop.
pub(crate) struct Worker {
    child: Child,
    /// Frames to the worker.
    pub(crate) input: mpsc::Sender<Vec<u8>>,
    /// Frames from the worker. Ends when the worker closes its output, or sends what is not a frame.
    pub(crate) output: mpsc::Receiver<Frame>,
    /// The tasks that read and write the pipes, aborted on drop.
    _pipes: JoinSet<()>,
}

impl Worker {
    /// Starts a worker. It gets no environment and no file but its pipes.
    pub(crate) fn start(config: &WorkerConfig) -> io::Result<Self> {
        let mut command = Command::new(&config.program);
        command.args(&config.arguments).env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the worker has no pipes"));
        };
        let (input, to_write) = mpsc::channel(QUEUE);
        let (to_read, output) = mpsc::channel(QUEUE);
        let mut pipes = JoinSet::new();
        pipes.spawn(write_frames(to_write, stdin));
        pipes.spawn(read_frames(stdout, to_read));
        Ok(Self { child, input, output, _pipes: pipes })
    }

    /// Kills the worker and waits for its end.
    pub(crate) async fn kill(&mut self) -> io::Result<ExitStatus> {
        // Fails only if it has ended already.
        let _ended = self.child.start_kill();
        self.child.wait().await
    }
}

async fn write_frames(mut frames: mpsc::Receiver<Vec<u8>>, mut stdin: ChildStdin) {
    while let Some(frame) = frames.recv().await {
        if stdin.write_all(&frame).await.is_err() {
            return;
        }
    }
}

async fn read_frames(mut stdout: ChildStdout, frames: mpsc::Sender<Frame>) {
    while let Ok(frame) = read_frame(&mut stdout).await {
        let is_last = frame.kind == Kind::Finish;
        if frames.send(frame).await.is_err() || is_last {
            return;
        }
    }
}

async fn read_frame(stdout: &mut (impl AsyncRead + Unpin)) -> io::Result<Frame> {
    let mut header = [0; HEADER];
    stdout.read_exact(&mut header).await?;
    let (kind, length) = frame::decode_header(header, MAX_FROM_WORKER)?;
    let mut content = vec![0; length];
    stdout.read_exact(&mut content).await?;
    frame::decode_content(kind, content)
}

/// Returns the reason why a worker ended without a result, as far as its exit status shows it.
pub(crate) fn reason(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        match status.signal() {
            // Rust aborts with SIGABRT when an allocation fails.
            Some(6) => return "out of memory".to_owned(),
            Some(24) => return "out of processor time".to_owned(),
            Some(11) => return "stack overflow".to_owned(),
            Some(31) => return "a system call that programs may not use".to_owned(),
            Some(signal) => return format!("signal {signal}"),
            None => {}
        }
    }
    match status.code() {
        Some(code) => format!("exit code {code} of the worker"),
        None => "unknown reason".to_owned(),
    }
}
