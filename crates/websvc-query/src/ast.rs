//! The syntax tree of a query.
//!
//! A [`Query`] is built only by [`parse`](crate::parse), and its tree is always in normal form, which is what makes
//! printing reversible: no group of one, no group directly inside a group of its own kind, no double negation, groups
//! nest at most [`MAX_DEPTH`](crate::MAX_DEPTH) deep, and every text is one that can be typed at its place.

/// A parsed query (specification 2.5); [`Display`](std::fmt::Display) prints it in the query language again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    root: Option<Node>,
}

/// One node of the tree of a query (specification 2.5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// Every child applies; at least two children. Written side by side.
    And(Vec<Node>),
    /// At least one child applies; at least two children. Written with `OR`, which binds closer than
    /// standing side by side: `a b OR c` is `a (b OR c)`.
    Or(Vec<Node>),
    /// The child must not apply. Written with `-`.
    Not(Box<Node>),
    /// A plain word as it was typed, without white space, double quotes and parentheses. It is never `OR` or `|`, and
    /// begins with `-` only if that is followed by a second one.
    Word(String),
    /// A quoted text that must occur literally; never empty, without double quotes, inner white space is single
    /// spaces.
    Phrase(String),
    /// A search operator.
    Operator(Operator),
}

/// A search operator with its checked argument (specification 2.5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operator {
    /// `site:` the host or one of its subdomains, optionally below a path.
    Site(Site),
    /// `filetype:` or `ext:` the file extension in lower case, without the dot: 1 to 12 ASCII letters and digits.
    FileType(String),
    /// `inurl:` the URL contains the word.
    InUrl(Term),
    /// `allinurl:` the URL contains all the words; never empty.
    AllInUrl(Vec<Term>),
    /// `intitle:` the title contains the word.
    InTitle(Term),
    /// `allintitle:` the title contains all the words; never empty.
    AllInTitle(Vec<Term>),
    /// `related:` the host, as in [`Site::host`], whose neighbourhood is wanted.
    Related(String),
    /// `imagesize:` images of exactly this size.
    ImageSize(Size),
    /// `larger:` images larger than this size.
    Larger(Size),
}

/// The argument of `site:` (specification 2.5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The host in lower case and ASCII form (UTS 46), at most 253 bytes; a single label such as `gov` is allowed.
    pub host: String,
    /// The port, when one was typed that is not a default one (80 or 443).
    pub port: Option<u16>,
    /// The path prefix as typed, starting with `/`; it does not end with `/` and has no query, fragment or `*`.
    pub path: Option<String>,
}

/// A word or a phrase as the argument of an operator (specification 2.5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Term {
    /// A word as in [`Node::Word`]. The one that touches the colon may begin with `-` or be `OR`.
    Word(String),
    /// A quoted text as in [`Node::Phrase`].
    Phrase(String),
}

impl Term {
    /// Returns the text, whichever kind it is.
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

    /// Returns the query that both queries apply to; an empty one changes nothing.
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

    /// Returns the root, or `None` for a query without any term.
    #[must_use]
    pub fn root(&self) -> Option<&Node> {
        self.root.as_ref()
    }

    /// Tells whether the query has no term at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// Returns the words and phrases that a result should contain, in the order they were typed: for
    /// highlighting and for sources that cannot read operators. Negated parts are left out; the arguments
    /// of `intitle:` and `allintitle:` count as words.
    #[must_use]
    pub fn words(&self) -> Words<'_> {
        Words { nodes: self.root.iter().collect(), terms: [].iter() }
    }
}

/// Iterator over the positive words and phrases of a [`Query`]; see [`Query::words`].
#[derive(Debug, Clone)]
pub struct Words<'a> {
    /// Nodes still to visit, the next one last.
    nodes: Vec<&'a Node>,
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

#[cfg(test)]
mod tests {
    use crate::parse;

    #[test]
    fn joined_queries_are_in_normal_form() {
        for (left, right) in [("a b", "c d"), ("", "x OR y"), ("a", ""), ("", ""), ("a", "x OR y")] {
            let joined = parse(left).query.and(parse(right).query);
            assert_eq!(parse(&joined.to_string()).query, joined, "{left:?} and {right:?}");
        }
    }
}
