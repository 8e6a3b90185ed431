//! What kind of page it is, by its own word: its metadata and its address.

use crate::dom::{Dom, NodeId, Tag};
use url::Url;

/// Something a page says about its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// `og:type` or JSON-LD call it an article.
    Article,
    Product,
    /// JSON-LD describes a list of things.
    List,
    /// A question with answers, or a discussion.
    Discussion,
    /// `og:type` calls it a site.
    Site,
    /// It names when it was published.
    Dated,
    /// Its address has no path, a path of one part, or one that ends in a file.
    Home,
    Shallow,
    File,
    /// Its address has a part that names a sort of page.
    ThreadAddress,
    ProductAddress,
    ListAddress,
    ManualAddress,
    PostAddress,
}

impl Sign {
    pub(super) const ALL: [Sign; 14] = [
        Sign::Article,
        Sign::Product,
        Sign::List,
        Sign::Discussion,
        Sign::Site,
        Sign::Dated,
        Sign::Home,
        Sign::Shallow,
        Sign::File,
        Sign::ThreadAddress,
        Sign::ProductAddress,
        Sign::ListAddress,
        Sign::ManualAddress,
        Sign::PostAddress,
    ];
}

/// Reads the signs of a page.
pub(super) fn read(dom: &Dom, address: &Url) -> Vec<Sign> {
    let mut signs = Vec::new();
    for id in dom.descendants(NodeId::ROOT) {
        match dom.tag(id) {
            Some(Tag::Meta) => of_meta(dom, id, &mut signs),
            Some(Tag::Script) if dom.attribute(id, "type") == Some("application/ld+json") => {
                for source in dom.children(id).map(|text| dom.text(text)) {
                    of_json_ld(source, &mut signs);
                }
            }
            Some(_) => {
                if let Some(kind) = dom.attribute(id, "itemtype") {
                    signs.extend(of_schema(kind.rsplit('/').next().unwrap_or("")));
                }
            }
            None => {}
        }
    }
    let mut parts = address.path_segments().into_iter().flatten().filter(|part| !part.is_empty());
    match (parts.next(), parts.next()) {
        (None, _) => signs.push(Sign::Home),
        (Some(_), None) => signs.push(Sign::Shallow),
        _ => {}
    }
    if address.path().rsplit('/').next().is_some_and(|last| last.contains('.')) {
        signs.push(Sign::File);
    }
    signs.extend(address.path().split(['/', '-', '_', '.']).filter_map(of_address));
    signs.extend(address.host_str().unwrap_or("").split('.').filter_map(of_address));
    signs
}

/// Returns the sort of page that a word of an address names.
fn of_address(word: &str) -> Option<Sign> {
    Some(match word {
        "thread" | "threads" | "showthread" | "viewtopic" | "forum" | "forums" | "topic" | "questions"
        | "question" | "discussion" | "discussions" | "community" | "t" | "comments" | "boards" | "board"
        | "answers" | "ubbthreads" => Sign::ThreadAddress,
        "product" | "products" | "p" | "dp" | "item" | "itm" | "pd" | "sku" | "prod" => Sign::ProductAddress,
        "collections" | "collection" | "category" | "categories" | "c" | "browse" | "search" | "tag"
        | "tags" | "topics" | "events" | "jobs" | "catalog" | "list" | "shop" | "page" | "archive"
        | "sale" => Sign::ListAddress,
        "docs" | "doc" | "documentation" | "reference" | "api" | "manual" | "guide" | "wiki" | "tutorial"
        | "learn" | "developer" | "developers" | "latest" | "stable" | "man" => Sign::ManualAddress,
        "blog" | "news" | "article" | "articles" | "post" | "posts" | "story" | "stories" | "magazine" => {
            Sign::PostAddress
        }
        word if word.len() == 4 && (word.starts_with("201") || word.starts_with("202")) => Sign::PostAddress,
        _ => return None,
    })
}

fn of_meta(dom: &Dom, id: NodeId, signs: &mut Vec<Sign>) {
    let (Some(name), Some(content)) = (dom.attribute(id, "property"), dom.attribute(id, "content")) else {
        return;
    };
    match name {
        "og:type" if content.contains("article") => signs.push(Sign::Article),
        "og:type" if content.contains("product") => signs.push(Sign::Product),
        "og:type" if content.contains("website") => signs.push(Sign::Site),
        "article:published_time" => signs.push(Sign::Dated),
        _ => {}
    }
}

/// Looks for type names without parsing: only their presence counts.
fn of_json_ld(source: &str, signs: &mut Vec<Sign>) {
    for rest in source.split("\"@type\"").skip(1) {
        let value = rest.trim_start_matches([' ', ':', '[', '\n', '\t', '\r']);
        let Some(value) = value.strip_prefix('"') else { continue };
        signs.extend(of_schema(value.split('"').next().unwrap_or("")));
    }
}

fn of_schema(kind: &str) -> Option<Sign> {
    match kind {
        "Product" | "ProductGroup" => Some(Sign::Product),
        "ItemList" | "CollectionPage" | "OfferCatalog" | "SearchResultsPage" => Some(Sign::List),
        "QAPage" | "DiscussionForumPosting" | "Question" => Some(Sign::Discussion),
        kind if kind.ends_with("Article") || kind.ends_with("Posting") => Some(Sign::Article),
        _ => None,
    }
}
