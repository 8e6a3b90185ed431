//! The syntax tree as filters of the index, and as words that rank.

use std::ops::Bound;

use tantivy::query::{
    AllQuery, BooleanQuery, ConstScoreQuery, EmptyQuery, Occur, PhraseQuery, Query as IndexQuery, RangeQuery,
    TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Searcher, Term as IndexTerm};
use websvc_query::{Node, Operator, Query, Site, Size, Term};

use crate::address::{path_term, port_term, site_term};
use crate::exclusion_query::ExclusionQuery;
use crate::related::related;
use crate::schema::{EXPLICIT, Fields, NEWS};
use crate::search::{DomainFilter, Safe, SearchOptions, Vertical};
use crate::sub_index::SubIndexSearcher;
use crate::vocabulary::{Compound, CompoundJoin, QueryWord, Vocabulary, literal_words};

type Boxed = Box<dyn IndexQuery>;

/// A query ready to run.
#[derive(Default)]
pub(crate) struct Compiled {
    /// Conditions that every hit must meet; they do not score.
    pub(crate) filters: Vec<Boxed>,
    /// The quoted texts of the top level, apart from the other filters because a long question may do without.
    pub(crate) phrases: Vec<Boxed>,
    /// How many plain words stand outside of quotes and operators.
    pub(crate) plain_words: usize,
    /// Conditions that no hit may meet.
    pub(crate) excluded: Vec<Boxed>,
    /// The words that rank, each once, in the order they were typed. Stop words have no forms.
    pub(crate) words: Vec<QueryWord>,
    /// Neighbours among them as one word, whether or not that occurs anywhere.
    pub(crate) compounds: Vec<Compound>,
    pub(crate) warnings: Vec<String>,
}

impl Compiled {
    /// Tells whether all words are quoted, so that what the quotes let through has them all.
    pub(crate) fn is_quoted(&self) -> bool {
        self.plain_words == 0 && self.filters.is_empty() && !self.phrases.is_empty()
    }

    /// Tells whether the query asks for nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.filters.is_empty()
            && self.phrases.is_empty()
            && self.words.is_empty()
            && self.excluded.is_empty()
    }
}

/// Compiles queries against one state of the index.
pub(crate) struct Compiler<'a> {
    pub(crate) searcher: &'a Searcher,
    pub(crate) fields: &'a Fields,
    pub(crate) vocabulary: &'a Vocabulary,
    /// Vertical of the search.
    pub(crate) vertical: Vertical,
    /// The pages, where the neighbours of a domain are looked up for images too.
    pub(crate) pages: &'a SubIndexSearcher,
}

