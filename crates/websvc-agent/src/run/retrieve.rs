//! Retrieves the passages for a request to the model.

use std::collections::HashSet;
use std::sync::Arc;

use websvc_model::cut;

use super::Run;
use crate::blocking::run_blocking;
use crate::page::{Page, Passage, is_unspaced, words};

/// The maximum number of passages that the environment ranks, so that a model can rank them. Of more, those with the most and
/// the rarest words of the query are chosen.
const MAX_RANKED: usize = 100;

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

/// The pages whose passages are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    All,
    /// The page with this index.
    Page(usize),
}

/// A ranking of passages.
#[derive(Debug)]
struct PassageRanking {
    query: String,
    scope: Scope,
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
            }
        }
        let query = self.task_query();
        let ranked = self.ranked(&query).await;
        self.choose(&ranked, max_chars, &mut chosen);
        let ids = chosen.finish();
        for (page, passage) in &ids {
            let entry = self.pages.entry_mut(*page);
            if entry.seen == *passage {
                entry.seen += 1;
            }
        }
        ids
    }

    /// Returns the passages of all pages for the answer, in the order of the pages.
    pub(super) async fn passages_of_answer(&mut self, max_chars: usize) -> Vec<PassageId> {
        let mut ranked = Vec::new();
        if let Focus::Query(query) = self.focus.clone() {
            ranked.extend(self.ranked(&query).await.into_iter().take(MAX_FOUND));
        }
        let query = self.task_query();
        ranked.extend(self.ranked(&query).await);
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
        let ranked = self.rank(&query, Scope::Page(index)).await;
        let of_page = ranked.into_iter().filter(|(_, passage)| indexes.contains(passage));
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
        self.pages.kept().flat_map(|(index, page)| passages_of(index, page)).collect()
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
    pub(super) async fn ranked(&mut self, query: &str) -> Vec<PassageId> {
        self.rank(query, Scope::All).await
    }

    async fn rank(&mut self, query: &str, scope: Scope) -> Vec<PassageId> {
        let version = self.pages.version;
        let known =
            self.rankings.0.iter().find(|ranking| {
                ranking.version == version && ranking.scope == scope && ranking.query == query
            });
        if let Some(known) = known {
            return known.passages.clone();
        }
        let pages: Vec<(usize, Arc<Page>)> = self
            .pages
            .kept()
            .filter(|(index, _)| scope == Scope::All || scope == Scope::Page(*index))
            .map(|(index, page)| (index, Arc::clone(page)))
            .collect();
        let mut candidates: Vec<PassageId> =
            pages.iter().flat_map(|(index, page)| passages_of(*index, page)).collect();
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
        self.rankings.0.push(PassageRanking {
            query: query.to_owned(),
            scope,
            version,
            passages: passages.clone(),
        });
        passages
    }
}

fn passages_of(index: usize, page: &Page) -> impl Iterator<Item = PassageId> + use<> {
    (0..page.passages.len()).map(move |passage| (index, passage))
}

fn text(pages: &[(usize, Arc<Page>)], (index, passage): PassageId) -> Option<&str> {
    let (_, page) = pages.iter().find(|(page, _)| *page == index)?;
    page.passages.get(passage).map(|passage| passage.text.as_str())
}

/// Returns the passages with the most and the rarest words of a query, in the order of the pages.
fn best_by_words(query: &str, pages: &[(usize, Arc<Page>)]) -> Vec<PassageId> {
    let query = query_terms(query);
    let mut counts = vec![0_u32; query.len()];
    let mut found: Vec<(PassageId, Vec<usize>)> = Vec::new();
    for (index, page) in pages {
        for (passage_index, passage) in page.passages.iter().enumerate() {
            let is_in = |word: &usize| passage.words.contains(query[*word].as_str());
            let words: Vec<usize> = (0..query.len()).filter(is_in).collect();
            words.iter().for_each(|word| counts[*word] += 1);
            found.push(((*index, passage_index), words));
        }
    }
    // The weight of a word is its inverse document frequency.
    let total = found.len() as f64;
    let weight = |word: &usize| (1.0 + total / f64::from(counts[*word])).ln();
    let mut scored: Vec<(f64, PassageId)> =
        found.iter().map(|(id, words)| (words.iter().map(weight).sum(), *id)).collect();
    scored.sort_by(|(a, a_id), (b, b_id)| b.total_cmp(a).then(a_id.cmp(b_id)));
    let mut best: Vec<PassageId> = scored.into_iter().take(MAX_RANKED).map(|(_, id)| id).collect();
    best.sort_unstable();
    best
}

/// Returns the longer words of a query, and the pairs of characters of scripts without spaces between words, each with one
/// space before and after its words, and each once.
fn query_terms(query: &str) -> Vec<String> {
    let query = words(query);
    let all: Vec<&str> = query.split_whitespace().collect();
    let long = all.iter().filter(|word| word.chars().count() >= MIN_WORD_CHARS);
    let mut terms: Vec<String> = long.map(|word| format!(" {word} ")).collect();
    let pairs = all.windows(2).filter(|pair| pair.iter().all(|word| word.starts_with(is_unspaced)));
    terms.extend(pairs.map(|pair| format!(" {} ", pair.join(" "))));
    terms.sort_unstable();
    terms.dedup();
    terms
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::ReadPage;

    #[test]
    fn passages_are_found_by_words_and_by_pairs_of_characters() {
        for (query, fact, other) in [
            (
                "What does Longjing cost?",
                "Our Longjing is 320 yuan.",
                "Water and cups are sold here as well.",
            ),
            (
                "龙井的售价是多少？",
                "本店的龙井售价是每罐三百二十元。",
                "水温和冲泡时间影响茶叶的香气和滋味。",
            ),
            ("煎茶の値段は？", "当店の煎茶は一缶千円です。", "お湯の温度は八十度がおすすめです。"),
            ("녹차 가격", "이 녹차의 가격은 오천 원입니다.", "물의 온도는 팔십 도가 좋습니다."),
        ] {
            let mut paragraphs = vec![other.repeat(12); 3 * MAX_RANKED];
            paragraphs[2 * MAX_RANKED] = format!("{fact} {}", paragraphs[0]);
            let markdown = paragraphs.join("\n\n");
            let url = "http://tea.test/".to_owned();
            let page = Page::new(ReadPage { url, title: String::new(), markdown, links: Vec::new() });
            assert!(page.passages.len() > MAX_RANKED, "{}", page.passages.len());
            let with_fact = page.passages.iter().position(|passage| passage.text.contains(fact)).unwrap();
            let best = best_by_words(query, &[(0, Arc::new(page))]);
            assert_eq!(best.len(), MAX_RANKED);
            assert!(best.contains(&(0, with_fact)), "{query}");
        }
    }
}
