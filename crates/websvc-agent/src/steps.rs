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
    lines: Vec<String>,
}

impl Steps {
    /// Adds a step. Both texts may have text of pages.
    pub(crate) fn push(&mut self, number: u32, action: &str, outcome: &str) {
        let action = cut(&one_line(action), MAX_ACTION_CHARS);
        self.lines.push(format!("{number}. {action}: {}", cut(&one_line(outcome), MAX_OUTCOME_CHARS)));
    }

    /// Returns the last steps that fit into `max_chars` characters, the oldest first.
    pub(crate) fn recent(&self, max_chars: usize) -> Vec<String> {
        let mut remaining = max_chars;
        let mut recent: Vec<String> = Vec::new();
        for line in self.lines.iter().rev().take(RECENT) {
            let length = line.chars().count() + 1;
            if length > remaining {
                break;
            }
            remaining -= length;
            recent.push(line.clone());
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
}
