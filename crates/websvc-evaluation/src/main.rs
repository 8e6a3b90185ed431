//! `evaluate-agent`: runs the tasks of the agent and prints a table or JSON. `cargo xtask eval agent` starts it.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it prints its result")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use websvc_evaluation::{EvaluationOptions, ModelEndpoint, evaluate};

const USAGE: &str =
    "usage: evaluate-agent --program FILE [--chromium FILE] [--llm URL --model NAME [--key-env VARIABLE]]
       [--only TEXT] [--timeout SECONDS] [--json]";

/// The default of `--timeout`, in seconds.
const TIMEOUT_SECONDS: u64 = 900;

/// The command line.
#[derive(Debug)]
struct Arguments {
    options: EvaluationOptions,
    is_json: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = match read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let Arguments { options, is_json } = arguments;
    // Progress goes to stderr, so that stdout is the report only.
    match evaluate(&options, |result| eprintln!("{result}")).await {
        Ok(report) => {
            if is_json {
                println!("{}", report.to_json());
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

/// Reads the command line.
fn read(mut arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let (mut program, mut chromium, mut only, mut is_json) = (None, None, None, false);
    let (mut url, mut model, mut variable, mut seconds) = (None, None, None, TIMEOUT_SECONDS);
    while let Some(name) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{name} needs a value"));
        match name.as_str() {
            "--program" => program = Some(PathBuf::from(value()?)),
            "--chromium" => chromium = Some(PathBuf::from(value()?)),
            "--llm" => url = Some(value()?),
            "--model" => model = Some(value()?),
            "--key-env" => variable = Some(value()?),
            "--only" => only = Some(value()?),
            "--timeout" => {
                let text = value()?;
                seconds =
                    text.parse().map_err(|_| format!("--timeout: \"{text}\" is not a number of seconds"))?;
            }
            "--json" => is_json = true,
            _ => return Err(format!("unknown option {name}")),
        }
    }
    let key = match variable {
        Some(variable) => {
            Some(std::env::var(&variable).map_err(|_| format!("the variable {variable} is not set"))?)
        }
        None => None,
    };
    let model = match (url, model) {
        (Some(url), Some(model)) => ModelEndpoint::Remote { url, model, key },
        (None, None) if key.is_none() => ModelEndpoint::Oracle,
        _ => return Err("--llm and --model belong together, and --key-env needs both".to_owned()),
    };
    let program = program.ok_or("--program is missing")?;
    let options =
        EvaluationOptions { program, chromium, model, only, task_timeout: Duration::from_secs(seconds) };
    Ok(Arguments { options, is_json })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str) -> Result<Arguments, String> {
        read(line.split(' ').map(ToOwned::to_owned))
    }

    #[test]
    fn options_are_read() {
        let arguments =
            check("--program p --llm http://a/v1 --model m --only list --timeout 5 --json").unwrap();
        assert!(arguments.is_json);
        let options = arguments.options;
        assert_eq!(options.task_timeout, Duration::from_secs(5));
        let expected = ModelEndpoint::Remote { url: "http://a/v1".into(), model: "m".into(), key: None };
        assert_eq!((options.model, options.only.as_deref()), (expected, Some("list")));
        assert_eq!(check("--program p").unwrap().options.model, ModelEndpoint::Oracle);
    }

    #[test]
    fn incomplete_options_are_refused() {
        for (line, reason) in [
            ("--json", "--program is missing"),
            ("--program", "--program needs a value"),
            ("--program p --llm u", "belong together"),
            ("--program p --timeout x", "not a number"),
            ("--program p --key-env WEBSVC_NO_SUCH_VARIABLE", "is not set"),
            ("--fast", "unknown option --fast"),
        ] {
            let error = check(line).unwrap_err();
            assert!(error.contains(reason), "{line}: {error}");
        }
    }
}
