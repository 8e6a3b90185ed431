//! Tokens in, tree out. The parser accepts every text; doubts become warnings.

use crate::ast::{Node, Operator, Query, Term};
use crate::lexer::{Token, tokens};
use crate::operator::Name;

/// How deep groups may nest; parentheses beyond are ignored, so that the tree and everything that walks it
/// stay small whatever is sent.
pub const MAX_DEPTH: usize = 16;

/// What [`parse`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The query; empty when the text has no term.
    pub query: Query,
    /// One sentence for each operator whose argument could not be used, fit to be shown to the caller.
    pub warnings: Vec<String>,
}

/// Parses a query (specification 2.5); never fails and takes linear time.
///
/// Unbalanced quotes and parentheses are ignored; an operator with a bad argument becomes plain words and a
/// warning.
#[must_use]
pub fn parse(text: &str) -> Parsed {
    let mut parser = Parser { tokens: tokens(text), at: 0, warnings: Vec::new() };
    let root = parser.group();
    Parsed { query: Query::new(root), warnings: parser.warnings }
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    warnings: Vec<String>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at).copied()
    }

    fn next(&mut self) -> Option<Token<'a>> {
        let token = self.peek()?;
        self.at += 1;
        Some(token)
    }

    /// Parses up to the end or past the parenthesis that closes this group.
    fn group(&mut self) -> Option<Node> {
        let mut parts = Vec::new();
        while let Some(token) = self.peek() {
            if token == Token::Close {
                self.at += 1;
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
        let mut parts = Vec::new();
        loop {
            match self.operand() {
                Some(Node::Or(children)) => parts.extend(children),
                Some(node) => parts.push(node),
                None => {}
            }
            if self.peek() != Some(Token::Or) {
                return collapse(parts, Node::Or);
            }
            self.at += 1;
        }
    }

    fn operand(&mut self) -> Option<Node> {
        match self.next()? {
            Token::Open => self.group(),
            Token::Minus => self.negated(),
            Token::Word(text) => Some(Node::Word(text.to_owned())),
            Token::Phrase(text) => Some(Node::Phrase(normal_phrase(text))),
            Token::Operator { name, whole, argument, quoted } => {
                Some(self.operator(name, whole, argument, quoted))
            }
            // The lexer leaves neither where an operand starts; skipping one is right all the same.
            Token::Or | Token::Close => None,
        }
    }

    /// Parses what follows a `-`. A loop, because ignored parentheses can leave many in a row.
    fn negated(&mut self) -> Option<Node> {
        let mut negative = true;
        while self.peek() == Some(Token::Minus) {
            self.at += 1;
            negative = !negative;
        }
        if matches!(self.peek(), None | Some(Token::Close | Token::Or)) {
            return None;
        }
        Some(match (self.operand()?, negative) {
            (node, false) => node,
            (Node::Not(inner), true) => *inner,
            (node, true) => Node::Not(Box::new(node)),
        })
    }

    fn operator(&mut self, name: Name, whole: &str, argument: &str, quoted: bool) -> Node {
        let own = (!argument.is_empty()).then(|| Term::Word(argument.to_owned()));
        let taken = own.is_none().then(|| self.peek().and_then(term)).flatten();
        let Some(term) = own.clone().or_else(|| taken.clone()) else {
            return self.refuse(name, "", Node::Word(whole.trim_end_matches(':').to_owned()));
        };
        match name.build(term) {
            Some(operator) => {
                self.at += usize::from(taken.is_some());
                Node::Operator(if name.takes_rest() { self.rest(operator) } else { operator })
            }
            None if own.is_some() => self.refuse(name, argument, Node::Word(whole.to_owned())),
            // `site:"two words"`: the phrase alone is what can be searched for.
            None if quoted => {
                self.at += 1;
                let text = taken.map_or_else(String::new, |term| term.text().to_owned());
                self.refuse(name, &text.clone(), Node::Phrase(text))
            }
            None => self.refuse(name, "", Node::Word(whole.trim_end_matches(':').to_owned())),
        }
    }

    fn refuse(&mut self, name: Name, argument: &str, instead: Node) -> Node {
        let label = format!("{name:?}").to_ascii_lowercase();
        let expects = name.expects();
        self.warnings.push(if argument.is_empty() {
            format!("the operator \"{label}:\" was searched as a plain word: it needs {expects}")
        } else {
            format!("\"{label}:{argument}\" was searched as plain words: the operator needs {expects}")
        });
        instead
    }

    /// Gives the words and phrases that follow to an `all...:` operator.
    fn rest(&mut self, mut operator: Operator) -> Operator {
        if let Operator::AllInUrl(terms) | Operator::AllInTitle(terms) = &mut operator {
            while let Some(term) = self.peek().and_then(term) {
                terms.push(term);
                self.at += 1;
            }
        }
        operator
    }
}

fn term(token: Token<'_>) -> Option<Term> {
    match token {
        Token::Word(text) => Some(Term::Word(text.to_owned())),
        Token::Phrase(text) => Some(Term::Phrase(normal_phrase(text))),
        Token::Open | Token::Close | Token::Or | Token::Minus | Token::Operator { .. } => None,
    }
}

fn normal_phrase(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Makes a node of `parts` in normal form.
fn collapse(mut parts: Vec<Node>, join: fn(Vec<Node>) -> Node) -> Option<Node> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(join(parts)),
    }
}
