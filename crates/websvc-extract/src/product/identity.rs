//! The page's own names and addresses, which tell its product from others that it mentions.

use crate::document::Document;
use crate::dom::{Dom, NodeId, NodeKind, Tag};
use crate::limits::MAX_LABEL_BYTES;
use crate::links::resolve;
use crate::metadata;
use crate::offer::amounts_in;
use crate::structured::StructuredData;
use crate::text::{collapsed, start_of};
use std::cell::OnceCell;
use std::collections::HashSet;
use url::Url;

/// Maximum number of headings that are read.
const MAX_HEADINGS: usize = 3;

/// Maximum number of amounts in the visible text, and of nodes that are visited for them.
const MAX_AMOUNTS: usize = 5_000;
const MAX_VISITED: usize = 100_000;

/// Maximum number of bytes of a text with amounts, and of the text around it before white space is collapsed. A longer
/// one is not searched.
const MAX_AMOUNT_BYTES: usize = 2_000;
const MAX_AROUND_BYTES: usize = 8_000;

/// Number of nodes of the text around another.
const AROUND_NODES: usize = 12;

/// Words of buttons that put an article into a cart, in lower case.
const BUY_WORDS: [&str; 14] = [
    "add to cart",
    "add to bag",
    "add to basket",
    "buy now",
    "in den warenkorb",
    "jetzt kaufen",
    "ajouter au panier",
    "añadir al carrito",
    "agregar al carrito",
    "aggiungi al carrello",
    "in winkelwagen",
    "lägg i varukorg",
    "dodaj do koszyka",
    "adicionar ao carrinho",
];

/// Parameters of a URL that select a variant of the same product.
const VARIANT_PARAMETERS: [&str; 6] = ["variant", "sku", "color", "colour", "size", "option"];

/// Names and addresses of a page.
#[derive(Debug)]
pub(crate) struct PageIdentity<'a> {
    document: &'a Document,
    own_url: Url,
    urls: Vec<Url>,
    names: Vec<String>,
    can_buy: OnceCell<bool>,
    amounts: OnceCell<HashSet<i64>>,
}

impl<'a> PageIdentity<'a> {
    pub(crate) fn new(document: &'a Document, data: &StructuredData) -> PageIdentity<'a> {
        let canonical = document.canonical();
        let og_url = data.meta(&["og:url"]).and_then(|url| resolve(&document.base, url));
        let own_url = canonical.clone().unwrap_or_else(|| document.url.clone());
        let urls = [Some(document.url.clone()), canonical, og_url].into_iter().flatten().collect();
        let titles = data.meta(&["og:title", "twitter:title"]).map(collapsed);
        let names = heading_texts(document).into_iter().chain(titles).chain(metadata::title(&document.dom));
        PageIdentity {
            document,
            own_url,
            urls,
            names: names
                .map(|name| start_of(&name, MAX_LABEL_BYTES).to_owned())
                .filter(|name| !name.is_empty())
                .collect(),
            can_buy: OnceCell::new(),
            amounts: OnceCell::new(),
        }
    }

    /// Returns the canonical URL, else the URL of the page.
    pub(crate) fn own_url(&self) -> &Url {
        &self.own_url
    }

    /// Returns the URL of the page.
    pub(crate) fn url(&self) -> &Url {
        &self.document.url
    }

    /// Returns the title of the page.
    pub(crate) fn title(&self) -> Option<String> {
        metadata::title(&self.document.dom)
    }

    /// Returns the URL that relative links are resolved against.
    pub(crate) fn base(&self) -> &Url {
        &self.document.base
    }

    /// Returns whether a URL is that of the page.
    pub(crate) fn has_url(&self, url: &Url) -> bool {
        self.urls.iter().any(|own| is_same_page(own, url))
    }

    /// Returns whether the last part of the page's path is a slug.
    pub(crate) fn has_slug(&self, slug: &str) -> bool {
        let last = |url: &Url| {
            url.path_segments().and_then(|mut parts| parts.rfind(|part| !part.is_empty()).map(str::to_owned))
        };
        slug.len() >= 3
            && self
                .urls
                .iter()
                .filter_map(last)
                .any(|part| part.split('.').next() == Some(slug.trim_matches('/')))
    }

    /// Returns whether a heading or title of the page is this name, alone or next to that of the site.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.names.iter().any(|title| title_names(title, name))
    }

