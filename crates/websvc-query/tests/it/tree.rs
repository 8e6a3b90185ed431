//! Generator of trees in normal form.

use proptest::prelude::*;
use websvc_query::{Node, Operator, Site, Size, Term};

/// Generates any tree that a query can have, with a few levels.
pub(crate) fn node() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        3 => word().prop_map(Node::Word),
        1 => phrase().prop_map(Node::Phrase),
        2 => operator().prop_map(Node::Operator),
    ];
    let tree = leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..5).prop_map(Node::And),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Node::Or),
            inner.prop_map(|child| Node::Not(Box::new(child))),
        ]
    });
    tree.prop_map(normalize)
}

/// Converts a tree to normal form: no group is the direct child of one of its kind, and there is no double negation.
fn normalize(node: Node) -> Node {
    match node {
        Node::And(children) => Node::And(
            children
                .into_iter()
                .flat_map(|child| match normalize(child) {
                    Node::And(inner) => inner,
                    other => vec![other],
                })
                .collect(),
        ),
        Node::Or(children) => Node::Or(
            children
                .into_iter()
                .flat_map(|child| match normalize(child) {
                    Node::Or(inner) => inner,
                    other => vec![other],
                })
                .collect(),
        ),
        Node::Not(child) => match normalize(*child) {
            Node::Not(inner) => *inner,
            other => Node::Not(Box::new(other)),
        },
        Node::Word(_) | Node::Phrase(_) | Node::Operator(_) => node,
    }
}

fn word() -> impl Strategy<Value = String> {
    let unusual = vec![
        "or",
        "AND",
        "a|b",
        "--",
        "--x",
        "\u{ff0d}-",
        "c++",
        "std::vector",
        "12:30",
        "http://x",
        "site:?",
        "larger:0x1",
        "re\u{ff1a}zero",
        "it's",
        "\u{645}\u{6cc}\u{200c}\u{62e}",
        "\u{ab}a\u{bb}",
        "\u{2212}80",
        "7zip",
        "SITE:?",
        "A-B",
        "*",
        "||",
    ];
    // Words in capitals, because `OR` is a word among them. A colon follows only a digit, so that no word is an operator.
    prop_oneof![3 => "[a-z0-9é東+.]{1,5}(-[a-z]{1,2}|[0-9]:[a-z])?", 3 => "[A-C0-9東]{1,3}", 1 => prop::sample::select(unusual).prop_map(str::to_owned)]
}

fn phrase() -> impl Strategy<Value = String> {
    "[a-z(:|-]{1,3}( [a-zOR)東-]{1,3}){0,2}"
}

fn term() -> impl Strategy<Value = Term> {
    prop_oneof![word().prop_map(Term::Word), phrase().prop_map(Term::Phrase)]
}

/// Generates terms that may follow the colon directly.
fn first_term() -> impl Strategy<Value = Term> {
    prop_oneof![4 => term(), 1 => "-[a-z]{0,2}|OR|[|]|:+|site:[a-z.]{0,3}".prop_map(Term::Word)]
}

fn terms() -> impl Strategy<Value = Vec<Term>> {
    (first_term(), prop::collection::vec(term(), 0..3)).prop_map(|(first, mut terms)| {
        terms.insert(0, first);
        terms
    })
}

fn host() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9_]{0,3}([.][a-z]{1,3}){0,2}|127[.]0[.]0[.][1-9]|xn--bcher-kva[.]example"
}

fn site() -> impl Strategy<Value = Site> {
    (host(), prop::option::of(444_u16..), prop::option::of("(/[a-zA-Z(.)~%東:-]{1,3}){1,2}( b)?"))
        .prop_map(|(host, port, path)| Site { host, port, path })
}

fn size() -> impl Strategy<Value = Size> {
    (1_u32.., 1_u32..).prop_map(|(width, height)| Size { width, height })
}

fn operator() -> impl Strategy<Value = Operator> {
    prop_oneof![
        site().prop_map(Operator::Site),
        "[a-z0-9]{1,12}".prop_map(Operator::FileType),
        first_term().prop_map(Operator::InUrl),
        terms().prop_map(Operator::AllInUrl),
        first_term().prop_map(Operator::InTitle),
        terms().prop_map(Operator::AllInTitle),
        host().prop_map(Operator::Related),
        size().prop_map(Operator::ImageSize),
        size().prop_map(Operator::Larger),
    ]
}
