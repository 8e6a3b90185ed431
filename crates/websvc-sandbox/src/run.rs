//! Runs a program: starts a worker, passes messages between it and the browser, and kills it at the deadline.

use std::pin::Pin;
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::channel::CdpChannel;
use crate::frame::{Finish, Frame, Kind, MAX_TO_WORKER, Start, encode};
use crate::output::Output;
use crate::process::{Pipes, Worker, reason};
use crate::program::{Outcome, PageTarget, Program, TIMEOUT_EXIT_CODE, WorkerConfig};

/// The maximum size of the ID of a target. Those of Chromium have 32 bytes.
const MAX_TARGET_ID_BYTES: usize = 256;

/// Runs a program in a worker process of its own and returns its outcome.
///
/// The outcome arrives shortly after the timeout of the program at the latest. The worker has ended by then. Dropping
/// the future kills the worker.
pub async fn run(
    program: Program,
    page: PageTarget,
    mut channel: Box<dyn CdpChannel>,
    worker: &WorkerConfig,
) -> Outcome {
    let mut command = Command::new(&worker.program);
    command.args(&worker.arguments);
    let mut process = match Worker::start(command, Pipes::Frames) {
        Ok(process) => process,
        Err(error) => return failure(format!("cannot start the worker of programs: {error}")),
    };
    let start = Start::new(&program, &page, worker.memory_bytes);
    supervise(&mut process, &start, &mut *channel, Box::pin(std::future::pending())).await
}

/// Returns the outcome of a program that did not start.
pub(crate) fn failure(message: String) -> Outcome {
    Outcome { stderr: message.clone(), error: Some(message), exit_code: 1, ..Outcome::default() }
}

/// Runs a program in a started worker, and kills it at the deadline, or when `watch` returns a reason to do so.
pub(crate) async fn supervise(
    process: &mut Worker,
    start: &Start,
    channel: &mut dyn CdpChannel,
    watch: Watch<'_>,
) -> Outcome {
    let time = Duration::from_millis(start.timeout_ms);
    let mut run = Run::default();
    let end = timeout(time, run.converse(start, process, channel, watch)).await;
    let status = process.kill().await;
    let end = match end {
        // A killed worker has no status of its own.
        Err(_) => End::Timeout,
        Ok(End::Crash(_)) => {
            let reason = status.map_or_else(|error| error.to_string(), reason);
            End::Crash(process.errors().await.unwrap_or(reason))
        }
        Ok(end) => end,
    };
    run.outcome(end, time.as_secs_f64(), &start.target_id)
}

/// Waits for a reason to end a program.
pub(crate) type Watch<'a> = Pin<Box<dyn Future<Output = String> + Send + 'a>>;

/// The way in which a program ended.
enum End {
    Finish(Finish),
    Timeout,
    /// The worker ended without a result, for this reason.
    Crash(String),
    /// The service ended the program, for this reason.
    Abort(String),
}

/// The outputs of a running program.
#[derive(Default)]
struct Run {
    stdout: Output,
    stderr: Output,
}

impl Run {
    /// Passes messages on until the program ends.
    async fn converse(
        &mut self,
        start: &Start,
        worker: &mut Worker,
        channel: &mut dyn CdpChannel,
        mut watch: Watch<'_>,
    ) -> End {
        let start = serde_json::to_string(start).expect("a program is strings and numbers");
        // A message of the browser that the worker has not accepted yet.
        let mut waiting = Some(encode(Kind::Start, &start));
        let mut is_open = true;
        loop {
            tokio::select! {
                // The outputs first: a worker that is not read does not read either.
                biased;
                frame = worker.output.recv() => {
                    let Some(frame) = frame else { return End::Crash(String::new()) };
                    if let Some(end) = self.handle(frame, channel).await {
                        return end;
                    }
                }
                reason = &mut watch => return End::Abort(reason),
                permit = worker.input.reserve(), if waiting.is_some() => {
                    if !pass(permit, &mut waiting) {
                        // The worker is ending. Its last frames say how.
                        is_open = false;
                    }
                }
                message = channel.receive(), if is_open && waiting.is_none() => match message {
                    Some(message) if message.len() > MAX_TO_WORKER => return End::Abort(too_long(message.len())),
                    Some(message) => waiting = Some(encode(Kind::Message, &message)),
                    None => {
                        is_open = false;
                        waiting = Some(encode(Kind::Closed, ""));
                    }
                },
            }
        }
    }

