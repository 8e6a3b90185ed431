//! Metadata of a page: its title, meta tags, links and structured data.

use crate::article::{self, Article};
use crate::document::Document;
use crate::dom::{Dom, NodeId, Tag};
use crate::json_ld::{self, JsonLdFacts};
use crate::links;
use crate::meta_tags::{self, MetaValue, http_equiv, link_hrefs, property};
use crate::{content_rating, country};
use std::collections::BTreeMap;

/// The page's own metadata (spec section 2.6 and clients.md 6.5).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageMetadata {
    /// The title of the page.
    pub title: Option<String>,
    /// The description of the page.
    pub description: Option<String>,
    /// The declared language, such as `en` or `de-CH`.
    pub language: Option<String>,
    /// The keywords as written.
    pub keywords: Option<String>,
    /// The robots directives as written.
    pub robots: Option<String>,
    /// Absolute URL of the page's icon.
    pub favicon: Option<String>,
    /// The publication date, as written on the page (usually ISO 8601).
    pub published_time: Option<String>,
    /// The date of the last change, as written on the page (usually ISO 8601).
    pub modified_time: Option<String>,
    /// The author. Several names are joined by a comma.
    pub author: Option<String>,
    /// The canonical URL, absolute.
    pub canonical: Option<String>,
    /// The content type of the response.
    pub content_type: Option<String>,
    /// News properties of the page; `None` if it is not a news article.
    pub article: Option<Article>,
    /// The country of the page, ISO 3166-1 alpha-2.
    pub country: Option<String>,
    /// True if the page labels itself as explicit.
    pub explicit: bool,
    /// All meta tags under their own names in lower case (`og:title`, `article:tag`, `viewport`, ...). Tags of Open
    /// Graph and Dublin Core that clients know by another name are also under that name (`ogTitle`, `dcDate`, ...).
    pub meta: BTreeMap<String, MetaValue>,
}

/// Meta tags of the publication date, the most reliable one first.
const PUBLISHED: [&str; 22] = [
    "article:published_time",
    "og:published_time",
    "og:article:published_time",
    "datepublished",
    "date",
    "dc.date",
    "dc.date.issued",
    "dc.date.created",
    "dcterms.issued",
    "dcterms.date",
    "dcterms.created",
    "pubdate",
    "publish-date",
    "publish_date",
    "publication_date",
    "published_time",
    "parsely-pub-date",
    "sailthru.date",
    "citation_publication_date",
    "citation_online_date",
    "citation_date",
    "datecreated",
];

/// Meta tags of the date of the last change, the most reliable one first.
const MODIFIED: [&str; 9] = [
    "article:modified_time",
    "og:updated_time",
    "og:modified_time",
    "datemodified",
    "last-modified",
    "lastmod",
    "dcterms.modified",
    "dc.date.modified",
    "revised",
];

/// Maximum number of `<time>` elements that are compared.
const MAX_TIMES: usize = 50;

/// Names of meta tags with the names that clients of this API use (clients.md 6.5).
const CLIENT_NAMES: [(&str, &str); 23] = [
    ("og:title", "ogTitle"),
    ("og:description", "ogDescription"),
    ("og:url", "ogUrl"),
    ("og:image", "ogImage"),
    ("og:audio", "ogAudio"),
    ("og:determiner", "ogDeterminer"),
    ("og:locale", "ogLocale"),
    ("og:locale:alternate", "ogLocaleAlternate"),
    ("og:site_name", "ogSiteName"),
    ("og:video", "ogVideo"),
    ("article:section", "articleSection"),
    ("article:tag", "articleTag"),
    ("dc.description", "dcDescription"),
    ("dc.subject", "dcSubject"),
    ("dc.type", "dcType"),
    ("dc.date", "dcDate"),
    ("dc.date.created", "dcDateCreated"),
    ("dcterms.keywords", "dcTermsKeywords"),
    ("dcterms.subject", "dcTermsSubject"),
    ("dcterms.audience", "dcTermsAudience"),
    ("dcterms.type", "dcTermsType"),
    ("dcterms.created", "dcTermsCreated"),
    ("dc.title", "dcTitle"),
];

/// Adds the names that clients use. These have one value, except for lists.
fn with_client_names(mut meta: BTreeMap<String, MetaValue>) -> BTreeMap<String, MetaValue> {
    for (name, client_name) in CLIENT_NAMES {
        let Some(value) = meta.get(name) else { continue };
        let value = match (name, value) {
            ("og:locale:alternate", MetaValue::One(one)) => MetaValue::Many(vec![one.clone()]),
            ("og:locale:alternate", many) => many.clone(),
            (_, value) => MetaValue::One(value.first().to_owned()),
        };
        meta.insert(client_name.to_owned(), value);
    }
    meta
}

/// Reads all metadata of a page.
pub(crate) fn read(document: &Document) -> PageMetadata {
    let dom = &document.dom;
    let meta = meta_tags::read(dom);
    let facts = json_ld::read(&document.json_ld());
    let first =
        |names: &[&str]| names.iter().find_map(|name| meta.get(*name)).map(|value| value.first().to_owned());
    PageMetadata {
        title: title(dom).or_else(|| facts.headline.clone()),
        description: first(&[
            "description",
            "og:description",
            "twitter:description",
            "dc.description",
            "dcterms.description",
        ]),
        language: language(dom),
        keywords: first(&["keywords"]),
        robots: first(&["robots"]),
        favicon: favicon(document),
        published_time: first(&PUBLISHED).or_else(|| facts.published.clone()).or_else(|| time_element(dom)),
        modified_time: first(&MODIFIED).or_else(|| facts.modified.clone()),
        author: author(&meta, &facts, dom),
        canonical: document.canonical().map(Into::into),
        content_type: document.content_type.clone(),
        article: article::read(dom, &document.base, &meta, &facts),
        country: country::country(document, &meta),
        explicit: content_rating::is_explicit(dom, &meta),
        meta: with_client_names(meta),
    }
}

