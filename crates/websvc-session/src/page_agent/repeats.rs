//! The actions on a page that have not changed it, to end a loop.

use std::collections::HashMap;

/// The number of times that a model may choose the same action on a page that stays as it is.
pub(crate) const MAX_TIMES: u32 = 3;

/// The choices of a model since the page changed last, with the number of times. At most one per step.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    times: HashMap<String, u32>,
}

impl Repeats {
    /// Counts a choice that has left the page as it was.
    pub(crate) fn add(&mut self, choice: &str) {
        *self.times.entry(choice.to_owned()).or_default() += 1;
    }

    /// Begins again, after a change of the page.
    pub(crate) fn clear(&mut self) {
        self.times.clear();
    }

    /// Returns whether the model goes round in a circle: it has chosen one action [`MAX_TIMES`] times.
    pub(crate) fn is_loop(&self) -> bool {
        self.times.values().any(|times| *times >= MAX_TIMES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn third_time_of_one_choice_is_a_loop() {
        let mut repeats = Repeats::default();
        for choice in ["a", "b", "a", "b"] {
            repeats.add(choice);
            assert!(!repeats.is_loop());
        }
        repeats.add("a");
        assert!(repeats.is_loop());
        repeats.clear();
        repeats.add("a");
        assert!(!repeats.is_loop());
    }
}