    /// Handles a frame of the worker. Returns the end of the program if it ended.
    async fn handle(&mut self, frame: Frame, channel: &mut dyn CdpChannel) -> Option<End> {
        let Frame { kind, content } = frame;
        match kind {
            // A session that has ended is reported by `receive`.
            Kind::Message => drop(channel.send(content).await),
            Kind::Stdout => drop(self.stdout.push(&content)),
            Kind::Stderr => drop(self.stderr.push(&content)),
            Kind::Finish => {
                return Some(match serde_json::from_str(&content) {
                    Ok(finish) => End::Finish(finish),
                    Err(error) => End::Crash(error.to_string()),
                });
            }
            Kind::Start | Kind::Closed => {
                return Some(End::Abort("unexpected frame of the worker".to_owned()));
            }
        }
        None
    }

    fn outcome(mut self, end: End, seconds: f64, target_id: &str) -> Outcome {
        let mut outcome = Outcome::default();
        match end {
            End::Finish(finish) => {
                let Finish { result, exit_code, error, target_id: page, truncated } = finish;
                outcome.truncated = truncated;
                // A worker that a program has taken over does not cut them.
                for (text, place) in [(result, &mut outcome.result), (error, &mut outcome.error)] {
                    let Some(text) = text else { continue };
                    let mut output = Output::default();
                    output.push(&text);
                    outcome.truncated |= output.is_cut();
                    *place = Some(output.into_text());
                }
                outcome.exit_code = exit_code;
                outcome.page = page.filter(|page| page != target_id && page.len() <= MAX_TARGET_ID_BYTES);
            }
            End::Timeout => {
                outcome.killed = true;
                outcome.exit_code = TIMEOUT_EXIT_CODE;
                outcome.error =
                    Some(format!("the program was killed after its timeout of {seconds} seconds"));
            }
            End::Crash(reason) => outcome.error = Some(format!("the program was ended: {reason}")),
            End::Abort(reason) => outcome.error = Some(format!("the program was ended: {reason}")),
        }
        if outcome.exit_code == 0 && outcome.error.is_some() {
            outcome.exit_code = 1;
        }
        // An uncaught error is in standard error already.
        if let Some(error) = &outcome.error
            && !self.stderr.text().contains(error.as_str())
        {
            self.stderr.push(&format!("{error}\n"));
        }
        outcome.truncated |= self.stdout.is_cut() || self.stderr.is_cut();
        let printed = self.stdout.text().trim();
        if outcome.result.is_none() && outcome.exit_code == 0 && !printed.is_empty() {
            outcome.result = Some(printed.to_owned());
        }
        outcome.stdout = self.stdout.into_text();
        outcome.stderr = self.stderr.into_text();
        outcome
    }
}

/// Passes the waiting frame to the worker. Returns false if the worker has closed its input.
fn pass(
    permit: Result<mpsc::Permit<'_, Vec<u8>>, mpsc::error::SendError<()>>,
    waiting: &mut Option<Vec<u8>>,
) -> bool {
    match (permit, waiting.take()) {
        (Ok(permit), Some(frame)) => {
            permit.send(frame);
            true
        }
        (Ok(_) | Err(_), _) => false,
    }
}

fn too_long(bytes: usize) -> String {
    format!("the browser sent a message of {bytes} bytes, more than {MAX_TO_WORKER}")
}
