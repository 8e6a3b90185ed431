//! The tests of the browser and of sessions with each Chromium of this machine. The whole one has pages of its own, and other
//! faults than the headless shell, with which the gate runs the tests.

use std::path::Path;
use std::time::{Duration, Instant};

use super::limit::{ending, limited};
use super::report::{CheckOutcome, Report};
use crate::cargo::cargo;
use crate::{Result, chromium, root};

/// Name of these checks.
pub(super) const NAME: &str = "browser tests";

/// The packages and the tests of them that need a browser.
const TESTS: [&[&str]; 2] =
    [&["--package", "websvc-browser"], &["--package", "websvc-cli", "--test", "it", "--", "browser"]];

/// Maximum time of the tests of one package, with their build.
const LIMIT: Duration = Duration::from_secs(3600);

/// Runs the tests with each program, which is installed if it is missing.
pub(super) fn run(report: &mut Report) -> Result {
    for (program, package) in chromium::PROGRAMS.map(Path::new).into_iter().zip(chromium::PACKAGES) {
        let installed = if program.is_file() { Ok(()) } else { chromium::install(package) };
        let missing = installed.err().map(|error| error.to_string());
        let name = program.file_name().unwrap_or_default().display();
        for tests in TESTS {
            let check = format!("{NAME}: {} with {name}", tests[1]);
            let began = Instant::now();
            let outcome = match &missing {
                None => run_tests(program, tests)?,
                Some(reason) => CheckOutcome::Skipped(reason.clone()),
            };
            report.add_duration(&check, began.elapsed());
            report.add(&check, &outcome);
        }
    }
    Ok(())
}

fn run_tests(program: &Path, tests: &[&str]) -> Result<CheckOutcome> {
    let cargo = cargo();
    let mut command = limited(cargo.get_program(), LIMIT);
    for (name, value) in cargo.get_envs() {
        if value.is_none() {
            command.env_remove(name);
        }
    }
    command.arg("test").args(tests).env(chromium::VARIABLE, program).current_dir(root());
    let status = command.status()?;
    if status.success() {
        return Ok(CheckOutcome::Passed);
    }
    let line = format!("{}={} cargo test {}", chromium::VARIABLE, program.display(), tests.join(" "));
    Ok(CheckOutcome::Failed(format!("{}; repeat with: {line}", ending(status, LIMIT))))
}
