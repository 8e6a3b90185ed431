//! Dates, authors and headlines from a page's JSON-LD, read leniently and within limits.

use crate::article::Genre;
use crate::dom::{Dom, NodeId, Tag};
use crate::limits::MAX_JSON_LD_BYTES;
use crate::text::collapsed;
use serde_json::Value;

/// How many JSON objects of one page are looked at.
const MAX_OBJECTS: usize = 2_000;

/// What JSON-LD says about the page.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Facts {
    pub(crate) headline: Option<String>,
    pub(crate) published: Option<String>,
    pub(crate) modified: Option<String>,
    pub(crate) author: Option<String>,
    /// The sorts of the articles that the page is said to be, outermost first.
    pub(crate) genres: Vec<Genre>,
    /// When the article was published, where it is an article that says so.
    pub(crate) article_published: Option<String>,
    /// The picture of the article, as written.
    pub(crate) image: Option<String>,
}

/// Reads all JSON-LD blocks of a page; what an article says wins over what a page or site says.
pub(crate) fn read(dom: &Dom) -> Facts {
    let mut articles = Facts::default();
    let mut others = Facts::default();
    for value in blocks(dom) {
        collect(&value, &mut articles, &mut others);
    }
    Facts {
        article_published: articles.published.clone(),
        genres: [articles.genres, others.genres].concat(),
        image: articles.image,
        headline: articles.headline.or(others.headline),
        published: articles.published.or(others.published),
        modified: articles.modified.or(others.modified),
        author: articles.author.or(others.author),
    }
}

/// Parses the JSON-LD blocks of a page, within the limits; those that are no JSON are left out.
pub(crate) fn blocks(dom: &Dom) -> Vec<Value> {
    let mut found = Vec::new();
    let mut budget = MAX_JSON_LD_BYTES;
    for id in dom.descendants(NodeId::ROOT).filter(|&id| dom.is(id, Tag::Script)) {
        let is_json_ld = dom
            .attribute(id, "type")
            .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/ld+json"));
        if !is_json_ld {
            continue;
        }
        let source: String = dom.children(id).map(|text| dom.text(text)).collect();
        let Some(left) = budget.checked_sub(source.len()) else { break };
        budget = left;
        found.extend(parse(&source));
    }
    found
}

/// Parses a block; comments around it and raw line breaks in strings are common mistakes.
fn parse(source: &str) -> Option<Value> {
    let source = source.trim().trim_start_matches("<!--").trim_end_matches("-->");
    let source = source.trim().trim_start_matches("//<![CDATA[").trim_end_matches("//]]>").trim();
    let source = source.trim_end_matches(';');
    serde_json::from_str(source).ok().or_else(|| {
        let repaired: String = source.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        serde_json::from_str(&repaired).ok()
    })
}

/// Visits the objects of a block breadth first, so that the outermost statement counts.
pub(crate) fn objects(value: &Value) -> impl Iterator<Item = &serde_json::Map<String, Value>> {
    let mut queue = std::collections::VecDeque::from([value]);
    let mut visited = 0;
    std::iter::from_fn(move || {
        loop {
            let value = queue.pop_front()?;
            visited += 1;
            if visited > MAX_OBJECTS {
                return None;
            }
            match value {
                Value::Array(items) => queue.extend(items),
                Value::Object(object) => {
                    let inner = ["@graph", "mainEntity", "mainEntityOfPage"];
                    queue.extend(inner.iter().filter_map(|key| object.get(*key)));
                    return Some(object);
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
    })
}

fn collect(value: &Value, articles: &mut Facts, others: &mut Facts) {
    for object in objects(value) {
        let facts = if is_article(object.get("@type")) { &mut *articles } else { &mut *others };
        facts.genres.extend(kinds(object.get("@type")).find_map(Genre::of));
        fill(&mut facts.image, picture(object.get("image")));
        fill(&mut facts.headline, text(object.get("headline")));
        fill(&mut facts.published, text(object.get("datePublished")));
        fill(&mut facts.modified, text(object.get("dateModified")));
        fill(&mut facts.author, names(object.get("author")));
    }
}

fn is_article(kind: Option<&Value>) -> bool {
    let is = |kind: &str| kind.ends_with("Article") || kind.ends_with("Posting") || kind == "Recipe";
    kinds(kind).any(is)
}

fn kinds(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let list = value.and_then(Value::as_array).map(Vec::as_slice);
    value.and_then(Value::as_str).into_iter().chain(list.unwrap_or_default().iter().filter_map(Value::as_str))
}

/// Returns the address in an image field: a string, an object with a `url`, or the first of a list of such.
fn picture(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Array(items) => picture(items.first().filter(|item| !item.is_array())),
        Value::Object(object) => text(object.get("url")).or_else(|| text(object.get("contentUrl"))),
        other => text(Some(other)),
    }
}

fn fill(slot: &mut Option<String>, value: Option<String>) {
    if slot.is_none() {
        *slot = value;
    }
}

fn text(value: Option<&Value>) -> Option<String> {
    value?.as_str().map(collapsed).filter(|text| !text.is_empty())
}

/// Returns the names in an author field: a string, an object with a name, or a list of such.
fn names(value: Option<&Value>) -> Option<String> {
    let name = |value: &Value| match value {
        Value::Object(object) => text(object.get("name")),
        other => text(Some(other)),
    };
    match value? {
        Value::Array(items) => {
            let names: Vec<String> = items.iter().take(20).filter_map(name).collect();
            (!names.is_empty()).then(|| names.join(", "))
        }
        single => name(single),
    }
    .filter(|names| !names.contains("://"))
}
