//! The worker process: limits itself, runs one program and exits.

mod engine;
mod input;
mod library;
mod limits;
mod outputs;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod system_calls;

use std::io;
use std::process::ExitCode;

use crate::frame::{Kind, Start};

#[cfg(test)]
pub(crate) use library::source as engine_source;

/// Reads one program from standard input, runs it within the limits, and writes its messages and outcome to standard
/// output. This is the main function of a worker process.
pub fn run_worker() -> ExitCode {
    match prepare() {
        Ok(input) => run_program(&input),
        Err(_) => ExitCode::FAILURE,
    }
}

/// Limits the process. The thread that reads the input starts before it may no longer start any.
fn prepare() -> io::Result<input::Input> {
    limits::apply()?;
    let input = input::Input::open()?;
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    system_calls::restrict()?;
    Ok(input)
}

fn run_program(input: &input::Input) -> ExitCode {
    let Some(frame) = input.next(None).filter(|frame| frame.kind == Kind::Start) else {
        return ExitCode::FAILURE;
    };
    let Ok(start) = serde_json::from_str::<Start>(&frame.content) else { return ExitCode::FAILURE };
    match engine::run(&start, &frame.content, input) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
