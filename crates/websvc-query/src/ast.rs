//! The syntax tree of a query.
//!
//! Only [`parse`](crate::parse) and [`Query::and`] build a [`Query`], and its tree is always in normal form, so that
//! the printed query parses to the same tree: groups have at least two children, no group is the direct child of a
//! group of its own kind, no negation is the direct child of a negation, groups nest at most
//! [`MAX_DEPTH`](crate::MAX_DEPTH) levels, and every text can be typed where it occurs.

use crate::character::{ends_word, is_dash};

/// A parsed query (specification 2.5); [`Display`](std::fmt::Display) prints it in the query language.
///
/// ```
/// use websvc_query::{Node, parse};
///
/// let query = parse("tea -coffee").query;
/// assert!(matches!(query.root(), Some(Node::And(children)) if children.len() == 2));
/// assert_eq!(query.to_string(), "tea -coffee");
/// assert_eq!(query.and(parse("site:a.test").query).to_string(), "tea -coffee site:a.test");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    root: Option<Node>,
}

/// A node of the tree of a query (specification 2.5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// All children must match; at least two children. Written next to each other.
    And(Vec<Node>),
    /// One of the children must match; at least two children. Written with `OR`, which binds tighter than the
    /// conjunction: `a b OR c` is `a (b OR c)`.
    Or(Vec<Node>),
    /// The child must not match. Written with `-`.
    Not(Box<Node>),
    /// A plain word as typed, without white space, double quotes and parentheses. It is never `OR` or `|`, and starts
    /// with `-` only if a second `-` follows. A negative number starts with the minus sign U+2212.
    Word(String),
    /// A quoted text that must occur literally; never empty, without double quotes, its words separated by single
    /// spaces.
    Phrase(String),
    /// A search operator.
    Operator(Operator),
}

/// A search operator with its checked argument (specification 2.5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operator {
    /// `site:`: the page is on the host or one of its subdomains, optionally below a path.
    Site(Site),
    /// `filetype:` or `ext:`: the file extension in lower case, without the dot: 1 to 12 ASCII letters and digits.
    FileType(String),
    /// `inurl:`: the URL contains the word.
    InUrl(Term),
    /// `allinurl:`: the URL contains all the words; never empty.
    AllInUrl(Vec<Term>),
    /// `intitle:`: the title contains the word.
    InTitle(Term),
    /// `allintitle:`: the title contains all the words; never empty.
    AllInTitle(Vec<Term>),
    /// `related:`: the page is on a site that is related to this host; a host as in [`Site::host`].
    Related(String),
    /// `imagesize:`: images of exactly this size.
    ImageSize(Size),
    /// `larger:`: images larger than this size.
    Larger(Size),
}

/// The argument of `site:` (specification 2.5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The host in lower case and ASCII form (UTS 46), at most 253 bytes; a single label such as `gov` is allowed.
    pub host: String,
    /// The port, unless it is absent or a default port (80 or 443).
    pub port: Option<u16>,
    /// The path prefix as typed. It starts with `/`, does not end with `/` and has no query, fragment or `*`.
    pub path: Option<String>,
}

/// A word or a phrase as the argument of an operator (specification 2.5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Term {
    /// A word as in [`Node::Word`]. Directly after the colon, it may also start with `-` or be `OR`.
    Word(String),
    /// A quoted text as in [`Node::Phrase`].
    Phrase(String),
}

impl Term {
    /// Returns the text of the word or phrase.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Word(text) | Self::Phrase(text) => text,
        }
    }
}

/// The dimensions of an image in pixels, both at least 1 (specification 2.5: `<width>x<height>`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

impl Query {
    pub(crate) fn new(root: Option<Node>) -> Self {
        Self { root }
    }

    /// Returns the conjunction of both queries. An empty query changes nothing.
    #[must_use]
    pub fn and(self, other: Query) -> Query {
        let mut parts = Vec::new();
        for root in [self.root, other.root].into_iter().flatten() {
            match root {
                Node::And(children) => parts.extend(children),
                node => parts.push(node),
            }
        }
        let root = if parts.len() > 1 { Some(Node::And(parts)) } else { parts.pop() };
        Query { root }
    }

    /// Returns the root of the tree, or `None` if the query is empty.
    #[must_use]
    pub fn root(&self) -> Option<&Node> {
        self.root.as_ref()
    }

