//! Retrieves the passages for a request to the model.

use std::collections::HashSet;
use std::sync::Arc;

use websvc_model::cut;

use super::Run;
use crate::blocking::run_blocking;
use crate::page::{Page, Passage, words};

/// The maximum number of passages that the environment ranks. Those with the most words of the query are chosen.
const MAX_RANKED: usize = 400;

/// The maximum length of the query that is made of the task.
const MAX_QUERY_CHARS: usize = 600;

/// The minimum length of a word of a query.
const MIN_WORD_CHARS: usize = 3;

/// The part of the space for passages that the focus may have.
const FOCUS_NUMERATOR: usize = 6;
const FOCUS_DENOMINATOR: usize = 10;

/// The number of passages of the last query that an answer begins with.
const MAX_FOUND: usize = 4;

/// The number of rankings that are kept.
const MAX_RANKINGS: usize = 4;

/// A passage by the indexes of its page and of itself.
pub(super) type PassageId = (usize, usize);

/// The passages that are shown first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Focus {
    /// Those that fit the task.
    Task,
    /// Those that fit these words.
    Query(String),
    /// Those of a page, in order.
    Page {
        /// The index of the page.
        index: usize,
        /// The first passage.
        from: usize,
    },
}

/// The form of links in passages, which changes their length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinkForm {
    Reference,
    Url,
}

/// The passages that are chosen for a request.
#[derive(Debug)]
struct Selection {
    form: LinkForm,
    ids: Vec<PassageId>,
    chars: usize,
}

impl Selection {
    const fn new(form: LinkForm) -> Self {
        Self { form, ids: Vec::new(), chars: 0 }
    }

    /// Returns the passages in the order of the pages.
    fn finish(self) -> Vec<PassageId> {
        let mut ids = self.ids;
        ids.sort_unstable();
        ids
    }
}

/// A ranking of all passages of a run.
#[derive(Debug)]
struct PassageRanking {
    query: String,
    /// The version of the pages.
    version: u32,
    passages: Vec<PassageId>,
}

/// The last rankings.
#[derive(Debug, Default)]
pub(super) struct Rankings(Vec<PassageRanking>);

