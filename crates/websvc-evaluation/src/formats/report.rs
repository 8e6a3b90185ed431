//! Results of the tasks of formats, as a table and as JSON.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::feature::Feature;
use super::meter::Record;
use super::verdict::Check;

/// The result of a task.
#[derive(Debug)]
pub struct CaseResult {
    pub(crate) feature: Feature,
    /// The page, or the prompt of a crawl.
    pub(crate) name: String,
    /// True if the service had a model.
    pub(crate) with_model: bool,
    pub(crate) outcome: Outcome,
    pub(crate) record: Record,
    pub(crate) duration: Duration,
}

/// The result of an evaluation. Its text is a table.
#[derive(Debug)]
pub struct FormatsReport {
    /// The name of the model; `None` if there was none.
    pub model: Option<String>,
    /// The results, first those without a model.
    pub results: Vec<CaseResult>,
}

impl CaseResult {
    /// Returns the name of the task, such as `json/product`.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}", self.feature.name(), self.name)
    }

    /// Returns true if the service had a model.
    #[must_use]
    pub fn has_model(&self) -> bool {
        self.with_model
    }

    /// Returns true if all properties of the result are right.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.outcome.failure.is_none() && self.wrong().is_empty()
    }

    /// Returns the names of the properties that are wrong.
    fn wrong(&self) -> Vec<&'static str> {
        let checks = self.outcome.checks.iter();
        checks.filter(|check| !check.is_right).map(|check| check.name).collect()
    }

    fn to_json(&self) -> Value {
        let Self { feature, name, with_model, outcome, record, duration } = self;
        let Outcome { checks, failure, warning, result } = outcome;
        let checks: Vec<Value> =
            checks.iter().map(|check| json!({ "check": check.name, "right": check.is_right })).collect();
        json!({
            "feature": feature.name(), "task": name, "withModel": with_model, "checks": checks, "failure": failure,
            "warning": warning, "result": result, "requests": record.requests, "failedRequests": record.failed,
            "tokens": record.tokens, "seconds": duration.as_secs_f64(),
        })
    }
}

impl fmt::Display for CaseResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.is_right() { "right" } else { "wrong" };
        let (id, seconds, tokens) = (self.id(), self.duration.as_secs_f64(), self.record.tokens);
        let model = if self.with_model { "" } else { " (no model)" };
        write!(f, "{verdict} {:<44} {tokens:>6} tokens {seconds:>6.1} s", format!("{id}{model}"))?;
        if !self.is_right() {
            let notes = [Some(self.wrong().join(", ")), self.outcome.failure.clone()];
            let notes: Vec<String> = notes.into_iter().flatten().filter(|note| !note.is_empty()).collect();
            write!(f, "  not: {}", notes.join("; "))?;
        }
        Ok(())
    }
}

/// A row of the report: a property of the results of a feature.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    name: String,
    of: usize,
    /// The number of right results without a model, if the feature works without one.
    without: Option<usize>,
    /// The number of right results with the model, if there was one.
    with: Option<usize>,
    is_first: bool,
}

impl FormatsReport {
    /// Returns the report as JSON: the rows of the table, and all results.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let rows = self.features().into_iter().flat_map(|feature| self.rows(feature));
        let rows: Vec<Value> = rows
            .map(|Row { name, of, without, with, is_first: _ }| {
                json!({ "row": name, "of": of, "withoutModel": without, "right": with })
            })
            .collect();
        let results: Vec<Value> = self.results.iter().map(CaseResult::to_json).collect();
        json!({ "model": self.model, "rows": rows, "results": results })
    }

    /// Returns the features with results, in their order.
    fn features(&self) -> Vec<Feature> {
        let has_result = |feature: &Feature| self.results.iter().any(|result| result.feature == *feature);
        Feature::ALL.into_iter().filter(has_result).collect()
    }

    fn results_of(&self, feature: Feature, with_model: bool) -> impl Iterator<Item = &CaseResult> {
        self.results.iter().filter(move |result| result.feature == feature && result.with_model == with_model)
    }

    /// Returns the rows of a feature, one for each property.
    fn rows(&self, feature: Feature) -> Vec<Row> {
        let mut names: Vec<&str> = Vec::new();
        for check in self
            .results
            .iter()
            .filter(|result| result.feature == feature)
            .flat_map(|result| &result.outcome.checks)
        {
            if !names.contains(&check.name) {
                names.push(check.name);
            }
        }
        let count = |with_model: bool, name: &str| {
            let checks = self.results_of(feature, with_model).flat_map(|result| &result.outcome.checks);
            let of_name: Vec<bool> =
                checks.filter(|check| check.name == name).map(|check| check.is_right).collect();
            (of_name.len(), of_name.iter().filter(|is_right| **is_right).count())
        };
        let row = |(index, name): (usize, &&str)| {
            let ((of_without, without), (of_with, with)) = (count(false, name), count(true, name));
            Row {
                name: format!("{}: {name}", feature.name()),
                of: of_without.max(of_with),
                without: (of_without > 0).then_some(without),
                with: (of_with > 0).then_some(with),
                is_first: index == 0,
            }
        };
        names.iter().enumerate().map(row).collect()
    }

    /// Returns the cells of a row about failures, warnings and work, which are those of the whole feature.
    fn work(&self, feature: Feature) -> String {
        let with_model = self.results_of(feature, true).next().is_some();
        let (mut failed, mut warned, mut requests, mut refused, mut tokens) = (0, 0, 0, 0, 0);
        let mut duration = Duration::ZERO;
        for CaseResult { outcome, record, duration: own, .. } in self.results_of(feature, with_model) {
            failed += u32::from(outcome.failure.is_some());
            warned += u32::from(outcome.warning.is_some());
            requests += record.requests;
            refused += record.failed;
            tokens += record.tokens;
            duration += *own;
        }
        format!("{failed} | {warned} | {requests} ({refused}) | {tokens} | {:.1}", duration.as_secs_f64())
    }
}

