//! The model that turns a block's signals into the probability that it is main content: a sum of small decision trees.
//!
//! The trees lie in `model/model.txt`; `model/fit.py` there says how they were fitted. Trees rather than hand-set weights,
//! because what a signal means depends on the others: links in a list are a menu on an article and the content of a listing.
//!
//! The trees are not walked one by one, which costs a branch that no processor foresees at every node. All questions about
//! one signal are asked together, in the order of their thresholds: each that is answered with "above" rules out the leaves
//! on its other side, and the first leaf of a tree that is left is its answer.

use super::features::{COUNT, Row};
use std::sync::LazyLock;

static MODEL: LazyLock<Model> = LazyLock::new(|| Model::read(include_str!("../../model/model.txt")));

/// Most leaves of a tree.
const MAX_LEAVES: usize = 32;

/// Returns for each row of signals the probability that its block is main content.
pub(super) fn scores(rows: &[Row]) -> Vec<f32> {
    let model = &*MODEL;
    let mut left = vec![u32::MAX; model.trees.len()];
    rows.iter().map(|row| 1.0 / (1.0 + (-model.sum(row, &mut left)).exp())).collect()
}

struct Model {
    /// The questions about each signal, by rising threshold.
    questions: Vec<Vec<Question>>,
    /// Where the values of each tree's leaves begin.
    trees: Vec<usize>,
    leaves: Vec<f32>,
}

/// Whether a signal is above a threshold.
struct Question {
    threshold: f32,
    tree: usize,
    /// The leaves that are left if it is.
    left: u32,
}

impl Model {
    fn sum(&self, row: &Row, left: &mut [u32]) -> f32 {
        left.fill(u32::MAX);
        for (value, questions) in row.iter().zip(&self.questions) {
            for question in questions {
                if *value <= question.threshold {
                    break;
                }
                left[question.tree] &= question.left;
            }
        }
        let answers = self.trees.iter().zip(left);
        answers.map(|(&first, left)| self.leaves[first + left.trailing_zeros() as usize]).sum()
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
                    model.questions[signal].push(Question { threshold, tree, left });
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
        let sum = |a, b| {
            let mut row = [0.0; COUNT];
            (row[0], row[1]) = (a, b);
            model.sum(&row, &mut [0, 0])
        };
        assert_eq!(sum(0.0, 0.0), 11.0);
        assert_eq!(sum(1.0, 6.0), 22.0);
        assert_eq!(sum(2.0, 2.0), 13.0);
        assert_eq!(sum(3.0, 3.0), 14.0);
        assert_eq!(sum(4.0, 9.0), 25.0);
    }
}
