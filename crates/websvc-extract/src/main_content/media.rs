//! Keeps images, formulas, videos, sounds and players that belong to kept text: of those inside the kept part of a page,
//! only the ones whose own block is removed go.

use super::tokens::{self, Hints};
use crate::dom::{Dom, NodeId, NodeKind, Tag};
use crate::embed;

/// Of the kept text, the share that the innermost element around it must have, in tenths.
const CENTER_TENTHS: usize = 8;

/// The text of an element around media is kept if at least 1/N of it is.
const MIN_SHARE_DIVISOR: usize = 3;

/// Images with a side below this number of pixels are icons.
const MIN_SIDE: f32 = 33.0;

/// Maximum number of elements around images that are read on a page.
const MAX_WRAPPERS: usize = 50_000;

/// Names of elements around an image that say that it is not content.
const NOT_CONTENT: Hints = tokens::IN_NAV
    | tokens::IN_FOOTER
    | tokens::IN_ASIDE
    | tokens::NAV
    | tokens::FOOTER
    | tokens::COMMENT
    | tokens::RELATED
    | tokens::SOCIAL
    | tokens::ADVERT
    | tokens::CONSENT
    | tokens::SIGNUP
    | tokens::TAGS
    | tokens::USER
    | tokens::LANGUAGE;

/// Amounts of text below a node, in bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Amount {
    kept: usize,
    all: usize,
}

/// Text of a page and the part of it that is kept.
struct KeptText<'a> {
    dom: &'a Dom,
    /// For each node the text below it.
    amounts: Vec<Amount>,
    /// The innermost element with nearly all kept text.
    center: NodeId,
    /// The innermost `<main>` or `<article>` around the center, else the center.
    region: NodeId,
}

/// Marks the media to keep among the nodes of a view, which are in document order. `keep` has the kept text nodes.
pub(super) fn keep_media(dom: &Dom, order: &[NodeId], keep: &mut [bool]) {
    let media: Vec<usize> = (0..order.len()).filter(|&at| is_media(dom, order[at])).collect();
    if media.is_empty() {
        return;
    }
    let text = KeptText::new(dom, order, keep);
    let mut wrappers = MAX_WRAPPERS;
    let (before, after) = neighbors(&text, order);
    for at in media {
        let (id, between) = (order[at], before[at] && after[at]);
        // Formulas are part of sentences.
        keep[id.index()] |=
            between || (!dom.is(id, Tag::Math) && text.is_content(id, after[at], &mut wrappers));
        if keep[id.index()] && dom.is(id, Tag::A) {
            // The link to an embedded document.
            dom.descendants(id).for_each(|inner| keep[inner.index()] = true);
        }
    }
}

/// Keeps only the images and players of the content if the kept text is outside of it: on the page of a comic or of a
/// gallery, the only text may be that of the footer. Returns false if there are none.
pub(super) fn keep_media_only(dom: &Dom, order: &[NodeId], keep: &mut [bool]) -> bool {
    let is_content = |&id: &NodeId| {
        let inside = || dom.ancestors(id).take_while(|&above| !dom.is(above, Tag::Body));
        let in_main = inside().any(|above| matches!(dom.tag(above), Some(Tag::Main | Tag::Article)));
        is_media(dom, id) && in_main && !is_decoration(dom, id)
    };
    let media: Vec<NodeId> = order.iter().copied().filter(is_content).collect();
    for id in &media {
        keep[id.index()] = true;
    }
    !media.is_empty()
}

