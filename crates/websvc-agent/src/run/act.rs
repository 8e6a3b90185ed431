//! The actions of a step.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use websvc_model::one_line;

use super::Run;
use super::retrieve::Focus;
use crate::blocking::run_blocking;
use crate::decision::{Action, Reference};
use crate::environment::Event;
use crate::page::Page;
use crate::report::{RunOutcome, ValueSource};
use crate::targets::TargetKind;
use crate::tool::{FoundPage, Link, ReadPage, ToolCall, ToolFailure, ToolOutput};

/// The maximum number of pages of a crawl.
const CRAWL_PAGES: u32 = 8;

/// The maximum number of results of a call that get references.
const MAX_RESULTS: usize = 30;

/// The maximum number of links that are listed, and that are ranked.
const MAX_LISTED_LINKS: usize = 20;
const MAX_RANKED_LINKS: usize = 400;
const MAX_NEXT_LINKS: usize = 6;

/// Texts of links to the next page of a list.
const NEXT_WORDS: &[&str] = &[
    "next",
    "next page",
    "older",
    "older posts",
    "show more",
    "weiter",
    "nächste",
    "nächste seite",
    "suivant",
    "siguiente",
    "avanti",
];

/// The maximum number of sources that are kept for pages that are dropped.
const MAX_EVIDENCE: usize = 2_000;

/// The sources of collected values, by the value. They outlast the pages.
#[derive(Debug, Default)]
pub(super) struct Evidence(pub(super) HashMap<String, ValueSource>);

impl Evidence {
    pub(super) fn add(&mut self, value: &Value, source: &ValueSource) {
        if self.0.len() < MAX_EVIDENCE {
            self.0.entry(value.to_string()).or_insert_with(|| source.clone());
        }
    }

    /// Returns the source of a value, for another place in the data.
    pub(super) fn find(&self, value: &Value, pointer: &str) -> Option<ValueSource> {
        let ValueSource { pointer: _, url, passage } = self.0.get(&value.to_string())?.clone();
        Some(ValueSource { pointer: pointer.to_owned(), url, passage })
    }
}

