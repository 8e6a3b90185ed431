//! Detection of languages, and their stemmers and stop words.

use frostem::{Algorithm, Stemmer};
use whatlang::Script;

use super::{each_word, fold, folded, head, stopwords};

/// A language with a stemmer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Language {
    code: &'static str,
    algorithm: Algorithm,
}

/// Languages with a stemmer: two-letter code, three-letter code and stemmer.
const LANGUAGES: [(&str, &str, Algorithm); 17] = [
    ("ar", "ara", Algorithm::Arabic),
    ("da", "dan", Algorithm::Danish),
    ("de", "deu", Algorithm::German),
    ("el", "ell", Algorithm::Greek),
    ("en", "eng", Algorithm::English),
    ("es", "spa", Algorithm::Spanish),
    ("fi", "fin", Algorithm::Finnish),
    ("fr", "fra", Algorithm::French),
    ("hu", "hun", Algorithm::Hungarian),
    ("it", "ita", Algorithm::Italian),
    ("nl", "nld", Algorithm::Dutch),
    ("no", "nob", Algorithm::Norwegian),
    ("pt", "por", Algorithm::Portuguese),
    ("ro", "ron", Algorithm::Romanian),
    ("ru", "rus", Algorithm::Russian),
    ("sv", "swe", Algorithm::Swedish),
    ("tr", "tur", Algorithm::Turkish),
];

/// Two-letter and three-letter codes of languages without a stemmer that can be detected.
const UNSTEMMED_LANGUAGES: [(&str, &str); 24] = [
    ("bg", "bul"),
    ("bn", "ben"),
    ("ca", "cat"),
    ("cs", "ces"),
    ("et", "est"),
    ("fa", "pes"),
    ("he", "heb"),
    ("hi", "hin"),
    ("hr", "hrv"),
    ("id", "ind"),
    ("ja", "jpn"),
    ("ka", "kat"),
    ("ko", "kor"),
    ("lt", "lit"),
    ("lv", "lav"),
    ("pl", "pol"),
    ("sk", "slk"),
    ("sl", "slv"),
    ("sr", "srp"),
    ("th", "tha"),
    ("uk", "ukr"),
    ("ur", "urd"),
    ("vi", "vie"),
    ("zh", "cmn"),
];

impl Language {
    /// Returns the language with a two-letter code, if it has a stemmer.
    pub(crate) fn from_code(code: &str) -> Option<Self> {
        let (code, _, algorithm) = LANGUAGES.into_iter().find(|&(two, ..)| two == code)?;
        Some(Self { code, algorithm })
    }

    /// Appends the folded stem of `lower` to `out`.
    ///
    /// Stemming comes before folding, because stemmers recognize endings such as `-ación` by their accents.
    pub(crate) fn stem(self, lower: &str, out: &mut String) {
        let lower = if self.code == "ar" { without_conjunction(lower) } else { lower };
        fold(&Stemmer::new(self.algorithm).stem(lower), out);
    }

    /// Returns true if the folded word is a stop word of this language.
    pub(crate) fn is_stop_word(self, folded: &str) -> bool {
        stopwords::contains(self.code, folded)
    }

    /// Returns true if words of this language may be typed without their accents. If so, documents are also indexed
    /// under the folded words without stemming.
    pub(crate) fn has_accents(self) -> bool {
        self.code != "en"
    }

    /// Returns true for English, the language of the [`super::other_numbers`].
    pub(crate) fn is_english(self) -> bool {
        self.code == "en"
    }

    /// Returns true if nouns of this language are joined to words.
    pub(crate) fn has_compounds(self) -> bool {
        matches!(self.code, "de" | "nl" | "da" | "no" | "sv" | "fi")
    }
}

/// Returns an Arabic word with an article without the conjunction before it, which the stemmer keeps: `والكتاب` as
/// `الكتاب`.
fn without_conjunction(word: &str) -> &str {
    let rest = word.strip_prefix(['و', 'ف']).unwrap_or(word);
    let has_article = ["ال", "بال", "كال", "لل"]
        .into_iter()
        .any(|article| rest.strip_prefix(article).is_some_and(|noun| noun.chars().nth(1).is_some()));
    if has_article { rest } else { word }
}