impl<'a> KeptText<'a> {
    fn new(dom: &'a Dom, order: &[NodeId], keep: &[bool]) -> KeptText<'a> {
        let mut amounts = vec![Amount::default(); dom.len()];
        for &id in order.iter().rev() {
            if dom.kind(id) == NodeKind::Text {
                let bytes = dom.text(id).trim_ascii().len();
                amounts[id.index()] = Amount { kept: if keep[id.index()] { bytes } else { 0 }, all: bytes };
            }
            if let Some(parent) = dom.parent(id) {
                let (amount, sum) = (amounts[id.index()], &mut amounts[parent.index()]);
                sum.kept += amount.kept;
                sum.all += amount.all;
            }
        }
        let kept = amounts[NodeId::ROOT.index()].kept;
        let has_most = |id: &NodeId| amounts[id.index()].kept * 10 >= kept * CENTER_TENTHS && kept > 0;
        // An element with most of the text is inside all others that have it, so the last one is the innermost.
        let is_element = |id: &&NodeId| dom.tag(**id).is_some();
        let center = order.iter().filter(is_element).copied().rev().find(has_most).unwrap_or(NodeId::ROOT);
        let mut around = std::iter::once(center).chain(dom.ancestors(center));
        let region =
            around.find(|&id| matches!(dom.tag(id), Some(Tag::Main | Tag::Article))).unwrap_or(center);
        KeptText { dom, amounts, center, region }
    }

    /// Returns whether an image or player that is not between kept texts belongs to them. `is_before_text` says that the
    /// next text is kept.
    fn is_content(&self, id: NodeId, is_before_text: bool, wrappers: &mut usize) -> bool {
        let dom = self.dom;
        // The own block of the image ends at the first element with other text than its caption.
        let mut own_text = self.amounts[id.index()].all;
        let mut hints = 0;
        for above in dom.ancestors(id) {
            let amount = self.amounts[above.index()];
            if amount.all == own_text || is_figure(dom, above) {
                let Some(left) = wrappers.checked_sub(1) else { return false };
                *wrappers = left;
                own_text = amount.all;
                hints |= tokens::of_element(dom, above).0;
                continue;
            }
            // A small image in a sentence is a part of it: a formula, a key.
            let in_sentence = matches!(dom.tag(above), Some(Tag::P | Tag::Li | Tag::Td | Tag::Dd));
            if !in_sentence && is_decoration(dom, id) {
                return false;
            }
            let has_kept_text = amount.kept * MIN_SHARE_DIVISOR >= amount.all && amount.kept > 0;
            let is_inside = self.is_within(above, self.region) || self.is_within(above, self.center);
            // An image before the text may be in an element next to it.
            let is_lead = is_before_text && hints & tokens::IN_HEADER == 0 && !self.is_header(above);
            return has_kept_text && hints & NOT_CONTENT == 0 && (is_inside || is_lead);
        }
        false
    }

    fn is_header(&self, id: NodeId) -> bool {
        tokens::of_element(self.dom, id).0 & tokens::IN_HEADER != 0
    }

    fn is_within(&self, id: NodeId, around: NodeId) -> bool {
        id == around || self.dom.ancestors(id).any(|above| above == around)
    }
}

/// Returns for each node whether the text before it is kept, and whether the text after it is.
fn neighbors(text: &KeptText<'_>, order: &[NodeId]) -> (Vec<bool>, Vec<bool>) {
    let scan = |nodes: &mut dyn Iterator<Item = &NodeId>| -> Vec<bool> {
        let mut last = false;
        let is_kept = nodes.map(|&id| {
            let before = last;
            let amount = text.amounts[id.index()];
            if amount.all > 0 && text.dom.kind(id) == NodeKind::Text {
                last = amount.kept > 0;
            }
            before
        });
        is_kept.collect()
    };
    let before = scan(&mut order.iter());
    let mut after = scan(&mut order.iter().rev());
    after.reverse();
    (before, after)
}

fn is_media(dom: &Dom, id: NodeId) -> bool {
    match dom.tag(id) {
        Some(Tag::Img | Tag::Math) => true,
        Some(Tag::A) => dom.is_embedded_document(id),
        Some(Tag::Video | Tag::Audio | Tag::Iframe) => embed::address(dom, id).is_some(),
        _ => false,
    }
}

fn is_figure(dom: &Dom, id: NodeId) -> bool {
    dom.is(id, Tag::Figure) || dom.attribute(id, "class").is_some_and(|class| class.contains("wp-caption"))
}

/// Returns whether an image is an icon, a logo or a portrait: by its size, its names, or its link to the home page.
fn is_decoration(dom: &Dom, id: NodeId) -> bool {
    if !dom.is(id, Tag::Img) {
        return false;
    }
    let is_small = ["width", "height"].iter().any(|name| {
        let value = dom.attribute(id, name).unwrap_or_default().trim().trim_end_matches("px");
        value.parse::<f32>().is_ok_and(|side| side < MIN_SIDE)
    });
    let near = std::iter::once(id).chain(dom.ancestors(id).take(3));
    is_small
        || near.into_iter().any(|id| {
            let names = ["class", "id", "alt"].iter().filter_map(|name| dom.attribute(id, name));
            let links_home = dom.is(id, Tag::A) && matches!(dom.attribute(id, "href"), Some("/" | "./"));
            links_home || names.into_iter().any(has_decoration_name)
        })
}

/// Returns whether names have a word for an image that is not content.
fn has_decoration_name(names: &str) -> bool {
    let mut words = names.split(|c: char| !c.is_ascii_alphabetic());
    words.any(|word| {
        ["logo", "icon", "icons", "avatar", "sprite", "emoji", "gravatar", "logotype"]
            .iter()
            .any(|name| word.eq_ignore_ascii_case(name))
    })
}
