//! Runs test programs, several at the same time and those that take longest first: at the end of a program, most of its
//! threads are idle.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::Result;
use crate::summary::Summary;
use crate::watch::Watchdog;

/// Programs that run at the same time.
pub(super) const CONCURRENT_PROGRAMS: usize = 2;

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

/// Runs programs in this order. Writes a line when a test ends, and the other output of a program when the program ends.
pub(super) fn run(entries: Vec<Entry>, out: impl Write + Send) -> Result<Outcome> {
    let out = Mutex::new(out);
    let waiting = Mutex::new(entries.into_iter());
    let outcome = Mutex::new(Outcome::default());
    thread::scope(|scope| {
        let run_all = || -> std::result::Result<(), String> {
            loop {
                let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(Entry { line, command }) = next else { return Ok(()) };
                let summary = run_program(&line, command, &out).map_err(|error| error.to_string())?;
                let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
                outcome.summary.add(&summary);
                if summary.failed > 0 {
                    outcome.failed.push(line);
                }
            }
        };
        let threads: Vec<_> = (0..CONCURRENT_PROGRAMS).map(|_| scope.spawn(run_all)).collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| Err("a thread of the tests panicked".to_owned()))
        })
    })?;
    Ok(outcome.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Runs a program, and returns its totals.
fn run_program(line: &str, mut command: Command, out: &Mutex<impl Write>) -> Result<Summary> {
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
            out.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line)?;
        } else {
            others.extend(line);
        }
    }
    summary.failed += watchdog.finish();
    let status = child.wait()?;
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
    writeln!(out, "==> tests: {line} ({:.1} s)", started.elapsed().as_secs_f64())?;
    out.write_all(&others)?;
    drop(out);
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
        let mut out = Vec::new();
        let entries = vec![entry("a", PASSED), entry("b", failed), entry("c", PASSED)];
        let outcome = run(entries, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("==> tests: b (") && text.contains("test result: FAILED"), "{text}");
        assert_eq!(outcome.summary.to_string(), "5 passed, 1 failed, 0 skipped");
        assert_eq!(outcome.failed, ["b"]);
    }

    #[test]
    fn program_that_dies_is_an_error() {
        let error = run(vec![entry("a", PASSED), entry("b", "kill -9 $$")], Vec::new())
            .map(|_| ())
            .unwrap_err()
            .to_string();
        assert!(error.contains("did not run to completion; repeat with: b"), "{error}");
    }

    #[test]
    fn only_results_of_tests_are_printed_at_once() {
        assert!(is_result(b"test a::b ... ok\n") && is_result(b"test a ... FAILED\r\n"));
        assert!(!is_result(b"testing ... ok\n") && !is_result(b"test result: ok. 2 passed\n"));
    }
}