impl Compiler<'_> {
    pub(crate) fn compile(&self, query: &Query) -> tantivy::Result<Compiled> {
        let mut out = Compiled::default();
        match query.root() {
            Some(Node::And(children)) => {
                for child in children {
                    self.required(child, &mut out)?;
                }
            }
            Some(root) => self.required(root, &mut out)?,
            None => {}
        }
        let mut previous: Option<QueryWord> = None;
        for text in query.words() {
            let words = self.vocabulary.words(text, self.searcher, self.fields)?;
            for (at, word) in words.into_iter().enumerate() {
                let tight = at > 0 && !text.contains(char::is_whitespace);
                let bond = if tight { CompoundJoin::Tight } else { CompoundJoin::Loose };
                let previous = previous.replace(word.clone());
                let compound = previous.and_then(|previous| self.vocabulary.compound(&previous, &word, bond));
                out.compounds.extend(compound);
                match out.words.iter_mut().find(|known| known.exact == word.exact) {
                    Some(known) => known.count += 1,
                    None => out.words.push(word),
                }
            }
        }
        Ok(out)
    }

    /// Adds a condition of the top level: plain words only rank, everything else filters.
    fn required(&self, node: &Node, out: &mut Compiled) -> tantivy::Result<()> {
        match node {
            Node::Word(_) => out.plain_words += 1,
            Node::Phrase(text) => out.phrases.extend(phrase(self.fields.exact, text).map(constant)),
            Node::Not(child) => {
                if let Some(filter) = self.filter(child, &mut out.warnings)? {
                    out.excluded.push(Box::new(ExclusionQuery(filter)));
                }
            }
            // Neighbours differ in how near they are.
            Node::Operator(Operator::Related(host)) => out.filters.push(related(self.pages, host)?),
            Node::And(_) | Node::Or(_) | Node::Operator(_) => {
                if let Some(filter) = self.filter(node, &mut out.warnings)? {
                    out.filters.push(constant(filter));
                }
            }
        }
        Ok(())
    }

    /// Returns the documents that a node matches, or `None` when it says nothing (punctuation, or an operator
    /// that web search does not have).
    fn filter(&self, node: &Node, warnings: &mut Vec<String>) -> tantivy::Result<Option<Boxed>> {
        Ok(match node {
            Node::And(children) => self.join(children, Occur::Must, warnings)?,
            Node::Or(children) => self.join(children, Occur::Should, warnings)?,
            Node::Not(child) => self.filter(child, warnings)?.map(negation),
            Node::Word(text) => {
                let words = self.vocabulary.words(text, self.searcher, self.fields)?;
                all(words.iter().map(|word| self.word(word)).collect())
            }
            Node::Phrase(text) => phrase(self.fields.exact, text),
            Node::Operator(operator) => self.operator(operator, warnings)?,
        })
    }

    fn join(
        &self,
        children: &[Node],
        occur: Occur,
        warnings: &mut Vec<String>,
    ) -> tantivy::Result<Option<Boxed>> {
        let mut clauses = Vec::with_capacity(children.len());
        for child in children {
            if let Some(filter) = self.filter(child, warnings)? {
                clauses.push((occur, filter));
            }
        }
        Ok((!clauses.is_empty()).then(|| -> Boxed { Box::new(BooleanQuery::new(clauses)) }))
    }

    /// Returns the documents that contain a word in any of its forms.
    fn word(&self, word: &QueryWord) -> Boxed {
        if word.forms.is_empty() {
            return term(self.fields.exact, &word.exact);
        }
        any(word.forms.iter().map(|form| term(self.fields.terms, form)).collect())
    }

    fn operator(&self, operator: &Operator, warnings: &mut Vec<String>) -> tantivy::Result<Option<Boxed>> {
        Ok(match operator {
            Operator::Site(site) => Some(self.site(site)),
            Operator::FileType(extension) => Some(self.extension(extension)),
            Operator::InUrl(term) => phrase(self.fields.url_words, term.text()),
            Operator::AllInUrl(terms) => {
                all(terms.iter().filter_map(|term| phrase(self.fields.url_words, term.text())).collect())
            }
            Operator::InTitle(term) => self.in_title(term)?,
            Operator::AllInTitle(terms) => {
                let mut filters = Vec::with_capacity(terms.len());
                for term in terms {
                    filters.extend(self.in_title(term)?);
                }
                all(filters)
            }
            Operator::Related(host) => Some(related(self.pages, host)?),
            Operator::ImageSize(_) | Operator::Larger(_) if self.vertical != Vertical::Images => {
                warnings.push(format!("the operator \"{operator}\" applies to images only and was ignored"));
                None
            }
            Operator::ImageSize(size) => Some(self.exactly(*size)),
            Operator::Larger(size) => Some(self.larger(*size)),
        })
    }

    fn exactly(&self, size: Size) -> Boxed {
        let side = |field, side: u32| self.between(field, side, side);
        let sides = vec![side(self.fields.width, size.width), side(self.fields.height, size.height)];
        Box::new(BooleanQuery::intersection(sides))
    }

    /// Returns the images that are at least as wide and as high, and not of exactly this size.
    fn larger(&self, size: Size) -> Boxed {
        let side = |field, side: u32| (Occur::Must, self.between(field, side, u32::MAX));
        Box::new(BooleanQuery::new(vec![
            side(self.fields.width, size.width),
            side(self.fields.height, size.height),
            (Occur::MustNot, Box::new(ExclusionQuery(self.exactly(size)))),
        ]))
    }

    fn between(&self, field: Field, least: u32, most: u32) -> Boxed {
        let bound = |side: u32| Bound::Included(IndexTerm::from_field_u64(field, u64::from(side)));
        Box::new(RangeQuery::new(bound(least), bound(most)))
    }

    fn in_title(&self, argument: &Term) -> tantivy::Result<Option<Boxed>> {
        let text = match argument {
            Term::Phrase(text) => return Ok(phrase(self.fields.title, text)),
            Term::Word(text) => text,
        };
        let words = self.vocabulary.words(text, self.searcher, self.fields)?;
        let word = |word: &QueryWord| {
            let forms = Vocabulary::title_forms(word);
            any(forms.iter().map(|form| term(self.fields.title, form)).collect())
        };
        Ok(all(words.iter().map(word).collect()))
    }

    fn site(&self, site: &Site) -> Boxed {
        let Some(host) = site_term(&site.host) else {
            return Box::new(EmptyQuery);
        };
        let mut terms = vec![host];
        terms.extend(site.port.map(port_term));
        terms.extend(site.path.as_deref().map(path_term));
        all(terms.iter().map(|text| term(self.fields.site, text)).collect())
            .unwrap_or_else(|| Box::new(EmptyQuery))
    }

    fn extension(&self, extension: &str) -> Boxed {
        const SAME: [&[&str]; 5] = [
            &["html", "htm", "xhtml"],
            &["md", "markdown"],
            &["jpg", "jpeg"],
            &["txt", "text"],
            &["yml", "yaml"],
        ];
        let same = SAME.into_iter().find(|group| group.contains(&extension));
        any(same.unwrap_or(&[extension]).iter().map(|text| term(self.fields.extension, text)).collect())
    }

    /// Adds the filters that stand beside the query text.
    pub(crate) fn restrict(&self, options: &SearchOptions, out: &mut Compiled) {
        if options.vertical == Vertical::News {
            out.filters.push(constant(term(self.fields.label, NEWS)));
        }
        if options.safe == Safe::On {
            out.excluded.push(term(self.fields.label, EXPLICIT));
        }
        let sites = |hosts: &[String]| {
            let terms = hosts.iter().filter_map(|host| site_term(host));
            any(terms.map(|text| term(self.fields.site, &text)).collect())
        };
        match &options.domains {
            DomainFilter::Any => {}
            DomainFilter::Include(hosts) => out.filters.push(constant(sites(hosts))),
            DomainFilter::Exclude(hosts) => out.excluded.push(sites(hosts)),
        }
        if let Some(range) = options.time {
            let bound = |at: Option<i64>| {
                at.map_or(Bound::Unbounded, |at| {
                    Bound::Included(IndexTerm::from_field_i64(self.fields.date, at))
                })
            };
            let (from, to) = range.seconds(options.now);
            // A range without any bound still asks for a date.
            let from = from.or(to.is_none().then_some(i64::MIN));
            out.filters.push(constant(Box::new(RangeQuery::new(bound(from), bound(to)))));
        }
    }
}

