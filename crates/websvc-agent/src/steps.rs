//! The earlier steps of a run, for the model.

use websvc_model::{cut, one_line};

/// The number of steps that the model sees.
const RECENT: usize = 12;

/// The maximum length of an action and of its outcome.
const MAX_ACTION_CHARS: usize = 160;
const MAX_OUTCOME_CHARS: usize = 300;

/// The earlier steps.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    /// The number of each step, and its action with the outcome.
    steps: Vec<(u32, String)>,
    repeated: u32,
}

impl Steps {
    /// Adds a step. Both texts may have text of pages.
    pub(crate) fn push(&mut self, number: u32, action: &str, outcome: &str) {
        let action = cut(&one_line(action), MAX_ACTION_CHARS);
        let step = format!("{action}: {}", cut(&one_line(outcome), MAX_OUTCOME_CHARS));
        let is_repeated = self.steps.iter().any(|(_, earlier)| *earlier == step);
        self.repeated = if is_repeated { self.repeated + 1 } else { 0 };
        self.steps.push((number, step));
    }

    /// Returns how many of the last steps in a row have an action and an outcome of an earlier one.
    pub(crate) const fn repeated(&self) -> u32 {
        self.repeated
    }

    /// Returns the last steps that fit into `max_chars` characters, the oldest first.
    pub(crate) fn recent(&self, max_chars: usize) -> Vec<String> {
        let mut remaining = max_chars;
        let mut recent: Vec<String> = Vec::new();
        for (number, step) in self.steps.iter().rev().take(RECENT) {
            let line = format!("{number}. {step}");
            let length = line.chars().count() + 1;
            if length > remaining {
                break;
            }
            remaining -= length;
            recent.push(line);
        }
        recent.reverse();
        recent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_steps_that_fit_are_shown() {
        let mut steps = Steps::default();
        for number in 1..=20 {
            steps.push(number, "open\nr1", "done");
        }
        assert_eq!(steps.recent(1_000).len(), RECENT);
        assert_eq!(steps.recent(40), ["19. open r1: done", "20. open r1: done"]);
        assert!(steps.recent(5).is_empty());
    }

    #[test]
    fn steps_that_repeat_earlier_ones_are_counted() {
        let mut steps = Steps::default();
        let mut counts = Vec::new();
        for (action, outcome) in [("open", "a"), ("open", "b"), ("open", "a"), ("open", "b"), ("find", "b")] {
            steps.push(1, action, outcome);
            counts.push(steps.repeated());
        }
        assert_eq!(counts, [0, 0, 1, 2, 0]);
    }
}
