//! Tokens in, tree out. Every text has a tree; doubts became words and warnings on the way to tokens.

use crate::ast::{Node, Operator, Query, Term};
use crate::lexer::{tokens, visible};
use crate::tokens::{Token, normal_phrase};

/// How deep groups may nest; parentheses beyond are ignored, so that the tree and everything that walks it
/// stay small whatever is sent.
pub const MAX_DEPTH: usize = 16;

/// Result of [`parse`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The query; empty when the text has no term.
    pub query: Query,
    /// One sentence for each operator whose argument could not be used, fit to be shown to the caller: it names the
    /// operator and the argument as typed, and what was expected.
    pub warnings: Vec<String>,
}

/// Parses a query (specification 2.5); never fails, takes linear time, and has no limit of its own for the length.
///
/// How each construct is read is listed at the [crate](crate#how-a-query-is-read).
#[must_use]
pub fn parse(text: &str) -> Parsed {
    let text = visible(text);
    let (tokens, warnings) = tokens(&text);
    let root = Parser { tokens: tokens.into_iter().peekable() }.group();
    Parsed { query: Query::new(root), warnings }
}

struct Parser<'a> {
    tokens: std::iter::Peekable<std::vec::IntoIter<Token<'a>>>,
}

impl Parser<'_> {
    /// Parses up to the end or past the parenthesis that closes this group.
    fn group(&mut self) -> Option<Node> {
        let mut parts = Vec::new();
        while self.tokens.peek().is_some() {
            if self.tokens.next_if_eq(&Token::Close).is_some() {
                break;
            }
            match self.alternatives() {
                Some(Node::And(children)) => parts.extend(children),
                Some(node) => parts.push(node),
                None => {}
            }
        }
        collapse(parts, Node::And)
    }

    /// Parses operands joined by `OR`.
    fn alternatives(&mut self) -> Option<Node> {
        let first = self.operand();
        if self.tokens.peek() != Some(&Token::Or) {
            return first;
        }
        let mut parts = Vec::new();
        let mut operand = first;
        loop {
            match operand {
                Some(Node::Or(children)) => parts.extend(children),
                Some(node) => parts.push(node),
                None => {}
            }
            if self.tokens.next_if_eq(&Token::Or).is_none() {
                return collapse(parts, Node::Or);
            }
            operand = self.operand();
        }
    }

    fn operand(&mut self) -> Option<Node> {
        Some(match self.tokens.next()? {
            Token::Open => return self.group(),
            Token::Minus => match self.operand()? {
                Node::Not(inner) => *inner,
                node => Node::Not(Box::new(node)),
            },
            Token::Word(text) => Node::Word(text.to_owned()),
            Token::Phrase(text) => Node::Phrase(normal_phrase(text)),
            Token::Operator(operator) => Node::Operator(self.with_rest(operator)),
            // Neither stands where an operand starts; leaving one out is right all the same.
            Token::Or | Token::Close => return None,
        })
    }

    /// Gives the words and phrases that follow to an `all...:` operator.
    fn with_rest(&mut self, mut operator: Operator) -> Operator {
        if let Operator::AllInUrl(terms) | Operator::AllInTitle(terms) = &mut operator {
            let is_term = |token: &Token<'_>| matches!(token, Token::Word(_) | Token::Phrase(_));
            while let Some(token) = self.tokens.next_if(is_term) {
                match token {
                    Token::Word(text) => terms.push(Term::Word(text.to_owned())),
                    Token::Phrase(text) => terms.push(Term::Phrase(normal_phrase(text))),
                    Token::Open | Token::Close | Token::Or | Token::Minus | Token::Operator(_) => {}
                }
            }
        }
        operator
    }
}

/// Makes a node of `parts` in normal form.
fn collapse(mut parts: Vec<Node>, join: fn(Vec<Node>) -> Node) -> Option<Node> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(join(parts)),
    }
}
