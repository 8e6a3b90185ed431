//! Totals of the results that the test runner prints, one line per test program.

use std::fmt;

/// Numbers of tests that passed, failed and were skipped.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Summary {
    /// Adds the counts of a line such as
    /// `test result: ok. 8 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s`.
    pub(crate) fn add_line(&mut self, line: &str) {
        let Some(counts) = line.trim().strip_prefix("test result: ") else { return };
        let counts = counts.split_once(". ").map_or("", |(_, counts)| counts);
        for part in counts.split(';') {
            let Some((number, label)) = part.trim().split_once(' ') else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match label {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.skipped += number,
                _ => {}
            }
        }
    }

    /// Adds the totals of another run.
    pub(crate) fn add(&mut self, other: &Self) {
        let Self { passed, failed, skipped } = other;
        self.passed += passed;
        self.failed += failed;
        self.skipped += skipped;
    }

    /// Counts a test that skipped itself, which the test runner counted as passed.
    pub(crate) fn count_as_skipped(&mut self) {
        self.passed = self.passed.saturating_sub(1);
        self.skipped += 1;
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, skipped } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_adds_results_of_all_programs() {
        let mut summary = Summary::default();
        for line in [
            "running 3 tests",
            "test result: ok. 8 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test a::test_result ... ok",
            "test result: FAILED. 40 passed; 2 failed; 0 ignored; 3 measured; 5 filtered out; finished in 61.20s",
        ] {
            summary.add_line(line);
        }
        assert_eq!(summary.to_string(), "48 passed, 2 failed, 1 skipped");
    }

    #[test]
    fn skipped_test_is_not_counted_as_passed() {
        let mut summary = Summary { passed: 2, failed: 0, skipped: 0 };
        summary.count_as_skipped();
        assert_eq!(summary, Summary { passed: 1, failed: 0, skipped: 1 });
    }
}