fn term(field: Field, text: &str) -> Boxed {
    Box::new(TermQuery::new(IndexTerm::from_field_text(field, text), IndexRecordOption::Basic))
}

/// Returns the documents where the words of `text` stand side by side; `None` for a text without words.
pub(crate) fn phrase(field: Field, text: &str) -> Option<Boxed> {
    let words = literal_words(text);
    if let [(_, only)] = words.as_slice() {
        return Some(term(field, only));
    }
    let terms: Vec<_> =
        words.iter().map(|(offset, word)| (*offset, IndexTerm::from_field_text(field, word))).collect();
    (!terms.is_empty()).then(|| -> Boxed { Box::new(PhraseQuery::new_with_offset(terms)) })
}

fn any(mut filters: Vec<Boxed>) -> Boxed {
    match filters.len() {
        0 => Box::new(EmptyQuery),
        1 => filters.swap_remove(0),
        _ => Box::new(BooleanQuery::union(filters)),
    }
}

fn all(mut filters: Vec<Boxed>) -> Option<Boxed> {
    match filters.len() {
        0 | 1 => filters.pop(),
        _ => Some(Box::new(BooleanQuery::intersection(filters))),
    }
}

fn negation(filter: Boxed) -> Boxed {
    Box::new(BooleanQuery::new(vec![
        (Occur::Must, Box::new(AllQuery) as Boxed),
        (Occur::MustNot, Box::new(ExclusionQuery(filter))),
    ]))
}

fn constant(filter: Boxed) -> Boxed {
    Box::new(ConstScoreQuery::new(filter, 0.0))
}