fn author(meta: &BTreeMap<String, MetaValue>, facts: &JsonLdFacts, dom: &Dom) -> Option<String> {
    let names = [
        "author",
        "article:author",
        "og:article:author",
        "dc.creator",
        "dcterms.creator",
        "parsely-author",
        "sailthru.author",
        "citation_author",
        "byl",
    ];
    let tag = names.iter().find_map(|name| match meta.get(*name)? {
        MetaValue::One(value) => Some(value.clone()),
        MetaValue::Many(values) => Some(values.join(", ")),
    });
    // Facebook's article:author is often the URL of a profile, not a name.
    tag.filter(|name| !name.is_empty() && !name.contains("://")).or_else(|| facts.author.clone()).or_else(
        || {
            let is_author = |rel: &str| rel.eq_ignore_ascii_case("author");
            let link = dom.elements(Tag::A).find(|&id| dom.attribute(id, "rel").is_some_and(is_author))?;
            Some(text_of(dom, link)).filter(|name| !name.is_empty() && name.len() < 100)
        },
    )
}

/// Returns the title of the page: `<title>`, else `og:title`, else the first `<h1>`.
pub(crate) fn title(dom: &Dom) -> Option<String> {
    head_title(dom)
        .or_else(|| property(dom, "og:title"))
        .or_else(|| dom.first_element(Tag::H1).map(|id| text_of(dom, id)))
        .filter(|title| !title.is_empty())
}

/// Returns the text of `<title>`.
pub(crate) fn head_title(dom: &Dom) -> Option<String> {
    let in_head = dom.elements(Tag::Title).filter(|&id| dom.is_html(id));
    in_head.map(|id| text_of(dom, id)).find(|title| !title.is_empty())
}

/// Returns the language of the page: of `<html>`, else of meta tags.
pub(crate) fn language(dom: &Dom) -> Option<String> {
    let html = dom.first_element(Tag::Html)?;
    let declared = dom.attribute(html, "lang").or_else(|| dom.attribute(html, "xml:lang"));
    declared
        .or_else(|| http_equiv(dom, "content-language"))
        .map(|language| language.trim().to_owned())
        .filter(|language| !language.is_empty())
        .or_else(|| property(dom, "og:locale"))
}

/// Returns the URL of the page's icon, or of one for other purposes.
fn favicon(document: &Document) -> Option<String> {
    let others = ["apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"];
    icon(document).or_else(|| others.iter().find_map(|relation| icon_of(document, relation)))
}

/// Returns the URL of the page's icon.
pub(crate) fn icon(document: &Document) -> Option<String> {
    icon_of(document, "icon")
}

fn icon_of(document: &Document, relation: &str) -> Option<String> {
    let mut hrefs = link_hrefs(&document.dom, relation);
    hrefs.find_map(|href| links::resolve_image(&document.base, href).filter(|url| !url.starts_with("data:")))
}

/// Returns the date of the `<time>` of the page's own article: marked as the publication date, else in the same element as
/// the title. Dates of cards of other articles come first on many pages.
fn time_element(dom: &Dom) -> Option<String> {
    let is_time = |&id: &NodeId| dom.is(id, Tag::Time) && dom.attribute(id, "datetime").is_some();
    let times: Vec<NodeId> = dom.descendants(NodeId::ROOT).filter(is_time).take(MAX_TIMES).collect();
    if times.is_empty() {
        return None;
    }
    let is_published = |id: NodeId| {
        dom.attribute(id, "pubdate").is_some() || dom.attribute(id, "itemprop") == Some("datePublished")
    };
    let headings: Vec<NodeId> = dom.elements(Tag::H1).take(20).collect();
    let in_content = |&id: &NodeId| {
        dom.ancestors(id).any(|above| matches!(dom.tag(above), Some(Tag::Article | Tag::Main)))
    };
    let heading = headings.iter().copied().find(in_content).or(headings.first().copied());
    let title: Vec<NodeId> = heading.into_iter().flat_map(|heading| dom.ancestors(heading)).collect();
    // The number of elements around the title that are around the date as well: the more, the closer they are.
    let closeness = |id: NodeId| {
        let common = dom.ancestors(id).find_map(|above| title.iter().position(|&other| other == above));
        common.map_or(0, |position| title.len() - position)
    };
    let in_article = |id: NodeId| {
        dom.ancestors(id).any(|above| matches!(dom.tag(above), Some(Tag::Article | Tag::Header | Tag::Main)))
    };
    // Another article than that of the title.
    let in_card = |id: NodeId| {
        let article = dom.ancestors(id).find(|&above| dom.is(above, Tag::Article));
        article.is_some_and(|article| !title.is_empty() && !title.contains(&article))
    };
    let candidates = times.iter().enumerate().filter(|&(_, &id)| is_published(id) || in_article(id));
    let (_, &time) = candidates
        .max_by_key(|&(at, &id)| (!in_card(id), is_published(id), closeness(id), std::cmp::Reverse(at)))?;
    dom.attribute(time, "datetime").map(|date| date.trim().to_owned()).filter(|date| !date.is_empty())
}

/// Returns the text of an element with collapsed white space.
pub(crate) fn text_of(dom: &Dom, id: NodeId) -> String {
    let mut out = String::new();
    for child in dom.descendants(id) {
        crate::text::push_collapsed(&mut out, dom.text(child));
    }
    out.truncate(out.trim_end().len());
    out
}
