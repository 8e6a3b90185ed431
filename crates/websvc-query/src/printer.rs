//! Printer: writes a tree as text that parses to the same tree.

use std::fmt::{Display, Formatter, Result};

use crate::ast::{Node, Operator, Query, Site, Size, Term};
use crate::character::{ends_word, is_dash};
use crate::lexer::is_signed;

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.root().map_or(Ok(()), |root| root.fmt(f))
    }
}

impl Display for Node {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        // In a text of capitals, `OR` would be a word.
        let mut has_capital = false;
        let is_capitals = only_capitals(self, &mut has_capital) && has_capital;
        Printer { or: if is_capitals { " | " } else { " OR " } }.node(self, f)
    }
}

/// Returns whether a tree consists of words without small letters, and is printed without other operators than `OR`.
fn only_capitals(node: &Node, has_capital: &mut bool) -> bool {
    match node {
        Node::And(children) => children.iter().all(|child| only_capitals(child, has_capital)),
        Node::Or(children) => {
            children.iter().all(|child| matches!(child, Node::Word(_)) && only_capitals(child, has_capital))
        }
        Node::Word(text) => {
            *has_capital |= text.contains(char::is_uppercase);
            !text.contains(char::is_lowercase) && !is_signed(text)
        }
        Node::Not(_) | Node::Phrase(_) | Node::Operator(_) => false,
    }
}

/// Writes the nodes of one tree.
#[derive(Clone, Copy)]
struct Printer {
    /// The operator between alternatives.
    or: &'static str,
}

impl Printer {
    fn node(self, node: &Node, f: &mut Formatter<'_>) -> Result {
        match node {
            Node::And(children) => {
                for (index, child) in children.iter().enumerate() {
                    let separator = if index == 0 { "" } else { " " };
                    f.write_str(separator)?;
                    self.child(child, children.get(index + 1), f)?;
                }
                Ok(())
            }
            Node::Or(children) => self.alternatives(children, None, f),
            Node::Not(child) => self.negated(child, None, f),
            Node::Word(text) => f.write_str(text),
            Node::Phrase(text) => write!(f, "\"{text}\""),
            Node::Operator(operator) => operator.fmt(f),
        }
    }

    fn group(self, node: &Node, f: &mut Formatter<'_>) -> Result {
        f.write_str("(")?;
        self.node(node, f)?;
        f.write_str(")")
    }

    /// Writes a child of [`Node::And`]. An `allinurl:` or `allintitle:` operator is put in parentheses if the `next`
    /// sibling would otherwise become one of its terms.
    fn child(self, node: &Node, next: Option<&Node>, f: &mut Formatter<'_>) -> Result {
        match node {
            Node::Or(children) => self.alternatives(children, next, f),
            Node::Not(child) => self.negated(child, next, f),
            Node::Operator(Operator::AllInUrl(_) | Operator::AllInTitle(_))
                if next.is_some_and(starts_as_term) =>
            {
                self.group(node, f)
            }
            Node::And(_) | Node::Word(_) | Node::Phrase(_) | Node::Operator(_) => self.node(node, f),
        }
    }

    fn alternatives(self, children: &[Node], next: Option<&Node>, f: &mut Formatter<'_>) -> Result {
        for (index, child) in children.iter().enumerate() {
            if index > 0 {
                f.write_str(self.or)?;
            }
            let next = if index + 1 == children.len() { next } else { None };
            match child {
                Node::And(_) => self.group(child, f)?,
                _ => self.child(child, next, f)?,
            }
        }
        Ok(())
    }

    fn negated(self, child: &Node, next: Option<&Node>, f: &mut Formatter<'_>) -> Result {
        match child {
            Node::And(_) | Node::Or(_) => {
                f.write_str("-")?;
                self.group(child, f)
            }
            // Two adjacent dashes would be the start of a word, and a dash before a number that of a negative number.
            Node::Word(text) if text.starts_with(|c: char| is_dash(c) || c.is_numeric()) => {
                write!(f, "-({text})")
            }
            _ => {
                f.write_str("-")?;
                self.child(child, next, f)
            }
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
