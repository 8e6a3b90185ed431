//! The data of a run: the values of pages, and the final answer.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use websvc_model::{ResponseFormat, cut};
use websvc_types::agent::AgentMode;
use websvc_types::counted;

use super::Run;
use super::view::shown_draft_chars;
use crate::blocking::run_blocking;
use crate::collect::{collect_content, collect_prompt};
use crate::environment::Event;
use crate::fill::fill;
use crate::instructions::{COLLECT, COMPOSE};
use crate::merge::merge;
use crate::normalize::{UNRELATED, is_unrelated, normalize, usable_data};
use crate::prompt::{Content, task_sections};
use crate::report::{RunOutcome, ValueSource};
use crate::requests::{Request, content_chars};
use crate::schema::optional_schema;
use crate::sources::find_sources;

/// The maximum length of an answer, in tokens.
pub(super) const MAX_TOKENS: u32 = 4_096;

/// The length of a draft from which it is the answer if it is valid, in bytes: a model would not write it again completely.
const MAX_COMPOSED_BYTES: usize = 6_000;

/// The part of the content of an answer for the draft.
const DRAFT_PERCENT: usize = 40;

/// The maximum time to check the data after the end of the time of the task.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// The data of a run.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) data: Value,
    pub(super) is_schema_valid: bool,
    /// True if pages state most of its values.
    pub(super) is_supported: bool,
    pub(super) message: Option<String>,
    pub(super) sources: Vec<ValueSource>,
}

/// An answer that violates the schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rejected<'a> {
    data: &'a Value,
    violation: &'a str,
}