    /// Returns whether a heading or title of the page has at least half of the words of a name.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        let wanted = words(name);
        let has_half = |title: &String| {
            let known = words(title);
            2 * wanted.iter().filter(|word| known.contains(word)).count() >= wanted.len()
        };
        !wanted.is_empty() && self.names.iter().any(has_half)
    }

    /// Returns whether the page has a button that puts an article into a cart.
    pub(crate) fn can_buy(&self) -> bool {
        *self.can_buy.get_or_init(|| has_buy_button(&self.document.dom))
    }

    /// Returns the amount that a whole number in the data stands for: units or hundredths, as the page shows it.
    /// `None` if it shows neither or both.
    pub(crate) fn shown_amount(&self, number: i64) -> Option<f64> {
        let amounts = self.amounts.get_or_init(|| visible_amounts(self.document));
        let (units, hundredths) = (number.checked_mul(100)?, number);
        match (amounts.contains(&units), amounts.contains(&hundredths)) {
            #[expect(clippy::cast_precision_loss, reason = "amounts are far below 2^53")]
            (true, false) => Some(number as f64),
            #[expect(clippy::cast_precision_loss, reason = "amounts are far below 2^53")]
            (false, true) => Some(number as f64 / 100.0),
            _ => None,
        }
    }
}

/// Returns the main headings of the page, without those that were added from its JSON-LD.
pub(crate) fn heading_texts(document: &Document) -> Vec<String> {
    let dom = &document.dom;
    let is_added = |id: NodeId| {
        document.json_ld_content.is_some_and(|added| dom.ancestors(id).any(|above| above == added))
    };
    let headings = dom.elements(Tag::H1).filter(|&id| !is_added(id));
    headings.take(MAX_HEADINGS).map(|id| text_of(dom, id, 300)).collect()
}

/// Returns the text of the first nodes below a node, from the first bytes of their source: elements may share one long
/// text.
fn text_of(dom: &Dom, id: NodeId, max_nodes: usize) -> String {
    let (source, _) = source_of(dom, id, max_nodes, MAX_LABEL_BYTES);
    collapsed(&source)
}

/// Returns the text of the first nodes below a node as the source has it, and whether it is complete.
fn source_of(dom: &Dom, id: NodeId, max_nodes: usize, max_bytes: usize) -> (String, bool) {
    let mut source = String::new();
    for text in dom.descendants(id).take(max_nodes).map(|node| dom.text(node)) {
        let part = start_of(text, max_bytes - source.len());
        source.push_str(part);
        if part.len() < text.len() {
            return (source, false);
        }
    }
    (source, true)
}

fn has_buy_button(dom: &Dom) -> bool {
    let is_button = |&id: &NodeId| matches!(dom.tag(id), Some(Tag::Button | Tag::Input | Tag::A));
    dom.descendants(NodeId::ROOT).filter(is_button).take(5_000).any(|id| {
        let is_named_so = dom.attribute(id, "name").is_some_and(|name| name.contains("add-to-cart"));
        let label = match dom.attribute(id, "value") {
            Some(value) if dom.is(id, Tag::Input) => start_of(value, MAX_LABEL_BYTES).to_lowercase(),
            _ => text_of(dom, id, 20).to_lowercase(),
        };
        let is_disabled = dom.attribute(id, "disabled").is_some();
        !is_disabled && (is_named_so || BUY_WORDS.iter().any(|word| label.contains(word)))
    })
}

