//! Runs test programs, several at the same time and those that take longest first: tests mostly wait for timers, servers
//! and browsers.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::Result;
use crate::summary::Summary;
use crate::watch::Watchdog;

/// Programs that run at the same time.
const CONCURRENT_PROGRAMS: usize = 2;

/// A program to run.
pub(super) struct Entry {
    /// The command line that repeats its tests.
    pub(super) line: String,
    pub(super) command: Command,
}

/// The results of all programs.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) summary: Summary,
    /// The command lines of programs with failed tests.
    pub(super) failed: Vec<String>,
}

/// Runs programs in this order. Prints a line when a test ends, and the other output of a program when the program ends.
pub(super) fn run(entries: Vec<Entry>) -> Result<Outcome> {
    let waiting = Mutex::new(entries.into_iter());
    let outcome = Mutex::new(Outcome::default());
    thread::scope(|scope| {
        let run_next = || -> Result {
            loop {
                let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(Entry { line, command }) = next else { return Ok(()) };
                let summary = run_program(&line, command)?;
                let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
                outcome.summary.add(&summary);
                if summary.failed > 0 {
                    outcome.failed.push(line);
                }
            }
        };
        let threads: Vec<_> = (0..CONCURRENT_PROGRAMS).map(|_| scope.spawn(run_next)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| "a thread of the tests panicked")?)
    })?;
    Ok(outcome.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Runs a program, and returns its totals.
fn run_program(line: &str, mut command: Command) -> Result<Summary> {
    let started = Instant::now();
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let watchdog = Watchdog::start(child.id());
    let (mut summary, mut others) = (Summary::default(), Vec::new());
    let output = BufReader::new(child.stdout.take().expect("the standard output is piped"));
    for line in output.split(b'\n') {
        // The output of tests may not be UTF-8, so the bytes are passed on unchanged.
        let mut line = line?;
        watchdog.record_output();
        summary.add_line(&String::from_utf8_lossy(&line));
        line.push(b'\n');
        if is_result(&line) {
            std::io::stdout().write_all(&line)?;
        } else {
            others.extend(line);
        }
    }
    summary.failed += watchdog.finish();
    let status = child.wait()?;
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "==> tests: {line} ({:.1} s)", started.elapsed().as_secs_f64())?;
    stdout.write_all(&others)?;
    drop(stdout);
    if !status.success() && summary.failed == 0 {
        return Err(format!("gate FAILED: the tests did not run to completion; repeat with: {line}").into());
    }
    if status.success() && summary.failed > 0 {
        return Err("gate FAILED: the test runner exited successfully but reported failures".into());
    }
    Ok(summary)
}

/// Returns whether a line is the result of one test.
fn is_result(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.starts_with(b"test ")
        && [b"... ok".as_slice(), b"... FAILED", b"... ignored"].iter().any(|end| line.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(line: &str, script: &str) -> Entry {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Entry { line: line.to_owned(), command }
    }

    const PASSED: &str = "echo 'test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'";

    #[test]
    fn results_of_all_programs_are_added() {
        let failed =
            "echo 'test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out'; exit 101";
        let outcome = run(vec![entry("a", PASSED), entry("b", failed), entry("c", PASSED)]).unwrap();
        assert_eq!(outcome.summary.to_string(), "5 passed, 1 failed, 0 skipped");
        assert_eq!(outcome.failed, ["b"]);
    }

    #[test]
    fn program_that_dies_is_an_error() {
        let error =
            run(vec![entry("a", PASSED), entry("b", "kill -9 $$")]).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("did not run to completion; repeat with: b"), "{error}");
    }

    #[test]
    fn only_results_of_tests_are_printed_at_once() {
        assert!(is_result(b"test a::b ... ok\n") && is_result(b"test a ... FAILED\r\n"));
        assert!(!is_result(b"testing ... ok\n") && !is_result(b"test result: ok. 2 passed\n"));
    }
}
