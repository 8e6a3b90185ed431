//! The texts of a step for the model.

use std::fmt::Write;

use serde_json::Value;
use websvc_model::{cut, one_line};

use super::retrieve::PassageId;
use super::{Run, Shown};
use crate::pages::PageEntry;
use crate::prompt::{Content, passage_text, recent, task_sections};
use crate::schema::missing;
use crate::targets::{Target, TargetKind};

/// The maximum lengths of an address and of a title for the model.
const MAX_URL_CHARS: usize = 200;
const MAX_TITLE_CHARS: usize = 100;

/// The maximum number of results, of links and of pages that are listed.
const MAX_RESULTS: usize = 20;
const MAX_LINKS: usize = 25;
const MAX_PAGES: usize = 30;

/// The parts of the space of a content for its sections, in percent. The passages get the rest.
const DRAFT: usize = 15;
const EARLIER: usize = 8;
const RESULTS: usize = 18;
const LINKS: usize = 12;
const PAGES: usize = 10;
const STEPS: usize = 10;

const fn percent(max_chars: usize, part: usize) -> usize {
    max_chars * part / 100
}

/// Returns the length of the data in a section for the draft.
pub(super) const fn shown_draft_chars(max_chars: usize) -> usize {
    percent(max_chars, 70)
}

impl Run<'_> {
    /// Returns the prompt of a step: the task, and what the service says about the step.
    pub(super) fn step_prompt(&self, is_last: bool) -> String {
        let mut text = task_sections(self.task.prompt, self.task.schema, self.task.turns);
        let _ = write!(
            text,
            "## Step\nStep {} of {}. Today is {}.",
            self.steps, self.task.limits.max_steps, self.task.today
        );
        if let Some(reason) = self.refusal {
            let _ = write!(text, "\nYour last answer was refused: {reason}");
        }
        if is_last {
            text.push_str(
                "\nThis is the last step: answer with done, or with impossible if nothing that was read answers the task.",
            );
        }
        text
    }

    /// Returns the data of a step: everything that comes from pages and models.
    pub(super) async fn step_content(&mut self, max_chars: usize) -> String {
        let mut content = Content::new(max_chars);
        self.shown = Shown::default();
        self.add_draft(&mut content, percent(max_chars, DRAFT));
        self.add_earlier_results(&mut content, percent(max_chars, EARLIER));
        let results = self.targets.results.iter().take(MAX_RESULTS).map(|index| {
            let target = self.targets.get(*index);
            let description = if target.description.is_empty() { "" } else { " | " };
            format!("{}{description}{}", self.target_line(target), target.description)
        });
        let count = content.add("Results", results.collect::<Vec<_>>(), percent(max_chars, RESULTS));
        self.shown.targets.extend(&self.targets.results[..count]);
        let links = self.targets.links.iter().take(MAX_LINKS);
        let links: Vec<String> = links.map(|index| self.target_line(self.targets.get(*index))).collect();
        let count = content.add("Links", links, percent(max_chars, LINKS));
        self.shown.targets.extend(&self.targets.links[..count]);
        let passages = {
            let pages_chars = percent(max_chars, PAGES) + percent(max_chars, STEPS);
            self.passages_of_step(content.remaining().saturating_sub(pages_chars)).await
        };
        self.add_pages(&mut content, percent(max_chars, PAGES));
        let steps = self.history.recent(percent(max_chars, STEPS));
        let steps_chars: usize = steps.iter().map(|line| line.chars().count() + 1).sum();
        let passages_chars = content.remaining().saturating_sub(steps_chars + "## Steps\n\n".len());
        self.add_passages_with_references(&mut content, &passages, passages_chars);
        content.add("Steps", steps, max_chars);
        content.finish()
    }

    fn target_line(&self, target: &Target) -> String {
        let read = match self.pages.find(&target.url) {
            Some(index) => format!("[read as p{}] ", index + 1),
            None => String::new(),
        };
        let (title, url) = (cut(&target.title, MAX_TITLE_CHARS), cut(&target.url, MAX_URL_CHARS));
        format!("{} {read}{title} | {url}", target.reference())
    }

    pub(super) fn add_draft(&self, content: &mut Content, max_chars: usize) {
        let data = self.draft.data();
        let mut lines = Vec::new();
        if *data != Value::Null {
            lines.push(cut(&data.to_string(), shown_draft_chars(max_chars)));
        }
        for (name, value) in data.as_object().into_iter().flatten() {
            if let Some(items) = value.as_array() {
                lines.push(format!("{}: {} items", cut(&one_line(name), 60), items.len()));
            }
        }
        let missing = self.missing();
        if !missing.is_empty() {
            lines.push(cut(&one_line(&format!("Missing: {}", missing.join(", "))), max_chars / 5));
        }
        content.add("Draft", lines, max_chars);
    }

    /// Returns the paths of the fields without a value.
    pub(super) fn missing(&self) -> Vec<String> {
        self.task.schema.map(|schema| missing(schema, self.draft.data())).unwrap_or_default()
    }

    pub(super) fn add_earlier_results(&self, content: &mut Content, max_chars: usize) {
        let turns = recent(self.task.turns);
        let results = turns.iter().filter_map(|turn| turn.data.as_ref());
        let lines: Vec<String> =
            results.map(|data| cut(&data.to_string(), max_chars / turns.len())).collect();
        content.add("Earlier results", lines, max_chars);
    }

    pub(super) fn add_pages(&self, content: &mut Content, max_chars: usize) {
        let entries = self.pages.entries();
        // The last pages are the ones that the next step is about.
        let first = entries.len().saturating_sub(MAX_PAGES);
        let mut lines: Vec<String> = Vec::new();
        let mut used = 0;
        for (index, entry) in entries.iter().enumerate().skip(first).rev() {
            let line = page_line(index, entry);
            used += line.chars().count() + 1;
            if used > max_chars.saturating_sub(20) {
                break;
            }
            lines.push(line);
        }
        lines.reverse();
        content.add("Pages", lines, max_chars);
    }

    /// Adds passages whose links have references in place of URLs, which are long and of which small models make other ones.
    fn add_passages_with_references(&mut self, content: &mut Content, ids: &[PassageId], max_chars: usize) {
        let mut lines = Vec::new();
        for (page_index, passage) in ids {
            let Some(page) = &self.pages.entries()[*page_index].page else { continue };
            let (targets, shown) = (&mut self.targets, &mut self.shown.targets);
            lines.push(passage_text(*page_index, *passage, &page.passages[*passage].text, |url| {
                let target = targets.add(TargetKind::Link, url, "", "");
                shown.extend(target);
                target.map(|index| targets.get(index).reference()).unwrap_or_default()
            }));
        }
        self.shown.passages = content.add("Passages", lines, max_chars);
    }

    /// Adds passages as they are.
    pub(super) fn add_passages(&self, content: &mut Content, ids: &[PassageId], max_chars: usize) {
        let lines = ids.iter().filter_map(|(index, passage)| {
            let page = self.pages.entries()[*index].page.as_ref()?;
            Some(passage_text(*index, *passage, &page.passages[*passage].text, ToOwned::to_owned))
        });
        content.add("Passages", lines, max_chars);
    }
}

fn page_line(index: usize, entry: &PageEntry) -> String {
    let PageEntry { url, title, page, call: _, read_at: _, seen, collected } = entry;
    let state = match page {
        None => "no longer in memory".to_owned(),
        Some(page) => {
            let cut = if page.is_cut { " of a longer page" } else { "" };
            let collected = collected.iter().filter(|is_collected| **is_collected).count();
            format!("{} passages{cut}, first {seen} shown, {collected} collected", page.passages.len())
        }
    };
    let (title, url) = (cut(title, MAX_TITLE_CHARS), cut(&one_line(url), MAX_URL_CHARS));
    format!("p{} {title} | {url} | {state}", index + 1)
}