impl Run<'_> {
    /// Returns the passages for a step that fit into `max_chars` characters, in the order of the pages.
    pub(super) async fn passages_of_step(&mut self, max_chars: usize) -> Vec<PassageId> {
        let focus_chars = max_chars * FOCUS_NUMERATOR / FOCUS_DENOMINATOR;
        let mut chosen = Selection::new(LinkForm::Reference);
        match self.focus.clone() {
            Focus::Task => {}
            Focus::Query(query) => {
                let ranked = self.ranked(&query).await;
                self.choose(&ranked, focus_chars, &mut chosen);
            }
            Focus::Page { index, from } => {
                let entry = &self.pages.entries()[index];
                let count = entry.page.as_ref().map_or(0, |page| page.passages.len());
                let following: Vec<PassageId> = (from..count).map(|passage| (index, passage)).collect();
                self.choose_in_order(&following, focus_chars, &mut chosen);
                let seen = from + chosen.ids.len();
                let entry = self.pages.entry_mut(index);
                entry.seen = entry.seen.max(seen);
            }
        }
        let query = self.task_query();
        let ranked = self.ranked(&query).await;
        self.choose(&ranked, max_chars, &mut chosen);
        chosen.finish()
    }

    /// Returns the passages of all pages for the answer, in the order of the pages.
    pub(super) async fn passages_of_answer(&mut self, max_chars: usize) -> Vec<PassageId> {
        let mut ranked = Vec::new();
        if let Focus::Query(query) = self.focus.clone() {
            ranked.extend(self.ranked(&query).await.into_iter().take(MAX_FOUND));
        }
        ranked.extend(self.ranked(&self.task_query()).await);
        // If all fit, those that the ranking left out are shown, too.
        ranked.extend(self.all_passages());
        let mut chosen = Selection::new(LinkForm::Url);
        self.choose(&ranked, max_chars, &mut chosen);
        chosen.finish()
    }

    /// Returns the passages of one page for the task, from among those in `indexes`: all in their order if they fit, otherwise
    /// the best ones.
    pub(super) async fn passages_of_page(
        &mut self,
        index: usize,
        page: &Page,
        indexes: &[usize],
        max_chars: usize,
    ) -> Vec<usize> {
        let length: usize =
            indexes.iter().map(|passage| shown_length(&page.passages[*passage], LinkForm::Url)).sum();
        if length <= max_chars {
            return indexes.to_vec();
        }
        let query = self.task_query();
        let ranked = self.ranked(&query).await;
        let of_page =
            ranked.into_iter().filter(|(page, passage)| *page == index && indexes.contains(passage));
        let mut ids: Vec<PassageId> = of_page.collect();
        // Lists have items without words of the task: passages around the best ones, and then the others, follow.
        let near: Vec<PassageId> = ids
            .iter()
            .flat_map(|(page, passage)| [(*page, passage + 1), (*page, passage.wrapping_sub(1))])
            .filter(|(_, passage)| indexes.contains(passage))
            .collect();
        ids.extend(near);
        ids.extend(indexes.iter().map(|passage| (index, *passage)));
        let mut chosen = Selection::new(LinkForm::Url);
        self.choose(&ids, max_chars, &mut chosen);
        chosen.finish().into_iter().map(|(_, passage)| passage).collect()
    }

    /// Adds passages that fit, the best first.
    fn choose(&self, ids: &[PassageId], max_chars: usize, chosen: &mut Selection) {
        let mut known: HashSet<PassageId> = chosen.ids.iter().copied().collect();
        for id in ids {
            let Some(length) = self.length(*id, chosen.form) else { continue };
            if (chosen.chars + length <= max_chars || chosen.ids.is_empty()) && known.insert(*id) {
                chosen.chars += length;
                chosen.ids.push(*id);
            }
        }
    }

    /// Adds passages up to the first one that does not fit.
    fn choose_in_order(&self, ids: &[PassageId], max_chars: usize, chosen: &mut Selection) {
        for id in ids {
            let Some(length) = self.length(*id, chosen.form) else { break };
            if chosen.chars + length > max_chars && !chosen.ids.is_empty() {
                break;
            }
            chosen.chars += length;
            chosen.ids.push(*id);
        }
    }

    fn length(&self, (page, passage): PassageId, form: LinkForm) -> Option<usize> {
        let page = self.pages.entries()[page].page.as_ref()?;
        Some(shown_length(&page.passages[passage], form))
    }

    fn all_passages(&self) -> Vec<PassageId> {
        let pages = self.pages.kept();
        pages
            .flat_map(|(index, page)| (0..page.passages.len()).map(move |passage| (index, passage)))
            .collect()
    }

    /// Returns the query of the task: its words, and the names of the missing fields.
    pub(super) fn task_query(&self) -> String {
        let mut query = cut(self.task.prompt, MAX_QUERY_CHARS);
        for path in self.missing() {
            let name = path.rsplit(['.', ']']).next().unwrap_or_default();
            if !name.is_empty() && query.len() < 2 * MAX_QUERY_CHARS {
                query.push(' ');
                query.push_str(name);
            }
        }
        query
    }

    /// Ranks the passages of all pages by their relevance for a query, the best first.
    async fn ranked(&mut self, query: &str) -> Vec<PassageId> {
        let version = self.pages.version;
        let known =
            self.rankings.0.iter().find(|ranking| ranking.version == version && ranking.query == query);
        if let Some(known) = known {
            return known.passages.clone();
        }
        let pages: Vec<(usize, Arc<Page>)> =
            self.pages.kept().map(|(index, page)| (index, Arc::clone(page))).collect();
        let mut candidates = self.all_passages();
        if candidates.len() > MAX_RANKED {
            let (query, pages) = (query.to_owned(), pages.clone());
            candidates = run_blocking(move || best_by_words(&query, &pages)).await;
        }
        let texts: Vec<&str> = candidates.iter().filter_map(|id| text(&pages, *id)).collect();
        let ranking = if texts.is_empty() { Vec::new() } else { self.environment.rank(query, &texts).await };
        let ranked = ranking.into_iter().filter_map(|index| candidates.get(index).copied());
        let passages: Vec<PassageId> = ranked.collect();
        if self.rankings.0.len() >= MAX_RANKINGS {
            self.rankings.0.remove(0);
        }
        self.rankings.0.push(PassageRanking { query: query.to_owned(), version, passages: passages.clone() });
        passages
    }
}

fn text(pages: &[(usize, Arc<Page>)], (index, passage): PassageId) -> Option<&str> {
    let (_, page) = pages.iter().find(|(page, _)| *page == index)?;
    page.passages.get(passage).map(|passage| passage.text.as_str())
}

/// Returns the passages with the most words of a query.
fn best_by_words(query: &str, pages: &[(usize, Arc<Page>)]) -> Vec<PassageId> {
    let query = words(query);
    let query: HashSet<String> = query
        .split_whitespace()
        .filter(|word| word.chars().count() >= MIN_WORD_CHARS)
        .map(|word| format!(" {word} "))
        .collect();
    let mut counted: Vec<(usize, PassageId)> = Vec::new();
    for (index, page) in pages {
        for (passage_index, passage) in page.passages.iter().enumerate() {
            let count = query.iter().filter(|word| passage.words.contains(word.as_str())).count();
            counted.push((count, (*index, passage_index)));
        }
    }
    counted.sort_by(|(a, a_id), (b, b_id)| b.cmp(a).then(a_id.cmp(b_id)));
    counted.into_iter().take(MAX_RANKED).map(|(_, id)| id).collect()
}

/// Returns the length of a passage for the model, about.
fn shown_length(passage: &Passage, form: LinkForm) -> usize {
    const REFERENCE_CHARS: usize = 10;
    const LINK_CHARS: usize = 4;
    let chars = match form {
        LinkForm::Reference => passage.plain_chars + passage.text.matches("](").count() * LINK_CHARS,
        LinkForm::Url => passage.text.chars().count(),
    };
    chars + REFERENCE_CHARS
}
