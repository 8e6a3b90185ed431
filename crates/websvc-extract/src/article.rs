//! Detects news articles, and reads their image and dates.
//!
//! A page is news if its metadata says so and it is one text. Its schema.org type is `NewsArticle` or a subtype. Or its
//! type is `Article`, `BlogPosting` or similar, or its `og:type` is article, and it has a publication date.
//! Documentation is often marked as an article but seldom dated. A technical or scholarly article is not news.

use crate::dom::{Dom, NodeId, Tag};
use crate::json_ld::{JsonLdFacts, SchemaOrgType};
use crate::links;
use crate::meta_tags::MetaValue;
use crate::text::collapsed;
use std::collections::BTreeMap;
use url::Url;

/// Metadata of a news article.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Article {
    /// The headline.
    pub headline: Option<String>,
    /// The publication date, as written on the page (usually ISO 8601).
    pub published: Option<String>,
    /// The date of the last change, as written on the page (usually ISO 8601).
    pub modified: Option<String>,
    /// Absolute http(s) URL of the image.
    pub image_url: Option<String>,
}

/// Reads the news properties of a page, `None` if it is not a news article.
pub(crate) fn read(
    dom: &Dom,
    base: &Url,
    meta: &BTreeMap<String, MetaValue>,
    facts: &JsonLdFacts,
) -> Option<Article> {
    let tag = |name: &str| meta.get(name).map(|value| value.first().to_owned()).filter(|v| !v.is_empty());
    let is_og_article = tag("og:type").is_some_and(|kind| kind.eq_ignore_ascii_case("article"));
    let mut types = facts.article_types.clone();
    let items: Vec<NodeId> = microdata(dom).collect();
    if types.is_empty() {
        types.extend(items.iter().filter_map(|&id| article_type(dom, id)));
    }
    // Several articles on one page are a list of articles.
    if types.len() > 1 && !is_og_article {
        return None;
    }
    let article_type = types.into_iter().max().or(is_og_article.then_some(SchemaOrgType::Article))?;
    let item = items.first().copied();
    let published = facts
        .article_published
        .clone()
        .or_else(|| tag("article:published_time"))
        .or_else(|| property(dom, item?, "datePublished"))
        .or_else(|| pubdate(dom));
    match article_type {
        SchemaOrgType::News => {}
        SchemaOrgType::Article if published.is_some() => {}
        SchemaOrgType::Article | SchemaOrgType::Other => return None,
    }
    let image = facts
        .image
        .clone()
        .or_else(|| tag("og:image"))
        .or_else(|| tag("og:image:url"))
        .or_else(|| tag("twitter:image"))
        .or_else(|| property(dom, item?, "image"));
    Some(Article {
        headline: facts
            .headline
            .clone()
            .or_else(|| property(dom, item?, "headline"))
            .or_else(|| tag("og:title")),
        published,
        modified: facts
            .modified
            .clone()
            .or_else(|| tag("article:modified_time"))
            .or_else(|| property(dom, item?, "dateModified")),
        image_url: image
            .and_then(|source| links::resolve_image(base, &source))
            .filter(|url| !url.starts_with("data:")),
    })
}

/// Returns the outermost elements that microdata types as articles. Articles inside them are comments and teasers.
fn microdata(dom: &Dom) -> impl Iterator<Item = NodeId> + '_ {
    let mut walk = dom.descendants(NodeId::ROOT);
    std::iter::from_fn(move || {
        loop {
            let id = walk.next()?;
            if article_type(dom, id).is_some() {
                walk.skip_children(id);
                return Some(id);
            }
        }
    })
    .take(10)
}

fn article_type(dom: &Dom, id: NodeId) -> Option<SchemaOrgType> {
    let kinds = dom.attribute(id, "itemtype")?;
    kinds
        .split_ascii_whitespace()
        .filter(|kind| kind.contains("schema.org/"))
        .find_map(SchemaOrgType::from_kind)
}

/// Returns a property of a microdata item as text: `content`, `datetime`, `src` or `href`, else the text of the
/// element.
fn property(dom: &Dom, item: NodeId, name: &str) -> Option<String> {
    let has_name = |id: &NodeId| {
        let names = dom.attribute(*id, "itemprop").unwrap_or_default();
        names.split_ascii_whitespace().any(|item| item == name)
    };
    let id = dom.descendants(item).find(has_name)?;
    let value = dom.first_attribute(id, &["content", "datetime", "src", "href"]);
    let text = value.map_or_else(
        || collapsed(&dom.descendants(id).map(|child| dom.text(child)).collect::<String>()),
        collapsed,
    );
    Some(text).filter(|text| !text.is_empty())
}

/// Returns the date of the `<time>` that is marked as the publication date.
fn pubdate(dom: &Dom) -> Option<String> {
    let time = dom.elements(Tag::Time).find(|&id| {
        dom.attribute(id, "pubdate").is_some() || dom.attribute(id, "itemprop") == Some("datePublished")
    })?;
    dom.attribute(time, "datetime").map(collapsed).filter(|date| !date.is_empty())
}
