//! `cargo xtask test`: the gate, that is, all checks and tests that CI runs.
//!
//! Fast checks run first and tests last. The output ends with the results of the test runner and a line with the
//! totals: `N passed, N failed, N skipped`.

use std::env;
use std::fs;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::bench::extraction;
use crate::postgres::{self, PostgresServer};
use crate::{
    Result, apps, axe, cargo as cargo_command, chromium, cluster, corpus, disk, faketime, interpreters,
    media, playwright, python, root,
};

mod pool;
mod programs;

use pool::{Entry, Outcome};
use programs::TestProgram;

/// Environment variable with a file to which a test that skips itself appends a line, `name: reason`.
///
/// The test runner counts such a test as passed. The file corrects the totals.
const SKIP_LOG_VARIABLE: &str = "WEBSVC_SKIP_LOG";

/// Environment variable with the folder in which the tests save screenshots, for review by people.
const SCREENSHOTS_VARIABLE: &str = "WEBSVC_PICTURES";

/// Environment variable that makes tests run whole which are long. The gate runs a part of each.
pub(crate) const PROOF_VARIABLE: &str = "WEBSVC_TEST_PROOF";

/// Environment variable of the test runner: the number of concurrent tests in a test program.
const THREADS_VARIABLE: &str = "RUST_TEST_THREADS";

/// The concurrent tests of the program that takes longest, of eight: with half of them it ends
/// minutes after all others.
const EIGHTHS_OF_LONGEST: usize = 5;
/// Concurrent tests per processor. More than one, because tests wait for servers, browsers and timers.
const TESTS_PER_PROCESSOR: usize = 4;
/// Maximum number of concurrent tests, unless there are more processors. Some tests start a Chromium each.
const MAX_CONCURRENT_TESTS: usize = 8;

/// A command of the gate.
struct Step {
    name: &'static str,
    program: Program,
    arguments: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
}

enum Program {
    Cargo,
    /// Cargo, which lints the crates of the workspace while it builds them.
    LintingCargo,
    /// This program, for another task.
    Xtask,
}

