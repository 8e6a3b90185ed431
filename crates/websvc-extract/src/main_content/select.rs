//! Selects the blocks to keep by their scores, and the images and rules between them.

use super::blocks::{Block, BlockTree, chain, heading_level};
use super::groups::Groups;
use super::tokens::{self, Hints};
use super::{media, next_page, records, topics, wordless};
use crate::content_view::ContentView;
use crate::document::Document;
use crate::dom::{Dom, NodeId, NodeKind, Tag};
use std::collections::HashMap;

/// Limits of the threshold.
const MIN_THRESHOLD: f32 = 0.12;
const MAX_THRESHOLD: f32 = 0.5;

/// The part of the threshold above this value counts twice: uncertain blocks next to a clear article rarely belong to
/// it.
const CERTAIN: f32 = 0.4;

/// The threshold of a clear page, on which the prices of kept records are kept. On an uncertain page, kept records are
/// often not content.
const CLEAR_PAGE: f32 = 0.45;

/// The share of the threshold that is enough for a block between two kept ones.
const GAP_FACTOR: f32 = 0.4;

/// A text with fewer words than this may be repeated.
const MIN_COPY_WORDS: f32 = 12.0;

/// Maximum number of words of a small page, on which the features mean little.
const SMALL_PAGE_WORDS: f32 = 200.0;

/// Minimum number of kept words outside the footer and hidden articles, so that these are dropped.
const MIN_OTHER_WORDS: f32 = 30.0;

/// Number of elements, from a hidden one upwards, in whose names a card of a related page shows.
const CARD_LEVELS: usize = 3;

/// Elements whose headers and footers are those of an article, not of the site.
const IN_CONTENT: Hints = tokens::IN_MAIN | tokens::IN_ARTICLE;

/// Names of the parts of a small page that are not its content.
const NOT_CONTENT: Hints = tokens::IN_NAV
    | tokens::IN_FOOTER
    | tokens::IN_ASIDE
    | tokens::NAV
    | tokens::FOOTER
    | tokens::SIDEBAR
    | tokens::CONSENT
    | tokens::ADVERT
    | tokens::SOCIAL
    | tokens::MODAL
    | tokens::CRUMBS
    | tokens::SKIP;

/// Returns the threshold above which blocks are kept.
///
/// If scores are probabilities, the selection with the best expected F1 has the blocks that score above half of that
/// F1. So on an uncertain page the threshold is lower.
fn threshold(tree: &BlockTree, scores: &[f32]) -> f32 {
    let mut ranked: Vec<(f32, f32)> =
        scores.iter().zip(&tree.blocks).map(|(&score, block)| (score, block.size.words.max(1.0))).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let expected: f32 = ranked.iter().map(|(score, words)| score * words).sum();
    let (mut hits, mut kept, mut best) = (0.0, 0.0, 0.0_f32);
    for (score, words) in ranked {
        hits += score * words;
        kept += words;
        best = best.max(hits / (kept + expected));
    }
    let best = best.clamp(MIN_THRESHOLD, MAX_THRESHOLD);
    best + (best - CERTAIN).max(0.0)
}

/// Selects the blocks that score above the threshold, and those that belong to them.
pub(super) fn select_blocks(dom: &Dom, tree: &BlockTree, groups: &Groups, scores: &[f32]) -> Vec<bool> {
    let threshold = threshold(tree, scores);
    let mut kept: Vec<bool> = scores.iter().map(|&score| score > threshold).collect();
    keep_whole_groups(tree, scores, threshold, &mut kept);
    close_gaps(tree, scores, threshold, &mut kept);
    keep_headings(tree, &mut kept);
    keep_small_page(tree, groups, &mut kept);
    drop_surroundings(tree, &mut kept);
    drop_copies(tree, &mut kept);
    if threshold > CLEAR_PAGE {
        records::keep_prices(dom, tree, &mut kept);
    }
    kept
}

/// Drops the footer of the site, with its legal notes, and the texts of related articles that a class hides: they are
/// long and look like content. They stay if hardly anything else is kept.
fn drop_surroundings(tree: &BlockTree, kept: &mut [bool]) {
    let is_around = |block: &Block| {
        let hints = tree.elements[block.owner].all_hints;
        let is_footer = hints & tokens::IN_FOOTER != 0 && hints & (IN_CONTENT | tokens::IN_QUOTE) == 0;
        is_footer || (hints & tokens::IN_HIDDEN != 0 && is_hidden_in_card(tree, block.owner))
    };
    let others = tree.blocks.iter().zip(&*kept).filter(|(block, kept)| **kept && !is_around(block));
    if others.map(|(block, _)| block.size.words).sum::<f32>() >= MIN_OTHER_WORDS {
        for (kept, block) in kept.iter_mut().zip(&tree.blocks) {
            *kept &= !is_around(block);
        }
    }
}

