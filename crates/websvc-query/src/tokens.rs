//! Token list of a query, which is well-formed after every addition.
//!
//! In the finished list, parentheses are balanced and never empty, every `-` is before an operand and never before
//! another `-`, every `OR` is between two operands, and every operator has a valid argument. The parser therefore needs
//! no error cases, and the printer needs no more parentheses than were typed.

use crate::ast::{Operator, Term};
use crate::character::is_space;
use crate::error::truncated;
use crate::operator::OperatorName;

/// Maximum nesting of groups, in levels. Deeper parentheses are ignored, so that the depth of the tree, and of
/// recursion over it, is bounded.
pub const MAX_DEPTH: usize = 16;

/// A token; words and phrases borrow from the query text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    Open,
    Close,
    Or,
    /// A `-` that negates the operand directly after it.
    Minus,
    Word(&'a str),
    /// A number after a minus sign.
    NegativeNumber(&'a str),
    /// The text between two quotes, not yet normalized, never blank.
    Phrase(&'a str),
    Operator(Operator),
}

/// Word that replaces an `OR` without operands.
const OR_AS_WORD: Token<'_> = Token::Word("or");

/// Builder of the token list.
#[derive(Debug)]
pub(crate) struct Tokens<'a> {
    tokens: Vec<Token<'a>>,
    warnings: Vec<String>,
    /// Open parentheses.
    open: usize,
    /// Open parentheses that were dropped because they nest too deep.
    too_deep: usize,
    /// Operator whose argument may follow after a space.
    pending: Option<PendingOperator<'a>>,
    /// True if the previous item was `OR`. Consecutive ones count as one.
    after_or: bool,
}

/// An operator without its argument.
#[derive(Debug)]
struct PendingOperator<'a> {
    operator: OperatorName,
    /// The name as typed.
    typed_name: &'a str,
}

