//! Report of the checks: one line each, and the sum.

use std::time::Duration;

use crate::Result;
use crate::summary::Summary;

/// The sum of the checks so far.
#[derive(Debug, Default)]
pub(super) struct Report {
    summary: Summary,
}

/// How a check ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

impl Report {
    /// Prints a check and counts it.
    pub(super) fn add(&mut self, check: &str, outcome: &Outcome) {
        match outcome {
            Outcome::Passed => {
                self.summary.passed += 1;
                println!("ok       {check}");
            }
            Outcome::Failed(reason) => {
                self.summary.failed += 1;
                println!("FAILED   {check}: {reason}");
            }
            Outcome::Skipped(reason) => {
                self.summary.skipped += 1;
                println!("skipped  {check}: {reason}");
            }
        }
    }

    /// Prints the sum. What was skipped is not proven, so it is no success either.
    pub(super) fn finish(self, time: Duration) -> Result {
        let Self { summary } = self;
        let sum = format!("conformance: {summary} in {:.0} s", time.as_secs_f64());
        if summary.failed > 0 || summary.skipped > 0 || summary.passed == 0 {
            return Err(sum.into());
        }
        println!("{sum}");
        Ok(())
    }
}

/// Line of output of a check script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// `client NAME VERSION`: what is driven.
    Client(&'a str),
    /// `ok NAME` or `failed NAME: REASON`: a check.
    Check(&'a str, Outcome),
}

impl<'a> Line<'a> {
    /// Reads a line; `None` for what says nothing about a check.
    pub(super) fn read(line: &'a str) -> Option<Self> {
        let (word, rest) = line.split_once(' ')?;
        match word {
            "client" => Some(Line::Client(rest)),
            "ok" => Some(Line::Check(rest, Outcome::Passed)),
            "failed" => {
                let (name, reason) = rest.split_once(": ").unwrap_or((rest, "no reason is given"));
                Some(Line::Check(name, Outcome::Failed(reason.to_owned())))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_tell_their_client_and_their_checks() {
        assert_eq!(Line::read("client firecrawl-py 4.55.0"), Some(Line::Client("firecrawl-py 4.55.0")));
        assert_eq!(Line::read("ok search"), Some(Line::Check("search", Outcome::Passed)));
        let failed = Outcome::Failed("no results: none".to_owned());
        assert_eq!(Line::read("failed search: no results: none"), Some(Line::Check("search", failed)));
        assert_eq!(Line::read("(node:1) Warning: okay"), None);
    }
}