/// Returns true for a text in the Arabic script without a letter that only other languages than Arabic have.
fn may_be_arabic(text: &str) -> bool {
    const OTHER_LETTERS: &str = "پچژگکیٹڈڑںہھےۆێەڕڵ";
    whatlang::detect_script(text) == Some(Script::Arabic) && !text.contains(|c| OTHER_LETTERS.contains(c))
}

/// Returns the two-letter code of the language of `text`, or an empty string.
///
/// Stop words decide if there are enough of them, because they are frequent in every kind of text. Otherwise the
/// declared language is used, which is often wrong in templates, and without one letter statistics, which fail for
/// tables, code and names.
#[must_use]
pub fn detect(declared: Option<&str>, text: &str) -> String {
    const SAMPLE_BYTES: usize = 4_000;
    let sample = head(text, SAMPLE_BYTES);
    if let Some(code) = by_stop_words(sample) {
        return code.to_owned();
    }
    let declared = declared.map(|tag| {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        folded(&primary.trim().to_lowercase())
    });
    let declared = declared.filter(|code| (2..=3).contains(&code.len())).map(|code| two_letter_code(&code));
    let detected = whatlang::detect(sample).filter(whatlang::Info::is_reliable);
    let detected = detected.map(|info| (info.script(), two_letter_code(info.lang().code())));
    match (declared, detected) {
        // The detector is right about texts in other scripts than Latin, even if the declaration differs.
        (Some(_), Some((script, detected))) if script != Script::Latin => detected,
        (Some(code), _) => code,
        // Short Latin texts without stop words are names and code; English is the best guess for ASCII.
        (None, Some((Script::Latin, _))) | (None, None) if text.is_ascii() && !text.is_empty() => {
            "en".to_owned()
        }
        (None, Some((_, detected))) => detected,
        (None, None) if may_be_arabic(sample) => "ar".to_owned(),
        (None, None) => String::new(),
    }
}

/// Returns the language with clearly the most stop words, if they are a usual share of the text.
fn by_stop_words(sample: &str) -> Option<&'static str> {
    /// At least one word in this many is a stop word.
    const MAX_WORDS_PER_STOP_WORD: usize = 8;
    let mut counts = [0usize; LANGUAGES.len()];
    let (mut words, mut folded) = (0, String::new());
    each_word(sample, |word| {
        folded.clear();
        fold(word.lower, &mut folded);
        words += 1;
        for code in stopwords::languages_of(&folded) {
            if let Some(language) = LANGUAGES.iter().position(|&(two, ..)| two == code) {
                counts[language] += 1;
            }
        }
    });
    let (best, &count) = counts.iter().enumerate().max_by_key(|&(_, count)| count)?;
    let others = counts.iter().enumerate().filter(|&(language, _)| language != best);
    let second = others.map(|(_, &count)| count).max()?;
    let is_clear = words >= 10 && count * MAX_WORDS_PER_STOP_WORD >= words && count * 2 >= second * 3;
    is_clear.then_some(LANGUAGES[best].0)
}

/// Returns the two-letter code of a three-letter one, if there is one, and otherwise the same code.
fn two_letter_code(code: &str) -> String {
    let stemmed = LANGUAGES.iter().map(|&(two, three, _)| (two, three));
    let code = if matches!(code, "nb" | "nn") { "no" } else { code };
    let mut languages = stemmed.chain(UNSTEMMED_LANGUAGES).filter(|&(_, three)| three == code);
    languages.next().map_or(code, |(two, _)| two).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Language, detect};

    #[test]
    fn stop_words_override_the_declared_language() {
        let german = "Die Würde des Menschen ist unantastbar. Sie zu achten und zu schützen ist Verpflichtung aller staatlichen Gewalt. ";
        assert_eq!(detect(Some("en"), &german.repeat(3)), "de");
        assert_eq!(detect(Some("fr-CA"), "Bonjour"), "fr");
        assert_eq!(detect(None, "json"), "en");
        assert_eq!(detect(Some("x-default"), ""), "");
        assert_eq!(detect(None, "東京は日本の首都であり、世界最大の都市の一つです。"), "ja");
    }

    #[test]
    fn stems_are_folded() {
        let stem = |code: &str, word: &str| {
            let mut out = String::new();
            Language::from_code(code).expect("a known code").stem(word, &mut out);
            out
        };
        assert_eq!(stem("en", "gathering"), "gather");
        assert_eq!(stem("de", "häuser"), "haus");
        assert_eq!(stem("es", "comunicación"), stem("es", "comunicaciones"));
    }
}