impl<'a> Tokens<'a> {
    /// Creates a builder with capacity for a usual query of `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self {
            tokens: Vec::with_capacity((bytes / 5 + 1).min(128)),
            warnings: Vec::new(),
            open: 0,
            too_deep: 0,
            pending: None,
            after_or: false,
        }
    }

    pub(crate) fn open(&mut self) {
        self.end_pending();
        if self.open == MAX_DEPTH {
            self.too_deep += 1;
            // Without the parenthesis, the dash would not be directly before its operand.
            self.drop_dangling_minus();
        } else {
            self.open += 1;
            self.tokens.push(Token::Open);
        }
    }

    pub(crate) fn close(&mut self) {
        self.end_pending();
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        if self.open == 0 {
            return;
        }
        self.open -= 1;
        self.demote_dangling_or();
        if self.tokens.pop_if(|last| *last == Token::Open).is_some() {
            self.drop_dangling_minus();
        } else {
            self.tokens.push(Token::Close);
        }
    }

    pub(crate) fn minus(&mut self) {
        self.end_pending();
        self.tokens.push(Token::Minus);
    }

    pub(crate) fn or(&mut self) {
        let after_or = self.after_or;
        self.end_pending();
        self.after_or = true;
        match self.tokens.last() {
            Some(Token::Or) => {}
            _ if after_or => {}
            None | Some(Token::Open | Token::Minus) => self.tokens.push(OR_AS_WORD),
            Some(
                Token::Close
                | Token::Word(_)
                | Token::NegativeNumber(_)
                | Token::Phrase(_)
                | Token::Operator(_),
            ) => self.tokens.push(Token::Or),
        }
    }

    /// Adds an `OR` that is a word.
    pub(crate) fn or_as_word(&mut self) {
        self.end_pending();
        self.tokens.push(OR_AS_WORD);
    }

    /// Adds a number that follows a dash.
    pub(crate) fn negative_number(&mut self, number: &'a str) {
        self.end_pending();
        self.warnings.push(format!(
            "\"-{0}\" was searched as a negative number; to exclude the number, write -\"{0}\"",
            truncated(number)
        ));
        self.tokens.push(Token::NegativeNumber(number));
    }

    pub(crate) fn word(&mut self, word: &'a str) {
        if let Some(PendingOperator { operator, .. }) = &self.pending
            && operator.takes_after_space(word)
            && let Some(operator) = operator.build(Term::Word(word.to_owned()))
        {
            self.pending = None;
            self.tokens.push(Token::Operator(operator));
            return;
        }
        self.end_pending();
        self.tokens.push(Token::Word(word));
    }

    /// Adds a quoted text. `is_adjacent` is true if no space is before the opening quote.
    pub(crate) fn phrase(&mut self, text: &'a str, is_adjacent: bool) {
        if text.chars().all(is_space) {
            match self.pending {
                Some(_) if is_adjacent => self.end_pending(),
                Some(_) => {}
                None => self.drop_dangling_minus(),
            }
            return;
        }
        let Some(PendingOperator { operator, typed_name }) = self.pending.take() else {
            self.end_pending();
            self.tokens.push(Token::Phrase(text));
            return;
        };
        if let Some(operator) = operator.build(Term::Phrase(normalize_phrase(text))) {
            self.tokens.push(Token::Operator(operator));
            return;
        }
        if is_adjacent {
            // Of `site:"two words"`, only the phrase can be searched for.
            self.warn_of_argument(operator, &format!("{typed_name}:{}", normalize_phrase(text)));
        } else {
            self.reject(&PendingOperator { operator, typed_name });
        }
        self.tokens.push(Token::Phrase(text));
    }

    /// Adds an operator. `word` is the whole word as typed, `argument` its part after the colon.
    pub(crate) fn operator(
        &mut self,
        operator: OperatorName,
        typed_name: &'a str,
        word: &'a str,
        argument: &str,
    ) {
        self.end_pending();
        if argument.is_empty() {
            self.pending = Some(PendingOperator { operator, typed_name });
        } else if let Some(operator) = operator.build(Term::Word(argument.to_owned())) {
            self.tokens.push(Token::Operator(operator));
        } else {
            self.warn_of_argument(operator, word);
            self.tokens.push(Token::Word(word));
        }
    }

    /// Closes open parentheses. Returns the tokens and the warnings.
    pub(crate) fn finish(mut self) -> (Vec<Token<'a>>, Vec<String>) {
        self.end_pending();
        self.too_deep = 0;
        while self.open > 0 {
            self.close();
        }
        self.demote_dangling_or();
        (self.tokens, self.warnings)
    }

    /// Rejects the pending operator, because something other than its argument follows.
    fn end_pending(&mut self) {
        self.after_or = false;
        if let Some(pending) = self.pending.take() {
            self.reject(&pending);
        }
    }

    /// Turns an operator without an argument into a word. A negated one is dropped, because otherwise all pages with
    /// the word "site" would be excluded.
    fn reject(&mut self, pending: &PendingOperator<'a>) {
        let PendingOperator { operator, typed_name } = pending;
        let expected = operator.expected_argument();
        if self.tokens.pop_if(|last| *last == Token::Minus).is_some() {
            self.warnings.push(format!("the operator \"-{typed_name}:\" was ignored: it needs {expected}"));
        } else {
            self.warnings.push(format!(
                "the operator \"{typed_name}:\" was searched as a plain word: it needs {expected}"
            ));
            self.tokens.push(Token::Word(typed_name));
        }
    }

    fn warn_of_argument(&mut self, operator: OperatorName, typed: &str) {
        let (typed, expected) = (truncated(typed), operator.expected_argument());
        let use_of_words = if self.tokens.last() == Some(&Token::Minus) { "excluded" } else { "searched" };
        self.warnings
            .push(format!("\"{typed}\" was {use_of_words} as plain words: the operator needs {expected}"));
    }

    fn drop_dangling_minus(&mut self) {
        self.tokens.pop_if(|last| *last == Token::Minus);
    }

    fn demote_dangling_or(&mut self) {
        if let Some(last) = self.tokens.last_mut()
            && *last == Token::Or
        {
            *last = OR_AS_WORD;
        }
    }
}

/// Separates the words of a phrase by single spaces, and removes leading and trailing white space.
pub(crate) fn normalize_phrase(text: &str) -> String {
    let mut normalized = String::with_capacity(text.len());
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        if !normalized.is_empty() {
            normalized.push(' ');
        }
        normalized.push_str(word);
    }
    normalized
}
