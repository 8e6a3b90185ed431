//! Grids of cards: elements with several children that look the same, such as the products of a shop.
//!
//! A page often has several: its list of products, the menu and recommended articles. Their sizes and prices compared with
//! each other tell which is its content.

use super::blocks::{BlockTree, Size, chain};

/// Minimum number of siblings of a card that look the same.
const MIN_SIBLINGS: u32 = 2;

/// Maximum of the mean number of words of the cards of a grid: longer ones are sections.
const MAX_CARD_WORDS: f32 = 150.0;

/// Number of elements above a block in which its grid is searched.
const MAX_LEVELS: usize = 12;

/// A grid.
#[derive(Debug, Clone, Default)]
pub(super) struct Grid {
    pub(super) cards: f32,
    pub(super) size: Size,
    pub(super) prices: f32,
    /// The first block.
    pub(super) start: usize,
}

/// The grids of a page.
#[derive(Debug)]
pub(super) struct Grids {
    grids: Vec<Grid>,
    /// For each block the grid around it that has the most words.
    of_block: Vec<Option<usize>>,
    /// The largest grid by words, and by cards.
    pub(super) max_words: f32,
    pub(super) max_cards: f32,
}

impl Grids {
    pub(super) fn from_tree(tree: &BlockTree) -> Grids {
        let mut grids = vec![Grid { start: usize::MAX, ..Grid::default() }; tree.elements.len()];
        for element in tree.elements.iter().skip(1) {
            if element.similar_siblings >= MIN_SIBLINGS && element.size.words > 0.0 {
                let grid = &mut grids[element.parent];
                grid.cards += 1.0;
                grid.size.add(&element.size);
            }
        }
        let is_grid = |grid: &Grid| grid.cards >= 3.0 && grid.size.words <= grid.cards * MAX_CARD_WORDS;
        let of_block: Vec<Option<usize>> = tree
            .blocks
            .iter()
            .map(|block| {
                let around = chain(&tree.elements, block.owner).take(MAX_LEVELS).skip(1);
                let grids = around.filter(|&index| is_grid(&grids[index]));
                grids.max_by(|&a, &b| tree.elements[a].size.words.total_cmp(&tree.elements[b].size.words))
            })
            .collect();
        let (mut max_words, mut max_cards) = (0.0_f32, 0.0_f32);
        for (index, (block, grid)) in tree.blocks.iter().zip(&of_block).enumerate() {
            let Some(grid) = grid.map(|grid| &mut grids[grid]) else { continue };
            grid.start = grid.start.min(index);
            grid.prices += f32::from(u8::from(block.prices > 0));
            max_words = max_words.max(grid.size.words);
            max_cards = max_cards.max(grid.cards);
        }
        Grids { grids, of_block, max_words, max_cards }
    }

    /// Returns the grid around a block.
    pub(super) fn of(&self, block: usize) -> Option<&Grid> {
        self.of_block[block].map(|grid| &self.grids[grid])
    }
}