/// Returns whether the nearest hidden element around this one is in a card of a related page.
///
/// Only names near it count: applications put whole pages into an element such as `__next`.
fn is_hidden_in_card(tree: &BlockTree, owner: usize) -> bool {
    let own_hints = |index: usize| tree.elements[index].own_hints;
    let hidden = chain(&tree.elements, owner).find(|&index| own_hints(index) & tokens::IN_HIDDEN != 0);
    let related = |index| own_hints(index) & tokens::RELATED != 0;
    hidden.is_some_and(|hidden| chain(&tree.elements, hidden).take(CARD_LEVELS).any(related))
}

/// Drops the copies of kept texts: quotes of other posts, slides of a carousel that are repeated, and parts for screens of
/// other sizes. An item of a list, a row and a paragraph of the
/// same section may be repeated.
fn drop_copies(tree: &BlockTree, kept: &mut [bool]) {
    let mut sections: HashMap<u64, usize> = HashMap::new();
    for (kept, block) in kept.iter_mut().zip(&tree.blocks) {
        let owner = &tree.elements[block.owner];
        let may_repeat = owner.all_hints & (tokens::IN_CODE | tokens::IN_TABLE) != 0 || owner.tag == Tag::Li;
        if *kept && block.size.words >= MIN_COPY_WORDS && !may_repeat {
            let section = tree.elements[owner.parent].parent;
            *kept = *sections.entry(block.hash).or_insert(section) == section;
        }
    }
}

/// Keeps all of a small page except the parts whose names say that they are not content: all of `main`, if there is
/// one.
fn keep_small_page(tree: &BlockTree, groups: &Groups, kept: &mut [bool]) {
    if tree.elements[0].size.words > SMALL_PAGE_WORDS {
        return;
    }
    let hints = |block: &Block| tree.elements[block.owner].all_hints;
    let has_main = tree.blocks.iter().any(|block| hints(block) & tokens::IN_MAIN != 0);
    for ((kept, block), heading) in kept.iter_mut().zip(&tree.blocks).zip(&groups.heading_topics) {
        let hints = hints(block);
        let is_related = hints & tokens::RELATED != 0 && heading & topics::RELATED != 0;
        let is_site_header = hints & tokens::IN_HEADER != 0 && hints & IN_CONTENT == 0;
        let is_not_content = hints & NOT_CONTENT != 0 || is_site_header || is_related;
        *kept |= !is_not_content && (!has_main || hints & tokens::IN_MAIN != 0);
    }
}

/// Keeps a list, a table or a code block as a whole if its mean score is above the threshold.
fn keep_whole_groups(tree: &BlockTree, scores: &[f32], threshold: f32, kept: &mut [bool]) {
    let groups: Vec<Option<usize>> = tree.blocks.iter().map(|block| group_of(tree, block.owner)).collect();
    let mut sums = vec![(0.0_f32, 0.0_f32); tree.elements.len()];
    for ((block, &score), group) in tree.blocks.iter().zip(scores).zip(&groups) {
        if let Some(group) = group {
            let words = block.size.words.max(1.0);
            sums[*group].0 += score * words;
            sums[*group].1 += words;
        }
    }
    for (kept, group) in kept.iter_mut().zip(&groups) {
        *kept |= group.is_some_and(|group| sums[group].0 > threshold * sums[group].1);
    }
}

/// Returns the innermost list, table or code block around an element.
fn group_of(tree: &BlockTree, owner: usize) -> Option<usize> {
    let near = chain(&tree.elements, owner).take(5);
    let is_group = |tag| matches!(tag, Tag::Ul | Tag::Ol | Tag::Dl | Tag::Table | Tag::Pre);
    near.into_iter().find(|&index| is_group(tree.elements[index].tag))
}

/// Keeps a block between two kept ones with the same parent already at a lower score.
fn close_gaps(tree: &BlockTree, scores: &[f32], threshold: f32, kept: &mut [bool]) {
    let parent = |index: usize| tree.elements[tree.blocks[index].owner].parent;
    for index in 1..kept.len().saturating_sub(1) {
        let is_between_kept = kept[index - 1] && kept[index + 1];
        let has_same_parent = parent(index) == parent(index - 1) && parent(index) == parent(index + 1);
        kept[index] |= is_between_kept && has_same_parent && scores[index] > threshold * GAP_FACTOR;
    }
}

