//! `evaluate`: runs tasks with known answers and prints a table or JSON. `cargo xtask eval` starts it.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it prints its result")]

mod arguments;

use std::fmt::Display;
use std::process::ExitCode;

use arguments::{Arguments, Evaluation, USAGE};
use serde_json::Value;
use websvc_evaluation::{EvaluationError, EvaluationReport, FormatsReport, evaluate, evaluate_formats};

#[tokio::main]
async fn main() -> ExitCode {
    let Arguments { evaluation, is_json } = match arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    // Progress goes to stderr, so that stdout is the report only.
    match evaluation {
        Evaluation::Agent(options) => {
            let report = evaluate(&options, |result| eprintln!("{result}")).await;
            print(report, is_json, EvaluationReport::to_json)
        }
        Evaluation::Formats(options) => {
            let report = evaluate_formats(&options, |result| eprintln!("{result}")).await;
            print(report, is_json, FormatsReport::to_json)
        }
    }
}

/// Prints a report, or the reason why there is none.
fn print<R: Display>(
    report: Result<R, EvaluationError>,
    is_json: bool,
    to_json: impl Fn(&R) -> Value,
) -> ExitCode {
    match report {
        Ok(report) => {
            if is_json {
                println!("{}", to_json(&report));
            } else {
                println!("{report}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
