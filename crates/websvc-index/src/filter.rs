//! Compilation of a query's syntax tree into filters and scoring words.

use std::ops::Bound;

use tantivy::query::{AllQuery, BooleanQuery, ConstScoreQuery, EmptyQuery, Occur, RangeQuery};
use tantivy::schema::Field;
use tantivy::{Searcher, Term as IndexTerm};
use websvc_query::{Node, Operator, Query, Site, Size, Term};

use crate::address::{path_term, port_term, site_term};
use crate::compiled::{Boxed, Compiled, phrase, term};
use crate::document_terms::synonymous_extensions;
use crate::exclusion_query::ExclusionQuery;
use crate::related::related;
use crate::schema::{EXPLICIT, Fields, NEWS};
use crate::search_options::{DomainFilter, Safe, SearchOptions, Vertical};
use crate::sub_index::SubIndexSearcher;
use crate::vocabulary::{Abbreviations, QueryWord, Vocabulary};

/// A compiler of queries for one state of the index.
pub(crate) struct Compiler<'a> {
    pub(crate) searcher: &'a Searcher,
    pub(crate) fields: &'a Fields,
    pub(crate) vocabulary: &'a Vocabulary,
    /// Vertical of the search.
    pub(crate) vertical: Vertical,
    /// The pages, from which `related:` samples a domain, also in a search for images.
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
        self.add_words(query, &mut out)?;
        Ok(out)
    }

    /// Adds a node of the top level: plain words only score, all other nodes are filters.
    fn required(&self, node: &Node, out: &mut Compiled) -> tantivy::Result<()> {
        match node {
            Node::Word(_) => out.plain_words += 1,
            Node::Phrase(text) => out.phrases.extend(phrase(self.fields.exact, text).map(constant)),
            Node::Not(child) => {
                if let Some(filter) = self.filter(child, &mut out.warnings)? {
                    out.excluded.push(Box::new(ExclusionQuery(filter)));
                }
            }
            // Without a constant score: documents differ in how closely they are related.
            Node::Operator(Operator::Related(host)) => out.filters.push(related(self.pages, host)?),
            Node::And(_) | Node::Or(_) | Node::Operator(_) => {
                if let Some(filter) = self.filter(node, &mut out.warnings)? {
                    out.filters.push(constant(filter));
                }
            }
        }
        Ok(())
    }

    /// Returns the filter of a node; `None` for a node without effect (punctuation, or an operator that the vertical
    /// does not support).
    fn filter(&self, node: &Node, warnings: &mut Vec<String>) -> tantivy::Result<Option<Boxed>> {
        Ok(match node {
            Node::And(children) => self.join(children, Occur::Must, warnings)?,
            Node::Or(children) => self.join(children, Occur::Should, warnings)?,
            Node::Not(child) => self.filter(child, warnings)?.map(negation),
            Node::Word(text) => {
                let words = self.vocabulary.words(text, Abbreviations::Apart, self.searcher, self.fields)?;
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

    /// Returns the filter for documents with a word in any of its forms.
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
        let equal = |field, pixels: u32| self.between(field, pixels, pixels);
        let dimensions = vec![equal(self.fields.width, size.width), equal(self.fields.height, size.height)];
        Box::new(BooleanQuery::intersection(dimensions))
    }

    /// Returns the filter for images that have at least this width and height, without images of exactly this size.
    fn larger(&self, size: Size) -> Boxed {
        let at_least = |field, pixels: u32| (Occur::Must, self.between(field, pixels, u32::MAX));
        Box::new(BooleanQuery::new(vec![
            at_least(self.fields.width, size.width),
            at_least(self.fields.height, size.height),
            (Occur::MustNot, Box::new(ExclusionQuery(self.exactly(size)))),
        ]))
    }

    fn between(&self, field: Field, min: u32, max: u32) -> Boxed {
        let bound = |pixels: u32| Bound::Included(IndexTerm::from_field_u64(field, u64::from(pixels)));
        Box::new(RangeQuery::new(bound(min), bound(max)))
    }

    fn in_title(&self, argument: &Term) -> tantivy::Result<Option<Boxed>> {
        let text = match argument {
            Term::Phrase(text) => return Ok(phrase(self.fields.title, text)),
            Term::Word(text) => text,
        };
        let words = self.vocabulary.words(text, Abbreviations::Apart, self.searcher, self.fields)?;
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
        let filter = |text: &&str| term(self.fields.extension, text);
        match synonymous_extensions(extension) {
            Some(synonyms) => any(synonyms.iter().map(filter).collect()),
            None => filter(&extension),
        }
    }

    /// Adds the filters of the search options.
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
            let bound = |seconds: Option<i64>| {
                seconds.map_or(Bound::Unbounded, |seconds| {
                    Bound::Included(IndexTerm::from_field_i64(self.fields.date, seconds))
                })
            };
            let (from, to) = range.seconds(options.now);
            // A range without bounds still requires a date.
            let from = from.or(to.is_none().then_some(i64::MIN));
            out.filters.push(constant(Box::new(RangeQuery::new(bound(from), bound(to)))));
        }
    }
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
