//! The type of a page, by its own metadata and URL.

use crate::dom::{Dom, NodeId, Tag};
use url::Url;

/// A signal of the type of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageTypeSignal {
    /// `og:type` or JSON-LD is an article.
    Article,
    Product,
    /// JSON-LD has a list of things.
    List,
    /// A question with answers, or a discussion.
    Discussion,
    /// `og:type` is a website.
    Site,
    /// The page has a publication date.
    Dated,
    /// The URL has no path.
    Home,
    /// The path of the URL has one segment.
    Shallow,
    /// The path of the URL ends in a file.
    File,
    /// The URL has a word for a discussion thread.
    ThreadAddress,
    /// The URL has a word for a product.
    ProductAddress,
    /// The URL has a word for a listing.
    ListAddress,
    /// The URL has a word for a manual.
    ManualAddress,
    /// The URL has a word for a post.
    PostAddress,
}

impl PageTypeSignal {
    pub(super) const ALL: [PageTypeSignal; 14] = [
        PageTypeSignal::Article,
        PageTypeSignal::Product,
        PageTypeSignal::List,
        PageTypeSignal::Discussion,
        PageTypeSignal::Site,
        PageTypeSignal::Dated,
        PageTypeSignal::Home,
        PageTypeSignal::Shallow,
        PageTypeSignal::File,
        PageTypeSignal::ThreadAddress,
        PageTypeSignal::ProductAddress,
        PageTypeSignal::ListAddress,
        PageTypeSignal::ManualAddress,
        PageTypeSignal::PostAddress,
    ];
}

/// Reads the type signals of a page.
pub(super) fn read(dom: &Dom, address: &Url) -> Vec<PageTypeSignal> {
    let mut signals = Vec::new();
    for id in dom.descendants(NodeId::ROOT) {
        match dom.tag(id) {
            Some(Tag::Meta) => of_meta(dom, id, &mut signals),
            Some(Tag::Script) if dom.attribute(id, "type") == Some("application/ld+json") => {
                for source in dom.children(id).map(|text| dom.text(text)) {
                    of_json_ld(source, &mut signals);
                }
            }
            Some(_) => {
                if let Some(kind) = dom.attribute(id, "itemtype") {
                    signals.extend(of_schema(kind.rsplit('/').next().unwrap_or("")));
                }
            }
            None => {}
        }
    }
    let mut parts = address.path_segments().into_iter().flatten().filter(|part| !part.is_empty());
    match (parts.next(), parts.next()) {
        (None, _) => signals.push(PageTypeSignal::Home),
        (Some(_), None) => signals.push(PageTypeSignal::Shallow),
        _ => {}
    }
    if address.path().rsplit('/').next().is_some_and(|last| last.contains('.')) {
        signals.push(PageTypeSignal::File);
    }
    signals.extend(address.path().split(['/', '-', '_', '.']).filter_map(of_address));
    signals.extend(address.host_str().unwrap_or("").split('.').filter_map(of_address));
    signals
}

/// Returns the type of page that a word of a URL indicates.
fn of_address(word: &str) -> Option<PageTypeSignal> {
    Some(match word {
        "thread" | "threads" | "showthread" | "viewtopic" | "forum" | "forums" | "topic" | "questions"
        | "question" | "discussion" | "discussions" | "community" | "t" | "comments" | "boards" | "board"
        | "answers" | "ubbthreads" => PageTypeSignal::ThreadAddress,
        "product" | "products" | "p" | "dp" | "item" | "itm" | "pd" | "sku" | "prod" => {
            PageTypeSignal::ProductAddress
        }
        "collections" | "collection" | "category" | "categories" | "c" | "browse" | "search" | "tag"
        | "tags" | "topics" | "events" | "jobs" | "catalog" | "list" | "shop" | "page" | "archive"
        | "sale" => PageTypeSignal::ListAddress,
        "docs" | "doc" | "documentation" | "reference" | "api" | "manual" | "guide" | "wiki" | "tutorial"
        | "learn" | "developer" | "developers" | "latest" | "stable" | "man" => PageTypeSignal::ManualAddress,
        "blog" | "news" | "article" | "articles" | "post" | "posts" | "story" | "stories" | "magazine" => {
            PageTypeSignal::PostAddress
        }
        word if word.len() == 4 && (word.starts_with("201") || word.starts_with("202")) => {
            PageTypeSignal::PostAddress
        }
        _ => return None,
    })
}

fn of_meta(dom: &Dom, id: NodeId, signals: &mut Vec<PageTypeSignal>) {
    let (Some(name), Some(content)) = (dom.attribute(id, "property"), dom.attribute(id, "content")) else {
        return;
    };
    match name {
        "og:type" if content.contains("article") => signals.push(PageTypeSignal::Article),
        "og:type" if content.contains("product") => signals.push(PageTypeSignal::Product),
        "og:type" if content.contains("website") => signals.push(PageTypeSignal::Site),
        "article:published_time" => signals.push(PageTypeSignal::Dated),
        _ => {}
    }
}

/// Searches for type names without parsing: only their presence counts.
fn of_json_ld(source: &str, signals: &mut Vec<PageTypeSignal>) {
    for rest in source.split("\"@type\"").skip(1) {
        let value = rest.trim_start_matches([' ', ':', '[', '\n', '\t', '\r']);
        let Some(value) = value.strip_prefix('"') else { continue };
        signals.extend(of_schema(value.split('"').next().unwrap_or("")));
    }
}

fn of_schema(kind: &str) -> Option<PageTypeSignal> {
    match kind {
        "Product" | "ProductGroup" => Some(PageTypeSignal::Product),
        "ItemList" | "CollectionPage" | "OfferCatalog" | "SearchResultsPage" => Some(PageTypeSignal::List),
        "QAPage" | "DiscussionForumPosting" | "Question" => Some(PageTypeSignal::Discussion),
        kind if kind.ends_with("Article") || kind.ends_with("Posting") => Some(PageTypeSignal::Article),
        _ => None,
    }
}
