//! The tasks of this repository: `cargo xtask TASK`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the tasks talk to the person who runs them")]

mod apps;
mod axe;
mod bench;
mod bloat;
mod cache;
mod cargo;
mod chromium;
mod conformance;
mod corpus;
mod debian;
mod layers;
mod npm;
mod python;
mod schema;
mod summary;
mod test;
mod tidy;
mod watch;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// Result of a task; an error is a message for the developer.
type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const USAGE: &str = "usage: cargo xtask TASK

  test         the whole gate: format, rules, lints, docs, schemas, tests
  conformance  the official clients and schemathesis against the program
               (--binary FILE: this one, instead of building it;
               --only NAME: only what has this in its name, as \"mcp\" or \"schemathesis\")
  schema       write docs/schema and docs/openapi.json (--check: only compare)
  bench        measure the service beside its parts
               (relevance: on judged collections; scale: in growing indexes;
               access: the door, ten thousand teams, an overload;
               crawl: crawls beside wget and bare fetches;
               memory: what is resident after many searches, scrapes and rendered pages;
               extraction: on pages whose main content is known, beside dom_smoothie;
               browser: pages that scripts draw, beside Chromium alone and Playwright)
  bloat        build the program as it is shipped and print its code by crate and function
               (--crates: only compare the number of crates with its budget)
  layers       check which crate depends on what
  tidy         check files, names and links
  corpus       fetch the pages that the relevance tests search";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result {
    match arguments {
        ["test"] => test::run(),
        ["layers"] => layers::run(),
        ["bloat"] => bloat::run(),
        ["bloat", "--crates"] => bloat::check_crates(),
        ["tidy"] => tidy::run(),
        ["corpus"] => corpus::run(),
        ["bench"] => bench::run(),
        ["bench", "browser"] => bench::browser::run(),
        ["bench", "extraction"] => bench::extraction::run(),
        ["bench", "access"] => bench::run_access(),
        ["bench", "crawl"] => bench::run_crawl(),
        ["bench", "memory"] => bench::run_memory(),
        ["bench", part @ ("relevance" | "scale")] => bench::run_part(part),
        ["conformance", options @ ..] => conformance::run(&conformance::Options::read(options)?),
        ["schema"] => schema::run(schema::Mode::Write),
        ["schema", "--check"] => schema::run(schema::Mode::Check),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        [] => Err(USAGE.into()),
        other => Err(format!("there is no task \"{}\"\n\n{USAGE}", other.join(" ")).into()),
    }
}

/// Returns the root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this crate lies in a folder of the repository")
}

/// Prints the violations of a check, or that there are none.
fn report(task: &str, violations: &[String]) -> Result {
    if violations.is_empty() {
        println!("{task}: ok");
        return Ok(());
    }
    let count = violations.len();
    let noun = if count == 1 { "violation" } else { "violations" };
    Err(format!("{}\n{task}: {count} {noun}", violations.join("\n")).into())
}
