//! Compiles a request to the query language that Elasticsearch, OpenSearch and Quickwit share.
//!
//! Only `bool`, `match`, `match_phrase`, `term`, `terms`, `range`, `exists` and `match_all` are used, and what Quickwit
//! does not support: `more_like_this` for `related:`, `distance_feature` for fresh pages, and [stems](super::stems).
//! Boosts are set on `bool`, because Quickwit rejects them on the fields of `multi_match`.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use websvc_index::{EXPLICIT_LABEL, NEWS_LABEL, folded_words, label_of_country, one_extension, site_entries};
use websvc_query::{Node, Operator, Sort, Term};
use websvc_validate::{DomainFilter, SourceKind};

use super::clauses::{all_of, any_of, constant_score, has_words, none_of, phrase_match, term};
use super::mapping::{RETURNED_FIELDS, field};
use super::record::WITH_IMAGES;
use super::related::RelatedQueries;
use super::stems::Stems;
use super::words::{WordQueries, Words};
use crate::source::SourceRequest;
use crate::source::location::places_of;

/// The boost of pages from the country of the user. It only decides between pages of similar score.
const COUNTRY_BOOST: f64 = 0.5;

/// The boost of pages that name the city of the user, and of those that name the region.
const PLACE_BOOSTS: [f64; 2] = [1.5, 0.6];

/// The boost of a page that was published now. A page that is one year old has half of it, as in the embedded index.
const FRESHNESS_BOOST: f64 = 0.5;

/// The time by which a date may be in the future, because time zones are often missing or wrong.
const MAX_AHEAD: SignedDuration = SignedDuration::from_hours(24);

/// The approximate length of a snippet.
const SNIPPET_CHARS: usize = 240;

/// The number of passages of a stemmed text, of which the longest is shown.
const STEMMED_PASSAGES: usize = 3;

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
    /// The stemmed languages; `None` if the server is Quickwit, which has no stems and no queries for distances.
    pub(super) stems: Option<&'a Stems>,
}

/// Returns the body of a search; `None` if the query is empty.
pub(super) fn body(context: &QueryContext<'_>, from: usize, size: usize) -> Option<Value> {
    let request = context.request;
    let words = Words::new(request.kind, context.stems);
    let query = Compiler { kind: request.kind, related: context.related, words }.compile(context)?;
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
        let passages = |count: usize| json!({"fragment_size": SNIPPET_CHARS, "number_of_fragments": count});
        let mut fields = Map::from_iter([(field::BODY.to_owned(), passages(1))]);
        // Of stemmed texts, the title and headings are passages, too.
        let stems = context.stems.into_iter().flat_map(Stems::fields);
        fields.extend(stems.map(|stems| (stems.text, passages(STEMMED_PASSAGES))));
        body["highlight"] = json!({"pre_tags": [""], "post_tags": [""], "fields": fields});
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
    words: Words<'a>,
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
        self.add_words(&words, parts.iter().any(has_text), &mut conditions);
        let Conditions { must, filter, must_not, .. } = &conditions;
        if must.is_empty() && filter.is_empty() && must_not.is_empty() {
            return None;
        }
        self.add_filters(request, context.country, &mut conditions);
        if context.stems.is_some() {
            conditions.should.extend(freshness(request.now));
        }
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
    fn add_words(&self, words: &[&str], has_required_text: bool, conditions: &mut Conditions) {
        let WordQueries { any, bonuses } = self.words.ranked(words);
        if has_required_text {
            conditions.should.extend(any);
        } else {
            conditions.must.extend(any);
        }
        conditions.should.extend(bonuses);
    }

    fn node(&self, node: &Node) -> Option<Value> {
        match node {
            Node::And(children) => all_of(children.iter().filter_map(|child| self.node(child)).collect()),
            Node::Or(children) => any_of(children.iter().filter_map(|child| self.node(child)).collect()),
            Node::Not(child) => self.node(child).map(|child| none_of(&child)),
            Node::Word(text) => has_words(text).then(|| self.words.word(text)),
            Node::Phrase(text) => self.words.phrase(text),
            Node::Operator(operator) => self.operator(operator),
        }
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
        has_words(argument.text()).then(|| match argument {
            Term::Word(text) => self.words.in_title(text),
            Term::Phrase(text) => self.words.phrase_in_title(text),
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
        for place in request.location.map(places_of).unwrap_or_default() {
            let boost = PLACE_BOOSTS[usize::from(place.is_region)];
            let names = place.names.iter().filter(|name| has_words(name));
            let named =
                names.flat_map(|name| [field::TITLE, field::BODY].map(|field| phrase_match(field, name)));
            conditions.should.extend(any_of(named.collect()).map(|named| constant_score(&named, boost)));
        }
        conditions.filter.extend(request.tbs.and_then(|tbs| tbs.range).map(|range| {
            let (first, last) = range.seconds(request.now);
            let timestamp = |second: i64| Timestamp::from_second(second).ok().map(|at| at.to_string());
            let mut bounds = Map::new();
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

/// Returns the query that scores fresh pages higher. Pages without a date of their own get no score.
fn freshness(now: Timestamp) -> Option<Value> {
    let latest = now.checked_add(MAX_AHEAD).ok()?;
    let distance = json!({"distance_feature": {"field": field::PUBLISHED, "origin": now.to_string(),
        "pivot": "365d", "boost": FRESHNESS_BOOST}});
    // A date far ahead is wrong, and would count like a date as far in the past.
    let is_past = json!({"range": {field::PUBLISHED: {"lte": latest.to_string()}}});
    Some(json!({"bool": {"must": [distance], "filter": [is_past]}}))
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
