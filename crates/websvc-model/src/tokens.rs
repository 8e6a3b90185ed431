//! Estimates of the number of tokens of a text, by the kinds of its characters. Tokenizers differ, so an endpoint corrects
//! the estimates by what it reports.

/// A number of tokens as an estimate.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct TokenEstimate {
    /// The number with the tokenizers of common models, rather too high.
    pub(crate) likely: f64,
    /// The number below which no tokenizer in use comes.
    pub(crate) least: f64,
}

impl TokenEstimate {
    /// Returns the sum of two estimates.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { likely: self.likely + other.likely, least: self.least + other.least }
    }
}

/// The tokens of one character.
type Cost = (f64, f64);

/// Letters and spaces of English: with punctuation, 3.7 characters for a token.
const WORD: Cost = (0.25, 0.15);

/// Digits: 1.1 characters for a token. Some tokenizers have tokens of three digits.
const DIGIT: Cost = (0.91, 0.34);

/// Punctuation and the borders of tables, which are tokens of their own.
const PUNCTUATION: Cost = (0.91, 0.4);

/// The characters of a link: 2 for a token.
const LINK: Cost = (0.5, 0.3);

/// Letters that begin a part of a word, as in identifiers and encoded data.
const WORD_PART: Cost = (0.6, 0.15);

/// Latin letters with accents.
const ACCENTED: Cost = (0.6, 0.25);

/// Greek and Cyrillic letters.
const EASTERN_EUROPEAN: Cost = (0.45, 0.22);

/// Chinese, Japanese and Korean: 1.3 characters for a token.
const CJK: Cost = (0.77, 0.42);

/// The letters of other scripts. Tokenizers that were not made for them need a token for each.
const OTHER_SCRIPT: Cost = (0.8, 0.22);

/// Typographic characters and symbols.
const SYMBOL: Cost = (1.0, 0.4);

/// Emoji and rare characters, which many tokenizers write byte by byte.
const RARE: Cost = (2.5, 0.5);

/// The third and later of the same ASCII characters in a row: there are tokens for long rows.
const REPEATED: Cost = (0.1, 0.02);

/// Estimates the number of tokens of a text.
pub(crate) fn estimate(text: &str) -> TokenEstimate {
    let mut counter = Counter::default();
    text.chars().for_each(|char| counter.add(char));
    counter.total
}

/// Returns the longest beginning of a text that probably has at most this many tokens.
pub(crate) fn beginning_within(text: &str, max_tokens: f64) -> &str {
    let mut counter = Counter::default();
    for (at, char) in text.char_indices() {
        counter.add(char);
        if counter.total.likely > max_tokens {
            return &text[..at];
        }
    }
    text
}

/// Counts the tokens of the characters of a text, one after the other.
#[derive(Default)]
struct Counter {
    total: TokenEstimate,
    /// The characters before, the last one first.
    before: [Option<char>; 2],
    is_in_link: bool,
}

impl Counter {
    fn add(&mut self, char: char) {
        self.is_in_link = if self.is_in_link {
            !char.is_whitespace() && !matches!(char, ')' | ']' | '"' | '\'' | '<' | '>' | '|')
        } else {
            (char, self.before) == ('/', [Some('/'), Some(':')])
        };
        let (likely, least) = self.cost(char);
        self.total.likely += likely;
        self.total.least += least;
        self.before = [Some(char), self.before[0]];
    }

