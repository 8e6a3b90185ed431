//! `cargo xtask test`: the whole gate, the same for a contributor and for CI.
//!
//! The quick checks come first and the tests last, so that the output ends with the summary of the test runner and
//! with one line that sums it up: `N passed, N failed, N skipped`.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::bench::extraction;
use crate::summary::Summary;
use crate::watch::Watch;
use crate::{Result, apps, axe, cargo as cargo_command, chromium, corpus, python, root};

/// Names a file in which a test that has to skip itself adds one line, `name: reason`.
///
/// The runner counts such a test as passed; this is how the sum stays honest.
const SKIP_LOG_VARIABLE: &str = "WEBSVC_SKIP_LOG";

/// Tells the tests where to leave pictures of what they saw, for people to look at.
const PICTURES_VARIABLE: &str = "WEBSVC_PICTURES";

/// How many tests of a program run at once; the test runner reads it.
const THREADS_VARIABLE: &str = "RUST_TEST_THREADS";

/// Tests wait for servers, browsers and clocks more than they compute: so many run at once on each processor, ...
const TESTS_PER_PROCESSOR: usize = 3;
/// ... as long as there are no more than this, because some start a Chromium each.
const TESTS_AT_ONCE: usize = 8;

/// A command of the gate.
struct Step {
    name: &'static str,
    program: Program,
    arguments: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
}

enum Program {
    Cargo,
    /// This program, for its other tasks.
    Xtask,
}