const fn cargo(name: &'static str, arguments: &'static [&'static str]) -> Step {
    Step { name, program: Program::Cargo, arguments, variables: &[] }
}

const fn linting_cargo(name: &'static str, arguments: &'static [&'static str]) -> Step {
    Step { program: Program::LintingCargo, ..cargo(name, arguments) }
}

const fn xtask(name: &'static str, arguments: &'static [&'static str]) -> Step {
    Step { program: Program::Xtask, ..cargo(name, arguments) }
}

const CHECKS: &[Step] = &[
    cargo("fmt", &["fmt", "--all", "--check"]),
    xtask("tidy", &["tidy"]),
    xtask("layers", &["layers"]),
    xtask("budget", &["bloat", "--crates"]),
    xtask("schema", &["schema", "--check"]),
    // Built before the tests run: the watchdog treats a long time without output as a hang.
    linting_cargo("build", &["test", "--workspace", "--tests", "--no-run"]),
    // Some of them are run by tests, the others are only linted.
    linting_cargo("examples", &["build", "--workspace", "--examples"]),
    // The client and the types alone have fewer features than any other build of this workspace.
    linting_cargo("client", &["check", "--package", "websvc", "--lib"]),
];

/// The checks that run before a release only: documentation needs the metadata of all crates, as no other step does.
const PROOF_CHECKS: &[Step] = &[
    Step {
        variables: &[("RUSTDOCFLAGS", "-D warnings")],
        ..cargo("docs", &["doc", "--workspace", "--no-deps", "--lib"])
    },
    // Not built: that takes as long as the whole workspace.
    cargo(
        "packages",
        &[
            "package",
            "--no-verify",
            "--allow-dirty",
            "--quiet",
            "--workspace",
            "--exclude",
            "websvc-cli",
            "--exclude",
            "websvc-evaluation",
            "--exclude",
            "websvc-testkit",
            "--exclude",
            "xtask",
        ],
    ),
];

/// Documentation tests. Libraries without any say so in their manifest, which `cargo xtask tidy` checks.
const DOCTESTS: Step = linting_cargo("doctests", &["test", "--workspace", "--doc", "--no-fail-fast"]);

/// The programs that take longest, in this order. The others follow.
const LONGEST: &[&str] = &[
    "websvc-cli --test it",
    "websvc-browser --test it",
    "websvc-sandbox --test it",
    "websvc-redact --test it",
    "websvc-server --test it",
];

/// Runs all checks, and a part of the long tests.
pub(crate) fn run() -> Result {
    run_gate(CHECKS.iter(), &[])
}

/// Runs all checks, those that only a release needs, and the whole of the long tests.
pub(crate) fn prove() -> Result {
    run_gate(CHECKS.iter().chain(PROOF_CHECKS), &[(PROOF_VARIABLE, "1")])
}

/// Runs the gate: these checks, and tests with these variables.
fn run_gate<'a>(checks: impl Iterator<Item = &'a Step>, variables: &[(&str, &str)]) -> Result {
    let started = Instant::now();
    let mut times = Vec::new();
    let shortage = disk::shortage();
    if let Some(shortage) = &shortage {
        println!("warning: {shortage}");
    }
    // Most of the time, these wait for the network, and the checks for the processors.
    let installing = thread::spawn(Installed::install);
    for step in checks {
        times.push((step.name, step.run()?));
    }
    let installed = installing.join().map_err(|_| "the installation of test dependencies panicked")?;
    times.extend(&installed.times);
    let mut dependencies = installed.start_servers();
    dependencies.warnings.extend(shortage);
    for (name, elapsed) in &times {
        println!("{name:>10}  {:6.1} s", elapsed.as_secs_f64());
    }
    let outcome = run_tests(&dependencies, variables);
    // Printed again, because the output of the tests has scrolled the first warnings away.
    for warning in &dependencies.warnings {
        println!("warning: {warning}");
    }
    // Stops the database server now: an exit would leave it running.
    drop(dependencies);
    let (Outcome { summary, failed }, test_time) = outcome?;
    let (total, tests) = (started.elapsed().as_secs_f64(), test_time.as_secs_f64());
    if summary.failed > 0 {
        println!("gate FAILED at tests after {total:.1} s; repeat with: {}", failed.join("; "));
        println!("{summary}");
        // Exits here instead of returning an error, because the totals must be the last line.
        std::process::exit(1);
    }
    println!("gate passed after {total:.1} s (tests: {tests:.1} s)");
    println!("{summary}");
    Ok(())
}

/// Runs the tests of the workspace, those of its documentation, and those of the store on a database server. Returns the
/// outcome and the elapsed time. One failure does not stop the run.
fn run_tests(dependencies: &TestDependencies, variables: &[(&str, &str)]) -> Result<(Outcome, Duration)> {
    let started = Instant::now();
    let skip_log = root().join("target/skipped-tests.txt");
    fs::create_dir_all(root().join("target"))?;
    fs::write(&skip_log, "")?;
    let programs = programs::of_workspace()?;
    let mut entries = dependencies.entries(&programs)?;
    for (position, Entry { command, .. }) in entries.iter_mut().enumerate() {
        if env::var_os(THREADS_VARIABLE).is_none() {
            command.env(THREADS_VARIABLE, test_threads(position == 0));
        }
        command
            .envs(dependencies.variables.iter().map(|(name, path)| (name, path)))
            .envs(variables.iter().copied())
            .env(SKIP_LOG_VARIABLE, &skip_log)
            .env(SCREENSHOTS_VARIABLE, root().join("target/pictures"));
    }
    let mut outcome = pool::run(entries, std::io::stdout())?;
    if outcome.summary.passed == 0 && outcome.summary.failed == 0 {
        return Err("gate FAILED: no tests were run".into());
    }
    for skipped in fs::read_to_string(&skip_log)?.lines() {
        println!("skipped {skipped}");
        outcome.summary.count_as_skipped();
    }
    if dependencies.postgres.is_some() {
        println!("==> failover to a standby");
        let mut tests = of_store(&programs)?.command();
        tests.arg(cluster::FAILOVER_TESTS);
        cluster::run_failover(tests)?;
    }
    Ok((outcome, started.elapsed()))
}

/// Returns the program with the integration tests of the store.
fn of_store(programs: &[TestProgram]) -> Result<&TestProgram> {
    let store = programs.iter().find(|program| program.name() == "websvc-store --test it");
    store.ok_or_else(|| "cargo built no test program of websvc-store".into())
}

impl Step {
    /// Runs the step with its output on the terminal and returns the elapsed time.
    fn run(&self) -> Result<Duration> {
        println!("==> {}: {}", self.name, self.command_line());
        let started = Instant::now();
        let status = self.command()?.status()?;
        if status.success() {
            return Ok(started.elapsed());
        }
        Err(format!("gate FAILED at {} ({status}); repeat with: {}", self.name, self.repetition()).into())
    }

    fn command(&self) -> Result<Command> {
        let mut command = match self.program {
            Program::Cargo => cargo_command::cargo(),
            Program::LintingCargo => cargo_command::linting_cargo()?,
            Program::Xtask => Command::new(env::current_exe()?),
        };
        command.args(self.arguments).envs(self.variables.iter().copied()).current_dir(root());
        Ok(command)
    }

    /// Returns the command line of the step, to copy into a shell.
    fn command_line(&self) -> String {
        let variables = self.variables.iter().map(|(name, value)| format!("{name}=\"{value}\""));
        let program = match self.program {
            Program::Cargo | Program::LintingCargo => "cargo",
            Program::Xtask => "cargo xtask",
        };
        let words =
            variables.chain([program.to_owned()]).chain(self.arguments.iter().map(ToString::to_string));
        words.collect::<Vec<_>>().join(" ")
    }

    /// Returns the command lines that repeat a step that failed.
    fn repetition(&self) -> String {
        match self.program {
            Program::LintingCargo => {
                format!("cargo clippy --workspace --all-targets; {}", self.command_line())
            }
            Program::Cargo | Program::Xtask => self.command_line(),
        }
    }
}

/// Environment variables, each with the path of what it names.
type Variables = Vec<(&'static str, PathBuf)>;

/// External dependencies of the tests.
struct TestDependencies {
    /// The dependencies that are available.
    variables: Variables,
    /// A message for each dependency that is not available.
    warnings: Vec<String>,
    postgres: Option<PostgresServer>,
}

/// The dependencies that are files.
#[derive(Default)]
struct Installed {
    variables: Variables,
    warnings: Vec<String>,
    times: Vec<(&'static str, Duration)>,
}

/// Installs a dependency, if it is missing, and returns its path.
type Install = fn() -> Result<PathBuf>;

/// The name, the variable and the installation of each dependency that is a file.
const INSTALLATIONS: &[(&str, &str, Install)] = &[
    ("python", python::VARIABLE, python::prepare),
    ("corpus", corpus::VARIABLE, corpus::prepare),
    ("chromium", chromium::VARIABLE, chromium::prepare),
    ("apps", apps::VARIABLE, apps::prepare),
    ("axe", axe::VARIABLE, axe::prepare),
    ("playwright", playwright::VARIABLE, playwright::prepare),
    ("puppeteer", playwright::PUPPETEER_VARIABLE, playwright::prepare_puppeteer),
    ("bubblewrap", interpreters::BUBBLEWRAP_VARIABLE, interpreters::prepare_bubblewrap),
    ("python playwright", interpreters::PYTHON_VARIABLE, python::prepare_playwright),
    ("faketime", faketime::VARIABLE, faketime::prepare),
    ("yt-dlp", media::YT_DLP_VARIABLE, media::prepare_yt_dlp),
    ("ffmpeg", media::FFMPEG_VARIABLE, media::prepare_ffmpeg),
    ("document loaders", python::LOADERS_VARIABLE, python::prepare_loaders),
    ("pages", extraction::VARIABLE, extraction::prepare),
];

impl Installed {
    /// Installs missing dependencies. Tests that need one that cannot be installed skip themselves; the others still
    /// run.
    fn install() -> Self {
        let mut installed = Self::default();
        for (name, variable, install) in INSTALLATIONS {
            println!("==> {name}: preparing");
            let started = Instant::now();
            match install() {
                Ok(path) => installed.variables.push((variable, path)),
                Err(error) => {
                    println!("warning: {name} is not available: {error}");
                    installed
                        .warnings
                        .push(format!("{name} was not available, tests that need it were skipped: {error}"));
                }
            }
            installed.times.push((name, started.elapsed()));
        }
        installed
    }

    /// Starts the servers that tests need.
    fn start_servers(self) -> TestDependencies {
        let Self { mut variables, mut warnings, times: _ } = self;
        let postgres = PostgresServer::start().map_err(|error| {
            println!("warning: a PostgreSQL server is not available: {error}");
            warnings.push(format!("the tests on PostgreSQL were skipped: {error}"));
        });
        if let Ok(server) = &postgres {
            variables.push((postgres::REPLICAS_VARIABLE, server.url().into()));
        }
        TestDependencies { variables, warnings, postgres: postgres.ok() }
    }
}

impl TestDependencies {
    /// Returns the programs to run, those that take longest first.
    fn entries(&self, programs: &[TestProgram]) -> Result<Vec<Entry>> {
        let rank = |program: &TestProgram| {
            let name = program.name();
            LONGEST.iter().position(|longest| *longest == name).unwrap_or(LONGEST.len())
        };
        let mut ordered: Vec<_> = programs.iter().collect();
        ordered.sort_by_key(|program| rank(program));
        let of_program = |program: &TestProgram| Entry {
            line: format!("cargo test -p {}", program.name()),
            command: program.command(),
        };
        let mut entries: Vec<_> = ordered.into_iter().map(of_program).collect();
        if let Some(server) = &self.postgres {
            let mut of_store = of_program(of_store(programs)?);
            of_store.command.env(postgres::STORE_VARIABLE, server.url());
            of_store.line = format!("{}=URL {}", postgres::STORE_VARIABLE, of_store.line);
            entries.insert(1, of_store);
        }
        entries.push(Entry { line: DOCTESTS.command_line(), command: DOCTESTS.command()? });
        Ok(entries)
    }
}

/// Returns the number of concurrent tests in a program, in decimal: in the one that takes longest, or in any other.
fn test_threads(longest: bool) -> String {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let tests = (processors * TESTS_PER_PROCESSOR).min(MAX_CONCURRENT_TESTS.max(processors));
    let of_longest = (tests * EIGHTHS_OF_LONGEST).div_ceil(8);
    let threads = if longest { of_longest } else { tests - of_longest };
    threads.max(1).to_string()
}
