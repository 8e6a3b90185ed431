//! Printer: writes a tree as text that parses to the same tree.

use std::fmt::{Display, Formatter, Result};

use crate::ast::{Node, Operator, Query, Site, Size, Term};
use crate::lexer::{ends_word, is_dash};

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.root().map_or(Ok(()), |root| root.fmt(f))
    }
}

impl Display for Node {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::And(children) => {
                for (index, child) in children.iter().enumerate() {
                    let separator = if index == 0 { "" } else { " " };
                    f.write_str(separator)?;
                    write_child(child, children.get(index + 1), f)?;
                }
                Ok(())
            }
            Self::Or(children) => write_alternatives(children, None, f),
            Self::Not(child) => write_negated(child, None, f),
            Self::Word(text) => f.write_str(text),
            Self::Phrase(text) => write!(f, "\"{text}\""),
            Self::Operator(operator) => operator.fmt(f),
        }
    }
}

/// Writes a child of [`Node::And`]. An `allinurl:` or `allintitle:` operator is put in parentheses if the `next`
/// sibling would otherwise become one of its terms.
fn write_child(node: &Node, next: Option<&Node>, f: &mut Formatter<'_>) -> Result {
    match node {
        Node::Or(children) => write_alternatives(children, next, f),
        Node::Not(child) => write_negated(child, next, f),
        Node::Operator(Operator::AllInUrl(_) | Operator::AllInTitle(_))
            if next.is_some_and(starts_as_term) =>
        {
            write!(f, "({node})")
        }
        Node::And(_) | Node::Word(_) | Node::Phrase(_) | Node::Operator(_) => node.fmt(f),
    }
}

fn write_alternatives(children: &[Node], next: Option<&Node>, f: &mut Formatter<'_>) -> Result {
    for (index, child) in children.iter().enumerate() {
        if index > 0 {
            f.write_str(" OR ")?;
        }
        let next = if index + 1 == children.len() { next } else { None };
        match child {
            Node::And(_) => write!(f, "({child})")?,
            _ => write_child(child, next, f)?,
        }
    }
    Ok(())
}

fn write_negated(child: &Node, next: Option<&Node>, f: &mut Formatter<'_>) -> Result {
    match child {
        Node::And(_) | Node::Or(_) => write!(f, "-({child})"),
        // Two adjacent dashes would be the start of a word.
        Node::Word(text) if text.starts_with(is_dash) => write!(f, "-({text})"),
        _ => {
            f.write_str("-")?;
            write_child(child, next, f)
        }
    }
}

/// Returns whether the printed node starts with a word or phrase.
fn starts_as_term(node: &Node) -> bool {
    match node {
        Node::Word(_) | Node::Phrase(_) => true,
        Node::Or(children) => children.first().is_some_and(starts_as_term),
        Node::And(_) | Node::Not(_) | Node::Operator(_) => false,
    }
}

impl Display for Operator {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Site(site) if site.path.as_deref().is_some_and(needs_quotes) => {
                write!(f, "site:\"{site}\"")
            }
            Self::Site(site) => write!(f, "site:{site}"),
            Self::FileType(extension) => write!(f, "filetype:{extension}"),
            Self::InUrl(term) => write!(f, "inurl:{term}"),
            Self::AllInUrl(terms) => write_terms("allinurl", terms, f),
            Self::InTitle(term) => write!(f, "intitle:{term}"),
            Self::AllInTitle(terms) => write_terms("allintitle", terms, f),
            Self::Related(host) => write!(f, "related:{host}"),
            Self::ImageSize(size) => write!(f, "imagesize:{size}"),
            Self::Larger(size) => write!(f, "larger:{size}"),
        }
    }
}

/// Returns whether a text would not be a single word without quotes.
fn needs_quotes(text: &str) -> bool {
    text.contains(ends_word)
}

fn write_terms(name: &str, terms: &[Term], f: &mut Formatter<'_>) -> Result {
    for (index, term) in terms.iter().enumerate() {
        match index {
            0 => write!(f, "{name}:{term}")?,
            _ => write!(f, " {term}")?,
        }
    }
    Ok(())
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Word(text) => f.write_str(text),
            Self::Phrase(text) => write!(f, "\"{text}\""),
        }
    }
}

impl Display for Site {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.host)?;
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        f.write_str(self.path.as_deref().unwrap_or_default())
    }
}

impl Display for Size {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}
