//! Results of tasks and classes, as a table and as JSON.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use crate::score::Score;
use crate::task::{Class, Task};

/// The verdict about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskVerdict {
    /// All expected values, and no others.
    Success,
    /// A value is wrong, or the run made a request that it must not make. Worse than no value.
    Wrong,
    /// Values are missing, or the run failed.
    None,
    /// The task cannot run here.
    Skipped,
}

impl TaskVerdict {
    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Wrong => "wrong",
            Self::None => "none",
            Self::Skipped => "skipped",
        }
    }
}

/// The work of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    pub(crate) steps: u64,
    pub(crate) tokens: u64,
    pub(crate) credits: u64,
    pub(crate) pages: u64,
    pub(crate) duration: Duration,
}

/// The result of a task.
#[derive(Debug, Clone)]
pub struct TaskResult {
    class: Class,
    /// Class and name of the task.
    pub id: String,
    /// The verdict.
    pub verdict: TaskVerdict,
    /// The numbers of values.
    pub score: Score,
    /// The reason of a verdict other than success.
    pub reason: Option<String>,
    /// The note of the run for people, such as values that no page states.
    pub message: Option<String>,
    /// The data of the run; null if it failed.
    pub data: Value,
    usage: Usage,
}

impl TaskResult {
    pub(crate) fn new(
        task: &Task,
        verdict: TaskVerdict,
        score: Score,
        reason: Option<String>,
        usage: Usage,
        status: &Value,
    ) -> Self {
        let message = status["message"].as_str().map(ToOwned::to_owned);
        let data = status["data"].clone();
        Self { class: task.class, id: task.id(), verdict, score, reason, message, data, usage }
    }

    pub(crate) fn skipped(task: &Task, reason: &str) -> Self {
        let (verdict, reason) = (TaskVerdict::Skipped, Some(reason.to_owned()));
        Self::new(task, verdict, Score::default(), reason, Usage::default(), &Value::Null)
    }

    fn to_json(&self) -> Value {
        let Self { class, id, verdict, score, reason, message, data, usage } = self;
        let Score { correct, wrong, missing } = score;
        let Usage { steps, tokens, credits, pages, duration } = usage;
        json!({
            "task": id, "class": class.name(), "verdict": verdict.name(), "reason": reason, "message": message, "data": data,
            "correctValues": correct, "wrongValues": wrong, "missingValues": missing, "steps": steps, "tokens": tokens,
            "credits": credits, "pages": pages, "seconds": duration.as_secs_f64(),
        })
    }
}

impl fmt::Display for TaskResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Usage { steps, tokens, duration, .. } = self.usage;
        let seconds = duration.as_secs_f64();
        write!(
            f,
            "{:<8} {:<44} {steps:>3} steps {tokens:>7} tokens {seconds:>6.1} s",
            self.verdict.name(),
            self.id
        )?;
        match &self.reason {
            Some(reason) => write!(f, "  {reason}"),
            None => Ok(()),
        }
    }
}

/// The result of an evaluation. Its text is a table of the classes.
#[derive(Debug)]
pub struct EvaluationReport {
    /// The name of the model.
    pub model: String,
    /// The results, in the order of the tasks.
    pub results: Vec<TaskResult>,
}

/// The sums of some tasks.
#[derive(Debug, Default)]
struct Totals {
    tasks: u32,
    verdicts: [u32; 4],
    usage: Usage,
}

