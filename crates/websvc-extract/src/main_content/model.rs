//! The model that turns the features of a block into the probability that it is main content: a sum of small decision
//! trees.
//!
//! The trees are in `model/model.txt`; `model/fit.py` documents how they were fitted. Trees are better than hand-set
//! weights, because the meaning of a feature depends on the others: links in a list are a menu on an article, and the
//! content of a listing.
//!
//! The trees are not walked one by one, because each node would cost an unpredictable branch (this is the QuickScorer
//! algorithm). All splits on one feature are evaluated together, in the order of their thresholds: each whose threshold
//! the feature exceeds rules out the leaves on its other side. The first remaining leaf of a tree is its result.
//! Several blocks are evaluated at once, which the compiler turns into vector instructions.

use super::features::{COUNT, FeatureVector};
use std::sync::LazyLock;

static MODEL: LazyLock<Model> = LazyLock::new(|| Model::read(include_str!("../../model/model.txt")));

/// Maximum number of leaves of a tree.
const MAX_LEAVES: usize = 32;

/// Number of blocks that are evaluated at once.
const LANES: usize = 8;

/// The remaining leaves of a tree, for each of the blocks that are evaluated at once.
type LeafMask = [u32; LANES];

/// Returns for each block the probability that it is main content.
pub(super) fn scores(vectors: &[FeatureVector]) -> Vec<f32> {
    let model = &*MODEL;
    let mut masks = vec![[u32::MAX; LANES]; model.trees.len()];
    let sums = vectors
        .chunks(LANES)
        .flat_map(|vectors| model.sums(vectors, &mut masks).into_iter().take(vectors.len()));
    sums.map(|sum| 1.0 / (1.0 + (-sum).exp())).collect()
}

struct Model {
    /// The splits on each feature, by rising threshold.
    splits: Vec<Vec<Split>>,
    /// Offset of the first leaf value of each tree.
    trees: Vec<usize>,
    leaves: Vec<f32>,
}

/// A split of a tree: a test whether a feature is above a threshold.
struct Split {
    threshold: f32,
    tree: usize,
    /// The leaves that remain if it is.
    remaining: u32,
}

impl Model {
    /// Returns the sum of the trees for each of up to `LANES` blocks.
    fn sums(&self, vectors: &[FeatureVector], masks: &mut [LeafMask]) -> [f32; LANES] {
        masks.fill([u32::MAX; LANES]);
        for (feature, splits) in self.splits.iter().enumerate() {
            // A lane without a block is above no threshold.
            let mut values = [f32::NEG_INFINITY; LANES];
            for (value, vector) in values.iter_mut().zip(vectors) {
                *value = vector[feature];
            }
            let highest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            for split in splits {
                if highest <= split.threshold {
                    break;
                }
                for (mask, value) in masks[split.tree].iter_mut().zip(values) {
                    // All bits are set if the value is not above the threshold, so that nothing is ruled out.
                    let keep_all = u32::from(value > split.threshold).wrapping_sub(1);
                    *mask &= split.remaining | keep_all;
                }
            }
        }
        let mut sums = [0.0; LANES];
        for (&first, mask) in self.trees.iter().zip(masks) {
            for (sum, remaining) in sums.iter_mut().zip(mask) {
                *sum += self.leaves[first + remaining.trailing_zeros() as usize];
            }
        }
        sums
    }

    /// Parses one tree per line, in prefix order: the branch for "at most the threshold" comes first.
    fn read(source: &str) -> Model {
        let mut model = Model { splits: Vec::new(), trees: Vec::new(), leaves: Vec::new() };
        model.splits.resize_with(COUNT, Vec::new);
        for (tree, line) in source.lines().enumerate() {
            let first = model.leaves.len();
            model.trees.push(first);
            // Splits whose second branch has not begun, with their first leaf.
            let mut open: Vec<(usize, f32, usize)> = Vec::new();
            for word in line.split(' ') {
                let leaf = model.leaves.len() - first;
                if let Some((feature, threshold)) = word.split_once("<=") {
                    let feature: usize = feature.parse().expect("model.txt has features by number");
                    let threshold = threshold.parse().expect("model.txt has numbers as thresholds");
                    open.push((feature, threshold, leaf));
                    continue;
                }
                assert!(leaf < MAX_LEAVES, "a tree of model.txt has more leaves than a word has bits");
                model.leaves.push(word.parse().expect("model.txt has numbers as leaves"));
                // The first branch of the innermost open split ends here.
                if let Some((feature, threshold, from)) = open.pop() {
                    let first_branch = (1_u64 << (leaf + 1)) - (1_u64 << from);
                    let remaining = !u32::try_from(first_branch).expect("there are at most 32 leaves");
                    model.splits[feature].push(Split { threshold, tree, remaining });
                }
            }
        }
        for splits in &mut model.splits {
            splits.sort_by(|a, b| a.threshold.total_cmp(&b.threshold));
        }
        model
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluation_equals_a_walk_of_the_trees() {
        let model = Model::read("0<=1 1<=5 1 2 0<=3 1<=2 3 4 5\n1<=4 10 20");
        let vectors = [(0.0, 0.0), (1.0, 6.0), (2.0, 2.0), (3.0, 3.0), (4.0, 9.0)].map(|(a, b)| {
            let mut vector = [0.0; COUNT];
            (vector[0], vector[1]) = (a, b);
            vector
        });
        let sums = model.sums(&vectors, &mut [[0; LANES]; 2]);
        assert_eq!(sums[..vectors.len()], [11.0, 22.0, 13.0, 14.0, 25.0]);
        for (vector, sum) in vectors.iter().zip(sums) {
            let alone = model.sums(std::slice::from_ref(vector), &mut [[0; LANES]; 2]);
            assert_eq!(alone[0], sum, "other blocks of a batch do not matter");
        }
    }
}
