//! From scores to a view: which blocks are kept, and which images and rules between them.

use super::blocks::{Block, BlockTree};
use super::features::{chain, heading_level};
use super::tokens::{self, Hints};
use crate::content_view::ContentView;
use crate::dom::{Dom, NodeId, NodeKind, Tag};

/// The bounds of the expected threshold.
const LOWEST: f32 = 0.12;
const HIGHEST: f32 = 0.5;

/// Threshold part above which the excess counts twice: uncertain blocks beside a clear article rarely belong to
/// it.
const CERTAIN: f32 = 0.4;

/// The part of the threshold that is enough between two kept blocks.
const GAP: f32 = 0.4;

/// Up to this many words a page is small: too little for the signals to mean much.
const SMALL_PAGE_WORDS: f32 = 200.0;

/// Names of the parts of a small page that are not its content.
const AROUND: Hints = tokens::IN_NAV
    | tokens::IN_FOOTER
    | tokens::IN_ASIDE
    | tokens::NAV
    | tokens::FOOTER
    | tokens::SIDEBAR
    | tokens::CONSENT
    | tokens::ADVERT
    | tokens::SOCIAL
    | tokens::CRUMBS
    | tokens::SKIP;

/// Returns the score from which on blocks are kept.
///
/// If scores are probabilities, the selection with the best F1 to expect keeps what scores above half of that F1: on a page
/// where little is certain, less certainty is asked for.
fn threshold(outline: &BlockTree, scores: &[f32]) -> f32 {
    let mut ranked: Vec<(f32, f32)> = scores
        .iter()
        .zip(&outline.blocks)
        .map(|(&score, block)| (score, block.size.words.max(1.0)))
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let expected: f32 = ranked.iter().map(|(score, words)| score * words).sum();
    let (mut hits, mut kept, mut best) = (0.0, 0.0, 0.0_f32);
    for (score, words) in ranked {
        hits += score * words;
        kept += words;
        best = best.max(hits / (kept + expected));
    }
    let best = best.clamp(LOWEST, HIGHEST);
    best + (best - CERTAIN).max(0.0)
}

/// Decides which blocks are kept: those that score above the threshold, and those that belong to them.
pub(super) fn choose(outline: &BlockTree, scores: &[f32]) -> Vec<bool> {
    let threshold = threshold(outline, scores);
    let mut kept: Vec<bool> = scores.iter().map(|&score| score > threshold).collect();
    keep_wholes(outline, scores, threshold, &mut kept);
    close_gaps(outline, scores, threshold, &mut kept);
    keep_headings(outline, &mut kept);
    keep_small_page(outline, &mut kept);
    kept
}

/// A small page is kept but for what it names as something around its content: all of `main` where there is one.
fn keep_small_page(outline: &BlockTree, kept: &mut [bool]) {
    if outline.elements[0].size.words > SMALL_PAGE_WORDS {
        return;
    }
    let hints = |block: &Block| outline.elements[block.owner].all;
    let declared = outline.blocks.iter().any(|block| hints(block) & tokens::IN_MAIN != 0);
    for (kept, block) in kept.iter_mut().zip(&outline.blocks) {
        let hints = hints(block);
        let inside = tokens::IN_MAIN | tokens::IN_ARTICLE;
        let site_header = hints & tokens::IN_HEADER != 0 && hints & inside == 0;
        let around = hints & AROUND != 0 || site_header;
        *kept |= !around && (!declared || hints & tokens::IN_MAIN != 0);
    }
}

/// A list, a table or a piece of code is kept as a whole if on average it is worth keeping.
fn keep_wholes(outline: &BlockTree, scores: &[f32], threshold: f32, kept: &mut [bool]) {
    let wholes: Vec<Option<usize>> =
        outline.blocks.iter().map(|block| whole_of(outline, block.owner)).collect();
    let mut sums = vec![(0.0_f32, 0.0_f32); outline.elements.len()];
    for ((block, &score), whole) in outline.blocks.iter().zip(scores).zip(&wholes) {
        if let Some(whole) = whole {
            let words = block.size.words.max(1.0);
            sums[*whole].0 += score * words;
            sums[*whole].1 += words;
        }
    }
    for (kept, whole) in kept.iter_mut().zip(&wholes) {
        *kept |= whole.is_some_and(|whole| sums[whole].0 > threshold * sums[whole].1);
    }
}

/// Returns the innermost list, table or code that an element is part of.
fn whole_of(outline: &BlockTree, owner: usize) -> Option<usize> {
    let near = chain(&outline.elements, owner).take(5);
    let is_whole = |tag| matches!(tag, Tag::Ul | Tag::Ol | Tag::Dl | Tag::Table | Tag::Pre);
    near.into_iter().find(|&index| is_whole(outline.elements[index].tag))
}

/// A block between two kept ones, with the same parent, needs less to be kept itself.
fn close_gaps(outline: &BlockTree, scores: &[f32], threshold: f32, kept: &mut [bool]) {
    let parent = |index: usize| outline.elements[outline.blocks[index].owner].parent;
    for index in 1..kept.len().saturating_sub(1) {
        let between = kept[index - 1] && kept[index + 1];
        let same = parent(index) == parent(index - 1) && parent(index) == parent(index + 1);
        kept[index] |= between && same && scores[index] > threshold * GAP;
    }
}

/// A heading is kept if what it stands over is.
fn keep_headings(outline: &BlockTree, kept: &mut [bool]) {
    for index in (0..kept.len().saturating_sub(1)).rev() {
        kept[index] |= kept[index + 1] && heading_level(outline, &outline.blocks[index]) > 0;
    }
}

/// Leaves out of the view all text that is not kept, and every element that then holds nothing.
pub(super) fn narrow(dom: &Dom, view: &mut ContentView, outline: &BlockTree, kept: &[bool]) {
    let mut text = vec![false; dom.len()];
    for (block, _) in outline.blocks.iter().zip(kept).filter(|(_, kept)| **kept) {
        for &id in &block.nodes {
            text[id.index()] = true;
        }
    }
    let order: Vec<NodeId> = view.nodes(dom).collect();
    keep_images(dom, &order, &mut text);
    // Backwards, so that children come before their parents.
    let mut holds = text;
    for &id in order.iter().rev() {
        if holds[id.index()]
            && let Some(parent) = dom.parent(id)
        {
            holds[parent.index()] = true;
        }
    }
    for &id in &order {
        let empty = matches!(dom.tag(id), Some(Tag::Br | Tag::Hr | Tag::Wbr));
        if !holds[id.index()] && !empty && !is_blank(dom, id) {
            view.leave_out(id);
        }
    }
}

/// Marks the images that stand between kept blocks: the text before and after the image is kept.
fn keep_images(dom: &Dom, order: &[NodeId], keep: &mut [bool]) {
    let shows_text = |id: NodeId| dom.kind(id) == NodeKind::Text && !is_blank(dom, id);
    let mut before = false;
    let mut waiting: Vec<NodeId> = Vec::new();
    for &id in order {
        if shows_text(id) {
            let after = keep[id.index()];
            for image in waiting.drain(..) {
                keep[image.index()] = before && after;
            }
            before = after;
        } else if dom.is(id, Tag::Img) || dom.is(id, Tag::Math) {
            waiting.push(id);
        }
    }
}

fn is_blank(dom: &Dom, id: NodeId) -> bool {
    dom.kind(id) == NodeKind::Text && dom.text(id).chars().all(crate::text::is_space)
}
