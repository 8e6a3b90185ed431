//! The run of a program in a session.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use websvc_sandbox::TIMEOUT_EXIT_CODE;

use crate::active::ActiveSession;
use crate::code::{CodeRunner, Outcome, Program};
use crate::error::SessionError;
use crate::program::{ProgramChannel, ProgramFiles};

/// The time after the time limit of code in which its program must return.
const RUN_GRACE: Duration = Duration::from_secs(2);

/// The author of a program.
pub(crate) enum Author {
    /// The client, with the store of the files of the program.
    Client(ProgramFiles),
    /// A language model, whose commands run in no shell and store no files.
    Model,
}

/// Runs a program with the current page of a session, whose turn the caller has.
///
/// # Errors
/// [`SessionError::Ended`] if the browser has ended before.
pub(crate) async fn run_program(
    active: &Arc<ActiveSession>,
    runner: &dyn CodeRunner,
    program: Program,
    author: Author,
) -> Result<Outcome, SessionError> {
    let limit = program.timeout;
    let (connection, page) = active.connect_to_page().await?;
    let mut stopped = StopGuard { active, has_ended: false };
    let running = match author {
        Author::Client(files) => runner.run(program, page, Box::new(ProgramChannel::new(connection, files))),
        Author::Model => runner.run_commands(program, page, Box::new(ProgramChannel::new(connection, None))),
    };
    let outcome = timeout(limit + RUN_GRACE, running).await.unwrap_or_else(|_| Outcome {
        stderr: format!("the code did not end within {} s", limit.as_secs_f64()),
        exit_code: TIMEOUT_EXIT_CODE,
        killed: true,
        ..Outcome::default()
    });
    stopped.has_ended = !outcome.killed;
    drop(stopped);
    if let Some(target) = &outcome.page {
        active.choose_page(target.clone());
    }
    Ok(outcome)
}

/// Ends what a program has left running in the pages, if it was stopped: dropped before it has ended by itself.
struct StopGuard<'a> {
    active: &'a ActiveSession,
    has_ended: bool,
}

impl Drop for StopGuard<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.active.unblock_tabs();
        }
    }
}
