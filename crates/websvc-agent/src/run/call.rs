//! Calls of tools and their outputs.

use tokio::time::timeout_at;
use websvc_types::counted;

use super::Run;
use super::act::MAX_LISTED_LINKS;
use super::retrieve::Focus;
use crate::blocking::run_blocking;
use crate::environment::Event;
use crate::page::Page;
use crate::report::RunOutcome;
use crate::targets::TargetKind;
use crate::tool::{FoundPage, ReadPage, ToolCall, ToolFailure, ToolOutput};

/// The maximum number of results of a call that get references.
const MAX_RESULTS: usize = 30;

impl Run<'_> {
    /// Calls a tool, or repeats the outcome of an equal call. Returns the outcome in words, which may have text of pages.
    pub(super) async fn call(&mut self, call: ToolCall) -> Result<String, RunOutcome> {
        if let ToolCall::Scrape { url } = &call
            && let Some(index) = self.pages.find(url)
        {
            self.focus = Focus::Page { index, from: 0 };
            return Ok(format!("it has been read already, as p{}", index + 1));
        }
        // A page that was read and dropped may be read again. A task on a page changes the page, so the same task may follow.
        let is_repeatable = matches!(call, ToolCall::Scrape { .. } | ToolCall::Interact { .. });
        let earlier = self
            .calls
            .iter()
            .find(|(earlier, outcome)| *earlier == call && !(is_repeatable && outcome.starts_with("read")));
        if let Some((_, outcome)) = earlier {
            return Ok(format!("not repeated, the outcome was: {outcome}"));
        }
        self.call_count += 1;
        let number = self.call_count;
        self.environment.record(Event::ToolStarted { number, call: call.clone() });
        let result = timeout_at(self.work_deadline(), self.environment.call(&call)).await;
        let (summary, is_success) = match &result {
            Ok(Ok(output)) => (summary(output), true),
            Ok(Err(ToolFailure::Refused(reason))) => (format!("refused, {reason}"), false),
            Ok(Err(ToolFailure::Failed(reason))) => (format!("failed, {reason}"), false),
            Ok(Err(ToolFailure::Stopped(_))) => ("the run must end".to_owned(), false),
            Err(_elapsed) => ("ended, the time of the run is almost over".to_owned(), false),
        };
        self.environment.record(Event::ToolFinished { number, summary: summary.clone(), is_success });
        let Ok(result) = result else { return Err(RunOutcome::Timeout) };
        let outcome = match result {
            Ok(ToolOutput::Found(found)) => self.add_results(&found),
            Ok(ToolOutput::Read { pages, failures, answer }) => {
                let requested = requested_url(&call);
                self.add_pages_read(requested, pages, &failures, &answer, number).await
            }
            Err(ToolFailure::Refused(reason) | ToolFailure::Failed(reason)) => {
                self.add_failed_call(&call, &reason);
                summary
            }
            Err(ToolFailure::Stopped(stop)) => return Err(RunOutcome::Stopped(stop)),
        };
        self.calls.push((call, outcome.clone()));
        Ok(outcome)
    }

    fn add_results(&mut self, found: &[FoundPage]) -> String {
        let results: Vec<usize> = found
            .iter()
            .take(MAX_RESULTS)
            .filter_map(|FoundPage { url, title, description }| {
                self.targets.add(TargetKind::Result, url, title, description)
            })
            .collect();
        self.targets.list_results(&results);
        match results.first().map(|index| self.targets.get(*index).reference()) {
            None => "no results".to_owned(),
            Some(first) => {
                format!("{}, the first is {first}", counted(results.len(), "result", "results"))
            }
        }
    }

    async fn add_pages_read(
        &mut self,
        requested: &str,
        pages: Vec<ReadPage>,
        failures: &[(String, String)],
        answer: &str,
        call: u32,
    ) -> String {
        let mut added: Vec<usize> = Vec::new();
        let is_one = pages.len() == 1;
        for page in pages {
            let title = page.title.clone();
            let page = run_blocking(move || Page::new(page)).await;
            // Only a single page is the one that was requested, after redirects.
            let requested = if is_one { requested.to_owned() } else { page.url.clone() };
            added.push(self.pages.add(&requested, &title, page, Some(call)));
        }
        let mut outcome = match added.as_slice() {
            [] => "no page could be read".to_owned(),
            pages => {
                let pages: Vec<String> = pages.iter().map(|index| format!("p{}", index + 1)).collect();
                format!("read as {}", pages.join(", "))
            }
        };
        if let Some(first) = added.first().copied() {
            self.focus = Focus::Page { index: first, from: 0 };
            self.list_links(first, "", MAX_LISTED_LINKS / 2).await;
        }
        for (url, reason) in failures {
            self.add_unread(url, reason);
        }
        for (url, reason) in failures.iter().take(3) {
            outcome.push_str(&format!("; {url} failed: {reason}"));
        }
        if !answer.is_empty() {
            outcome.push_str(&format!("; the answer on the page: {answer}"));
        }
        outcome
    }
}

fn requested_url(call: &ToolCall) -> &str {
    match call {
        ToolCall::Search { query: _ } => "",
        ToolCall::Map { url, query: _ }
        | ToolCall::Scrape { url }
        | ToolCall::Crawl { url, max_pages: _ }
        | ToolCall::Interact { url, task: _ } => url,
    }
}

/// Returns a summary of an output without text of pages, for the trace.
fn summary(output: &ToolOutput) -> String {
    match output {
        ToolOutput::Found(found) => counted(found.len(), "result", "results"),
        ToolOutput::Read { pages, failures, answer: _ } => {
            let chars: usize = pages.iter().map(|page| page.markdown.chars().count()).sum();
            let failed =
                if failures.is_empty() { String::new() } else { format!(", {} failed", failures.len()) };
            let pages = counted(pages.len(), "page", "pages");
            format!("{pages} with {}{failed}", counted(chars, "character", "characters"))
        }
    }
}
