//! Finds the main content of a page, in three steps.
//!
//! The page is cut into blocks of text (`blocks`). Each is described by signals (`features`): what it says, where it
//! stands, what the elements around it hold, and what their names hint at (`tokens`); a model fitted to pages with known
//! content turns them into a probability (`model`). The blocks that make the best selection to expect are kept (`select`).
//!
//! To improve it, add a signal and fit again: see `model/fit.py`. Nothing here knows a site.

mod blocks;
mod features;
mod groups;
mod model;
mod page_type;
mod select;
mod tokens;
mod topics;

use crate::content_view::ContentView;
use crate::document::Document;
use crate::dom::{Dom, NodeId};
use url::Url;

/// Returns the view of the main content, or nothing if there is none.
pub(crate) fn find(document: &Document, view: &ContentView) -> Option<ContentView> {
    let dom = &document.dom;
    let outline = blocks::outline(dom, view);
    let groups = groups::Groups::of(&outline);
    let rows = features::rows(&outline, &groups, &title_hashes(dom), &page_type::read(dom, &document.base));
    let scores = model::scores(&rows);
    let mut kept = select::choose(&outline, &scores);
    if let Some(stated) = document.stated {
        let inside = |id: NodeId| dom.ancestors(id).any(|above| above == stated);
        for (kept, block) in kept.iter_mut().zip(&outline.blocks) {
            *kept |= block.nodes.first().is_some_and(|&id| inside(id));
        }
    }
    if !kept.contains(&true) {
        return None;
    }
    let mut main = view.clone();
    select::narrow(dom, &mut main, &outline, &kept);
    Some(main)
}

/// A block of a page and what it is judged by, for training and for finding out why it was kept.
#[derive(Debug, Clone)]
pub struct BlockReport {
    /// Its text, white space collapsed.
    pub text: String,
    /// Its signals.
    pub signals: Vec<f32>,
    /// The elements around it by number, innermost first.
    pub chain: Vec<usize>,
    /// The number of the repeated pattern it is part of.
    pub group: usize,
    /// The classes and ids around it, those of one element apart by a space, innermost first.
    pub names: Vec<String>,
}

/// Returns every block of a page.
pub(crate) fn describe(dom: &Dom, view: &ContentView, base: &Url) -> Vec<BlockReport> {
    let outline = blocks::outline(dom, view);
    let groups = groups::Groups::of(&outline);
    let rows = features::rows(&outline, &groups, &title_hashes(dom), &page_type::read(dom, base));
    let report = |((block, row), &group): ((&blocks::Block, &features::FeatureVector), &usize)| {
        let mut text = String::new();
        for &id in &block.nodes {
            crate::text::push_collapsed(&mut text, dom.text(id));
        }
        let chain = features::chain(&outline.elements, block.owner).collect();
        let around = block.nodes.first().into_iter().flat_map(|&id| dom.ancestors(id));
        let names = around.map(|id| {
            let attribute = |name| dom.attribute(id, name).unwrap_or_default();
            crate::text::collapsed(&format!("{} {} {}", dom.name(id), attribute("class"), attribute("id")))
        });
        BlockReport { text, signals: row.to_vec(), chain, group, names: names.collect() }
    };
    outline.blocks.iter().zip(&rows).zip(groups.paths().1).map(report).collect()
}

/// Returns the hashes of the title and of its parts, which headings are compared with.
fn title_hashes(dom: &Dom) -> Vec<u64> {
    let title = crate::metadata::title(dom).unwrap_or_default();
    let parts = title.split(['|', '–', '—', '·', '»']).chain(title.split(" - ")).chain(title.split(": "));
    parts.chain(std::iter::once(title.as_str())).map(blocks::hash_of).filter(|&hash| hash != 0).collect()
}
