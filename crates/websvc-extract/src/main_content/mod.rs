//! Selects the main content of a page, in three steps.
//!
//! The page is split into blocks of text (`blocks`). Each block is described by features (`features`): of its text, its
//! position, the text of the elements around it, and the hints in their names (`tokens`). A model that was fitted to
//! pages with known content turns the features into a probability (`model`). The selection of blocks with the best
//! expected result is kept (`select`), with the prices of kept records (`records`) and the link to the next page of a
//! list (`next_page`).
//!
//! To improve it, add a feature and fit the model again: see `model/fit.py`. There are no rules for specific sites.

mod blocks;
mod features;
mod grids;
mod groups;
mod heading;
mod media;
mod model;
mod next_page;
mod overlays;
mod page_type;
mod records;
mod select;
mod tokens;
mod topics;
mod wordless;

use crate::content_view::ContentView;
use crate::document::Document;
use crate::dom::{Dom, NodeId};
use url::Url;

/// The main content of a page.
#[derive(Debug)]
pub(crate) struct MainContent {
    pub(crate) view: ContentView,
    /// The heading of the page, if only its position above the content makes it a part of the view.
    pub(crate) title: Option<NodeId>,
}

/// Returns the main content, `None` if there is none.
pub(crate) fn find(document: &Document, view: &ContentView) -> Option<MainContent> {
    let dom = &document.dom;
    let mut main = view.clone();
    overlays::exclude(dom, &mut main);
    let tree = blocks::split(dom, &main);
    let groups = groups::Groups::from_tree(&tree);
    let titles = title_hashes(dom);
    let vectors = features::vectors(&tree, &groups, &titles, &page_type::read(dom, &document.base));
    let mut scores = model::scores(&vectors);
    groups.blend_scores(&tree, &mut scores);
    let mut kept = select::select_blocks(dom, &tree, &groups, &scores);
    if let Some(added) = document.json_ld_content {
        let is_inside = |id: NodeId| dom.ancestors(id).any(|above| above == added);
        for (kept, block) in kept.iter_mut().zip(&tree.blocks) {
            *kept |= block.nodes.first().is_some_and(|&id| is_inside(id));
        }
    }
    if !kept.contains(&true) {
        return None;
    }
    let heading = heading::find(dom, &main, &document.base, &titles);
    let title = heading.filter(|&heading| keep_heading(dom, heading, &tree, &mut kept));
    select::apply(document, &mut main, &tree, &kept);
    Some(MainContent { view: main, title })
}

/// Keeps the blocks of a heading. Returns whether they were not kept before.
fn keep_heading(dom: &Dom, heading: NodeId, tree: &blocks::BlockTree, kept: &mut [bool]) -> bool {
    let mut is_new = true;
    for (kept, block) in kept.iter_mut().zip(&tree.blocks) {
        let is_inside = |&id: &NodeId| dom.ancestors(id).take(8).any(|above| above == heading);
        if block.nodes.first().is_some_and(is_inside) {
            is_new &= !*kept;
            *kept = true;
        }
    }
    is_new
}

/// A block of a page and its features, for training and diagnosis.
#[derive(Debug, Clone)]
pub struct BlockReport {
    /// The text with collapsed white space.
    pub text: String,
    /// The features.
    pub features: Vec<f32>,
    /// The indexes of the elements around it, innermost first.
    pub chain: Vec<usize>,
    /// The index of its repeated pattern.
    pub group: usize,
    /// The classes and IDs of the elements around it, separated by a space, innermost first.
    pub names: Vec<String>,
}

/// Describes all blocks of a page.
pub(crate) fn describe(dom: &Dom, view: &ContentView, base: &Url) -> Vec<BlockReport> {
    let mut view = view.clone();
    overlays::exclude(dom, &mut view);
    let tree = blocks::split(dom, &view);
    let groups = groups::Groups::from_tree(&tree);
    let vectors = features::vectors(&tree, &groups, &title_hashes(dom), &page_type::read(dom, base));
    let report = |((block, vector), &group): ((&blocks::Block, &features::FeatureVector), &usize)| {
        let chain = blocks::chain(&tree.elements, block.owner).collect();
        let ancestors = block.nodes.first().into_iter().flat_map(|&id| dom.ancestors(id));
        let names = ancestors.map(|id| {
            let attribute = |name| dom.attribute(id, name).unwrap_or_default();
            crate::text::collapsed(&format!("{} {} {}", dom.name(id), attribute("class"), attribute("id")))
        });
        BlockReport { text: block.text(dom), features: vector.to_vec(), chain, group, names: names.collect() }
    };
    tree.blocks.iter().zip(&vectors).zip(groups.paths().1).map(report).collect()
}

/// Returns the hashes of the title and of its parts, for comparison with headings.
fn title_hashes(dom: &Dom) -> Vec<u64> {
    let title = crate::metadata::title(dom).unwrap_or_default();
    let parts = title.split(['|', '–', '—', '·', '»']).chain(title.split(" - ")).chain(title.split(": "));
    parts.chain(std::iter::once(title.as_str())).map(blocks::hash_of).filter(|&hash| hash != 0).collect()
}
