//! Properties of the parser for any query.

use websvc_query::{MAX_DEPTH, Node, parse};

/// Checks that the tree is in normal form and bounded, and that its printed text parses to the same tree and is printed
/// in the same form.
pub(crate) fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let parsed = parse(&text);
    if let Some(root) = parsed.query.root() {
        check_node(root, 0);
    }
    for warning in &parsed.warnings {
        assert!(!warning.contains(char::is_control), "{warning:?} has no control characters");
    }
    for word in parsed.query.words() {
        assert!(!word.is_empty() && !word.contains('"'), "{word:?} is a text without quotes");
    }
    let printed = parsed.query.to_string();
    let again = parse(&printed).query;
    assert_eq!(again, parsed.query, "{text:?} is printed as {printed:?}");
    assert_eq!(again.to_string(), printed, "{text:?} is printed in one form");
}

fn check_node(node: &Node, depth: usize) {
    // Each level of parentheses adds at most a conjunction, an alternative and a negation.
    assert!(depth <= 3 * (MAX_DEPTH + 1), "the depth is bounded");
    match node {
        Node::And(children) => {
            assert!(children.len() >= 2 && !children.iter().any(|child| matches!(child, Node::And(_))));
            children.iter().for_each(|child| check_node(child, depth + 1));
        }
        Node::Or(children) => {
            assert!(children.len() >= 2 && !children.iter().any(|child| matches!(child, Node::Or(_))));
            children.iter().for_each(|child| check_node(child, depth + 1));
        }
        Node::Not(child) => {
            assert!(!matches!(**child, Node::Not(_)));
            check_node(child, depth + 1);
        }
        Node::Word(text) | Node::Phrase(text) => assert!(!text.trim().is_empty()),
        Node::Operator(_) => {}
    }
}
