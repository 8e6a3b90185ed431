//! Reads dates, authors and headlines from a page's JSON-LD, leniently and within limits.

use crate::structured::objects;
use crate::text::collapsed;
use serde_json::Value;
use std::collections::HashMap;

/// Classes of schema.org types, by their meaning for news.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SchemaOrgType {
    /// News if it has a date: `Article`, `BlogPosting`, ...
    Article,
    /// News: `NewsArticle` and its subtypes.
    News,
    /// An article that is not news: `TechArticle`, `ScholarlyArticle`, ...
    Other,
}

impl SchemaOrgType {
    /// Returns the class of a schema.org type, `None` if it is not an article.
    pub(crate) fn from_kind(kind: &str) -> Option<SchemaOrgType> {
        let name = kind.trim().trim_end_matches('/').rsplit(['/', ':']).next()?;
        Some(match name {
            "NewsArticle"
            | "AnalysisNewsArticle"
            | "AskPublicNewsArticle"
            | "BackgroundNewsArticle"
            | "OpinionNewsArticle"
            | "ReportageNewsArticle"
            | "ReviewNewsArticle"
            | "LiveBlogPosting" => SchemaOrgType::News,
            "Article" | "BlogPosting" | "Report" | "SocialMediaPosting" | "SatiricalArticle" => {
                SchemaOrgType::Article
            }
            "TechArticle"
            | "APIReference"
            | "ScholarlyArticle"
            | "MedicalScholarlyArticle"
            | "AdvertiserContentArticle"
            | "DiscussionForumPosting" => SchemaOrgType::Other,
            _ => return None,
        })
    }
}

/// Facts about the page from JSON-LD.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct JsonLdFacts {
    pub(crate) headline: Option<String>,
    pub(crate) published: Option<String>,
    /// The creation date, used while the blocks are read: it replaces a missing publication date.
    created: Option<String>,
    pub(crate) modified: Option<String>,
    pub(crate) author: Option<String>,
    /// The classes of the articles on the page, outermost first.
    pub(crate) article_types: Vec<SchemaOrgType>,
    /// The publication date of the article, if the page is an article and has one.
    pub(crate) article_published: Option<String>,
    /// The image of the article, as written.
    pub(crate) image: Option<String>,
}

/// Reads the JSON-LD blocks of a page. Properties of an article take precedence over those of a page or site.
pub(crate) fn read(blocks: &[Value]) -> JsonLdFacts {
    let mut articles = JsonLdFacts::default();
    let mut others = JsonLdFacts::default();
    let people = names_by_id(blocks);
    for value in blocks {
        collect(value, &people, &mut articles, &mut others);
    }
    JsonLdFacts {
        article_published: articles.published.clone(),
        article_types: [articles.article_types, others.article_types].concat(),
        image: articles.image,
        headline: articles.headline.or(others.headline),
        published: articles.published.or(articles.created).or(others.published).or(others.created),
        created: None,
        modified: articles.modified.or(others.modified),
        author: articles.author.or(others.author),
    }
}

/// Collects the names of entities that are referred to by `@id`.
fn names_by_id(blocks: &[Value]) -> HashMap<&str, String> {
    let objects = blocks.iter().flat_map(objects);
    objects.filter_map(|object| Some((object.get("@id")?.as_str()?, text(object.get("name"))?))).collect()
}

fn collect(
    value: &Value,
    people: &HashMap<&str, String>,
    articles: &mut JsonLdFacts,
    others: &mut JsonLdFacts,
) {
    for object in objects(value) {
        let facts = if is_article(object.get("@type")) { &mut *articles } else { &mut *others };
        facts.article_types.extend(kinds(object.get("@type")).find_map(SchemaOrgType::from_kind));
        fill(&mut facts.image, image_url(object.get("image")));
        fill(&mut facts.headline, text(object.get("headline")));
        fill(&mut facts.published, text(object.get("datePublished")));
        fill(&mut facts.created, text(object.get("dateCreated")).or_else(|| text(object.get("uploadDate"))));
        fill(&mut facts.modified, text(object.get("dateModified")));
        fill(&mut facts.author, names(object.get("author"), people));
        fill(&mut facts.author, names(object.get("creator"), people));
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

/// Returns the URL in an image field: a string, an object with a `url`, or the first item of a list of these.
fn image_url(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Array(items) => image_url(items.first().filter(|item| !item.is_array())),
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

/// Returns the names in an author field: a string, an object with a name or the `@id` of one, or a list of these.
fn names(value: Option<&Value>, people: &HashMap<&str, String>) -> Option<String> {
    let name = |value: &Value| match value {
        Value::Object(object) => {
            let by_id = || people.get(object.get("@id")?.as_str()?).cloned();
            text(object.get("name")).or_else(by_id)
        }
        other => text(Some(other)),
    };
    match value? {
        Value::Array(items) => {
            let mut names: Vec<String> = items.iter().take(20).filter_map(name).collect();
            names.dedup();
            (!names.is_empty()).then(|| names.join(", "))
        }
        single => name(single),
    }
    .filter(|names| !names.contains("://"))
}
