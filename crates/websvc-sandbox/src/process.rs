//! A worker process and its pipes, seen from the service.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::frame::{self, Frame, HEADER, Kind, MAX_FROM_WORKER};

/// Frames that wait in each direction. Few, because each can have megabytes.
const QUEUE: usize = 2;
/// The maximum size of the text that a worker says about a failure.
const MAX_ERROR_BYTES: usize = 4 * 1024;
/// The maximum time for the last of this text, after the end of the worker.
const ERROR_TIMEOUT: Duration = Duration::from_secs(1);

/// The pipes of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pipes {
    /// Those of the frames.
    Frames,
    /// Those of the frames, and standard error, on which a worker says why it cannot start.
    WithErrors,
}

/// A running worker. It is killed on drop.
pub(crate) struct Worker {
    child: Child,
    /// Frames to the worker.
    pub(crate) input: mpsc::Sender<Vec<u8>>,
    /// Frames from the worker. Ends when the worker closes its output, or sends what is not a frame.
    pub(crate) output: mpsc::Receiver<Frame>,
    /// The text on standard error, if it is read.
    errors: Option<oneshot::Receiver<String>>,
    /// The tasks that read and write the pipes, aborted on drop.
    _pipes: JoinSet<()>,
}

impl Worker {
    /// Starts a worker. It gets no environment and no file but its pipes.
    pub(crate) fn start(mut command: Command, pipes: Pipes) -> io::Result<Self> {
        command.env_clear().current_dir("/").kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(match pipes {
            Pipes::Frames => Stdio::null(),
            Pipes::WithErrors => Stdio::piped(),
        });
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
        let errors = child.stderr.take().map(|stderr| {
            let (sender, receiver) = oneshot::channel();
            pipes.spawn(read_errors(stderr, sender));
            receiver
        });
        Ok(Self { child, input, output, errors, _pipes: pipes })
    }

    /// Returns the ID of the process; `None` if it has ended.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Returns the text on standard error of a worker that has ended.
    pub(crate) async fn errors(&mut self) -> Option<String> {
        let text = timeout(ERROR_TIMEOUT, self.errors.take()?).await.ok()?.ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
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

/// Reads to the end, so that the worker never waits, and returns the beginning.
async fn read_errors(mut stderr: ChildStderr, text: oneshot::Sender<String>) {
    let mut bytes = Vec::new();
    let mut part = [0; 1024];
    while let Ok(length @ 1..) = stderr.read(&mut part).await {
        let room = MAX_ERROR_BYTES.saturating_sub(bytes.len()).min(length);
        bytes.extend_from_slice(&part[..room]);
    }
    // The run may have ended already.
    let _ = text.send(String::from_utf8_lossy(&bytes).into_owned());
}

async fn read_frames(mut stdout: ChildStdout, frames: mpsc::Sender<Frame>) {
    while let Ok(frame) = read_frame(&mut stdout, MAX_FROM_WORKER).await {
        let is_last = frame.kind == Kind::Finish;
        if frames.send(frame).await.is_err() || is_last {
            return;
        }
    }
}

/// Reads a frame whose content has at most `max` bytes.
pub(crate) async fn read_frame(input: &mut (impl AsyncRead + Unpin), max: usize) -> io::Result<Frame> {
    let mut header = [0; HEADER];
    input.read_exact(&mut header).await?;
    let (kind, length) = frame::decode_header(header, max)?;
    let mut content = vec![0; length];
    input.read_exact(&mut content).await?;
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
