//! Groups of blocks: the same text, the same position in a repeated pattern, the same heading.

use super::blocks::{Block, BlockTree, Size};
use super::features::heading_level;
use super::topics::{self, Topics};
use std::collections::HashMap;

/// Groups of the blocks of one page.
#[derive(Debug)]
pub(super) struct Groups {
    /// For each block its group by the path of elements to it, and by the two nearest elements.
    of_path: Vec<usize>,
    of_look: Vec<usize>,
    sizes: Vec<Size>,
    /// How often the text of each block occurs before it, and after it.
    pub(super) copies: Vec<(f32, f32)>,
    /// The topics of the heading each block stands under.
    pub(super) heading_topics: Vec<Topics>,
    /// For each topic the first heading about it.
    pub(super) first_heading: [Option<usize>; topics::COUNT],
    /// For each topic the share of the blocks that mention it.
    pub(super) mentions: [f32; topics::COUNT],
}

impl Groups {
    /// Compares the blocks of a page with each other.
    pub(super) fn of(outline: &BlockTree) -> Groups {
        let mut sizes = Vec::new();
        let of_path = group(outline, &mut sizes, |block| outline.elements[block.owner].path);
        let of_look = group(outline, &mut sizes, |block| {
            let owner = &outline.elements[block.owner];
            // A salt keeps these apart from whole paths.
            owner.look.rotate_left(7) ^ outline.elements[owner.parent].look ^ 0x9e37
        });
        let mut groups = Groups {
            of_path,
            of_look,
            sizes,
            copies: copies(&outline.blocks),
            heading_topics: Vec::with_capacity(outline.blocks.len()),
            first_heading: [None; topics::COUNT],
            mentions: [0.0; topics::COUNT],
        };
        groups.read_topics(outline);
        groups
    }

    /// Returns what the blocks with the same path hold, this one included.
    pub(super) fn path(&self, block: usize) -> &Size {
        &self.sizes[self.of_path[block]]
    }

    /// Returns what the blocks in elements that look the same hold, this one included.
    pub(super) fn look(&self, block: usize) -> &Size {
        &self.sizes[self.of_look[block]]
    }

    /// Returns the number of groups and for each block its group by path.
    pub(super) fn paths(&self) -> (usize, &[usize]) {
        (self.sizes.len(), &self.of_path)
    }

    fn read_topics(&mut self, outline: &BlockTree) {
        let mut heading = 0;
        for (index, block) in outline.blocks.iter().enumerate() {
            let is_heading = heading_level(outline, block) > 0;
            if is_heading {
                heading = block.topics;
            }
            self.heading_topics.push(heading);
            for topic in (0..topics::COUNT).filter(|topic| block.topics & (1 << topic) != 0) {
                self.mentions[topic] += 1.0 / outline.blocks.len() as f32;
                if is_heading && block.size.words < 8.0 {
                    self.first_heading[topic].get_or_insert(index);
                }
            }
        }
    }
}

fn group(outline: &BlockTree, sizes: &mut Vec<Size>, key: impl Fn(&Block) -> u64) -> Vec<usize> {
    let mut known = HashMap::new();
    let groups = outline.blocks.iter().map(|block| {
        let group = *known.entry(key(block)).or_insert_with(|| {
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
