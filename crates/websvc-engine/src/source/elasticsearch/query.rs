//! Compiles a request to the query language that Elasticsearch, OpenSearch and Quickwit share.
//!
//! Only `bool`, `match`, `match_phrase`, `term`, `terms`, `range`, `exists` and `match_all` are used, and for `related:`,
//! which Quickwit does not support, `more_like_this`. Boosts are set on
//! `bool`, because Quickwit rejects them on the fields of `multi_match`.

use serde_json::{Value, json};
use websvc_index::{EXPLICIT_LABEL, NEWS_LABEL, folded_words, label_of_country, one_extension, site_entries};
use websvc_query::{Node, Operator, Sort, Term};
use websvc_validate::{DomainFilter, SourceKind};

use super::mapping::{RETURNED_FIELDS, WITH_IMAGES, field};
use super::related::RelatedQueries;
use crate::source::SourceRequest;

/// The fields that words are searched in, with their boosts.
const PAGE_FIELDS: &[(&str, f64)] =
    &[(field::TITLE, 3.0), (field::HEADINGS, 2.0), (field::URL_WORDS, 1.5), (field::BODY, 1.0)];
const PAGE_PHRASE_FIELDS: &[&str] = &[field::TITLE, field::HEADINGS, field::BODY];
const IMAGE_FIELDS: &[(&str, f64)] = &[(field::IMAGE_WORDS, 1.0)];
const IMAGE_PHRASE_FIELDS: &[&str] = &[field::IMAGE_WORDS];

/// The maximum number of words for which documents with all words come before all others. In longer queries, many words
/// are dispensable (as in the embedded index).
const MAX_REQUIRED_WORDS: usize = 4;

/// A boost larger than any sum of other scores.
const ALL_WORDS_BOOST: f64 = 1000.0;
const ALL_OF_MANY_WORDS_BOOST: f64 = 10.0;

const ADJACENT_BOOST: f64 = 2.0;

/// The boost of pages from the country of the user. It only decides between pages of similar score.
const COUNTRY_BOOST: f64 = 0.5;

/// The approximate length of a snippet.
const SNIPPET_CHARS: usize = 240;

/// The parts of a search that become one query.
#[derive(Clone, Copy)]
pub(super) struct QueryContext<'a> {
    pub(super) request: &'a SourceRequest<'a>,
    /// The country of the user.
    pub(super) country: Option<&'a str>,
    /// The queries for the domains of `related:`. Without an entry, the operator is ignored.
    pub(super) related: &'a RelatedQueries,
    /// Hosts whose pages are left out in addition to those that the request excludes.
    pub(super) excluded_hosts: &'a [String],
}

/// Returns the body of a search; `None` if the query is empty.
pub(super) fn body(context: &QueryContext<'_>, from: usize, size: usize) -> Option<Value> {
    let request = context.request;
    let query = Compiler { kind: request.kind, related: context.related }.compile(context)?;
    let sort = match request.tbs.map(|tbs| tbs.sort).unwrap_or_default() {
        Sort::Relevance => json!([{"_score": {"order": "desc"}}]),
        Sort::Date => json!([{field::DATE: {"order": "desc"}}, {"_score": {"order": "desc"}}]),
    };
    let mut body = json!({
        "query": query,
        "from": from,
        "size": size,
        "sort": sort,
        "_source": RETURNED_FIELDS,
        "track_total_hits": false,
    });
    if request.highlights && request.kind != SourceKind::Images {
        body["highlight"] = json!({
            "pre_tags": [""],
            "post_tags": [""],
            "fields": {field::BODY: {"fragment_size": SNIPPET_CHARS, "number_of_fragments": 1}},
        });
    }
    Some(body)
}

/// The conditions of a request, by their effect.
#[derive(Default)]
struct Conditions {
    /// They must match, and contribute to the score.
    must: Vec<Value>,
    /// They must match.
    filter: Vec<Value>,
    must_not: Vec<Value>,
    /// They only contribute to the score.
    should: Vec<Value>,
}

struct Compiler<'a> {
    kind: SourceKind,
    related: &'a RelatedQueries,
}

