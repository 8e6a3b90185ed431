//! Documents that `related:` finds: the neighborhood of a domain.
//!
//! A document of another host is related when it links to the domain, when the domain links to its host, or when it
//! shares enough of the domain's salient words. Neighbours by links come first. A bounded number of documents of
//! the domain is looked at, however large it is.

use std::collections::HashMap;

use tantivy::query::{
    BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, Occur, Query as IndexQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, TERMINATED, Term};

use crate::address::site_term;
use crate::analysis::{Kind, Language, each_word, folded};
use crate::display_doc::{DecodedBlock, DisplayDoc};
use crate::sub_index::SubIndexSearcher;
use crate::vocabulary::SCORED;

/// How many documents of the domain are looked at.
const MAX_SAMPLE: usize = 50;

/// How many hosts that the domain links to are followed, those with most links first.
const MAX_HOSTS: usize = 50;

/// How many words are taken for salient, ...
const SALIENT_WORDS: usize = 12;
/// ... of so many whose frequency in the index is asked for ...
const MAX_ASKED: usize = 200;
/// ... and how many of the salient ones a document needs: this share, and at least two.
const SHARED_PART: usize = 3;

/// Score of a link relative to the words, which count as in any search times [`WORDS_BOOST`].
const LINK_SCORE: f32 = 10.0;
const WORDS_BOOST: f32 = 0.1;

/// Words of the documents of a domain, in the sample.
#[derive(Default)]
struct DomainTerms {
    /// How many documents link to a host.
    hosts: HashMap<String, usize>,
    /// How often a word occurs.
    words: HashMap<String, u32>,
}

/// Returns the query for the documents related to `host`, none of which is of `host` itself.
pub(crate) fn related(pages: &SubIndexSearcher, host: &str) -> tantivy::Result<Box<dyn IndexQuery>> {
    let Some(site) = site_term(host) else {
        return Ok(Box::new(EmptyQuery));
    };
    let fields = &pages.fields;
    let portrait = portrait(pages, &site)?;
    let mut ways = vec![(Occur::Should, by_term(fields.links, &site))];
    let mut hosts: Vec<(usize, &String)> =
        portrait.hosts.iter().map(|(host, &count)| (count, host)).collect();
    hosts.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let linked = hosts.into_iter().take(MAX_HOSTS).map(|(_, host)| by_term(fields.site, host));
    let linked: Vec<_> = linked.map(|host| (Occur::Should, host)).collect();
    if !linked.is_empty() {
        // The sum over hosts and their parents would favour deep subdomains.
        ways.push((Occur::Should, constant(Box::new(BooleanQuery::new(linked)))));
    }
    ways.extend(by_words(pages, &portrait.words)?.map(|words| (Occur::Should, words)));
    let any: Box<dyn IndexQuery> = Box::new(BooleanQuery::new(ways));
    let own: Box<dyn IndexQuery> = Box::new(term(fields.site, &site, IndexRecordOption::Basic));
    Ok(Box::new(BooleanQuery::new(vec![(Occur::Must, any), (Occur::MustNot, own)])))
}

fn term(field: Field, text: &str, record: IndexRecordOption) -> TermQuery {
    TermQuery::new(Term::from_field_text(field, text), record)
}

fn by_term(field: Field, text: &str) -> Box<dyn IndexQuery> {
    constant(Box::new(term(field, text, IndexRecordOption::Basic)))
}

fn constant(query: Box<dyn IndexQuery>) -> Box<dyn IndexQuery> {
    Box::new(ConstScoreQuery::new(query, LINK_SCORE))
}

fn portrait(pages: &SubIndexSearcher, site: &str) -> tantivy::Result<DomainTerms> {
    let mut portrait = DomainTerms::default();
    let term = Term::from_field_text(pages.fields.site, site);
    let mut sampled = 0;
    for (segment, store) in pages.searcher.segment_readers().iter().zip(&pages.generation.stores) {
        let index = segment.inverted_index(pages.fields.site)?;
        let Some(mut postings) = index.read_postings(&term, IndexRecordOption::Basic)? else {
            continue;
        };
        while postings.doc() != TERMINATED && sampled < MAX_SAMPLE {
            if !segment.is_deleted(postings.doc()) {
                sampled += 1;
                let bytes = store.get_document_bytes(postings.doc())?;
                if let Some(card) = DisplayDoc::decode(&bytes) {
                    portrait.add(&card);
                }
            }
            postings.advance();
        }
    }
    Ok(portrait)
}

impl DomainTerms {
    fn add(&mut self, card: &DisplayDoc<'_>) {
        for host in card.head.linked.split_whitespace() {
            *self.hosts.entry(host.to_owned()).or_default() += 1;
        }
        let beginning = card.first_block();
        let passages = beginning.iter().flat_map(DecodedBlock::passages);
        let language = Language::from_code(card.head.language);
        for text in [card.head.title, card.head.description].into_iter().chain(passages) {
            each_word(text, |word| {
                let exact = folded(word.lower);
                let says_little = exact.len() < 3 || exact.bytes().all(|byte| byte.is_ascii_digit());
                if says_little || word.kind == Kind::Last || word.kind == Kind::Single {
                    return;
                }
                let form = match language.filter(|_| word.kind == Kind::Letters) {
                    Some(language) if language.is_stop_word(&exact) => return,
                    Some(language) => {
                        let mut stem = String::new();
                        language.stem(word.lower, &mut stem);
                        stem
                    }
                    None => exact,
                };
                *self.words.entry(form).or_default() += 1;
            });
        }
    }
}

/// Returns the query for documents with several of the words that are frequent here and rare elsewhere.
fn by_words(
    pages: &SubIndexSearcher,
    words: &HashMap<String, u32>,
) -> tantivy::Result<Option<Box<dyn IndexQuery>>> {
    let mut frequent: Vec<(u32, &String)> = words.iter().map(|(word, &count)| (count, word)).collect();
    frequent.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let documents = pages.searcher.num_docs() as f32;
    let mut salient = Vec::new();
    for (count, word) in frequent.into_iter().take(MAX_ASKED) {
        let term = Term::from_field_text(pages.fields.terms, word);
        let doc_freq = pages.searcher.doc_freq(&term)? as f32;
        // A word of half of all documents tells no two of them apart.
        if doc_freq >= 2.0 && (doc_freq <= documents / 2.0 || documents < 10.0) {
            salient.push(((count as f32).ln_1p() * (documents / doc_freq).ln_1p(), term));
        }
    }
    salient.sort_by(|a, b| b.0.total_cmp(&a.0));
    salient.truncate(SALIENT_WORDS);
    if salient.len() < 2 {
        return Ok(None);
    }
    let needed = salient.len().div_ceil(SHARED_PART).max(2);
    let terms = salient
        .into_iter()
        .map(|(_, term)| -> Box<dyn IndexQuery> { Box::new(TermQuery::new(term, SCORED)) });
    let shared = BooleanQuery::union_with_minimum_required_clauses(terms.collect(), needed);
    Ok(Some(Box::new(BoostQuery::new(Box::new(shared), WORDS_BOOST))))
}
