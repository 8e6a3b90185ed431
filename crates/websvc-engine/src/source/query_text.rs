//! Writes queries in the syntax of other search engines.

use websvc_query::{Node, Operator, Query};
use websvc_validate::DomainFilter;

/// The maximum number of hosts of a domain filter that are written into a query, because engines cut off long queries.
/// The filter is applied to the results in any case.
const MAX_HOSTS: usize = 16;

/// Returns the query with the operators that web search engines share, including the domain filter.
///
/// Other operators (`related:`, `imagesize:`, `larger:`) are left out.
pub(super) fn with_operators(query: &Query, domains: &DomainFilter) -> String {
    let mut parts: Vec<String> = query.root().and_then(shared_part).iter().map(Node::to_string).collect();
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

/// Returns only the words and phrases of a query, for engines without operators.
pub(super) fn words_only(query: &Query) -> String {
    query.words().collect::<Vec<_>>().join(" ")
}

/// Returns whether a query has `related:`, which only the embedded index supports.
pub(super) fn has_related(query: &Query) -> bool {
    any(query, |node| matches!(node, Node::Operator(Operator::Related(_))))
}

/// Returns whether a query has phrases or excluded words, which cannot be checked by title and description.
pub(super) fn needs_text(query: &Query) -> bool {
    any(query, |node| match node {
        Node::Phrase(_) => true,
        Node::Not(child) => !matches!(**child, Node::Operator(_)),
        Node::And(_) | Node::Or(_) | Node::Word(_) | Node::Operator(_) => false,
    })
}

/// Returns whether a predicate is true for any node of a query.
pub(super) fn any(query: &Query, predicate: impl Fn(&Node) -> bool) -> bool {
    let mut nodes: Vec<&Node> = query.root().into_iter().collect();
    while let Some(node) = nodes.pop() {
        if predicate(node) {
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

/// Returns the part of a query that web search engines support.
fn shared_part(node: &Node) -> Option<Node> {
    match node {
        Node::And(children) => group(children, Node::And),
        Node::Or(children) => group(children, Node::Or),
        Node::Not(child) => shared_part(child).map(|child| Node::Not(Box::new(child))),
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

fn group(children: &[Node], combine: fn(Vec<Node>) -> Node) -> Option<Node> {
    let mut supported: Vec<Node> = children.iter().filter_map(shared_part).collect();
    if supported.len() > 1 { Some(combine(supported)) } else { supported.pop() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, domains: &DomainFilter, expected: &str) {
        let query = websvc_query::parse(query).query;
        assert_eq!(with_operators(&query, domains), expected);
    }

    #[test]
    fn shared_operators_stay_and_others_are_left_out() {
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
    fn domain_filters_become_site_operators() {
        let hosts = vec!["a.test".to_owned(), "b.test".to_owned()];
        check("tea", &DomainFilter::Include(hosts.clone()), "tea site:a.test OR site:b.test");
        check("tea", &DomainFilter::Exclude(hosts), "tea -site:a.test -site:b.test");
        let many = (0..40).map(|at| format!("h{at}.test")).collect();
        check("tea", &DomainFilter::Include(many), "tea");
    }

    #[test]
    fn words_only_has_no_operators_and_excluded_words() {
        let query = websvc_query::parse("tea \"green leaf\" -coffee site:a.test intitle:cup").query;
        assert_eq!(words_only(&query), "tea green leaf cup");
        let needs = |query: &str| needs_text(&websvc_query::parse(query).query);
        assert!(needs("a (b OR \"c d\")") && needs("a -b") && needs("-(a OR b)"));
        assert!(!needs("a site:b.test -site:c.test"));
    }
}