impl Compiler<'_> {
    fn compile(&self, context: &QueryContext<'_>) -> Option<Value> {
        let request = context.request;
        let mut conditions = Conditions::default();
        let mut words = Vec::new();
        let root = request.query.root()?;
        let parts = if let Node::And(children) = root { &children[..] } else { std::slice::from_ref(root) };
        for part in parts {
            match part {
                Node::Word(text) => words.extend(has_words(text).then_some(text.as_str())),
                Node::Not(child) => conditions.must_not.extend(self.node(child)),
                // Pages that are related by links rank first.
                Node::Operator(Operator::Related(_)) => conditions.must.extend(self.node(part)),
                Node::Operator(_) => conditions.filter.extend(self.node(part)),
                Node::And(_) | Node::Or(_) | Node::Phrase(_) => conditions.must.extend(self.node(part)),
            }
        }
        self.words(&words, parts.iter().any(has_text), &mut conditions);
        let Conditions { must, filter, must_not, .. } = &conditions;
        if must.is_empty() && filter.is_empty() && must_not.is_empty() {
            return None;
        }
        self.add_filters(request, context.country, &mut conditions);
        if !context.excluded_hosts.is_empty() {
            conditions.must_not.push(json!({"terms": {field::SITES: context.excluded_hosts}}));
        }
        let Conditions { mut must, filter, must_not, should } = conditions;
        if must.is_empty() {
            must.push(json!({"match_all": {}}));
        }
        Some(json!({"bool": {"must": must, "filter": filter, "must_not": must_not, "should": should}}))
    }

    /// Adds the plain words. One match suffices, or none if there is another required text; more matches score higher.
    fn words(&self, words: &[&str], has_required_text: bool, conditions: &mut Conditions) {
        let Some(any) = any_of(words.iter().map(|word| self.word(word)).collect()) else { return };
        if has_required_text {
            conditions.should.push(any);
        } else {
            conditions.must.push(any);
        }
        if words.len() < 2 {
            return;
        }
        let boost = if words.len() <= MAX_REQUIRED_WORDS { ALL_WORDS_BOOST } else { ALL_OF_MANY_WORDS_BOOST };
        let all = all_of(words.iter().map(|word| self.word(word)).collect());
        conditions.should.extend(all.map(|all| constant_score(&all, boost)));
        conditions
            .should
            .extend(self.phrase(&words.join(" ")).map(|phrase| boosted(&phrase, ADJACENT_BOOST)));
    }

    fn node(&self, node: &Node) -> Option<Value> {
        match node {
            Node::And(children) => all_of(children.iter().filter_map(|child| self.node(child)).collect()),
            Node::Or(children) => any_of(children.iter().filter_map(|child| self.node(child)).collect()),
            Node::Not(child) => self.node(child).map(|child| none_of(&child)),
            Node::Word(text) => has_words(text).then(|| self.word(text)),
            Node::Phrase(text) => self.phrase(text),
            Node::Operator(operator) => self.operator(operator),
        }
    }

    fn word(&self, text: &str) -> Value {
        let fields = match self.kind {
            SourceKind::Web | SourceKind::News => PAGE_FIELDS,
            SourceKind::Images => IMAGE_FIELDS,
        };
        let alternatives: Vec<Value> =
            fields.iter().map(|(name, boost)| boosted(&all_words(name, text), *boost)).collect();
        either(&alternatives)
    }

    fn phrase(&self, text: &str) -> Option<Value> {
        let fields = match self.kind {
            SourceKind::Web | SourceKind::News => PAGE_PHRASE_FIELDS,
            SourceKind::Images => IMAGE_PHRASE_FIELDS,
        };
        let alternatives: Vec<Value> = fields.iter().map(|name| phrase_match(name, text)).collect();
        has_words(text).then(|| either(&alternatives))
    }

    fn operator(&self, operator: &Operator) -> Option<Value> {
        let is_images = self.kind == SourceKind::Images;
        match operator {
            // An invalid host matches no pages.
            Operator::Site(site) => {
                let entries = site_entries(site).unwrap_or_else(|| vec![String::new()]);
                all_of(entries.iter().map(|entry| term(field::SITES, entry)).collect())
            }
            Operator::FileType(extension) => {
                let name = if is_images { field::IMAGE_TYPES } else { field::EXTENSIONS };
                Some(term(name, one_extension(extension)))
            }
            Operator::InUrl(word) => self.in_url(word),
            Operator::AllInUrl(words) => all_of(words.iter().filter_map(|word| self.in_url(word)).collect()),
            Operator::InTitle(word) => self.in_title(word),
            Operator::AllInTitle(words) => {
                all_of(words.iter().filter_map(|word| self.in_title(word)).collect())
            }
            Operator::ImageSize(size) if is_images => {
                Some(term(field::IMAGE_SIZES, &format!("{}x{}", size.width, size.height)))
            }
            Operator::Related(domain) => self.related.get(domain).cloned(),
            // These are reported in a warning, or decided for each image.
            Operator::ImageSize(_) | Operator::Larger(_) => None,
        }
    }

    fn in_url(&self, argument: &Term) -> Option<Value> {
        let name = match self.kind {
            SourceKind::Web | SourceKind::News => field::URL_WORDS,
            SourceKind::Images => field::IMAGE_URL_WORDS,
        };
        let words = folded_words(argument.text());
        (!words.is_empty()).then(|| phrase_match(name, &words))
    }

    fn in_title(&self, argument: &Term) -> Option<Value> {
        let name = match self.kind {
            SourceKind::Web | SourceKind::News => field::TITLE,
            SourceKind::Images => field::IMAGE_WORDS,
        };
        has_words(argument.text()).then(|| match argument {
            Term::Word(text) => all_words(name, text),
            Term::Phrase(text) => phrase_match(name, text),
        })
    }

    /// Adds the filters outside of the query.
    fn add_filters(&self, request: &SourceRequest<'_>, country: Option<&str>, conditions: &mut Conditions) {
        match self.kind {
            SourceKind::Web => {}
            SourceKind::News => conditions.filter.push(term(field::LABELS, NEWS_LABEL)),
            SourceKind::Images => conditions.filter.push(term(field::LABELS, WITH_IMAGES)),
        }
        if request.safe {
            conditions.must_not.push(term(field::LABELS, EXPLICIT_LABEL));
        }
        match request.domains {
            DomainFilter::Any => {}
            DomainFilter::Include(hosts) => conditions.filter.push(json!({"terms": {field::SITES: hosts}})),
            DomainFilter::Exclude(hosts) if hosts.is_empty() => {}
            DomainFilter::Exclude(hosts) => conditions.must_not.push(json!({"terms": {field::SITES: hosts}})),
        }
        if let Some(country) = country {
            conditions
                .should
                .push(constant_score(&term(field::LABELS, &label_of_country(country)), COUNTRY_BOOST));
        }
        conditions.filter.extend(request.tbs.and_then(|tbs| tbs.range).map(|range| {
            let (first, last) = range.seconds(request.now);
            let timestamp = |second: i64| jiff::Timestamp::from_second(second).ok().map(|at| at.to_string());
            let mut bounds = serde_json::Map::new();
            bounds.extend(first.and_then(timestamp).map(|at| ("gte".to_owned(), at.into())));
            bounds.extend(last.and_then(timestamp).map(|at| ("lte".to_owned(), at.into())));
            if bounds.is_empty() {
                json!({"exists": {"field": field::DATE}})
            } else {
                json!({"range": {field::DATE: bounds}})
            }
        }));
    }
}