impl Run<'_> {
    /// Writes the values of a page into the draft. Returns the outcome in words.
    pub(super) async fn collect(&mut self, index: usize) -> Result<String, RunOutcome> {
        let entry = &self.pages.entries()[index];
        let Some(page) = entry.page.clone() else { return Ok("it is no longer in memory".to_owned()) };
        let (title, call) = (entry.title.clone(), entry.call);
        let open: Vec<usize> =
            (0..page.passages.len()).filter(|passage| !entry.collected[*passage]).collect();
        if open.is_empty() {
            return Ok("all of it has been collected already".to_owned());
        }
        let schema = self.task.schema.map(optional_schema);
        let format = schema.as_ref().map_or(ResponseFormat::Json, ResponseFormat::Schema);
        let prompt = collect_prompt(self.task.prompt, schema.as_ref());
        let max_chars = content_chars(self.requests.model, COLLECT, &prompt, format);
        // The names of a free object stay the same over the pages.
        let draft = Some(self.draft.data()).filter(|draft| schema.is_none() && !draft.is_null()).cloned();
        let reserved = max_chars / 10 + if draft.is_some() { max_chars / 6 } else { 0 };
        let chosen = self.passages_of_page(index, &page, &open, max_chars.saturating_sub(reserved)).await;
        let (content, count) = collect_content(index, &title, &page, &chosen, draft.as_ref(), max_chars);
        let request = Request {
            instructions: COLLECT,
            prompt: &prompt,
            content: &content,
            format,
            max_tokens: format.max_data_tokens(&content),
        };
        let deadline = self.work_deadline();
        let data = self.requests.ask_until(request, deadline).await?;
        let Some(data) = data.ok().filter(|data| data.is_object() || data.is_array()) else {
            return Ok("failed, the values were not an object".to_owned());
        };
        let Ok(data) = usable_data(data, self.task.schema).await else {
            return Ok("failed, the values had none of the fields".to_owned());
        };
        for passage in &chosen[..count] {
            self.pages.entry_mut(index).collected[*passage] = true;
        }
        let sources = {
            let (data, pages) = (data.clone(), [page.clone()]);
            run_blocking(move || find_sources(&data, &pages)).await
        };
        for source in &sources.found {
            if let Some(value) = data.pointer(&source.pointer) {
                self.evidence.add(value, source);
            }
        }
        let evidence = &self.evidence;
        let prefers = |current: &Value, other: &Value| !evidence.has(current) && evidence.has(other);
        let is_changed = self.draft.add_preferring(&page.url, data, &prefers);
        if is_changed {
            self.environment.record(Event::DataChanged { data: self.draft.data().clone(), number: call });
        }
        self.progress("working", &format!("The values of {} were collected.", page.url));
        Ok(collect_outcome(sources.found.len(), is_changed, open.len() - count))
    }

    /// Writes the answer.
    ///
    /// # Errors
    /// The end of the run without an answer that follows the schema.
    pub(super) async fn write_answer(&mut self) -> Result<(), RunOutcome> {
        if self.is_text_wanted() {
            return self.write_text().await;
        }
        let draft = self.draft.data().clone();
        let is_draft_valid = !draft.is_null() && self.violation(&draft).await.is_none();
        if is_draft_valid && self.is_draft_long() {
            self.answer = Some(self.check_sources(draft, true).await);
            return Ok(());
        }
        let mut data = self.compose(None).await?;
        let mut violation = self.violation(&data).await;
        if let Some(first) = &violation {
            match self.compose(Some(Rejected { data: &data, violation: first })).await {
                Ok(corrected) => data = corrected,
                Err(outcome) => {
                    self.answer = Some(self.check_sources(data, false).await);
                    return Err(outcome);
                }
            }
            violation = self.violation(&data).await;
        }
        if violation.is_some() && is_draft_valid {
            (data, violation) = (draft, None);
        }
        self.answer = Some(self.check_sources(data, violation.is_none()).await);
        violation.map_or(Ok(()), |violation| Err(RunOutcome::InvalidData(violation)))
    }

    /// Returns whether the answer is a text. The draft is data about the pages then.
    pub(super) fn is_text_wanted(&self) -> bool {
        self.task.mode == AgentMode::Chat && self.task.schema.is_none()
    }

    /// Returns whether a model would not see the draft completely, or not write it again completely.
    fn is_draft_long(&self) -> bool {
        let format = self.task.schema.map_or(ResponseFormat::Json, ResponseFormat::Schema);
        let max_chars = content_chars(self.requests.model, COMPOSE, &self.answer_prompt(false), format);
        let shown_chars = shown_draft_chars(max_chars * DRAFT_PERCENT / 100);
        self.draft.data().to_string().len() > MAX_COMPOSED_BYTES.min(shown_chars)
    }

    /// Asks the model for the answer, and once more if there is none. Values of the draft fill it, and replace values that no
    /// page states.
    async fn compose(&mut self, rejected: Option<Rejected<'_>>) -> Result<Value, RunOutcome> {
        let format = self.task.schema.map_or(ResponseFormat::Json, ResponseFormat::Schema);
        let prompt = self.answer_prompt(rejected.is_some());
        let max_chars = content_chars(self.requests.model, COMPOSE, &prompt, format);
        let content = self.answer_content(rejected, max_chars).await;
        let request = Request {
            instructions: COMPOSE,
            prompt: &prompt,
            content: &content,
            format,
            max_tokens: MAX_TOKENS,
        };
        let mut answer = self.requests.ask(request).await?;
        if answer.is_err() {
            answer = self.requests.ask(request).await?;
        }
        let draft = self.draft.data().clone();
        match (answer, self.task.schema) {
            (Err(reason), _) if draft.is_null() => Err(RunOutcome::Answers(reason)),
            (Err(_), _) => Ok(draft),
            (Ok(answer), Some(schema)) => {
                let schema = schema.clone();
                let (pages, evidence, is_long) =
                    (self.kept_pages(), self.evidence.values(), self.is_draft_long());
                Ok(run_blocking(move || {
                    let mut filled = fill(normalize(answer, &schema), &draft, &pages, &evidence);
                    // The model has not seen all items of the lists.
                    if is_long {
                        merge(&mut filled, draft);
                    }
                    // Also without the nulls for which the draft has no value.
                    normalize(filled, &schema)
                })
                .await)
            }
            (Ok(answer @ Value::Object(_)), None) => Ok(answer),
            (Ok(answer), None) => Ok(json!({ "answer": answer })),
        }
    }

    pub(super) fn answer_prompt(&self, is_correction: bool) -> String {
        let mut text = task_sections(self.task.prompt, self.task.schema, self.task.turns);
        text.push_str("## Answer\nWrite the answer to the task. Today is ");
        text.push_str(self.task.today);
        text.push('.');
        if is_correction {
            text.push_str(
                "\nYour last answer was refused: it violates the schema. The section Violation says how.",
            );
        }
        text
    }

    pub(super) async fn answer_content(
        &mut self,
        rejected: Option<Rejected<'_>>,
        max_chars: usize,
    ) -> String {
        let mut content = Content::new(max_chars);
        if let Some(Rejected { data, violation }) = rejected {
            let lines = [cut(violation, max_chars / 10), cut(&data.to_string(), max_chars / 5)];
            content.add("Violation", lines, max_chars * 3 / 10);
        }
        self.add_draft(&mut content, max_chars * DRAFT_PERCENT / 100);
        self.add_earlier_results(&mut content, max_chars / 10);
        self.add_pages(&mut content, max_chars / 10);
        let passages_chars = content.remaining();
        let passages = self.passages_of_answer(passages_chars).await;
        self.add_passages(&mut content, &passages, passages_chars);
        content.finish()
    }

    /// Returns the violation of the schema by the data, if there is a schema.
    async fn violation(&self, data: &Value) -> Option<String> {
        let schema = self.task.schema?;
        let violation = self.environment.violation(schema, data).await;
        violation.or_else(|| is_unrelated(data, schema).then(|| UNRELATED.to_owned()))
    }

    /// Returns the data of a run that has ended without an answer.
    pub(super) async fn partial_answer(&self) -> Answer {
        let data = self.draft.data().clone();
        let is_valid = match timeout(CHECK_TIMEOUT, self.violation(&data)).await {
            Ok(violation) => violation.is_none() && !data.is_null(),
            Err(_elapsed) => false,
        };
        self.check_sources(data, is_valid).await
    }
}

fn collect_outcome(stated: usize, is_changed: bool, rest: usize) -> String {
    let mut outcome = match (stated, is_changed) {
        (0, _) => "the page states no value".to_owned(),
        (stated, true) => format!("{}, the draft has changed", counted(stated, "value", "values")),
        (stated, false) => {
            format!("{}, the draft had them already", counted(stated, "value", "values"))
        }
    };
    if rest > 0 {
        let rest = counted(rest, "passage is", "passages are");
        outcome.push_str(&format!("; {rest} left, collect again"));
    }
    outcome
}