    fn cost(&self, char: char) -> Cost {
        let [previous, earlier] = self.before;
        if char.is_ascii() && !char.is_ascii_digit() && self.before == [Some(char); 2] {
            return REPEATED;
        }
        if self.is_in_link && char.is_ascii() {
            return LINK;
        }
        let is_after = |test: fn(&char) -> bool| previous.as_ref().is_some_and(test);
        let is_start = earlier.is_none() || is_after(char::is_ascii_whitespace);
        match char {
            '0'..='9' | '!'..='/' | ':'..='@' | '['..='`' | '{'..='~' => {
                let (likely, least) = if char.is_ascii_digit() { DIGIT } else { PUNCTUATION };
                // A space belongs to the word after it. Before a digit or a border it is a token of its own.
                let space = if previous == Some(' ') { likely - WORD.0 } else { 0.0 };
                (likely + space, least)
            }
            'a'..='z' if is_after(char::is_ascii_digit) => WORD_PART,
            'A'..='Z' if !is_start && is_after(char::is_ascii_alphanumeric) => WORD_PART,
            '\0'..='\x7f' => WORD,
            '\u{80}'..='\u{24f}' if char.is_alphabetic() => ACCENTED,
            '\u{370}'..='\u{52f}' => EASTERN_EUROPEAN,
            '\u{1100}'..='\u{11ff}'
            | '\u{2e80}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7af}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff00}'..='\u{ffef}' => CJK,
            '\u{10000}'.. => RARE,
            _ if char.is_alphabetic() => OTHER_SCRIPT,
            _ => SYMBOL,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: &str = "Sencha is a green tea from Japan. It is steamed after the harvest, which keeps its color and its \
        fresh taste, and it should be brewed with water that is not too hot. Most people drink it without milk. The first \
        harvest of the year, in April and May, is the best one and costs more than the later ones.";

    /// The characters for a token.
    fn density(text: &str) -> f64 {
        text.chars().count() as f64 / estimate(text).likely
    }

    #[track_caller]
    fn check(text: &str, expected: f64) {
        let found = density(text);
        assert!((expected * 0.85..expected * 1.15).contains(&found), "{found} and not {expected}: {text}");
    }

    #[test]
    fn characters_of_a_token_depend_on_the_kind_of_text() {
        check(ENGLISH, 3.7);
        check("| 12 | 345.6 | 7,890 |\n| 98 | 765.4 | 3,210 |\n| 55 | 111.9 | 8,765 |\n", 1.1);
        check("煎茶は日本の緑茶です。収穫の後に蒸すことで、色と新鮮な味が保たれます。", 1.3);
        check("https://tea.example/shop/green-tea/sencha?size=100&sort=price#top", 2.0);
        check("[Sencha](https://tea.example/sencha) [Matcha](https://tea.example/matcha)", 2.0);
    }

    #[test]
    fn estimate_is_not_below_its_minimum() {
        let long = "-".repeat(500);
        for text in [ENGLISH, "1 2 3", "茶", "Зелёный чай", "ชาเขียว", "🍵🍵", "aB3dE5f==", &long, ""]
        {
            let TokenEstimate { likely, least } = estimate(text);
            assert!(least <= likely, "{text}: {least} {likely}");
        }
        // The minimum of a text is more than half of the estimate, except for digits, which some tokenizers join.
        let TokenEstimate { likely, least } = estimate(ENGLISH);
        assert!(least > likely * 0.55 && least < likely * 0.65, "{least} {likely}");
        let TokenEstimate { likely, least } = estimate("123456789123456789");
        assert!(least < likely * 0.4, "{least} {likely}");
    }

    #[test]
    fn rows_of_the_same_character_are_few_tokens() {
        assert!(estimate(&"-".repeat(1_000)).likely < 110.0);
        assert!(estimate(&" ".repeat(1_000)).likely < 110.0);
        assert!(estimate(&"7".repeat(1_000)).likely > 800.0);
    }

    #[test]
    fn beginning_has_as_many_tokens_as_fit() {
        assert_eq!(beginning_within(ENGLISH, 1_000.0), ENGLISH);
        assert_eq!(beginning_within("茶茶の茶", 1.6), "茶茶");
        assert_eq!(beginning_within(ENGLISH, 0.0), "");
        let part = beginning_within(ENGLISH, 20.0);
        assert!(estimate(part).likely <= 20.0 && part.len() > 60, "{part}");
    }
}
