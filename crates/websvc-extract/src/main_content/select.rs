//! From scores to a view: which blocks are kept, and which images and rules between them.

use super::blocks::Outline;
use crate::dom::{Dom, NodeId, NodeKind, Tag};
use crate::view::View;

/// The bounds of the score from which on a block is kept.
const LOWEST: f32 = 0.12;
const HIGHEST: f32 = 0.45;

/// Returns the score from which on blocks are kept.
///
/// If scores are probabilities, the selection with the best F1 to expect keeps what scores above half of that F1: on a page
/// where little is certain, less certainty is asked for.
pub(super) fn threshold(outline: &Outline, scores: &[f32]) -> f32 {
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
    best.clamp(LOWEST, HIGHEST)
}

/// Leaves out of the view all text that is not kept, and every element that then holds nothing.
pub(super) fn narrow(dom: &Dom, view: &mut View, outline: &Outline, kept: &[bool]) {
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