/// Returns whether a node of the top level requires a text. Plain words at the top level only rank.
fn has_text(node: &Node) -> bool {
    match node {
        Node::Phrase(text) => has_words(text),
        Node::Or(children) | Node::And(children) => {
            children.iter().any(|child| matches!(child, Node::Word(_)) || has_text(child))
        }
        Node::Word(_) | Node::Not(_) | Node::Operator(_) => false,
    }
}

fn has_words(text: &str) -> bool {
    !folded_words(text).is_empty()
}

fn term(name: &str, value: &str) -> Value {
    json!({"term": {name: {"value": value}}})
}

fn all_words(name: &str, text: &str) -> Value {
    json!({"match": {name: {"query": text, "operator": "AND"}}})
}

fn phrase_match(name: &str, text: &str) -> Value {
    json!({"match_phrase": {name: {"query": text}}})
}

fn boosted(query: &Value, boost: f64) -> Value {
    json!({"bool": {"must": [query], "boost": boost}})
}

/// Returns a query with the same score for all matches.
fn constant_score(query: &Value, boost: f64) -> Value {
    json!({"bool": {"filter": [query], "must": [{"match_all": {"boost": boost}}]}})
}

fn none_of(query: &Value) -> Value {
    json!({"bool": {"must": [{"match_all": {}}], "must_not": [query]}})
}

fn either(queries: &[Value]) -> Value {
    json!({"bool": {"should": queries, "minimum_should_match": 1}})
}

fn any_of(mut queries: Vec<Value>) -> Option<Value> {
    if queries.len() > 1 { Some(either(&queries)) } else { queries.pop() }
}

fn all_of(mut queries: Vec<Value>) -> Option<Value> {
    if queries.len() > 1 { Some(json!({"bool": {"must": queries}})) } else { queries.pop() }
}
