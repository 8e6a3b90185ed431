//! Text in, tokens out: quotes paired, parentheses balanced, `OR` recognised only between operands.

use crate::operator::Name;
use crate::parser::MAX_DEPTH;

/// A token; it borrows from the query text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    Open,
    Close,
    Or,
    /// A `-` that negates what follows it directly.
    Minus,
    Word(&'a str),
    /// The text between two quotes, not yet normalised.
    Phrase(&'a str),
    /// An operator name; the argument is in `whole` after the colon, or, when it is empty, in the next token.
    Operator {
        name: Name,
        /// The whole word, for the case that the argument is bad.
        whole: &'a str,
        argument: &'a str,
        /// Whether the next token is a phrase that follows the colon without a space.
        quoted: bool,
    },
}

/// Splits `text` into tokens in linear time.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let raw = scan(text);
    let raw = drop_empty_phrases(raw);
    let raw = balance(&raw);
    settle_or(&raw)
}

/// Tells whether `c` opens or closes a phrase: typed and typographic double quotes.
fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{ff02}')
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || is_quote(c) || c == '(' || c == ')'
}

fn scan(text: &str) -> Vec<Token<'_>> {
    // Quotes pair up from the left, so only the last of an odd number is alone; it is skipped.
    let quotes = text.char_indices().filter(|&(_, c)| is_quote(c));
    let (count, last) = quotes.fold((0usize, 0), |(count, _), (at, _)| (count + 1, at));
    let lone = (count % 2 == 1).then_some(last);

    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let next = at + c.len_utf8();
        match c {
            '(' => tokens.push(Token::Open),
            ')' => tokens.push(Token::Close),
            _ if c.is_whitespace() || lone == Some(at) => {}
            _ if is_quote(c) => {
                let rest = &text[next..];
                let end = rest.find(is_quote).unwrap_or(rest.len());
                tokens.push(Token::Phrase(&rest[..end]));
                at = next + end;
                at += text[at..].chars().next().map_or(0, char::len_utf8);
                continue;
            }
            '-' if negates(text, next, lone) => tokens.push(Token::Minus),
            _ => {
                let end = text[at..].find(ends_word).map_or(text.len(), |end| at + end);
                let quoted = end != text.len() && lone != Some(end) && text[end..].starts_with(is_quote);
                push_word(&mut tokens, &text[at..end], quoted);
                at = end;
                continue;
            }
        }
        at = next;
    }
    tokens
}

/// Tells whether a `-` before byte `next` negates: something other than a second `-` must touch it, so that
/// `--help` stays a word and a dash between spaces is nothing.
fn negates(text: &str, next: usize, lone: Option<usize>) -> bool {
    let follower = text[next..].chars().next();
    lone != Some(next) && follower.is_some_and(|c| !c.is_whitespace() && c != '-' && c != ')')
}

fn push_word<'a>(tokens: &mut Vec<Token<'a>>, word: &'a str, quoted: bool) {
    if word == "-" {
        return;
    }
    if let Some((name, argument)) = word.split_once(':')
        && let Some(name) = Name::from_text(name)
    {
        let quoted = quoted && argument.is_empty();
        tokens.push(Token::Operator { name, whole: word, argument, quoted });
    } else if word == "OR" || word == "|" {
        tokens.push(Token::Or);
    } else {
        tokens.push(Token::Word(word));
    }
}

/// Removes phrases without text together with the `-` before them.
fn drop_empty_phrases(raw: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let mut kept: Vec<Token<'_>> = Vec::with_capacity(raw.len());
    for token in raw {
        if let Token::Phrase(text) = token
            && text.trim().is_empty()
        {
            if let Some(Token::Operator { quoted, .. }) = kept.last_mut() {
                *quoted = false;
            }
            kept.pop_if(|before| *before == Token::Minus);
        } else {
            kept.push(token);
        }
    }
    kept
}

/// Removes parentheses that have no partner or nest deeper than [`MAX_DEPTH`], and closes open ones.
fn balance<'a>(raw: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut kept = Vec::with_capacity(raw.len());
    let (mut open, mut too_deep) = (0, 0);
    for &token in raw {
        match token {
            Token::Open if open == MAX_DEPTH => too_deep += 1,
            Token::Open => {
                open += 1;
                kept.push(token);
            }
            Token::Close if too_deep > 0 => too_deep -= 1,
            Token::Close if open == 0 => {}
            Token::Close => {
                open -= 1;
                kept.push(token);
            }
            Token::Or | Token::Minus | Token::Word(_) | Token::Phrase(_) | Token::Operator { .. } => {
                kept.push(token);
            }
        }
    }
    kept.extend(std::iter::repeat_n(Token::Close, open));
    kept
}

/// Keeps `OR` only between two operands; elsewhere it is the word "or" (or one of a row of `OR`s).
fn settle_or<'a>(raw: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut kept: Vec<Token<'a>> = Vec::with_capacity(raw.len());
    for (at, &token) in raw.iter().enumerate() {
        if token != Token::Or {
            kept.push(token);
            continue;
        }
        let next = raw.get(at + 1);
        if next == Some(&Token::Or) {
            continue;
        }
        let follows = !matches!(kept.last(), None | Some(Token::Open | Token::Minus | Token::Or));
        let precedes = !matches!(next, None | Some(Token::Close));
        kept.push(if follows && precedes { Token::Or } else { Token::Word("or") });
    }
    kept
}
