//! The check of an answer against the pages, and the notes about it.

use serde_json::Value;
use websvc_model::cut;

use super::Run;
use super::answer::Answer;
use super::losses::has_list;
use crate::blocking::run_blocking;
use crate::environment::Event;
use crate::filled::has_values;
use crate::schema::missing;
use crate::sources::{Sources, find_sources};

/// The maximum number of fields that the message names.
const MAX_NAMED: usize = 10;

impl Run<'_> {
    /// Looks up the values of the data, and says which ones have no source and which ones are missing.
    pub(super) async fn check_sources(&self, data: Value, is_schema_valid: bool) -> Answer {
        let (checked, pages) = (data.clone(), self.kept_pages());
        let Sources { mut found, unsourced, is_incomplete } =
            run_blocking(move || find_sources(&checked, &pages)).await;
        let mut unknown: Vec<String> = Vec::new();
        for value in unsourced {
            match self.evidence.find(&value.value, &value.pointer) {
                Some(source) => found.push(source),
                None => unknown.push(value.pointer),
            }
        }
        // A text and Booleans cannot be looked up.
        let is_unchecked = self.is_text_wanted() || (found.is_empty() && unknown.is_empty());
        let is_supported = if is_unchecked { has_values(&data) } else { found.len() > unknown.len() };
        let mut notes: Vec<String> = Vec::new();
        // A text of the model about the pages is not a value of one of them.
        if !self.is_text_wanted() && !unknown.is_empty() {
            notes.push(format!("No page that was read states the values of {}.", list(&unknown)));
        }
        let missing = self.task.schema.map(|schema| missing(schema, &data)).unwrap_or_default();
        if !missing.is_empty() {
            notes.push(format!("No value was found for {}.", list(&missing)));
        }
        if is_incomplete {
            notes.push("Only the first 500 values were looked up in the pages.".to_owned());
        }
        if !self.is_text_wanted() {
            notes.extend(self.loss_notes(&data, has_list(&data) || !missing.is_empty()));
        }
        notes.extend(self.unread_note());
        if !data.is_null() && data != *self.draft.data() {
            self.environment.record(Event::DataChanged { data: data.clone(), number: None });
        }
        let text = data["answer"].as_str().filter(|_| self.is_text_wanted());
        let message: Vec<String> = text
            .map(ToOwned::to_owned)
            .into_iter()
            .chain([notes.join(" ")])
            .filter(|part| !part.is_empty())
            .collect();
        let message = Some(message.join("\n\n")).filter(|message| !message.is_empty());
        Answer { data, is_schema_valid, is_supported, message, sources: found }
    }
}

/// Returns names in words, at most ten.
fn list(names: &[String]) -> String {
    // The pointer to the whole data is empty.
    let name = |name: &String| if name.is_empty() { "the data".to_owned() } else { cut(name, 100) };
    let shown: Vec<String> = names.iter().take(MAX_NAMED).map(name).collect();
    let rest = names.len().saturating_sub(MAX_NAMED);
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}