/// Returns the amounts in the visible text, in hundredths.
fn visible_amounts(document: &Document) -> HashSet<i64> {
    let dom = &document.dom;
    let mut amounts = HashSet::new();
    // Elements whose text was read.
    let mut seen = HashSet::new();
    let mut walk = dom.descendants(NodeId::ROOT);
    let mut visited = 0;
    while let Some(id) = walk.next() {
        visited += 1;
        match dom.kind(id) {
            NodeKind::Text => {
                // The parts of a price may be in elements of their own.
                let parent = dom.parent(id).and_then(|parent| dom.parent(parent));
                let source = parent
                    .filter(|&parent| seen.insert(parent))
                    .map(|parent| source_of(dom, parent, AROUND_NODES, MAX_AROUND_BYTES));
                let around = source.filter(|(_, is_complete)| *is_complete).map(|(text, _)| collapsed(&text));
                for text in [dom.text(id), around.as_deref().unwrap_or_default()] {
                    if text.len() < MAX_AMOUNT_BYTES {
                        #[expect(clippy::cast_possible_truncation, reason = "amounts are below 10^12")]
                        amounts.extend(amounts_in(text).map(|amount| (amount * 100.0).round() as i64));
                    }
                }
            }
            NodeKind::Element(tag) if tag.is_invisible() => walk.skip_children(id),
            NodeKind::Element(_) | NodeKind::Document | NodeKind::Nothing => {}
        }
        if amounts.len() > MAX_AMOUNTS || visited > MAX_VISITED {
            break;
        }
    }
    amounts
}

/// Returns whether two URLs are one page: the same host and path, and no parameter with different values, except for
/// those that select a variant.
pub(super) fn is_same_page(a: &Url, b: &Url) -> bool {
    let host = |url: &Url| url.host_str().unwrap_or_default().trim_start_matches("www.").to_owned();
    let path = |url: &Url| url.path().trim_end_matches('/').to_owned();
    let conflicts = a.query_pairs().any(|(name, value)| {
        !VARIANT_PARAMETERS.contains(&&*name.to_ascii_lowercase())
            && b.query_pairs().any(|(other, different)| other == name && different != value)
    });
    host(a) == host(b) && path(a) == path(b) && !conflicts
}

/// Returns the words of a text in lower case.
pub(crate) fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Returns whether a title is a name, or consists of the name and other parts that separators divide.
fn title_names(title: &str, name: &str) -> bool {
    let wanted = words(name);
    if wanted.is_empty() {
        return false;
    }
    let marked = title.replace(" - ", "|").replace([':', '–', '—', '·', '•', '/', ','], "|");
    let parts: Vec<Vec<String>> =
        marked.split('|').map(words).filter(|part| !part.is_empty()).take(12).collect();
    (0..parts.len()).any(|start| (start..parts.len()).any(|end| parts[start..=end].concat() == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_is_compared_in_parts() {
        for (title, name, expected) in [
            ("Sencha – Tea House", "Sencha", true),
            ("Buy tea: Sencha, 100 g | Tea House", "Sencha 100 g", true),
            ("Phone 15 Pro | Shop", "Phone 15", false),
            ("Tea House", "Sencha", false),
            ("Sencha", "", false),
        ] {
            assert_eq!(title_names(title, name), expected, "{title} {name}");
        }
    }

    #[test]
    fn parameters_of_variants_do_not_make_another_page() {
        for (a, b, expected) in [
            ("https://a.test/p?variant=1", "https://www.a.test/p/?variant=2", true),
            ("https://a.test/p?id=1", "https://a.test/p?id=2", false),
            ("https://a.test/p?utm=1", "https://a.test/p", true),
            ("https://a.test/p", "https://a.test/q", false),
        ] {
            assert_eq!(is_same_page(&a.parse().unwrap(), &b.parse().unwrap()), expected, "{a} {b}");
        }
    }
}
