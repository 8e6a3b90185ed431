//! Prints one line per check and the totals.

use std::time::Duration;

use crate::Result;
use crate::summary::Summary;

/// Totals of the checks so far.
#[derive(Debug, Default)]
pub(super) struct Report {
    summary: Summary,
}

/// Outcome of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CheckOutcome {
    Passed,
    Failed(String),
    Skipped(String),
}

impl Report {
    /// Prints a check and counts it.
    pub(super) fn add(&mut self, check: &str, outcome: &CheckOutcome) {
        match outcome {
            CheckOutcome::Passed => {
                self.summary.passed += 1;
                println!("ok       {check}");
            }
            CheckOutcome::Failed(reason) => {
                self.summary.failed += 1;
                println!("FAILED   {check}: {reason}");
            }
            CheckOutcome::Skipped(reason) => {
                self.summary.skipped += 1;
                println!("skipped  {check}: {reason}");
            }
        }
    }

    /// Prints how long the checks of a client took.
    pub(super) fn add_duration(&self, checks: &str, elapsed: Duration) {
        println!("time     {checks}: {:.0} s", elapsed.as_secs_f64());
    }

    /// Prints the totals. Skipped checks prove nothing, so they are an error too.
    pub(super) fn finish(self, elapsed: Duration) -> Result {
        let Self { summary } = self;
        let totals = format!("conformance: {summary} in {:.0} s", elapsed.as_secs_f64());
        if summary.failed > 0 || summary.skipped > 0 || summary.passed == 0 {
            return Err(totals.into());
        }
        println!("{totals}");
        Ok(())
    }
}

/// A line that a check script prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScriptLine<'a> {
    /// `client NAME VERSION`: the client that the next checks use.
    Client(&'a str),
    /// `ok NAME` or `failed NAME: REASON`: the outcome of a check.
    Check(&'a str, CheckOutcome),
}

impl<'a> ScriptLine<'a> {
    /// Parses a line. Returns `None` for any other output.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let (word, rest) = line.split_once(' ')?;
        match word {
            "client" => Some(ScriptLine::Client(rest)),
            "ok" => Some(ScriptLine::Check(rest, CheckOutcome::Passed)),
            "failed" => {
                let (name, reason) = rest.split_once(": ").unwrap_or((rest, "no reason given"));
                Some(ScriptLine::Check(name, CheckOutcome::Failed(reason.to_owned())))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_line_parses_client_and_check_lines() {
        assert_eq!(
            ScriptLine::parse("client firecrawl-py 4.55.0"),
            Some(ScriptLine::Client("firecrawl-py 4.55.0"))
        );
        assert_eq!(ScriptLine::parse("ok search"), Some(ScriptLine::Check("search", CheckOutcome::Passed)));
        let failed = CheckOutcome::Failed("no results: none".to_owned());
        assert_eq!(
            ScriptLine::parse("failed search: no results: none"),
            Some(ScriptLine::Check("search", failed))
        );
        assert_eq!(ScriptLine::parse("(node:1) Warning: okay"), None);
    }
}
