//! The tasks of this repository: `cargo xtask TASK`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the tasks print to the terminal")]

mod apps;
mod axe;
mod bench;
mod bloat;
mod cache;
mod cargo;
mod chromium;
mod cluster;
mod conformance;
mod corpus;
mod debian;
mod disk;
mod dist;
mod eval;
mod faketime;
mod interpreters;
mod layers;
mod media;
mod npm;
mod openapi;
mod pgbouncer;
mod playwright;
mod postgres;
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

  test         run all checks and tests, as CI does
  proof        the gate with the documentation and the whole of the long tests
  conformance  run the official clients and schemathesis against the program
               (--binary FILE: test FILE instead of building the program;
               --only NAME: run only checks with NAME in their name, such as \"mcp\" or \"schemathesis\")
  schema       write docs/schema and docs/openapi.json (--check: only compare)
  bench        benchmark the service against its parts
               (relevance: on judged collections; scale: on growing indexes;
               access: authentication and admission, 10,000 teams, overload;
               crawl: crawls, against wget and bare fetches;
               memory: resident memory after many searches, scrapes and rendered pages;
               sessions: browser sessions, their start, clicks and memory;
               monitors: 100 checks per minute with 100 and with 10,000 monitors;
               extraction: on pages with known main content, against dom_smoothie;
               documents: on PDF files of many producers with known content, against other programs;
               browser: JavaScript rendering, against Chromium alone and Playwright)
  eval agent   run the tasks of the agent, which have known answers
               (by default with a scripted oracle; --llm URL --model NAME [--key-env VARIABLE]: with a model;
               --only TEXT: only tasks with TEXT in their class or name; --timeout SECONDS of a task; --json;
               --binary FILE: test FILE instead of building the program)
  eval formats measure each feature that uses a language model on ten small pages, with a model and without
               (by default with a scripted oracle; --llm URL --model NAME [--key-env VARIABLE]: with a model;
               --without-model: without one; --only TEXT: only features with TEXT in their name;
               --concurrency N requests at the same time; --timeout SECONDS of a task; --json;
               --binary FILE: test FILE instead of building the program)
  eval pii     evaluate redactPII with a language model: precision and recall by entity
                (--llm URL --model NAME: an OpenAI-compatible endpoint; --rounds N;
                WEBSVC_LLM_KEY: its key)
  cluster      test and measure replicas on a PostgreSQL server
               (tests, faults, failover, bench: only this part)
  bloat        build the release program and print its code size by crate and function
               (--crates: only check the number of crates against the budget)
  dist         make the packages of the program in target/dist-packages: tarball, Debian package, image, SBOM, checksums
               (--program FILE: pack FILE instead of building the program)
  layers       check the dependencies between crates
  tidy         check files, names and links
  corpus       download the pages for the relevance tests";

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
        ["proof"] => test::prove(),
        ["layers"] => layers::run(),
        ["bloat"] => bloat::run(),
        ["bloat", "--crates"] => bloat::check_crates(),
        ["tidy"] => tidy::run(),
        ["corpus"] => corpus::run(),
        ["bench"] => bench::run(),
        ["bench", "browser"] => bench::browser::run(),
        ["bench", "documents"] => bench::documents::run(),
        ["bench", "extraction"] => bench::extraction::run(),
        ["bench", "access"] => bench::run_access(),
        ["bench", "crawl"] => bench::run_crawl(),
        ["bench", "memory"] => bench::run_memory(),
        ["bench", "scrapes"] => bench::run_scrapes(),
        ["bench", "sessions"] => bench::run_sessions(),
        ["bench", part @ ("monitors" | "relevance" | "scale")] => bench::run_part(part),
        ["eval", "pii", options @ ..] => eval::run_pii(options),
        ["dist", options @ ..] => dist::run(options),
        ["cluster"] => cluster::run(),
        ["cluster", "tests"] => cluster::run_tests(),
        ["cluster", "faults"] => cluster::run_faults(),
        ["cluster", "failover"] => {
            cluster::run_failover(cluster::tests_of("websvc-store", cluster::FAILOVER_TESTS))
        }
        ["cluster", "bench"] => cluster::run_bench(),
        ["eval", "agent", options @ ..] => eval::run_agent(options),
        ["eval", "formats", options @ ..] => eval::run_formats(options),
        ["conformance", options @ ..] => conformance::run(&conformance::Options::parse(options)?),
        ["schema"] => schema::run(schema::Mode::Write),
        ["schema", "--check"] => schema::run(schema::Mode::Check),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        [] => Err(USAGE.into()),
        other => Err(format!("unknown task \"{}\"\n\n{USAGE}", other.join(" ")).into()),
    }
}

/// Returns the root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this crate is in a subdirectory of the repository")
}

/// Prints "ok", or fails with the list of violations.
fn report(task: &str, violations: &[String]) -> Result {
    if violations.is_empty() {
        println!("{task}: ok");
        return Ok(());
    }
    let count = violations.len();
    let noun = if count == 1 { "violation" } else { "violations" };
    Err(format!("{}\n{task}: {count} {noun}", violations.join("\n")).into())
}
