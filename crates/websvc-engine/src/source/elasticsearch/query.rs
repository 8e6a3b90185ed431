//! A question in the query language that Elasticsearch, OpenSearch and Quickwit share.
//!
//! Only `bool`, `match`, `match_phrase`, `term`, `terms`, `range`, `exists` and `match_all` are used. Weights stand on
//! `bool`, because Quickwit refuses them on fields of `multi_match`.

use serde_json::{Value, json};
use websvc_index::{EXPLICIT_LABEL, NEWS_LABEL, folded_words, label_of_country, one_extension, site_entries};
use websvc_query::{Node, Operator, Sort, Term};
use websvc_validate::{DomainFilter, SourceKind};

use super::mapping::{SHOWN, WITH_IMAGES, field};
use crate::source::SourceRequest;

/// The fields that a word is looked for in, with their weights.
const PAGE_FIELDS: &[(&str, f64)] =
    &[(field::TITLE, 3.0), (field::HEADINGS, 2.0), (field::URL_WORDS, 1.5), (field::BODY, 1.0)];
const PAGE_PHRASE_FIELDS: &[&str] = &[field::TITLE, field::HEADINGS, field::BODY];
const IMAGE_FIELDS: &[(&str, f64)] = &[(field::IMAGE_WORDS, 1.0)];
const IMAGE_PHRASE_FIELDS: &[&str] = &[field::IMAGE_WORDS];

/// Up to so many words, documents that lack one come after all that have all; in longer ones many words are
/// dispensable (as in the embedded index).
const KEYWORDS: usize = 4;

/// More than any sum of matches.
const ALL_WORDS: f64 = 1000.0;
const ALL_OF_MANY_WORDS: f64 = 10.0;

const SIDE_BY_SIDE: f64 = 2.0;

/// What a page of the searcher's country gains: it passes pages that are about as good.
const COUNTRY: f64 = 0.5;

/// About so many characters has the passage that is shown.
const PASSAGE_CHARS: usize = 240;

/// Returns the body of a search; `None` when the query says nothing. `country` is the searcher's.
pub(super) fn body(
    ask: &SourceRequest<'_>,
    country: Option<&str>,
    from: usize,
    size: usize,
) -> Option<Value> {
    let query = Compiler { kind: ask.kind }.compile(ask, country)?;
    let sort = match ask.tbs.map(|tbs| tbs.sort).unwrap_or_default() {
        Sort::Relevance => json!([{"_score": {"order": "desc"}}]),
        Sort::Date => json!([{field::DATE: {"order": "desc"}}, {"_score": {"order": "desc"}}]),
    };
    let mut body = json!({
        "query": query,
        "from": from,
        "size": size,
        "sort": sort,
        "_source": SHOWN,
        "track_total_hits": false,
    });
    if ask.highlights && ask.kind != SourceKind::Images {
        body["highlight"] = json!({
            "pre_tags": [""],
            "post_tags": [""],
            "fields": {field::BODY: {"fragment_size": PASSAGE_CHARS, "number_of_fragments": 1}},
        });
    }
    Some(body)
}

/// The conditions of a question, by what they do.
#[derive(Default)]
struct Conditions {
    /// They must hold, and count for the order.
    must: Vec<Value>,
    /// They must hold.
    filter: Vec<Value>,
    must_not: Vec<Value>,
    /// They only count for the order.
    should: Vec<Value>,
}

struct Compiler {
    kind: SourceKind,
}

impl Compiler {
    fn compile(&self, ask: &SourceRequest<'_>, country: Option<&str>) -> Option<Value> {
        let mut conditions = Conditions::default();
        let mut words = Vec::new();
        let root = ask.query.root()?;
        let parts = if let Node::And(children) = root { &children[..] } else { std::slice::from_ref(root) };
        for part in parts {
            match part {
                Node::Word(text) => words.extend(says_something(text).then_some(text.as_str())),
                Node::Not(child) => conditions.must_not.extend(self.node(child)),
                Node::Operator(_) => conditions.filter.extend(self.node(part)),
                Node::And(_) | Node::Or(_) | Node::Phrase(_) => conditions.must.extend(self.node(part)),
            }
        }
        self.words(&words, &mut conditions);
        let Conditions { must, filter, must_not, .. } = &conditions;
        if must.is_empty() && filter.is_empty() && must_not.is_empty() {
            return None;
        }
        self.restrict(ask, country, &mut conditions);
        let Conditions { mut must, filter, must_not, should } = conditions;
        if must.is_empty() {
            must.push(json!({"match_all": {}}));
        }
        Some(json!({"bool": {"must": must, "filter": filter, "must_not": must_not, "should": should}}))
    }

    /// Adds the plain words: one of them is enough, and more are better.
    fn words(&self, words: &[&str], conditions: &mut Conditions) {
        let Some(some) = any_of(words.iter().map(|word| self.word(word)).collect()) else { return };
        conditions.must.push(some);
        if words.len() < 2 {
            return;
        }
        let weight = if words.len() <= KEYWORDS { ALL_WORDS } else { ALL_OF_MANY_WORDS };
        let all = all_of(words.iter().map(|word| self.word(word)).collect());
        conditions.should.extend(all.map(|all| constant(&all, weight)));
        conditions.should.extend(self.phrase(&words.join(" ")).map(|phrase| weighted(&phrase, SIDE_BY_SIDE)));
    }