impl Totals {
    fn sum<'a>(results: impl Iterator<Item = &'a TaskResult>) -> Self {
        let mut totals = Self::default();
        for result in results {
            totals.tasks += 1;
            totals.verdicts[result.verdict as usize] += 1;
            let Usage { steps, tokens, credits, pages, duration } = result.usage;
            totals.usage.steps += steps;
            totals.usage.tokens += tokens;
            totals.usage.credits += credits;
            totals.usage.pages += pages;
            totals.usage.duration += duration;
        }
        totals
    }

    fn count(&self, verdict: TaskVerdict) -> u32 {
        self.verdicts[verdict as usize]
    }

    /// Returns a sum divided by the number of tasks that ran.
    #[expect(clippy::cast_precision_loss, reason = "only printed")]
    fn mean(&self, sum: u64) -> f64 {
        let ran = self.tasks - self.count(TaskVerdict::Skipped);
        sum as f64 / f64::from(ran.max(1))
    }

    fn row(&self, name: &str) -> String {
        let [success, wrong, none, skipped] = self.verdicts;
        let Usage { steps, tokens, credits, pages, duration } = self.usage;
        let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        format!(
            "| {name} | {} | {success} | {wrong} | {none} | {skipped} | {:.1} | {:.1} | {:.0} | {:.1} | {:.2} |",
            self.tasks,
            self.mean(steps),
            self.mean(pages),
            self.mean(tokens),
            self.mean(credits),
            self.mean(milliseconds) / 1_000.0
        )
    }

    fn to_json(&self, name: &str) -> Value {
        let [success, wrong, none, skipped] = self.verdicts;
        let Usage { steps, tokens, credits, pages, duration } = self.usage;
        json!({
            "class": name, "tasks": self.tasks, "success": success, "wrong": wrong, "none": none, "skipped": skipped,
            "steps": steps, "pages": pages, "tokens": tokens, "credits": credits, "seconds": duration.as_secs_f64(),
        })
    }
}

impl EvaluationReport {
    /// Returns the results of the tasks with this verdict.
    pub fn with_verdict(&self, verdict: TaskVerdict) -> impl Iterator<Item = &TaskResult> {
        self.results.iter().filter(move |result| result.verdict == verdict)
    }

    /// Returns the report as JSON: sums of each class and of all tasks, and the tasks.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let classes: Vec<Value> =
            self.classes().iter().map(|(class, totals)| totals.to_json(class.name())).collect();
        let tasks: Vec<Value> = self.results.iter().map(TaskResult::to_json).collect();
        let total = Totals::sum(self.results.iter()).to_json("total");
        json!({ "model": self.model, "classes": classes, "total": total, "tasks": tasks })
    }

    fn classes(&self) -> Vec<(Class, Totals)> {
        let mut classes: Vec<Class> = self.results.iter().map(|result| result.class).collect();
        classes.dedup();
        let of = |class: Class| Totals::sum(self.results.iter().filter(move |result| result.class == class));
        classes.into_iter().map(|class| (class, of(class))).collect()
    }
}

impl fmt::Display for EvaluationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| class | tasks | success | wrong | none | skipped | steps | pages | tokens | credits | seconds |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|---|---|---|---|")?;
        for (class, totals) in self.classes() {
            writeln!(f, "{}", totals.row(class.name()))?;
        }
        writeln!(f, "{}", Totals::sum(self.results.iter()).row("total"))?;
        write!(f, "Model: {}. Steps, pages, tokens, credits and seconds are means of a task.", self.model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::tasks;

    #[test]
    fn table_and_json_have_sums_of_classes() {
        let tasks = tasks();
        let usage =
            Usage { steps: 3, tokens: 900, credits: 4, pages: 1, duration: Duration::from_millis(500) };
        let result = |task: &Task, verdict| {
            TaskResult::new(task, verdict, Score::default(), None, usage, &Value::Null)
        };
        let results = vec![
            result(&tasks[0], TaskVerdict::Success),
            result(&tasks[1], TaskVerdict::Wrong),
            TaskResult::skipped(&tasks[2], "no browser"),
        ];
        let report = EvaluationReport { model: "tiny".to_owned(), results };
        let text = report.to_string();
        assert!(text.contains("| fact | 3 | 1 | 1 | 0 | 1 | 3.0 | 1.0 | 900 | 4.0 | 0.50 |"), "{text}");
        let json = report.to_json();
        assert_eq!((&json["total"]["success"], &json["total"]["steps"]), (&json!(1), &json!(6)));
        assert_eq!(json["tasks"][2]["reason"], "no browser");
        assert_eq!(report.with_verdict(TaskVerdict::Wrong).count(), 1);
    }
}
