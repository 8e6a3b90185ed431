//! The command line of `evaluate`.

use std::path::PathBuf;
use std::time::Duration;

use websvc_evaluation::{EvaluationOptions, FormatsOptions, ModelEndpoint};

pub(crate) const USAGE: &str =
    "usage: evaluate agent --program FILE [--chromium FILE] [--llm URL --model NAME [--key-env VARIABLE]]
       [--only TEXT] [--timeout SECONDS] [--json]
       evaluate formats --program FILE [--llm URL --model NAME [--key-env VARIABLE] | --without-model]
       [--only TEXT] [--timeout SECONDS] [--concurrency N] [--json]";

/// The default of `--timeout`, in seconds.
const TIMEOUT_SECONDS: u64 = 900;

/// The command line.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) evaluation: Evaluation,
    pub(crate) is_json: bool,
}

/// An evaluation with its options.
#[derive(Debug)]
pub(crate) enum Evaluation {
    Agent(EvaluationOptions),
    Formats(FormatsOptions),
}

/// The options as they are written.
#[derive(Debug, Default)]
struct Written {
    program: Option<PathBuf>,
    chromium: Option<PathBuf>,
    url: Option<String>,
    model: Option<String>,
    key_variable: Option<String>,
    only: Option<String>,
    timeout_seconds: Option<u64>,
    concurrency: Option<u32>,
    is_without_model: bool,
    is_json: bool,
}

/// Reads the command line: the name of the evaluation, and its options in any order.
pub(crate) fn read(mut arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let name = arguments.next().unwrap_or_default();
    let written = Written::read(arguments)?;
    let is_json = written.is_json;
    let evaluation = match name.as_str() {
        "agent" => Evaluation::Agent(written.agent()?),
        "formats" => Evaluation::Formats(written.formats()?),
        other => return Err(format!("unknown evaluation \"{other}\": agent or formats")),
    };
    Ok(Arguments { evaluation, is_json })
}

impl Written {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut written = Self::default();
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{name} needs a value"));
            match name.as_str() {
                "--program" => written.program = Some(PathBuf::from(value()?)),
                "--chromium" => written.chromium = Some(PathBuf::from(value()?)),
                "--llm" => written.url = Some(value()?),
                "--model" => written.model = Some(value()?),
                "--key-env" => written.key_variable = Some(value()?),
                "--only" => written.only = Some(value()?),
                "--timeout" => written.timeout_seconds = Some(number(&name, &value()?)?),
                "--concurrency" => written.concurrency = Some(number(&name, &value()?)?),
                "--without-model" => written.is_without_model = true,
                "--json" => written.is_json = true,
                _ => return Err(format!("unknown option {name}")),
            }
        }
        Ok(written)
    }

    fn agent(self) -> Result<EvaluationOptions, String> {
        if self.is_without_model || self.concurrency.is_some() {
            return Err("--without-model and --concurrency are options of formats".to_owned());
        }
        let (model, program, task_timeout) = (self.endpoint()?, self.program()?, self.task_timeout());
        Ok(EvaluationOptions { program, chromium: self.chromium, model, only: self.only, task_timeout })
    }

    fn formats(self) -> Result<FormatsOptions, String> {
        let model = self.endpoint()?;
        if self.is_without_model && model != ModelEndpoint::Oracle {
            return Err("--without-model and --llm exclude each other".to_owned());
        }
        let model = (!self.is_without_model).then_some(model);
        let (program, task_timeout) = (self.program()?, self.task_timeout());
        // A local model works on one request at a time, as fast as on several.
        let concurrency = self.concurrency.unwrap_or(1);
        Ok(FormatsOptions { program, model, only: self.only, task_timeout, concurrency })
    }

    fn program(&self) -> Result<PathBuf, String> {
        self.program.clone().ok_or_else(|| "--program is missing".to_owned())
    }

    fn task_timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds.unwrap_or(TIMEOUT_SECONDS))
    }

    /// Returns the endpoint of the model; without one the oracle.
    fn endpoint(&self) -> Result<ModelEndpoint, String> {
        let key = match &self.key_variable {
            Some(name) => Some(std::env::var(name).map_err(|_| format!("the variable {name} is not set"))?),
            None => None,
        };
        match (self.url.clone(), self.model.clone()) {
            (Some(url), Some(model)) => Ok(ModelEndpoint::Remote { url, model, key }),
            (None, None) if key.is_none() => Ok(ModelEndpoint::Oracle),
            _ => Err("--llm and --model belong together, and --key-env needs both".to_owned()),
        }
    }
}

fn number<T: std::str::FromStr>(option: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{option}: \"{text}\" is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str) -> Result<Arguments, String> {
        read(line.split(' ').map(ToOwned::to_owned))
    }

    fn remote() -> ModelEndpoint {
        ModelEndpoint::Remote { url: "http://a/v1".into(), model: "m".into(), key: None }
    }

    #[test]
    fn options_of_the_agent_are_read() {
        let line = "agent --program p --llm http://a/v1 --model m --only list --timeout 5 --json";
        let Arguments { evaluation: Evaluation::Agent(options), is_json: true } = check(line).unwrap() else {
            panic!("{line}")
        };
        assert_eq!(options.task_timeout, Duration::from_secs(5));
        assert_eq!((options.model, options.only.as_deref()), (remote(), Some("list")));
    }

    #[test]
    fn options_of_formats_are_read() {
        let options = |line: &str| match check(line).unwrap().evaluation {
            Evaluation::Formats(options) => options,
            Evaluation::Agent(_) => panic!("{line}"),
        };
        let FormatsOptions { model, concurrency, .. } =
            options("formats --program p --llm http://a/v1 --model m --concurrency 4");
        assert_eq!((model, concurrency), (Some(remote()), 4));
        assert_eq!(options("formats --program p").model, Some(ModelEndpoint::Oracle));
        assert_eq!(options("formats --program p --without-model").model, None);
    }

    #[test]
    fn incomplete_options_are_refused() {
        for (line, reason) in [
            ("agent --json", "--program is missing"),
            ("agent --program", "--program needs a value"),
            ("agent --program p --llm u", "belong together"),
            ("formats --program p --timeout x", "not a number"),
            ("formats --program p --key-env WEBSVC_NO_SUCH_VARIABLE", "is not set"),
            ("agent --program p --without-model", "options of formats"),
            ("formats --program p --llm u --model m --without-model", "exclude each other"),
            ("formats --fast", "unknown option --fast"),
            ("poems --program p", "unknown evaluation"),
        ] {
            let error = check(line).unwrap_err();
            assert!(error.contains(reason), "{line}: {error}");
        }
    }
}
