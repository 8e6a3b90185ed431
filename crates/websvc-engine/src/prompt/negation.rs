//! The side of a prompt on which a word is: whether something is included or excluded there.

use super::token::Token;

/// Words after which something is excluded, until the end of the clause.
const NEGATIONS: &[&str] = &[
    "except",
    "excluding",
    "exclude",
    "excludes",
    "without",
    "not",
    "skip",
    "skipping",
    "ignore",
    "ignoring",
    "avoid",
    "avoiding",
    "no",
    "don't",
    "dont",
    "never",
    "omit",
    "omitting",
];

/// Words after which something is included again.
const AFFIRMATIONS: &[&str] = &[
    "only",
    "include",
    "including",
    "just",
    "crawl",
    "get",
    "extract",
    "fetch",
    "collect",
    "scrape",
    "with",
    "up",
    "at",
    "use",
    "using",
    "limit",
    "but",
    "follow",
    "following",
    "visit",
    "allow",
    "allowing",
];

/// Those of [`AFFIRMATIONS`] that are verbs. `do not use the sitemap or follow links` negates both of its verbs.
const VERBS: &[&str] =
    &["include", "crawl", "get", "extract", "fetch", "collect", "scrape", "use", "follow", "visit", "allow"];

/// The negations of a verb.
const VERB_NEGATIONS: &[&str] = &["not", "don't", "dont", "never"];

/// Words between a negation and its verb, as in `no need to follow`.
const BEFORE_VERBS: &[&str] = &[
    "to",
    "need",
    "want",
    "you",
    "ever",
    "even",
    "also",
    "please",
    "necessary",
    "required",
    "have",
    "bother",
    "try",
    "wish",
];

/// The state of a prompt up to a word.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Negation {
    /// Something is excluded here.
    pub(super) is_negated: bool,
    /// The negation is that of a verb.
    negates_verbs: bool,
    /// It is not clear: the negation of a verb before an `and` may cover the verb after it, too.
    is_doubtful: bool,
}

impl Negation {
    /// Returns a switch that is on unless it is negated; `None` if that is not clear.
    pub(super) fn switch(self) -> Option<bool> {
        (!self.is_doubtful).then_some(!self.is_negated)
    }

    /// Returns the state at a word, from that at the word before.
    pub(super) fn at(self, tokens: &[Token<'_>], index: usize) -> Self {
        let words = Words(tokens);
        let before = if index.checked_sub(1).is_some_and(|before| tokens[before].ends_clause) {
            Self::default()
        } else {
            self
        };
        let word = words.word(index);
        if NEGATIONS.contains(&word) {
            // "not only the blog" includes the blog, and "no more than 5 pages" excludes nothing.
            let is_negated = !matches!(words.word(index + 1), "only" | "more" | "deeper" | "exceed");
            let negates_verbs = is_negated && VERB_NEGATIONS.contains(&word);
            return Self { is_negated, negates_verbs, is_doubtful: false };
        }
        let is_list = before.negates_verbs && words.is_in_negated_list(index);
        if !AFFIRMATIONS.contains(&word) || words.is_after_negation(index) || is_list {
            return before;
        }
        let is_doubtful = before.negates_verbs && VERBS.contains(&word) && words.before(index) == "and";
        Self { is_negated: false, negates_verbs: false, is_doubtful }
    }
}

/// The words of a prompt.
struct Words<'a>(&'a [Token<'a>]);

impl Words<'_> {
    /// Returns a word in lower case; empty outside the prompt.
    fn word(&self, index: usize) -> &str {
        self.0.get(index).map_or("", |token| &token.lower)
    }

    fn before(&self, index: usize) -> &str {
        index.checked_sub(1).map_or("", |index| self.word(index))
    }

    /// Returns whether a negation is before a word: `do not follow`, `no need to follow`.
    fn is_after_negation(&self, index: usize) -> bool {
        let mut before = (0..index).rev().map(|index| self.word(index));
        before.find(|word| !BEFORE_VERBS.contains(word)).is_some_and(|word| NEGATIONS.contains(&word))
    }

    /// Returns whether a verb continues a list of negated ones: `do not use the sitemap, follow links or visit subdomains`.
    fn is_in_negated_list(&self, index: usize) -> bool {
        if !VERBS.contains(&self.word(index)) {
            return false;
        }
        let follows_or = |index: usize| matches!(self.before(index), "or" | "nor");
        let is_after_comma = index.checked_sub(1).is_some_and(|before| self.0[before].has_comma);
        let rest = self.0[index..].iter().position(|token| token.ends_clause);
        let end = rest.map_or(self.0.len(), |length| index + length + 1);
        let is_list = (index + 1..end).any(|next| VERBS.contains(&self.word(next)) && follows_or(next));
        follows_or(index) || is_after_comma && is_list
    }
}