    fn node(&self, node: &Node) -> Option<Value> {
        match node {
            Node::And(children) => all_of(children.iter().filter_map(|child| self.node(child)).collect()),
            Node::Or(children) => any_of(children.iter().filter_map(|child| self.node(child)).collect()),
            Node::Not(child) => self.node(child).map(|child| none_of(&child)),
            Node::Word(text) => says_something(text).then(|| self.word(text)),
            Node::Phrase(text) => self.phrase(text),
            Node::Operator(operator) => self.operator(operator),
        }
    }

    fn word(&self, text: &str) -> Value {
        let fields = match self.kind {
            SourceKind::Web | SourceKind::News => PAGE_FIELDS,
            SourceKind::Images => IMAGE_FIELDS,
        };
        let ways: Vec<Value> =
            fields.iter().map(|(name, weight)| weighted(&all_words(name, text), *weight)).collect();
        either(&ways)
    }

    fn phrase(&self, text: &str) -> Option<Value> {
        let fields = match self.kind {
            SourceKind::Web | SourceKind::News => PAGE_PHRASE_FIELDS,
            SourceKind::Images => IMAGE_PHRASE_FIELDS,
        };
        let ways: Vec<Value> = fields.iter().map(|name| side_by_side(name, text)).collect();
        says_something(text).then(|| either(&ways))
    }

    fn operator(&self, operator: &Operator) -> Option<Value> {
        let is_images = self.kind == SourceKind::Images;
        match operator {
            // A host that is none has no pages.
            Operator::Site(site) => {
                let entries = site_entries(site).unwrap_or_else(|| vec![String::new()]);
                all_of(entries.iter().map(|entry| term(field::SITES, entry)).collect())
            }
            Operator::FileType(extension) => {
                let name = if is_images { field::IMAGE_TYPES } else { field::EXTENSIONS };
                Some(term(name, one_extension(extension)))
            }
            Operator::InUrl(word) => in_url(word),
            Operator::AllInUrl(words) => all_of(words.iter().filter_map(in_url).collect()),
            Operator::InTitle(word) => self.in_title(word),
            Operator::AllInTitle(words) => {
                all_of(words.iter().filter_map(|word| self.in_title(word)).collect())
            }
            Operator::ImageSize(size) if is_images => {
                Some(term(field::IMAGE_SIZES, &format!("{}x{}", size.width, size.height)))
            }
            // Told in a warning, or decided image by image.
            Operator::Related(_) | Operator::ImageSize(_) | Operator::Larger(_) => None,
        }
    }

    fn in_title(&self, argument: &Term) -> Option<Value> {
        let name = match self.kind {
            SourceKind::Web | SourceKind::News => field::TITLE,
            SourceKind::Images => field::IMAGE_WORDS,
        };
        says_something(argument.text()).then(|| match argument {
            Term::Word(text) => all_words(name, text),
            Term::Phrase(text) => side_by_side(name, text),
        })
    }

    /// Adds what stands beside the query.
    fn restrict(&self, ask: &SourceRequest<'_>, country: Option<&str>, conditions: &mut Conditions) {
        match self.kind {
            SourceKind::Web => {}
            SourceKind::News => conditions.filter.push(term(field::LABELS, NEWS_LABEL)),
            SourceKind::Images => conditions.filter.push(term(field::LABELS, WITH_IMAGES)),
        }
        if ask.safe {
            conditions.must_not.push(term(field::LABELS, EXPLICIT_LABEL));
        }
        match ask.domains {
            DomainFilter::Any => {}
            DomainFilter::Include(hosts) => conditions.filter.push(json!({"terms": {field::SITES: hosts}})),
            DomainFilter::Exclude(hosts) if hosts.is_empty() => {}
            DomainFilter::Exclude(hosts) => conditions.must_not.push(json!({"terms": {field::SITES: hosts}})),
        }
        if let Some(country) = country {
            conditions.should.push(constant(&term(field::LABELS, &label_of_country(country)), COUNTRY));
        }
        conditions.filter.extend(ask.tbs.and_then(|tbs| tbs.range).map(|range| {
            let (first, last) = range.seconds(ask.now);
            let moment = |second: i64| jiff::Timestamp::from_second(second).ok().map(|at| at.to_string());
            let mut bounds = serde_json::Map::new();
            bounds.extend(first.and_then(moment).map(|at| ("gte".to_owned(), at.into())));
            bounds.extend(last.and_then(moment).map(|at| ("lte".to_owned(), at.into())));
            if bounds.is_empty() {
                json!({"exists": {"field": field::DATE}})
            } else {
                json!({"range": {field::DATE: bounds}})
            }
        }));
    }
}

fn says_something(text: &str) -> bool {
    !folded_words(text).is_empty()
}

fn in_url(argument: &Term) -> Option<Value> {
    let words = folded_words(argument.text());
    (!words.is_empty()).then(|| side_by_side(field::URL_WORDS, &words))
}

fn term(name: &str, value: &str) -> Value {
    json!({"term": {name: {"value": value}}})
}

fn all_words(name: &str, text: &str) -> Value {
    json!({"match": {name: {"query": text, "operator": "AND"}}})
}

fn side_by_side(name: &str, text: &str) -> Value {
    json!({"match_phrase": {name: {"query": text}}})
}

fn weighted(query: &Value, weight: f64) -> Value {
    json!({"bool": {"must": [query], "boost": weight}})
}

/// Returns a query that counts the same for all it matches.
fn constant(query: &Value, weight: f64) -> Value {
    json!({"bool": {"filter": [query], "must": [{"match_all": {"boost": weight}}]}})
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
