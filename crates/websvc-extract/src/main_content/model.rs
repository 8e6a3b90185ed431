//! The model that turns a block's signals into the probability that it is main content: a sum of small decision trees.
//!
//! The trees lie in `model/model.txt`; `model/fit.py` there says how they were fitted. Trees rather than hand-set weights,
//! because what a signal means depends on the others: links in a list are a menu on an article and the content of a listing.
//!
//! The trees are not walked one by one, which costs a branch that no processor foresees at every node. All questions about
//! one signal are asked together, in the order of their thresholds: each that is answered with "above" rules out the leaves
//! on its other side, and the first leaf of a tree that is left is its answer. Several blocks are asked at once, which the
//! compiler turns into operations on vectors.

use super::features::{COUNT, FeatureVector};
use std::sync::LazyLock;

static MODEL: LazyLock<Model> = LazyLock::new(|| Model::read(include_str!("../../model/model.txt")));

/// Most leaves of a tree.
const MAX_LEAVES: usize = 32;

/// How many blocks are asked at once.
const LANES: usize = 8;

/// For each tree the leaves that are left, for each of the blocks that are asked together.
type LeafMask = [u32; LANES];

/// Returns for each row of signals the probability that its block is main content.
pub(super) fn scores(rows: &[FeatureVector]) -> Vec<f32> {
    let model = &*MODEL;
    let mut left = vec![[u32::MAX; LANES]; model.trees.len()];
    let sums = rows.chunks(LANES).flat_map(|rows| model.sums(rows, &mut left).into_iter().take(rows.len()));
    sums.map(|sum| 1.0 / (1.0 + (-sum).exp())).collect()
}

struct Model {
    /// The questions about each signal, by rising threshold.
    questions: Vec<Vec<Split>>,
    /// Offset of the first leaf value of each tree.
    trees: Vec<usize>,
    leaves: Vec<f32>,
}

/// Test whether a signal is above a threshold.
struct Split {
    threshold: f32,
    tree: usize,
    /// The leaves that are left if it is.
    left: u32,
}

impl Model {
    /// Returns the sum of the trees for each of up to `LANES` rows.
    fn sums(&self, rows: &[FeatureVector], left: &mut [LeafMask]) -> [f32; LANES] {
        left.fill([u32::MAX; LANES]);
        for (signal, questions) in self.questions.iter().enumerate() {
            // A lane without a row answers every question with "not above".
            let mut values = [f32::NEG_INFINITY; LANES];
            for (value, row) in values.iter_mut().zip(rows) {
                *value = row[signal];
            }
            let highest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            for question in questions {
                if highest <= question.threshold {
                    break;
                }
                for (left, value) in left[question.tree].iter_mut().zip(values) {
                    // All bits where the value is not above, so that nothing is ruled out.
                    let spared = u32::from(value > question.threshold).wrapping_sub(1);
                    *left &= question.left | spared;
                }
            }
        }
        let mut sums = [0.0; LANES];
        for (&first, left) in self.trees.iter().zip(left) {
            for (sum, left) in sums.iter_mut().zip(left) {
                *sum += self.leaves[first + left.trailing_zeros() as usize];
            }
        }
        sums
    }

    /// Reads one tree per line, in prefix order: the branch for "at most the threshold" comes first.
    fn read(source: &str) -> Model {
        let mut model = Model { questions: Vec::new(), trees: Vec::new(), leaves: Vec::new() };
        model.questions.resize_with(COUNT, Vec::new);
        for (tree, line) in source.lines().enumerate() {
            let first = model.leaves.len();
            model.trees.push(first);
            // Splits whose second branch is still to come, with their first leaf.
            let mut open: Vec<(usize, f32, usize)> = Vec::new();
            for word in line.split(' ') {
                let leaf = model.leaves.len() - first;
                if let Some((signal, threshold)) = word.split_once("<=") {
                    let signal: usize = signal.parse().expect("model.txt names signals by number");
                    let threshold = threshold.parse().expect("model.txt holds numbers as thresholds");
                    open.push((signal, threshold, leaf));
                    continue;
                }
                assert!(leaf < MAX_LEAVES, "a tree of model.txt has more leaves than a word has bits");
                model.leaves.push(word.parse().expect("model.txt holds numbers as leaves"));
                // The first branch of the innermost open split ends here.
                if let Some((signal, threshold, from)) = open.pop() {
                    let below = (1_u64 << (leaf + 1)) - (1_u64 << from);
                    let left = !u32::try_from(below).expect("there are at most 32 leaves");
                    model.questions[signal].push(Split { threshold, tree, left });
                }
            }
        }
        for questions in &mut model.questions {
            questions.sort_by(|a, b| a.threshold.total_cmp(&b.threshold));
        }
        model
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_answered_as_if_they_were_walked() {
        let model = Model::read("0<=1 1<=5 1 2 0<=3 1<=2 3 4 5\n1<=4 10 20");
        let rows = [(0.0, 0.0), (1.0, 6.0), (2.0, 2.0), (3.0, 3.0), (4.0, 9.0)].map(|(a, b)| {
            let mut row = [0.0; COUNT];
            (row[0], row[1]) = (a, b);
            row
        });
        let sums = model.sums(&rows, &mut [[0; LANES]; 2]);
        assert_eq!(sums[..rows.len()], [11.0, 22.0, 13.0, 14.0, 25.0]);
        for (row, sum) in rows.iter().zip(sums) {
            let alone = model.sums(std::slice::from_ref(row), &mut [[0; LANES]; 2]);
            assert_eq!(alone[0], sum, "the neighbours of a row count for nothing");
        }
    }
}