    /// Returns whether the query has no terms.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// Returns the query with its phrases as plain words; `None` if it has no phrases, or has other operators too, in
    /// which case its author means all of them literally.
    #[must_use]
    pub fn without_quotes(&self) -> Option<Query> {
        let root = self.root.as_ref()?;
        let parts = if let Node::And(children) = root { children } else { std::slice::from_ref(root) };
        let (mut words, mut has_phrase) = (Vec::new(), false);
        for part in parts {
            match part {
                Node::Word(text) => words.push(text.clone()),
                Node::Phrase(text) => {
                    has_phrase = true;
                    words.extend(plain_words(text));
                }
                Node::And(_) | Node::Or(_) | Node::Not(_) | Node::Operator(_) => return None,
            }
        }
        let mut words: Vec<Node> = words.into_iter().map(Node::Word).collect();
        let root = if words.len() > 1 { Some(Node::And(words)) } else { words.pop() };
        root.filter(|_| has_phrase).map(|root| Query { root: Some(root) })
    }

    /// Returns the phrases that every result must contain: those outside of groups and negations.
    pub fn phrases(&self) -> impl Iterator<Item = &str> {
        let parts = match &self.root {
            Some(Node::And(children)) => children.as_slice(),
            root => root.as_slice(),
        };
        parts.iter().filter_map(|part| if let Node::Phrase(text) = part { Some(text.as_str()) } else { None })
    }

    /// Returns the words and phrases that a result should contain, in the order of the query, for highlighting and for
    /// sources without operators. Negated parts are skipped. The arguments of `intitle:` and `allintitle:` are
    /// included.
    #[must_use]
    pub fn words(&self) -> Words<'_> {
        Words { nodes: self.root.iter().collect(), terms: [].iter() }
    }
}

/// Iterator over the positive words and phrases of a [`Query`]; see [`Query::words`].
#[derive(Debug, Clone)]
pub struct Words<'a> {
    /// Nodes to visit, in reverse order.
    nodes: Vec<&'a Node>,
    /// Remaining terms of the current `allintitle:`.
    terms: std::slice::Iter<'a, Term>,
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            if let Some(term) = self.terms.next() {
                return Some(term.text());
            }
            match self.nodes.pop()? {
                Node::And(children) | Node::Or(children) => self.nodes.extend(children.iter().rev()),
                Node::Not(_) => {}
                Node::Word(text) | Node::Phrase(text) => return Some(text),
                Node::Operator(operator) => match operator {
                    Operator::InTitle(term) => return Some(term.text()),
                    Operator::AllInTitle(terms) => self.terms = terms.iter(),
                    Operator::Site(_)
                    | Operator::FileType(_)
                    | Operator::InUrl(_)
                    | Operator::AllInUrl(_)
                    | Operator::Related(_)
                    | Operator::ImageSize(_)
                    | Operator::Larger(_) => {}
                },
            }
        }
    }
}

/// Returns the words of a phrase, without characters that would be operators outside of quotes.
fn plain_words(phrase: &str) -> impl Iterator<Item = String> {
    let words = phrase.split(|c| ends_word(c) || matches!(c, ':' | '\u{ff1a}' | '|'));
    let words = words.map(|word| word.trim_start_matches(is_dash)).filter(|word| !word.is_empty());
    words.map(|word| if word == "OR" { "or".to_owned() } else { word.to_owned() })
}

#[cfg(test)]
mod tests {
    use crate::parse;

    #[test]
    fn query_without_quotes_has_the_words_of_its_phrases_in_normal_form() {
        for (text, expected) in [
            ("how \"to tie\" a knot", Some("how to tie a knot")),
            ("\"site:x -y OR (z) a|b | --\"", Some("site x y or z a b")),
            ("\"-\" a", Some("a")),
            ("\"-\"", None),
            ("a b", None),
            ("\"a b\" site:x.org", None),
            ("\"a b\" OR c", None),
            ("\"a b\" -c", None),
        ] {
            let relaxed = parse(text).query.without_quotes();
            assert_eq!(relaxed.as_ref().map(ToString::to_string).as_deref(), expected, "{text}");
            if let Some(relaxed) = relaxed {
                assert_eq!(parse(&relaxed.to_string()).query, relaxed, "{text}");
            }
        }
    }

    #[test]
    fn phrases_are_those_that_every_result_must_contain() {
        let phrases = |text: &str| parse(text).query.phrases().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(phrases("\"a b\" c -\"d e\" \"f\" (g OR \"h\")"), ["a b", "f"]);
        assert_eq!(phrases("\"a b\""), ["a b"]);
        assert!(phrases("a").is_empty() && phrases("").is_empty());
    }

    #[test]
    fn and_returns_a_query_in_normal_form() {
        for (left, right) in [("a b", "c d"), ("", "x OR y"), ("a", ""), ("", ""), ("a", "x OR y")] {
            let joined = parse(left).query.and(parse(right).query);
            assert_eq!(parse(&joined.to_string()).query, joined, "{left:?} and {right:?}");
        }
    }
}
