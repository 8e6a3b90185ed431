//! The actions of a step.

use std::sync::Arc;

use websvc_model::one_line;
use websvc_types::counted;

use super::Run;
use super::retrieve::Focus;
use crate::decision::{Action, Reference};
use crate::page::Page;
use crate::report::RunOutcome;
use crate::targets::TargetKind;
use crate::tool::{Link, ToolCall};

/// The maximum number of pages of a crawl.
const CRAWL_PAGES: u32 = 8;

/// The maximum number of links that are listed, and that are ranked.
pub(super) const MAX_LISTED_LINKS: usize = 20;
pub(super) const MAX_RANKED_LINKS: usize = 400;
const MAX_NEXT_LINKS: usize = 6;

/// The number of steps in a row that open a page again, of which nothing is left to collect, after which the answer is
/// written.
const MAX_REOPENED: u32 = 2;

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
    "próxima",
    "volgende",
    "następna",
    "далее",
    "下一页",
    "下一頁",
    "次へ",
    "다음",
];

impl Run<'_> {
    /// Reads the URLs that the user gave, without a decision of the model: it would open them first anyway. Those beyond the
    /// limit, and those of the prompt, are listed as results.
    pub(super) async fn read_given_urls(&mut self) -> Result<(), RunOutcome> {
        let mut given: Vec<String> = self.task.urls.to_vec();
        given.extend(urls_of_text(self.task.prompt));
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

    /// Carries out an action. Returns whether it ends the task, so that the answer is written.
    pub(super) async fn act(&mut self, action: Action) -> Result<bool, RunOutcome> {
        let reopened = std::mem::take(&mut self.reopened);
        if let Action::Open(reference) = &action
            && let Some(index) = self.read_page(reference)
        {
            let description = self.describe("open", reference);
            let outcome = self.open_again(index, reopened).await?;
            self.history.push(self.steps, &description, &outcome);
            return Ok(self.reopened >= MAX_REOPENED);
        }
        self.carry_out_action(action).await?;
        Ok(false)
    }

    /// Returns the index of the page of a reference, if it was read and is kept.
    fn read_page(&self, reference: &Reference) -> Option<usize> {
        let url = match reference {
            Reference::Target(kind, number) => &self.targets.find(*kind, *number)?.url,
            Reference::Page(number) => &self.pages.entries().get((*number as usize).checked_sub(1)?)?.url,
            Reference::Url(url) => url,
        };
        self.pages.find(url)
    }

    /// Shows a page that was read from its beginning, and collects what is left of it: small models open a page to take its
    /// values. No call is made.
    async fn open_again(&mut self, index: usize, reopened: u32) -> Result<String, RunOutcome> {
        self.focus = Focus::Page { index, from: 0 };
        let outcome = format!("it has been read already, as p{}", index + 1);
        if self.pages.entries()[index].collected.iter().all(|is_collected| *is_collected) {
            self.reopened = reopened + 1;
            return Ok(format!("{outcome}; all of it has been collected"));
        }
        Ok(format!("{outcome}; collected: {}", self.collect(index).await?))
    }

    async fn carry_out_action(&mut self, action: Action) -> Result<(), RunOutcome> {
        let (description, outcome) = match action {
            Action::Search(query) => {
                (format!("search {query:?}"), self.call(ToolCall::Search { query }).await?)
            }
            Action::Find(query) => {
                let description = format!("find {query:?}");
                let outcome = match self.ranked(&query).await.len() {
                    0 => "no passage fits".to_owned(),
                    count => format!(
                        "{} shown",
                        counted(count, "passage fits and is", "passages fit, the best are")
                    ),
                };
                self.focus = Focus::Query(query);
                (description, outcome)
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
                (description, format!("{} listed", counted(count, "link is", "links are")))
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
    pub(super) async fn list_links(&mut self, index: usize, query: &str, max_links: usize) -> usize {
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

    /// Returns all pages that are kept.
    pub(super) fn kept_pages(&self) -> Vec<Arc<Page>> {
        self.pages.kept().map(|(_, page)| Arc::clone(page)).collect()
    }
}

fn is_next(text: &str) -> bool {
    let text = one_line(text).to_lowercase();
    let words = text.trim_end_matches(['»', '›', '→', '>', ' ']);
    let is_sign = words.is_empty() && !text.is_empty();
    let is_number = words.len() <= 3 && words.parse::<u16>().is_ok();
    NEXT_WORDS.contains(&words) || is_sign || is_number
}

/// The punctuation that ends a URL in a text of the user.
const URL_ENDS: &str = "<>\"()，。！？；：、（）「」『』《》【】“”";

/// Returns the URLs that a text of the user contains. They may follow a character of a script without spaces.
fn urls_of_text(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || URL_ENDS.contains(c));
    let urls = words.filter_map(|word| {
        let start = word.find("http://").into_iter().chain(word.find("https://")).min()?;
        let is_part = word[..start].ends_with(|c: char| c.is_ascii_alphanumeric());
        (!is_part).then(|| word[start..].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'']).to_owned())
    });
    urls.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_end_at_spaces_and_punctuation() {
        for (text, expected) in [
            (
                "See http://a.test/x, and (https://b.test/?q=1).",
                ["http://a.test/x", "https://b.test/?q=1"].as_slice(),
            ),
            ("打开https://a.test/teas，列出价格。", &["https://a.test/teas"]),
            ("「http://a.test/茶」を読む", &["http://a.test/茶"]),
            ("xhttp://a.test/ ftp://b.test/", &[]),
        ] {
            assert_eq!(urls_of_text(text), expected, "{text}");
        }
    }
}
