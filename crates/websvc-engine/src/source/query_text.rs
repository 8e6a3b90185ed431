//! The question in the words of engines elsewhere.

use websvc_query::{Node, Operator, Query};
use websvc_validate::DomainFilter;

/// At most so many hosts of a domain filter are written into a question: engines cut long ones off. The filter is
/// enforced on the results in any case.
const MAX_HOSTS: usize = 16;

/// Returns the query with the operators that engines of the web share, and the domain filter in them.
///
/// Operators that they do not know (`related:`, `imagesize:`, `larger:`) are left out.
pub(super) fn with_operators(query: &Query, domains: &DomainFilter) -> String {
    let mut parts: Vec<String> = query.root().and_then(common).iter().map(Node::to_string).collect();
    match domains {
        DomainFilter::Any => {}
        DomainFilter::Include(hosts) if hosts.len() > MAX_HOSTS => {}
        DomainFilter::Include(hosts) => {
            let sites: Vec<_> = hosts.iter().map(|host| format!("site:{host}")).collect();
            parts.push(sites.join(" OR "));
        }
        DomainFilter::Exclude(hosts) => {
            parts.extend(hosts.iter().take(MAX_HOSTS).map(|host| format!("-site:{host}")));
        }
    }
    parts.join(" ")
}

/// Returns the words and phrases of the query alone, for engines that read no operators.
pub(super) fn words_only(query: &Query) -> String {
    query.words().collect::<Vec<_>>().join(" ")
}

/// Tells whether the query has `related:`, which only the embedded index can apply.
pub(super) fn has_related(query: &Query) -> bool {
    any(query, |node| matches!(node, Node::Operator(Operator::Related(_))))
}

/// Tells whether the query has phrases or excludes words, which a title and a description do not decide.
pub(super) fn needs_text(query: &Query) -> bool {
    any(query, |node| match node {
        Node::Phrase(_) => true,
        Node::Not(child) => !matches!(**child, Node::Operator(_)),
        Node::And(_) | Node::Or(_) | Node::Word(_) | Node::Operator(_) => false,
    })
}

/// Tells whether any node of the query is meant.
pub(super) fn any(query: &Query, is_meant: impl Fn(&Node) -> bool) -> bool {
    let mut nodes: Vec<&Node> = query.root().into_iter().collect();
    while let Some(node) = nodes.pop() {
        if is_meant(node) {
            return true;
        }
        match node {
            Node::And(children) | Node::Or(children) => nodes.extend(children),
            Node::Not(child) => nodes.push(child),
            Node::Word(_) | Node::Phrase(_) | Node::Operator(_) => {}
        }
    }
    false
}

/// Returns the part of a tree that engines of the web understand.
fn common(node: &Node) -> Option<Node> {
    match node {
        Node::And(children) => group(children, Node::And),
        Node::Or(children) => group(children, Node::Or),
        Node::Not(child) => common(child).map(|child| Node::Not(Box::new(child))),
        Node::Word(_) | Node::Phrase(_) => Some(node.clone()),
        Node::Operator(operator) => match operator {
            Operator::Related(_) | Operator::ImageSize(_) | Operator::Larger(_) => None,
            Operator::Site(_)
            | Operator::FileType(_)
            | Operator::InUrl(_)
            | Operator::AllInUrl(_)
            | Operator::InTitle(_)
            | Operator::AllInTitle(_) => Some(node.clone()),
        },
    }
}

fn group(children: &[Node], make: fn(Vec<Node>) -> Node) -> Option<Node> {
    let mut kept: Vec<Node> = children.iter().filter_map(common).collect();
    if kept.len() > 1 { Some(make(kept)) } else { kept.pop() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, domains: &DomainFilter, expected: &str) {
        let query = websvc_query::parse(query).query;
        assert_eq!(with_operators(&query, domains), expected);
    }

    #[test]
    fn operators_of_the_web_are_kept_and_others_left_out() {
        check(
            "tea \"green leaf\" -coffee site:a.test larger:10x10",
            &DomainFilter::Any,
            "tea \"green leaf\" -coffee site:a.test",
        );
        check("imagesize:10x10 OR cat", &DomainFilter::Any, "cat");
        check("-(related:a.test larger:1x1)", &DomainFilter::Any, "");
        check("a (b OR larger:1x1 OR c)", &DomainFilter::Any, "a b OR c");
    }

    #[test]
    fn domains_are_written_as_sites() {
        let hosts = vec!["a.test".to_owned(), "b.test".to_owned()];
        check("tea", &DomainFilter::Include(hosts.clone()), "tea site:a.test OR site:b.test");
        check("tea", &DomainFilter::Exclude(hosts), "tea -site:a.test -site:b.test");
        let many = (0..40).map(|at| format!("h{at}.test")).collect();
        check("tea", &DomainFilter::Include(many), "tea");
    }

    #[test]
    fn words_alone_are_what_is_looked_for() {
        let query = websvc_query::parse("tea \"green leaf\" -coffee site:a.test intitle:cup").query;
        assert_eq!(words_only(&query), "tea green leaf cup");
        let needs = |query: &str| needs_text(&websvc_query::parse(query).query);
        assert!(needs("a (b OR \"c d\")") && needs("a -b") && needs("-(a OR b)"));
        assert!(!needs("a site:b.test -site:c.test"));
    }
}