const fn cargo(name: &'static str, arguments: &'static [&'static str]) -> Step {
    Step { name, program: Program::Cargo, arguments, variables: &[] }
}

const fn xtask(name: &'static str, arguments: &'static [&'static str]) -> Step {
    Step { name, program: Program::Xtask, arguments, variables: &[] }
}

const CHECKS: &[Step] = &[
    cargo("fmt", &["fmt", "--all", "--check"]),
    xtask("tidy", &["tidy"]),
    xtask("layers", &["layers"]),
    xtask("budget", &["bloat", "--crates"]),
    cargo("clippy", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
    xtask("schema", &["schema", "--check"]),
    // So that the tests are silent only when they hang.
    cargo("build", &["test", "--workspace", "--no-run"]),
    Step {
        variables: &[("RUSTDOCFLAGS", "-D warnings")],
        ..cargo("docs", &["doc", "--workspace", "--no-deps", "--lib"])
    },
];

/// Unit, integration and documentation tests of every crate; all failures in one run.
const TESTS: Step = cargo("tests", &["test", "--workspace", "--no-fail-fast"]);

pub(crate) fn run() -> Result {
    let started = Instant::now();
    let mut times = Vec::new();
    for step in CHECKS {
        times.push((step.name, step.run()?));
    }
    let provided = Provided::prepare(&mut times);
    for (name, time) in &times {
        println!("{name:>10}  {:6.1} s", time.as_secs_f64());
    }
    let (summary, time) = run_tests(&provided)?;
    // Again here, because the output of the tests has scrolled the first warning away.
    for absent in &provided.absent {
        println!("warning: {absent}");
    }
    let (all, tests) = (started.elapsed().as_secs_f64(), time.as_secs_f64());
    if summary.failed > 0 {
        println!("gate FAILED at tests after {all:.1} s; repeat with: {}", TESTS.shown());
        println!("{summary}");
        // Not an error to be printed: the sum has to be the last line.
        std::process::exit(1);
    }
    println!("gate passed after {all:.1} s, of which tests {tests:.1} s");
    println!("{summary}");
    Ok(())
}

impl Step {
    /// Runs the step, showing what it prints, and returns the time it took.
    fn run(&self) -> Result<Duration> {
        println!("==> {}: {}", self.name, self.shown());
        let started = Instant::now();
        let status = self.command()?.status()?;
        if status.success() {
            return Ok(started.elapsed());
        }
        Err(format!("gate FAILED at {} ({status}); repeat with: {}", self.name, self.shown()).into())
    }

    fn command(&self) -> Result<Command> {
        let mut command = match self.program {
            Program::Cargo => cargo_command::cargo(),
            Program::Xtask => Command::new(env::current_exe()?),
        };
        command.args(self.arguments).envs(self.variables.iter().copied()).current_dir(root());
        Ok(command)
    }

    /// Returns the command as a person would type it.
    fn shown(&self) -> String {
        let mut words: Vec<String> =
            self.variables.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
        words.push(
            match self.program {
                Program::Cargo => "cargo",
                Program::Xtask => "cargo xtask",
            }
            .to_owned(),
        );
        words.extend(self.arguments.iter().map(|&argument| argument.to_owned()));
        words.join(" ")
    }
}

/// External components of the tests, passed in environment variables.
struct Provided {
    variables: Vec<(&'static str, PathBuf)>,
    absent: Vec<String>,
}

impl Provided {
    /// Fetches what is missing. Without a network the tests that need it skip themselves: the rest is worth running.
    fn prepare(times: &mut Vec<(&'static str, Duration)>) -> Self {
        let mut variables = Vec::new();
        let mut absent = Vec::new();
        let mut provide = |name, variable, prepare: fn() -> Result<PathBuf>| {
            println!("==> {name}: prepare");
            let started = Instant::now();
            match prepare() {
                Ok(path) => variables.push((variable, path)),
                Err(error) => {
                    println!("warning: {name} is absent: {error}");
                    absent.push(format!(
                        "{name} was absent, the tests that need it skipped themselves: {error}"
                    ));
                }
            }
            times.push((name, started.elapsed()));
        };
        provide("python", python::VARIABLE, python::prepare);
        provide("corpus", corpus::VARIABLE, corpus::prepare);
        provide("chromium", chromium::VARIABLE, chromium::prepare);
        provide("apps", apps::VARIABLE, apps::prepare);
        provide("axe", axe::VARIABLE, axe::prepare);
        provide("pages", extraction::VARIABLE, extraction::prepare);
        Self { variables, absent }
    }
}

/// Returns how many tests run at once, in digits.
fn threads() -> String {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    (processors * TESTS_PER_PROCESSOR).min(TESTS_AT_ONCE.max(processors)).to_string()
}

/// Runs the tests, showing their output as it comes, and sums up their results.
fn run_tests(provided: &Provided) -> Result<(Summary, Duration)> {
    println!("==> {}: {}", TESTS.name, TESTS.shown());
    let started = Instant::now();
    let skip_log = root().join("target/skipped-tests.txt");
    fs::create_dir_all(root().join("target"))?;
    fs::write(&skip_log, "")?;
    let mut child = TESTS
        .command()?
        .envs(provided.variables.iter().map(|(name, path)| (name, path)))
        .env(SKIP_LOG_VARIABLE, &skip_log)
        .env(THREADS_VARIABLE, env::var_os(THREADS_VARIABLE).unwrap_or_else(|| threads().into()))
        .env(PICTURES_VARIABLE, root().join("target/pictures"))
        .stdout(Stdio::piped())
        .spawn()?;
    let watch = Watch::over(child.id());
    let mut summary = Summary::default();
    let mut shown = std::io::stdout().lock();
    let output = BufReader::new(child.stdout.take().expect("the standard output is piped"));
    for line in output.split(b'\n') {
        // Tests print what they like: the bytes are passed on as they are.
        let line = line?;
        watch.heard();
        shown.write_all(&line)?;
        shown.write_all(b"\n")?;
        summary.add_line(&String::from_utf8_lossy(&line));
    }
    drop(shown);
    summary.failed += watch.finish();
    let status = child.wait()?;
    for skipped in fs::read_to_string(&skip_log)?.lines() {
        println!("skipped {skipped}");
        summary.count_as_skipped();
    }
    if !status.success() && summary.failed == 0 {
        return Err(format!(
            "gate FAILED: the tests did not run to their end; repeat with: {}",
            TESTS.shown()
        )
        .into());
    }
    if status.success() && summary.failed > 0 {
        return Err("gate FAILED: the test runner reports success and failures at once".into());
    }
    if summary.passed == 0 && summary.failed == 0 {
        return Err("gate FAILED: no test ran".into());
    }
    Ok((summary, started.elapsed()))
}
