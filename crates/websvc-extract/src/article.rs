//! Detection of news articles, with their picture and dates.
//!
//! A page is news when it says so and is one text: it is typed as a `NewsArticle` (or one of its kinds), or it is
//! typed as an `Article`, `BlogPosting` and the like, or has `og:type` article, and names the day of its publication.
//! Documentation is often marked as an article but seldom dated; what is typed as technical or scholarly is no news.

use crate::dom::{Dom, NodeId, Tag};
use crate::json_ld::JsonLdFacts;
use crate::links;
use crate::metadata::MetaValue;
use crate::text::collapsed;
use std::collections::BTreeMap;
use url::Url;

/// Metadata of a news article.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Article {
    /// Its headline.
    pub headline: Option<String>,
    /// When it was published, as written on the page (usually ISO 8601).
    pub published: Option<String>,
    /// When it was last changed, as written on the page (usually ISO 8601).
    pub modified: Option<String>,
    /// Absolute http(s) URL of its picture.
    pub image_url: Option<String>,
}

/// How a type of schema.org bears on whether a page is news.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SchemaOrgType {
    /// News if it is dated: `Article`, `BlogPosting`, ...
    Article,
    /// News: `NewsArticle` and its kinds.
    News,
    /// An article that is none: `TechArticle`, `ScholarlyArticle`, ...
    Other,
}

impl SchemaOrgType {
    /// Returns what a type of schema.org is; `None` when it is no article.
    pub(crate) fn of(kind: &str) -> Option<SchemaOrgType> {
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

/// Reads what a page says of itself as a piece of news; `None` when it is none.
pub(crate) fn read(
    dom: &Dom,
    base: &Url,
    meta: &BTreeMap<String, MetaValue>,
    facts: &JsonLdFacts,
) -> Option<Article> {
    let tag = |name: &str| meta.get(name).map(|value| value.first().to_owned()).filter(|v| !v.is_empty());
    let is_og_article = tag("og:type").is_some_and(|kind| kind.eq_ignore_ascii_case("article"));
    let mut genres = facts.genres.clone();
    let items: Vec<NodeId> = microdata(dom).collect();
    if genres.is_empty() {
        genres.extend(items.iter().filter_map(|&id| genre(dom, id)));
    }
    // Several articles on one page are a list of them.
    if genres.len() > 1 && !is_og_article {
        return None;
    }
    let genre = genres.into_iter().max().or(is_og_article.then_some(SchemaOrgType::Article))?;
    let item = items.first().copied();
    let published = facts
        .article_published
        .clone()
        .or_else(|| tag("article:published_time"))
        .or_else(|| property(dom, item?, "datePublished"))
        .or_else(|| pubdate(dom));
    match genre {
        SchemaOrgType::News => {}
        SchemaOrgType::Article if published.is_some() => {}
        SchemaOrgType::Article | SchemaOrgType::Other => return None,
    }
    let picture = facts
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
        image_url: picture
            .and_then(|source| links::resolve_image(base, &source))
            .filter(|url| !url.starts_with("data:")),
    })
}

/// Returns the outermost elements that microdata types as articles; those inside are comments and teasers.
fn microdata(dom: &Dom) -> impl Iterator<Item = NodeId> + '_ {
    let mut walk = dom.descendants(NodeId::ROOT);
    std::iter::from_fn(move || {
        loop {
            let id = walk.next()?;
            if genre(dom, id).is_some() {
                walk.skip_children(id);
                return Some(id);
            }
        }
    })
    .take(10)
}

fn genre(dom: &Dom, id: NodeId) -> Option<SchemaOrgType> {
    let kinds = dom.attribute(id, "itemtype")?;
    kinds.split_ascii_whitespace().filter(|kind| kind.contains("schema.org/")).find_map(SchemaOrgType::of)
}

/// Returns a property of a microdata item as text: `content`, `datetime`, `src`, `href`, else what it shows.
fn property(dom: &Dom, item: NodeId, name: &str) -> Option<String> {
    let is_named = |id: &NodeId| {
        let names = dom.attribute(*id, "itemprop").unwrap_or_default();
        names.split_ascii_whitespace().any(|one| one == name)
    };
    let id = dom.descendants(item).find(is_named)?;
    let given = ["content", "datetime", "src", "href"].iter().find_map(|key| dom.attribute(id, key));
    let text = given.map_or_else(
        || collapsed(&dom.descendants(id).map(|child| dom.text(child)).collect::<String>()),
        collapsed,
    );
    Some(text).filter(|text| !text.is_empty())
}

/// Returns the date of the `<time>` that is marked as the publication.
fn pubdate(dom: &Dom) -> Option<String> {
    let is_marked = |id: &NodeId| {
        dom.is(*id, Tag::Time)
            && (dom.attribute(*id, "pubdate").is_some()
                || dom.attribute(*id, "itemprop") == Some("datePublished"))
    };
    let time = dom.descendants(NodeId::ROOT).find(is_marked)?;
    dom.attribute(time, "datetime").map(collapsed).filter(|date| !date.is_empty())
}
