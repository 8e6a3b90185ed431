//! The earlier steps of a task: all of them for the log, the last ones for the model.

use std::fmt::Write;

use websvc_model::cut;

/// The number of steps that the model sees with their outcomes. Of older ones it sees the notes.
const RECENT: usize = 8;

/// The maximum length of a step, and of the outcome of the last one, which may be a text that was read.
const MAX_STEP_CHARS: usize = 300;
const MAX_LAST_CHARS: usize = 2_000;

/// An earlier step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StepRecord {
    pub(crate) number: u32,
    /// The action and its element, in words.
    pub(crate) action: String,
    pub(crate) outcome: String,
    pub(crate) note: String,
}

impl StepRecord {
    fn text(&self, max_outcome_chars: usize) -> String {
        let Self { number, action, outcome, note } = self;
        let mut text =
            format!("{number}. {}: {}", cut(action, MAX_STEP_CHARS), cut(outcome, max_outcome_chars));
        if !note.is_empty() {
            text.push_str(" | note: ");
            text.push_str(note);
        }
        text
    }
}

/// The earlier steps.
#[derive(Debug, Default)]
pub(crate) struct Memory(Vec<StepRecord>);

impl Memory {
    pub(crate) fn push(&mut self, step: StepRecord) {
        self.0.push(step);
    }

    /// Returns the last note.
    pub(crate) fn last_note(&self) -> Option<&str> {
        self.0.iter().rev().map(|step| step.note.as_str()).find(|note| !note.is_empty())
    }

    /// Returns the steps for the model.
    pub(crate) fn for_model(&self) -> String {
        let (old, recent) = self.0.split_at(self.0.len().saturating_sub(RECENT));
        let mut text = String::new();
        for step in old.iter().filter(|step| !step.note.is_empty()) {
            let _ = writeln!(text, "{}. note: {}", step.number, step.note);
        }
        for (index, step) in recent.iter().enumerate() {
            let is_last = index + 1 == recent.len();
            let max_chars = if is_last { MAX_LAST_CHARS } else { MAX_STEP_CHARS };
            let _ = writeln!(text, "{}", step.text(max_chars));
        }
        text
    }

    /// Returns all steps.
    pub(crate) fn log(&self) -> String {
        let lines = self.0.iter().map(|step| format!("{}\n", step.text(MAX_LAST_CHARS)));
        lines.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(number: u32, outcome: &str, note: &str) -> StepRecord {
        StepRecord {
            number,
            action: "click button \"More\"".to_owned(),
            outcome: outcome.to_owned(),
            note: note.to_owned(),
        }
    }

    #[test]
    fn model_sees_recent_steps_and_older_notes() {
        let mut memory = Memory::default();
        assert_eq!((memory.for_model(), memory.last_note()), (String::new(), None));
        memory.push(step(1, "done", "the tea costs 5"));
        memory.push(step(2, "done", ""));
        for number in 3..=10 {
            memory.push(step(number, "done", ""));
        }
        let shown = memory.for_model();
        assert!(shown.starts_with("1. note: the tea costs 5\n3. click button \"More\": done\n"), "{shown}");
        assert_eq!(shown.lines().count(), 9);
        assert_eq!(memory.log().lines().count(), 10);
        assert_eq!(memory.last_note(), Some("the tea costs 5"));
    }

    #[test]
    fn only_the_last_outcome_is_long() {
        let mut memory = Memory::default();
        memory.push(step(1, &"a".repeat(5_000), ""));
        memory.push(step(2, &"b".repeat(5_000), ""));
        let shown = memory.for_model();
        assert_eq!(shown.matches('a').count(), MAX_STEP_CHARS);
        assert_eq!(shown.matches('b').count() - 2, MAX_LAST_CHARS, "two more are in `button`");
    }
}
