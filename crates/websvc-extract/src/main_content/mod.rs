//! Finds the main content of a page, in three steps.
//!
//! The page is cut into blocks of text (`blocks`). Each is described by signals (`features`): what it says, where it
//! stands, what the elements around it hold, and what their names hint at (`tokens`); a model fitted to pages with known
//! content turns them into a probability (`model`). The blocks that make the best selection to expect are kept (`select`).
//!
//! To improve it, add a signal and fit again: see `model/fit.py`. Nothing here knows a site.

mod blocks;
mod features;
mod model;
mod select;
mod signs;
mod tokens;

use crate::dom::Dom;
use crate::view::View;
use url::Url;

/// Returns the view of the main content, or nothing if there is none.
pub(crate) fn find(dom: &Dom, view: &View, base: &Url) -> Option<View> {
    let outline = blocks::outline(dom, view);
    let rows = features::rows(&outline, &title_hashes(dom), &signs::read(dom, base));
    let scores: Vec<f32> = rows.iter().map(model::score).collect();
    let kept = select::choose(&outline, &scores);
    if !kept.contains(&true) {
        return None;
    }
    let mut main = view.clone();
    select::narrow(dom, &mut main, &outline, &kept);
    Some(main)
}

/// Returns every block of a page with its signals, for training and for finding out why a block was kept.
pub(crate) fn describe(dom: &Dom, view: &View, base: &Url) -> Vec<(String, Vec<f32>, Vec<usize>)> {
    let outline = blocks::outline(dom, view);
    let rows = features::rows(&outline, &title_hashes(dom), &signs::read(dom, base));
    let texts = outline.blocks.iter().map(|block| {
        let mut text = String::new();
        for &id in &block.nodes {
            crate::text::push_collapsed(&mut text, dom.text(id));
        }
        text
    });
    let chains = outline.blocks.iter().map(|block| features::chain(&outline.elements, block.owner).collect());
    texts
        .zip(rows.iter().map(|row| row.to_vec()))
        .zip(chains)
        .map(|((text, row), chain)| (text, row, chain))
        .collect()
}

/// Returns the hashes of the title and of its parts, which headings are compared with.
fn title_hashes(dom: &Dom) -> Vec<u64> {
    let title = crate::metadata::title(dom).unwrap_or_default();
    let parts = title.split(['|', '–', '—', '·', '»']).chain(title.split(" - ")).chain(title.split(": "));
    parts.chain(std::iter::once(title.as_str())).map(blocks::hash_of).filter(|&hash| hash != 0).collect()
}
