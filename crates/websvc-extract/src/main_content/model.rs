//! The model that turns a block's signals into the probability that it is main content: a sum of small decision trees.
//!
//! The trees lie in `model/model.txt`; `model/fit.py` there says how they were fitted. Trees rather than hand-set weights,
//! because what a signal means depends on the others: links in a list are a menu on an article and the content of a listing.

use super::features::Row;
use std::sync::LazyLock;

static MODEL: LazyLock<Model> = LazyLock::new(|| Model::read(include_str!("../../model/model.txt")));

/// Returns the probability that a block with these signals is main content.
pub(super) fn score(row: &Row) -> f32 {
    let sum: f32 = MODEL.roots.iter().map(|&root| MODEL.value(root, row)).sum();
    1.0 / (1.0 + (-sum).exp())
}

struct Model {
    nodes: Vec<Node>,
    roots: Vec<usize>,
}

/// A question about one signal, or an answer.
#[derive(Clone, Copy)]
enum Node {
    /// The branch for "at most the threshold" is the next node, the other one is at `above`.
    Split {
        signal: usize,
        threshold: f32,
        above: usize,
    },
    Leaf(f32),
}

impl Model {
    /// Reads one tree per line, in prefix order.
    fn read(source: &str) -> Model {
        let mut model = Model { nodes: Vec::new(), roots: Vec::new() };
        for line in source.lines() {
            model.roots.push(model.nodes.len());
            // Splits whose second branch is still to come.
            let mut open = Vec::new();
            for word in line.split(' ') {
                let at = model.nodes.len();
                if let Some((signal, threshold)) = word.split_once("<=") {
                    let signal = signal.parse().expect("model.txt names signals by number");
                    let threshold = threshold.parse().expect("model.txt holds numbers as thresholds");
                    model.nodes.push(Node::Split { signal, threshold, above: 0 });
                    open.push(at);
                } else {
                    model.nodes.push(Node::Leaf(word.parse().expect("model.txt holds numbers as leaves")));
                    if let Some(split) = open.pop()
                        && let Node::Split { above, .. } = &mut model.nodes[split]
                    {
                        *above = at + 1;
                    }
                }
            }
        }
        model
    }

    fn value(&self, root: usize, row: &Row) -> f32 {
        let mut at = root;
        loop {
            match self.nodes[at] {
                Node::Split { signal, threshold, above } => {
                    at = if row[signal] <= threshold { at + 1 } else { above }
                }
                Node::Leaf(value) => return value,
            }
        }
    }
}