impl fmt::Display for FormatsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| feature | of | without a model | right | no result | warned | requests (failed) | tokens | seconds |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|---|---|")?;
        let number = |count: Option<usize>| count.map_or("-".to_owned(), |count| count.to_string());
        for feature in self.features() {
            for Row { name, of, without, with, is_first } in self.rows(feature) {
                let is_worse = with.is_some() && with < without;
                let right = format!("{}{}", number(with), if is_worse { " (worse)" } else { "" });
                let work = if is_first { self.work(feature) } else { "| | | |".to_owned() };
                writeln!(f, "| {name} | {of} | {} | {right} | {work} |", number(without))?;
            }
        }
        let model = self.model.as_deref().unwrap_or("none");
        write!(f, "Model: {model}. Requests, tokens and seconds are sums of the tasks of a feature.")
    }
}

/// The result of a task.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) checks: Vec<Check>,
    /// The reason why there is no result.
    pub(crate) failure: Option<String>,
    pub(crate) warning: Option<String>,
    /// The result, for the JSON of the report.
    pub(crate) result: Value,
}

impl Outcome {
    /// Creates an outcome from a result and its warning. Null means that there was none.
    pub(super) fn new(checks: Vec<Check>, result: Value, warning: Option<String>) -> Self {
        let failure = result.is_null().then(|| "no result".to_owned());
        Self { checks, failure, warning, result }
    }

    pub(super) fn failed(checks: Vec<Check>, reason: String) -> Self {
        Self { checks, failure: Some(reason), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::verdict::Check;

    fn result(feature: Feature, with_model: bool, is_right: bool) -> CaseResult {
        let checks = vec![Check { name: "right", is_right }, Check { name: "kept", is_right: true }];
        let failure = (!is_right).then(|| "no result".to_owned());
        let outcome = Outcome { checks, failure, ..Outcome::default() };
        let record = Record { requests: 2, failed: 1, tokens: 300, ..Record::default() };
        let record = if with_model { record } else { Record::default() };
        let duration = Duration::from_millis(500);
        CaseResult { feature, name: "tea".to_owned(), with_model, outcome, record, duration }
    }

    #[test]
    fn table_compares_with_the_results_without_a_model() {
        let results = vec![
            result(Feature::Clean, false, true),
            result(Feature::Clean, false, true),
            result(Feature::Json, true, true),
            result(Feature::Clean, true, true),
            result(Feature::Clean, true, false),
        ];
        let report = FormatsReport { model: Some("tiny".to_owned()), results };
        let text = report.to_string();
        for line in [
            "| json: right | 1 | - | 1 | 0 | 0 | 2 (1) | 300 | 0.5 |",
            "| onlyCleanContent: right | 2 | 2 | 1 (worse) | 1 | 0 | 4 (2) | 600 | 1.0 |",
            "| onlyCleanContent: kept | 2 | 2 | 2 | | | | | |",
        ] {
            assert!(text.contains(&format!("\n{line}\n")), "{line}\n{text}");
        }
        assert_eq!(report.to_json()["rows"][1]["right"], 1);
    }

    #[test]
    fn line_of_a_wrong_result_has_the_reasons() {
        let text = result(Feature::Json, true, false).to_string();
        assert!(text.starts_with("wrong json/tea") && text.ends_with("not: right; no result"), "{text}");
    }
}
