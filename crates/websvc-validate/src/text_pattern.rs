//! Regular expressions that are searched for in texts of pages.

use std::fmt;

use parking_lot::Mutex;
use regex_automata::hybrid::dfa;
use regex_automata::hybrid::regex::{Cache, Regex};
use regex_automata::nfa::thompson;
use regex_automata::nfa::thompson::pikevm::PikeVM;

/// Maximum size of the automaton of a pattern, in bytes. Nested repetitions would grow without bound.
const PATTERN_MAX_BYTES: usize = 64 * 1024;
/// Memory for the states that searches build, in bytes. A search that would fill it several times gives up.
const CACHE_BYTES: usize = 1024 * 1024;
const CACHE_CLEARS: usize = 3;
const MIN_BYTES_PER_STATE: usize = 10;
/// Maximum length of a text in which the slow search looks, in bytes.
const SLOW_MAX_BYTES: usize = 100_000;

/// A regular expression that is searched for in texts. The time of a search grows with the length of the text alone.
pub struct TextPattern {
    text: String,
    regex: Regex,
    /// Made by the first search, and used by one search at a time.
    cache: Mutex<Option<Cache>>,
}

impl TextPattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// A text that says why it is not a regular expression, or that it is too large.
    pub(crate) fn compile(text: &str) -> Result<Self, String> {
        let dfa = dfa::Config::new()
            .unicode_word_boundary(true)
            .skip_cache_capacity_check(true)
            .cache_capacity(CACHE_BYTES)
            .minimum_cache_clear_count(Some(CACHE_CLEARS))
            .minimum_bytes_per_state(Some(MIN_BYTES_PER_STATE));
        let thompson = thompson::Config::new().nfa_size_limit(Some(PATTERN_MAX_BYTES));
        let regex = Regex::builder().dfa(dfa).thompson(thompson).build(text);
        let regex = regex.map_err(|error| {
            // The last cause has the position of the mistake.
            let causes =
                std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
            causes.last().map(ToString::to_string).unwrap_or_default()
        })?;
        Ok(Self { text: text.to_owned(), regex, cache: Mutex::new(None) })
    }

    /// Returns the first match in a text.
    #[must_use]
    pub fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        let mut cache = self.cache.lock();
        let cache = cache.get_or_insert_with(|| self.regex.create_cache());
        match self.regex.try_search(cache, &text.into()) {
            Ok(found) => text.get(found?.range()),
            // A word boundary next to a letter that is not ASCII, or too many states.
            Err(_) => self.find_slowly(text),
        }
    }

    fn find_slowly<'t>(&self, text: &'t str) -> Option<&'t str> {
        let text = &text[..text.floor_char_boundary(SLOW_MAX_BYTES)];
        let vm = PikeVM::builder()
            .thompson(thompson::Config::new().nfa_size_limit(Some(2 * PATTERN_MAX_BYTES)))
            .build(&self.text)
            .ok()?;
        let found = vm.find_iter(&mut vm.create_cache(), text).next()?;
        text.get(found.range())
    }
}

impl fmt::Debug for TextPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TextPattern").field(&self.text).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, text: &str, expected: Option<&str>) {
        assert_eq!(TextPattern::compile(pattern).unwrap().find(text), expected, "{pattern} in {text}");
    }

    #[test]
    fn first_match_is_found() {
        check(r"\d+ euros", "Sencha costs 12 euros, Rooibos 5 euros", Some("12 euros"));
        check(r"(?i)^views: \d+$", "Views: 1200", Some("Views: 1200"));
        check(r"\bgrün\b", "Tee: grün, süß", Some("grün"));
        check(r"\bgrün\b", "begrünt", None);
        check(r"\w+tee", "Kräutertee", Some("Kräutertee"));
    }

    #[test]
    fn pattern_that_needs_many_states_is_still_found() {
        let pattern = r"(a|b)*a(a|b){12}c";
        let text = format!("{}abbbbbbbbbbbbc", "ab".repeat(40_000));
        assert!(TextPattern::compile(pattern).unwrap().find(&text).is_some());
    }

    #[test]
    fn wrong_and_large_patterns_are_refused() {
        assert!(TextPattern::compile("(").unwrap_err().contains("unclosed group"));
        let error = TextPattern::compile(r"(\w{50}){50}").unwrap_err();
        assert!(error.contains("limit"), "{error}");
    }
}
