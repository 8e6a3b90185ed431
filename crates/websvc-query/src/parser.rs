//! Parser: builds the tree from the tokens. Every text has a tree: the lexer turns invalid operators into words and
//! warnings.

use crate::ast::{Node, Operator, Query, Term};
use crate::lexer::{remove_invisible, tokens};
use crate::tokens::{Token, normalize_phrase};

/// Result of [`parse`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The query; empty if the text has no terms.
    pub query: Query,
    /// A message for each operator with an invalid argument, for the user: it names the operator and the argument as
    /// typed, and a valid argument.
    pub warnings: Vec<String>,
}

/// Parses a query (specification 2.5). Never fails, takes linear time, and does not limit the length.
///
/// The [crate documentation](crate#query-language) describes each construct.
///
/// ```
/// use websvc_query::parse;
///
/// let parsed = parse("tea site:a..b");
/// assert_eq!(parsed.query.words().collect::<Vec<_>>(), ["tea", "site:a..b"]);
/// assert_eq!(
///     parsed.warnings,
///     ["\"site:a..b\" was searched as plain words: the operator needs a host name, optionally with a port and a path"],
/// );
/// ```
#[must_use]
pub fn parse(text: &str) -> Parsed {
    let text = remove_invisible(text);
    let (tokens, warnings) = tokens(&text);
    let root = Parser { tokens: tokens.into_iter().peekable() }.group();
    Parsed { query: Query::new(root), warnings }
}

struct Parser<'a> {
    tokens: std::iter::Peekable<std::vec::IntoIter<Token<'a>>>,
}

impl Parser<'_> {
    /// Parses a conjunction up to the end of the query or past the closing parenthesis of the group.
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

    /// Parses one operand, or several with `OR` between them.
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

    /// Parses a group, a negation, a word, a phrase or an operator.
    fn operand(&mut self) -> Option<Node> {
        Some(match self.tokens.next()? {
            Token::Open => return self.group(),
            Token::Minus => match self.operand()? {
                Node::Not(inner) => *inner,
                node => Node::Not(Box::new(node)),
            },
            Token::Word(text) => Node::Word(text.to_owned()),
            Token::NegativeNumber(text) => Node::Word(negative(text)),
            Token::Phrase(text) => Node::Phrase(normalize_phrase(text)),
            Token::Operator(operator) => Node::Operator(self.with_following_terms(operator)),
            // `Tokens` has neither of them at the start of an operand.
            Token::Or | Token::Close => return None,
        })
    }

    /// Adds the following words and phrases to an `allinurl:` or `allintitle:` operator.
    fn with_following_terms(&mut self, mut operator: Operator) -> Operator {
        if let Operator::AllInUrl(terms) | Operator::AllInTitle(terms) = &mut operator {
            let is_term = |token: &Token<'_>| {
                matches!(token, Token::Word(_) | Token::NegativeNumber(_) | Token::Phrase(_))
            };
            while let Some(token) = self.tokens.next_if(is_term) {
                match token {
                    Token::Word(text) => terms.push(Term::Word(text.to_owned())),
                    Token::NegativeNumber(text) => terms.push(Term::Word(negative(text))),
                    Token::Phrase(text) => terms.push(Term::Phrase(normalize_phrase(text))),
                    Token::Open | Token::Close | Token::Or | Token::Minus | Token::Operator(_) => {}
                }
            }
        }
        operator
    }
}

/// Returns a negative number with the minus sign U+2212, which no dialect reads as an exclusion.
fn negative(number: &str) -> String {
    format!("\u{2212}{number}")
}

/// Joins `parts` to a node in normal form: a single part is not wrapped.
fn collapse(mut parts: Vec<Node>, join: fn(Vec<Node>) -> Node) -> Option<Node> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(join(parts)),
    }
}
