//! The tokens of a query, kept well-formed while they are added.
//!
//! Whatever is added, the tokens that come out are: parentheses balanced and never empty, every `-` before an operand
//! and never before another `-`, every `OR` between two operands, every operator with a good argument. So the parser
//! has no case to doubt, and the printer need not write more parentheses than were there.

use crate::ast::{Operator, Term};
use crate::error::shortened;
use crate::lexer::is_space;
use crate::operator::Name;
use crate::parser::MAX_DEPTH;

/// A token; words and phrases borrow from the query text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    Open,
    Close,
    Or,
    /// A `-` that negates what follows it directly.
    Minus,
    Word(&'a str),
    /// The text between two quotes, not yet normalised, never blank.
    Phrase(&'a str),
    Operator(Operator),
}

/// The word that an `OR` without operands is.
const LONE_OR: Token<'_> = Token::Word("or");

#[derive(Debug)]
pub(crate) struct Tokens<'a> {
    kept: Vec<Token<'a>>,
    warnings: Vec<String>,
    /// How many parentheses are open, and how many more were left out because they nest too deep.
    open: usize,
    too_deep: usize,
    /// An operator that waits for its argument, which may follow after a space.
    waiting: Option<PendingOperator<'a>>,
    /// True if the last token is `OR`: several in a row count as one.
    in_row: bool,
}

#[derive(Debug)]
struct PendingOperator<'a> {
    kind: Name,
    /// The name as typed.
    name: &'a str,
}

impl<'a> Tokens<'a> {
    /// Makes room for the tokens of a usual text of so many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self {
            kept: Vec::with_capacity((bytes / 5 + 1).min(128)),
            warnings: Vec::new(),
            open: 0,
            too_deep: 0,
            waiting: None,
            in_row: false,
        }
    }

    pub(crate) fn open(&mut self) {
        self.settle();
        if self.open == MAX_DEPTH {
            self.too_deep += 1;
            // With its parenthesis, so that every dash touches what it negates.
            self.drop_dangling_minus();
        } else {
            self.open += 1;
            self.kept.push(Token::Open);
        }
    }

    pub(crate) fn close(&mut self) {
        self.settle();
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        if self.open == 0 {
            return;
        }
        self.open -= 1;
        self.demote_dangling_or();
        if self.kept.pop_if(|last| *last == Token::Open).is_some() {
            self.drop_dangling_minus();
        } else {
            self.kept.push(Token::Close);
        }
    }

    pub(crate) fn minus(&mut self) {
        self.settle();
        self.kept.push(Token::Minus);
    }

    pub(crate) fn or(&mut self) {
        let in_row = self.in_row;
        self.settle();
        self.in_row = true;
        match self.kept.last() {
            Some(Token::Or) => {}
            _ if in_row => {}
            None | Some(Token::Open | Token::Minus) => self.kept.push(LONE_OR),
            Some(Token::Close | Token::Word(_) | Token::Phrase(_) | Token::Operator(_)) => {
                self.kept.push(Token::Or);
            }
        }
    }

    pub(crate) fn word(&mut self, word: &'a str) {
        if let Some(PendingOperator { kind, .. }) = &self.waiting
            && kind.takes_after_space(word)
            && let Some(operator) = kind.build(Term::Word(word.to_owned()))
        {
            self.waiting = None;
            self.kept.push(Token::Operator(operator));
            return;
        }
        self.settle();
        self.kept.push(Token::Word(word));
    }

    /// Adds a quoted text; `glued` to what stands before it or after a space.
    pub(crate) fn phrase(&mut self, text: &'a str, glued: bool) {
        if text.chars().all(is_space) {
            match self.waiting {
                Some(_) if glued => self.settle(),
                Some(_) => {}
                None => self.drop_dangling_minus(),
            }
            return;
        }
        let Some(PendingOperator { kind, name }) = self.waiting.take() else {
            self.settle();
            self.kept.push(Token::Phrase(text));
            return;
        };
        if let Some(operator) = kind.build(Term::Phrase(normal_phrase(text))) {
            self.kept.push(Token::Operator(operator));
            return;
        }
        if glued {
            // `site:"two words"`: the phrase alone is what can be searched for.
            self.warn_of_argument(kind, &format!("{name}:{}", normal_phrase(text)));
        } else {
            self.refuse(&PendingOperator { kind, name });
        }
        self.kept.push(Token::Phrase(text));
    }

    /// Adds an operator; `whole` is the word as typed, of which `argument` is the part after the colon.
    pub(crate) fn operator(&mut self, kind: Name, name: &'a str, whole: &'a str, argument: &str) {
        self.settle();
        if argument.is_empty() {
            self.waiting = Some(PendingOperator { kind, name });
        } else if let Some(operator) = kind.build(Term::Word(argument.to_owned())) {
            self.kept.push(Token::Operator(operator));
        } else {
            self.warn_of_argument(kind, whole);
            self.kept.push(Token::Word(whole));
        }
    }

    pub(crate) fn finish(mut self) -> (Vec<Token<'a>>, Vec<String>) {
        self.settle();
        self.too_deep = 0;
        while self.open > 0 {
            self.close();
        }
        self.demote_dangling_or();
        (self.kept, self.warnings)
    }

    /// Gives up waiting for the argument of an operator: something else came.
    fn settle(&mut self) {
        self.in_row = false;
        if let Some(waiting) = self.waiting.take() {
            self.refuse(&waiting);
        }
    }

    /// Makes a word of an operator without argument. A negated one is left out: nobody wants all pages excluded that
    /// contain the word "site".
    fn refuse(&mut self, waiting: &PendingOperator<'a>) {
        let PendingOperator { kind, name } = waiting;
        let expects = kind.argument_error();
        if self.kept.pop_if(|last| *last == Token::Minus).is_some() {
            self.warnings.push(format!("the operator \"-{name}:\" was ignored: it needs {expects}"));
        } else {
            self.warnings
                .push(format!("the operator \"{name}:\" was searched as a plain word: it needs {expects}"));
            self.kept.push(Token::Word(name));
        }
    }

    fn warn_of_argument(&mut self, kind: Name, shown: &str) {
        let (shown, expects) = (shortened(shown), kind.argument_error());
        let done = if self.kept.last() == Some(&Token::Minus) { "excluded" } else { "searched" };
        self.warnings.push(format!("\"{shown}\" was {done} as plain words: the operator needs {expects}"));
    }

    fn drop_dangling_minus(&mut self) {
        self.kept.pop_if(|last| *last == Token::Minus);
    }

    fn demote_dangling_or(&mut self) {
        if let Some(last) = self.kept.last_mut()
            && *last == Token::Or
        {
            *last = LONE_OR;
        }
    }
}

/// Returns the text of a phrase with single spaces between its words and none around them.
pub(crate) fn normal_phrase(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.push_str(word);
    }
    normal
}
