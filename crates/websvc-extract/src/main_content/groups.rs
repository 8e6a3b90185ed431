//! Groups of blocks: with the same text, at the same position of a repeated pattern, under the same heading.

use super::blocks::{Block, BlockTree, Size, heading_level};
use super::topics::{self, Topics};
use std::collections::HashMap;

/// A pattern has at least this number of blocks.
const MIN_PATTERN_BLOCKS: f32 = 3.0;

/// The share of a pattern in the score of its blocks.
const PATTERN_SHARE: f32 = 0.7;

/// Groups of the blocks of one page.
#[derive(Debug)]
pub(super) struct Groups {
    /// For each block its group by the path of elements to it.
    of_path: Vec<usize>,
    /// For each block its group by the two nearest elements.
    of_signature: Vec<usize>,
    sizes: Vec<Size>,
    /// For each block the number of blocks with the same text before it and after it.
    pub(super) copies: Vec<(f32, f32)>,
    /// For each block the topics of the heading above it.
    pub(super) heading_topics: Vec<Topics>,
    /// For each topic the first heading about it.
    pub(super) first_heading: [Option<usize>; topics::COUNT],
    /// For each topic the share of the blocks that mention it.
    pub(super) mentions: [f32; topics::COUNT],
}

impl Groups {
    /// Groups the blocks of a page.
    pub(super) fn from_tree(tree: &BlockTree) -> Groups {
        let mut sizes = Vec::new();
        let of_path = group(tree, &mut sizes, |block| tree.elements[block.owner].path);
        let of_signature = group(tree, &mut sizes, |block| {
            let owner = &tree.elements[block.owner];
            // A salt distinguishes these keys from those of paths.
            owner.signature.rotate_left(7) ^ tree.elements[owner.parent].signature ^ 0x9e37
        });
        let mut groups = Groups {
            of_path,
            of_signature,
            sizes,
            copies: copies(&tree.blocks),
            heading_topics: Vec::with_capacity(tree.blocks.len()),
            first_heading: [None; topics::COUNT],
            mentions: [0.0; topics::COUNT],
        };
        groups.read_topics(tree);
        groups
    }

    /// Returns the size of the blocks with the same path, including this one.
    pub(super) fn path(&self, block: usize) -> &Size {
        &self.sizes[self.of_path[block]]
    }

    /// Returns the size of the blocks in elements with the same signature, including this one.
    pub(super) fn signature(&self, block: usize) -> &Size {
        &self.sizes[self.of_signature[block]]
    }

    /// Blends the score of each block with the mean of those at the same position of its pattern, so that the items of a list,
    /// the cells of a column and the names of a grid of products are kept or dropped together.
    pub(super) fn blend_scores(&self, tree: &BlockTree, scores: &mut [f32]) {
        let mut sums = vec![(0.0_f32, 0.0_f32); self.sizes.len()];
        for ((block, &score), &group) in tree.blocks.iter().zip(&*scores).zip(&self.of_path) {
            let words = block.size.words.max(1.0);
            sums[group].0 += score * words;
            sums[group].1 += words;
        }
        for (score, &group) in scores.iter_mut().zip(&self.of_path) {
            if self.sizes[group].blocks >= MIN_PATTERN_BLOCKS {
                *score += PATTERN_SHARE * (sums[group].0 / sums[group].1 - *score);
            }
        }
    }

    /// Returns the number of groups, and for each block its group by path.
    pub(super) fn paths(&self) -> (usize, &[usize]) {
        (self.sizes.len(), &self.of_path)
    }

    fn read_topics(&mut self, tree: &BlockTree) {
        let mut heading = 0;
        for (index, block) in tree.blocks.iter().enumerate() {
            let is_heading = heading_level(tree, block) > 0;
            if is_heading {
                heading = block.topics;
            }
            self.heading_topics.push(heading);
            for topic in (0..topics::COUNT).filter(|topic| block.topics & (1 << topic) != 0) {
                self.mentions[topic] += 1.0 / tree.blocks.len() as f32;
                if is_heading && block.size.words < 8.0 {
                    self.first_heading[topic].get_or_insert(index);
                }
            }
        }
    }
}

fn group(tree: &BlockTree, sizes: &mut Vec<Size>, key: impl Fn(&Block) -> u64) -> Vec<usize> {
    let mut indexes = HashMap::new();
    let groups = tree.blocks.iter().map(|block| {
        let group = *indexes.entry(key(block)).or_insert_with(|| {
            sizes.push(Size::default());
            sizes.len() - 1
        });
        sizes[group].add(&block.size);
        group
    });
    groups.collect()
}

fn copies(blocks: &[Block]) -> Vec<(f32, f32)> {
    let mut total: HashMap<u64, f32> = HashMap::new();
    let before: Vec<f32> = blocks
        .iter()
        .map(|block| {
            let count = total.entry(block.hash).or_insert(0.0);
            *count += 1.0;
            *count - 1.0
        })
        .collect();
    before
        .into_iter()
        .zip(blocks)
        .map(|(before, block)| (before, total[&block.hash] - before - 1.0))
        .collect()
}