/// Keeps a heading if the block after it is kept.
fn keep_headings(tree: &BlockTree, kept: &mut [bool]) {
    for index in (0..kept.len().saturating_sub(1)).rev() {
        kept[index] |= kept[index + 1] && heading_level(tree, &tree.blocks[index]) > 0;
    }
}

/// Excludes all text that is not kept, and then all elements without content. One link to the next page is kept.
pub(super) fn apply(document: &Document, view: &mut ContentView, tree: &BlockTree, kept: &[bool]) {
    let dom = &document.dom;
    let mut text = vec![false; dom.len()];
    for (block, _) in tree.blocks.iter().zip(kept).filter(|(_, kept)| **kept) {
        for &id in &block.nodes {
            text[id.index()] = true;
        }
    }
    let order: Vec<NodeId> = view.nodes(dom).collect();
    if is_outside_content(tree, kept) && media::keep_media_only(dom, &order, &mut text) {
        tree.blocks.iter().flat_map(|block| &block.nodes).for_each(|&id| text[id.index()] = false);
    } else {
        media::keep_media(dom, &order, &mut text);
    }
    wordless::keep_signs(dom, &order, &mut text);
    keep_next_page(dom, view, &next_page::links(document, view, &order), &mut text);
    // Backwards, so that children come before their parents.
    let mut has_content = text;
    for &id in order.iter().rev() {
        if has_content[id.index()]
            && let Some(parent) = dom.parent(id)
        {
            has_content[parent.index()] = true;
        }
    }
    wordless::keep_line_breaks(dom, &order, &mut has_content);
    for &id in &order {
        let is_separator = matches!(dom.tag(id), Some(Tag::Br | Tag::Hr | Tag::Wbr));
        if !has_content[id.index()] && !is_separator && !is_blank(dom, id) {
            view.exclude(id);
        }
    }
}

/// Returns whether all kept text is in the header, the footer or the navigation of the site.
fn is_outside_content(tree: &BlockTree, kept: &[bool]) -> bool {
    let site_parts = tokens::IN_NAV | tokens::IN_HEADER | tokens::IN_FOOTER;
    let is_outside = |block: &Block| {
        let hints = tree.elements[block.owner].all_hints;
        hints & site_parts != 0 && hints & IN_CONTENT == 0
    };
    tree.blocks.iter().zip(kept).filter(|(_, kept)| **kept).all(|(block, _)| is_outside(block))
}

/// Keeps the last of the links to the next page, unless one of them is kept already.
fn keep_next_page(dom: &Dom, view: &ContentView, links: &[NodeId], keep: &mut [bool]) {
    let is_kept = |&link: &NodeId| view.below(dom, link).any(|id| keep[id.index()]);
    if links.iter().any(is_kept) {
        return;
    }
    for id in links.last().into_iter().flat_map(|&link| view.below(dom, link)) {
        keep[id.index()] |= dom.kind(id) == NodeKind::Text && !is_blank(dom, id);
    }
}

fn is_blank(dom: &Dom, id: NodeId) -> bool {
    dom.kind(id) == NodeKind::Text && dom.text(id).chars().all(crate::text::is_space)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::main_content::blocks;

    #[test]
    fn footer_of_the_site_and_hidden_related_articles_are_dropped() {
        let text = "The kettle boils a liter of water in four minutes and holds its heat for an hour longer than others do.";
        let other = format!(
            "<div><p>{text}</p><p>It is made of copper, and of nothing that can rust or melt.</p></div>"
        );
        let kept_of = |html: &str| {
            let dom = crate::dom::parse(html);
            let tree = blocks::split(&dom, &ContentView::visible(&dom));
            let mut kept = vec![true; tree.blocks.len()];
            drop_surroundings(&tree, &mut kept);
            *kept.last().unwrap()
        };
        for (part, expected) in [
            (format!("<footer><ol><li>{text}</li></ol></footer>"), false),
            (format!("<div role=contentinfo><p>{text}</p></div>"), false),
            (
                format!(
                    "<div class=related-posts><a href=/b>Mugs</a><div class=hide><p>{text}</p></div></div>"
                ),
                false,
            ),
            (format!("<div class=related-posts><p>{text}</p></div>"), true),
            (format!("<div id=__next><div><div><div class=hide><p>{text}</p></div></div></div></div>"), true),
            (format!("<article><footer><p>{text}</p></footer></article>"), true),
            (format!("<blockquote><footer>{text}</footer></blockquote>"), true),
        ] {
            assert_eq!(kept_of(&format!("<body>{other}{part}</body>")), expected, "{part}");
        }
        assert!(
            kept_of(&format!("<body><h1>Kettle</h1><footer><p>{text}</p></footer>")),
            "hardly anything else"
        );
    }
}
