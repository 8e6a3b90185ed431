//! The texts of a step for the model: the prompt of the service, and the data.

use std::fmt::Write;

use websvc_model::cut;

use super::{PageTask, Run};
use crate::page_agent::action::Action;
use crate::page_agent::observation::Observation;

/// The maximum lengths of an address and of a title for the model.
const MAX_URL_CHARS: usize = 300;
const MAX_TITLE_CHARS: usize = 150;

impl Run<'_> {
    /// Returns an action in words: the name of an element says more than its reference, which the next outline changes.
    pub(super) fn describe(&self, action: &Action) -> String {
        let label = action.element().and_then(|element| self.outline.label(element)).unwrap_or_default();
        match action {
            Action::Click(element) => format!("click @{element} ({label})"),
            Action::Hover(element) => format!("hover @{element} ({label})"),
            Action::Check(element) => format!("check @{element} ({label})"),
            Action::Uncheck(element) => format!("uncheck @{element} ({label})"),
            Action::Fill(element, text) => format!("fill @{element} ({label}) {:?}", cut(text, 100)),
            Action::Select(element, text) => format!("select @{element} ({label}) {:?}", cut(text, 100)),
            Action::Read(element) => format!("read @{element} ({label})"),
            Action::Press(_) | Action::Scroll(_) | Action::Back | Action::Wait(_) => action.command(),
        }
    }

    /// Returns the prompt of a step: the task, and what the service says about the step.
    pub(super) fn prompt(&self, is_last: bool) -> String {
        let PageTask { prompt, max_steps, deadline: _ } = self.task;
        let mut text = format!("Task: {prompt}\n\nStep {} of {max_steps}.", self.steps);
        if let Some(reason) = self.refusal {
            let _ = write!(text, "\nYour last answer was refused: {reason}");
        }
        if self.repeats.is_loop() {
            text.push_str("\nYou have done the same three times, and the page did not change.");
        }
        if is_last {
            text.push_str("\nThis is the last step. Answer with done and the facts that you have.");
        }
        text
    }

    /// Returns the data of a step: the page and the earlier steps. Both have text of pages.
    pub(super) fn content(&self) -> String {
        let Observation { url, title, snapshot: _ } = &self.observation;
        let mut text =
            format!("Address: {}\nTitle: {}\n", cut(url, MAX_URL_CHARS), cut(title, MAX_TITLE_CHARS));
        let steps = self.memory.for_model();
        if !steps.is_empty() {
            let _ = write!(text, "\nEarlier steps:\n{steps}");
        }
        match self.outline.part_count() {
            1 => text.push_str("\nOutline:\n"),
            count => {
                let _ = writeln!(text, "\nOutline, part {} of {count}:", self.part + 1);
            }
        }
        text.push_str(self.outline.part(self.part));
        text
    }
}
