//! The query of the operator `related:`.
//!
//! A document of another host is related to a domain if it links to the domain, if the domain links to its host, or if
//! it has enough of the salient words of the domain. Documents related by links rank first. Only a bounded sample of
//! the documents of the domain is read.

use std::collections::HashMap;

use tantivy::query::{
    BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, Occur, Query as IndexQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, TERMINATED, Term};

use crate::address::site_term;
use crate::analysis::{Kind, Language, detect, each_word, folded};
use crate::display_doc::{DecodedBlock, DisplayDoc};
use crate::sub_index::SubIndexSearcher;
use crate::vocabulary::SCORED;

/// Maximum documents in the sample of the domain.
const MAX_SAMPLE: usize = 50;

/// Maximum linked hosts in the query, those with the most links first.
const MAX_HOSTS: usize = 50;

/// Maximum salient words.
const SALIENT_WORDS: usize = 12;
/// Maximum words whose frequency in the index is looked up, the most frequent words of the sample first.
const MAX_WORDS: usize = 200;
/// A related document has at least one in this many of the salient words, and at least two.
const SALIENT_WORDS_PER_MATCH: usize = 3;

/// Score of a related document for links.
const LINK_SCORE: f32 = 10.0;
/// Factor of the BM25 scores of salient words, which makes them small relative to [`LINK_SCORE`].
const WORDS_BOOST: f32 = 0.1;

/// Linked hosts and words of the sample of a domain.
#[derive(Default)]
struct DomainTerms {
    /// Number of documents that link to each host.
    hosts: HashMap<String, usize>,
    /// Number of occurrences of each stem.
    words: HashMap<String, u32>,
}

/// Returns the query for documents related to `host`, without those of `host` itself.
pub(crate) fn related(pages: &SubIndexSearcher, host: &str) -> tantivy::Result<Box<dyn IndexQuery>> {
    let Some(site) = site_term(host) else {
        return Ok(Box::new(EmptyQuery));
    };
    let fields = &pages.fields;
    let domain_terms = sample_domain(pages, &site)?;
    let mut clauses = vec![(Occur::Should, by_term(fields.links, &site))];
    let mut hosts: Vec<(usize, &String)> =
        domain_terms.hosts.iter().map(|(host, &count)| (count, host)).collect();
    hosts.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let linked = hosts.into_iter().take(MAX_HOSTS).map(|(_, host)| by_term(fields.site, host));
    let linked: Vec<_> = linked.map(|host| (Occur::Should, host)).collect();
    if !linked.is_empty() {
        // A constant score, because the sum over hosts and their parents would prefer deep subdomains.
        clauses.push((Occur::Should, constant(Box::new(BooleanQuery::new(linked)))));
    }
    clauses.extend(by_words(pages, &domain_terms.words)?.map(|words| (Occur::Should, words)));
    let any: Box<dyn IndexQuery> = Box::new(BooleanQuery::new(clauses));
    let own_documents: Box<dyn IndexQuery> = Box::new(term(fields.site, &site, IndexRecordOption::Basic));
    Ok(Box::new(BooleanQuery::new(vec![(Occur::Must, any), (Occur::MustNot, own_documents)])))
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

/// Reads hosts and words from a sample of the documents of a site.
fn sample_domain(pages: &SubIndexSearcher, site: &str) -> tantivy::Result<DomainTerms> {
    let mut domain_terms = DomainTerms::default();
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
                if let Some(doc) = DisplayDoc::decode(&bytes) {
                    domain_terms.add(&doc);
                }
            }
            postings.advance();
        }
    }
    Ok(domain_terms)
}

impl DomainTerms {
    fn add(&mut self, doc: &DisplayDoc<'_>) {
        for host in doc.header.linked.split_whitespace() {
            *self.hosts.entry(host.to_owned()).or_default() += 1;
        }
        let first_block = doc.first_block();
        let passages = first_block.iter().flat_map(DecodedBlock::passages);
        let language = Language::from_code(doc.header.language);
        for text in [doc.header.title, doc.header.description].into_iter().chain(passages) {
            each_topic_word(text, language, |exact, lower| {
                let form = match language.filter(|_| lower.is_some()) {
                    Some(language) => {
                        let mut stem = String::new();
                        language.stem(lower.unwrap_or_default(), &mut stem);
                        stem
                    }
                    None => exact,
                };
                *self.words.entry(form).or_default() += 1;
            });
        }
    }
}

/// Calls `visit` with each word of a text that may describe its topic: the folded word, and if it consists of letters
/// the word in lower case. Short words, numbers and stop words are left out.
fn each_topic_word(text: &str, language: Option<Language>, mut visit: impl FnMut(String, Option<&str>)) {
    each_word(text, |word| {
        let exact = folded(word.lower);
        let is_unspecific = exact.len() < 3 || exact.bytes().all(|byte| byte.is_ascii_digit());
        if is_unspecific || word.kind == Kind::Last || word.kind == Kind::Single {
            return;
        }
        let is_letters = word.kind == Kind::Letters;
        if is_letters && language.is_some_and(|language| language.is_stop_word(&exact)) {
            return;
        }
        visit(exact, is_letters.then_some(word.lower));
    });
}

/// Returns the words of texts in one language that may describe their topic, as written but folded, each with its
/// number. Short words, numbers and stop words are left out. `declared` is the language that the author states.
#[must_use]
pub fn topic_words(texts: &[&str], declared: Option<&str>) -> HashMap<String, u32> {
    let language = Language::from_code(&detect(declared, &texts.join("\n")));
    let mut words = HashMap::new();
    for text in texts {
        each_topic_word(text, language, |exact, _| *words.entry(exact).or_default() += 1);
    }
    words
}

/// Returns the query for documents with several salient words, which are frequent in the sample and rare in the index.
fn by_words(
    pages: &SubIndexSearcher,
    words: &HashMap<String, u32>,
) -> tantivy::Result<Option<Box<dyn IndexQuery>>> {
    let mut frequent: Vec<(u32, &String)> = words.iter().map(|(word, &count)| (count, word)).collect();
    frequent.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let documents = pages.searcher.num_docs() as f32;
    let mut salient = Vec::new();
    for (count, word) in frequent.into_iter().take(MAX_WORDS) {
        let term = Term::from_field_text(pages.fields.terms, word);
        let doc_freq = pages.searcher.doc_freq(&term)? as f32;
        // A word in more than half of all documents does not distinguish them.
        if doc_freq >= 2.0 && (doc_freq <= documents / 2.0 || documents < 10.0) {
            salient.push(((count as f32).ln_1p() * (documents / doc_freq).ln_1p(), term));
        }
    }
    salient.sort_by(|a, b| b.0.total_cmp(&a.0));
    salient.truncate(SALIENT_WORDS);
    if salient.len() < 2 {
        return Ok(None);
    }
    let required = salient.len().div_ceil(SALIENT_WORDS_PER_MATCH).max(2);
    let terms = salient
        .into_iter()
        .map(|(_, term)| -> Box<dyn IndexQuery> { Box::new(TermQuery::new(term, SCORED)) });
    let query = BooleanQuery::union_with_minimum_required_clauses(terms.collect(), required);
    Ok(Some(Box::new(BoostQuery::new(Box::new(query), WORDS_BOOST))))
}