impl Run<'_> {
    /// Reads the URLs that the user gave, without a decision of the model: it would open them first anyway. Those beyond the
    /// limit, and those of the prompt, are listed as results.
    pub(super) async fn read_given_urls(&mut self) -> Result<(), RunOutcome> {
        let mut given: Vec<String> = self.task.urls.to_vec();
        given.extend(urls_of_text(self.task.prompt));
        given.dedup();
        let listed: Vec<usize> = given
            .iter()
            .filter_map(|url| self.targets.add(TargetKind::Result, url, "", "given by the user"))
            .collect();
        self.targets.list_results(&listed);
        for url in given.into_iter().take(self.task.limits.max_start_pages) {
            if self.pages.find(&url).is_none() {
                let action = format!("open {url}");
                let outcome = self.call(ToolCall::Scrape { url }).await?;
                self.history.push(0, &action, &outcome);
            }
        }
        if !self.pages.is_empty() {
            self.focus = Focus::Page { index: 0, from: 0 };
        }
        Ok(())
    }

    /// Carries out an action.
    pub(super) async fn act(&mut self, action: Action) -> Result<(), RunOutcome> {
        let (description, outcome) = match action {
            Action::Search(query) => {
                (format!("search {query:?}"), self.call(ToolCall::Search { query }).await?)
            }
            Action::Find(query) => {
                let description = format!("find {query:?}");
                self.focus = Focus::Query(query);
                (description, "the best passages are shown".to_owned())
            }
            Action::Open(reference) => {
                let Some(url) = self.resolve(&reference) else { return Ok(()) };
                (self.describe("open", &reference), self.call(ToolCall::Scrape { url }).await?)
            }
            Action::Map(reference, query) => {
                let Some(url) = self.resolve(&reference) else { return Ok(()) };
                let description = format!("{} {query:?}", self.describe("map", &reference));
                (description, self.call(ToolCall::Map { url, query }).await?)
            }
            Action::Crawl(reference) => {
                let Some(url) = self.resolve(&reference) else { return Ok(()) };
                let call = ToolCall::Crawl { url, max_pages: CRAWL_PAGES };
                (self.describe("crawl", &reference), self.call(call).await?)
            }
            Action::Interact(reference, task) => {
                let Some(url) = self.resolve(&reference) else { return Ok(()) };
                let description = format!("{} {task:?}", self.describe("interact", &reference));
                (description, self.call(ToolCall::Interact { url, task }).await?)
            }
            Action::Links(reference, query) => {
                let Some(index) = self.page_of("links", &reference) else { return Ok(()) };
                let count = self.list_links(index, &query, MAX_LISTED_LINKS).await;
                let description = format!("{} {query:?}", self.describe("links", &reference));
                (description, format!("{count} links are listed"))
            }
            Action::More(reference) => {
                let Some(index) = self.page_of("more", &reference) else { return Ok(()) };
                (self.describe("more", &reference), self.show_more(index))
            }
            Action::Collect(reference) => {
                let Some(index) = self.page_of("collect", &reference) else { return Ok(()) };
                (self.describe("collect", &reference), self.collect(index).await?)
            }
        };
        self.history.push(self.steps, &description, &outcome);
        Ok(())
    }

    fn describe(&self, action: &str, reference: &Reference) -> String {
        match reference {
            Reference::Target(TargetKind::Result, number) => format!("{action} r{number}"),
            Reference::Target(TargetKind::Link, number) => format!("{action} l{number}"),
            Reference::Page(number) => format!("{action} p{number}"),
            Reference::Url(url) => format!("{action} {url}"),
        }
    }

    /// Returns the URL of a reference. One that is not known is refused.
    fn resolve(&mut self, reference: &Reference) -> Option<String> {
        let url = match reference {
            Reference::Target(kind, number) => {
                self.targets.find(*kind, *number).map(|target| target.url.clone())
            }
            Reference::Page(number) => {
                let index = (*number as usize).checked_sub(1);
                index.and_then(|index| self.pages.entries().get(index)).map(|entry| entry.url.clone())
            }
            Reference::Url(url) => Some(url.clone()),
        };
        if url.is_none() {
            let action = self.describe("use", reference);
            self.refuse(&action, "ref is not in the lists. Use a reference that is listed.");
        }
        url
    }

    /// Returns the index of a page that is kept. Another reference is refused.
    fn page_of(&mut self, action: &str, reference: &Reference) -> Option<usize> {
        let index = match reference {
            Reference::Page(number) => (*number as usize)
                .checked_sub(1)
                .filter(|index| self.pages.entries().get(*index).is_some_and(|entry| entry.page.is_some())),
            Reference::Target(..) | Reference::Url(_) => {
                let url = self.resolve(reference)?;
                self.pages.find(&url)
            }
        };
        if index.is_none() {
            let action = self.describe(action, reference);
            self.refuse(&action, "this page has not been read, or is no longer in memory. Open it first.");
        }
        index
    }

    fn show_more(&mut self, index: usize) -> String {
        let entry = &self.pages.entries()[index];
        let count = entry.page.as_ref().map_or(0, |page| page.passages.len());
        if entry.seen >= count {
            return format!("all {count} passages have been shown; find shows the best ones again");
        }
        self.focus = Focus::Page { index, from: entry.seen };
        format!("passages from {} of {count} are shown", entry.seen + 1)
    }

    /// Lists the links of a page that fit a query: those of the next page of a list, the best ones, and then others in the order
    /// of the page. Returns their number.
    async fn list_links(&mut self, index: usize, query: &str, max_links: usize) -> usize {
        let Some(page) = self.pages.entries()[index].page.clone() else { return 0 };
        let links = &page.links[..page.links.len().min(MAX_RANKED_LINKS)];
        let texts: Vec<String> = links.iter().map(|Link { url, text }| format!("{text} {url}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let query = if query.is_empty() { self.task_query() } else { query.to_owned() };
        let ranked = if texts.is_empty() { Vec::new() } else { self.environment.rank(&query, &texts).await };
        let next = page.links.iter().filter(|link| is_next(&link.text)).take(MAX_NEXT_LINKS);
        let best = ranked.into_iter().filter_map(|index| links.get(index));
        let mut listed: Vec<usize> = Vec::new();
        for Link { url, text } in next.chain(best).chain(links) {
            if listed.len() >= max_links {
                break;
            }
            if let Some(target) = self.targets.add(TargetKind::Link, url, text, "")
                && !listed.contains(&target)
            {
                listed.push(target);
            }
        }
        self.targets.links = listed;
        self.targets.links.len()
    }

    /// Calls a tool, or repeats the outcome of an equal call. Returns the outcome in words, which may have text of pages.
    async fn call(&mut self, call: ToolCall) -> Result<String, RunOutcome> {
        if let ToolCall::Scrape { url } = &call
            && let Some(index) = self.pages.find(url)
        {
            self.focus = Focus::Page { index, from: 0 };
            return Ok(format!("it has been read already, as p{}", index + 1));
        }
        let is_scrape = matches!(call, ToolCall::Scrape { .. });
        // A page that was read and dropped may be read again.
        let earlier = self
            .calls
            .iter()
            .find(|(earlier, outcome)| *earlier == call && !(is_scrape && outcome.starts_with("read")));
        if let Some((_, outcome)) = earlier {
            return Ok(format!("not repeated, the outcome was: {outcome}"));
        }
        self.call_count += 1;
        let number = self.call_count;
        self.environment.record(Event::ToolStarted { number, call: call.clone() });
        let result = self.environment.call(&call).await;
        let (summary, is_success) = match &result {
            Ok(output) => (summary(output), true),
            Err(ToolFailure::Refused(reason)) => (format!("refused, {reason}"), false),
            Err(ToolFailure::Failed(reason)) => (format!("failed, {reason}"), false),
            Err(ToolFailure::Stopped(_)) => ("the run must end".to_owned(), false),
        };
        self.environment.record(Event::ToolFinished { number, summary: summary.clone(), is_success });
        let outcome = match result {
            Ok(ToolOutput::Found(found)) => self.add_results(&found),
            Ok(ToolOutput::Read { pages, failures, answer }) => {
                let requested = requested_url(&call);
                self.add_pages_read(requested, pages, &failures, &answer, number).await
            }
            Err(ToolFailure::Refused(_) | ToolFailure::Failed(_)) => summary,
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
            Some(first) => format!("{} results, the first is {first}", results.len()),
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
            added.push(self.pages.add(&requested, title, page, Some(call)));
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
        for (url, reason) in failures.iter().take(3) {
            outcome.push_str(&format!("; {url} failed: {reason}"));
        }
        if !answer.is_empty() {
            outcome.push_str(&format!("; the answer on the page: {answer}"));
        }
        outcome
    }

    /// Returns all pages that are kept.
    pub(super) fn kept_pages(&self) -> Vec<Arc<Page>> {
        self.pages.kept().map(|(_, page)| Arc::clone(page)).collect()
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
        ToolOutput::Found(found) => format!("{} results", found.len()),
        ToolOutput::Read { pages, failures, answer: _ } => {
            let chars: usize = pages.iter().map(|page| page.markdown.chars().count()).sum();
            let failed =
                if failures.is_empty() { String::new() } else { format!(", {} failed", failures.len()) };
            format!("{} pages with {chars} characters{failed}", pages.len())
        }
    }
}

fn is_next(text: &str) -> bool {
    let text = one_line(text).to_lowercase();
    let words = text.trim_end_matches(['»', '›', '→', '>', ' ']);
    let is_sign = words.is_empty() && !text.is_empty();
    let is_number = words.len() <= 3 && words.parse::<u16>().is_ok();
    NEXT_WORDS.contains(&words) || is_sign || is_number
}

/// Returns the URLs that a text of the user contains.
fn urls_of_text(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '(' | ')'));
    let urls = words.filter(|word| word.starts_with("http://") || word.starts_with("https://"));
    urls.map(|url| url.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'']).to_owned()).collect()
}
