//! Languages: which one a text is in, its stemmer and its stop words.

use frostem::{Algorithm, Stemmer};
use whatlang::Script;

use super::{each_word, fold, folded, head, stopwords};

/// A language with a stemmer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Language {
    code: &'static str,
    algorithm: Algorithm,
}

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

/// Two-letter codes of languages without a stemmer that the detector knows.
const OTHERS: [(&str, &str); 24] = [
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
    /// Returns the language of a two-letter code, if it has a stemmer.
    pub(crate) fn from_code(code: &str) -> Option<Self> {
        let (code, _, algorithm) = LANGUAGES.into_iter().find(|&(known, ..)| known == code)?;
        Some(Self { code, algorithm })
    }

    /// Appends the stem of `lower`, folded, to `out`.
    ///
    /// Stemming comes first because endings such as `-ación` are recognised by their accents.
    pub(crate) fn stem(self, lower: &str, out: &mut String) {
        fold(&Stemmer::new(self.algorithm).stem(lower), out);
    }

    /// Tells whether the folded word says nothing about a text in this language.
    pub(crate) fn is_stop_word(self, folded: &str) -> bool {
        stopwords::contains(self.code, folded)
    }

    /// Tells whether readers leave out this language's accents when they type; then a document is indexed under the
    /// unaccented whole words too.
    pub(crate) fn has_accents(self) -> bool {
        self.code != "en"
    }
}

/// Returns the two-letter code of the language of `text`, or an empty string.
///
/// Function words decide where there are enough of them, since they alone are frequent in every kind of text; letter
/// statistics mistake tables, code and names for anything. Then comes the declaration, which templates often get
/// wrong, then letter statistics.
pub(crate) fn detect(declared: Option<&str>, text: &str) -> String {
    const LOOK_AT_BYTES: usize = 4_000;
    let sample = head(text, LOOK_AT_BYTES);
    if let Some(code) = by_function_words(sample) {
        return code.to_owned();
    }
    let declared = declared.map(|tag| {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        folded(&primary.trim().to_lowercase())
    });
    let declared = declared.filter(|code| (2..=3).contains(&code.len())).map(|code| normal_code(&code));
    let found = whatlang::detect(sample).filter(whatlang::Info::is_reliable);
    let found = found.map(|info| (info.script(), normal_code(info.lang().code())));
    match (declared, found) {
        // A page that declares a Latin language but is in another script was not looked at by its author.
        (Some(_), Some((script, found))) if script != Script::Latin => found,
        (Some(code), _) => code,
        // Short Latin texts without function words are names and code; English is the best guess for ASCII.
        (None, Some((Script::Latin, _))) | (None, None) if text.is_ascii() && !text.is_empty() => {
            "en".to_owned()
        }
        (None, Some((_, found))) => found,
        (None, None) => String::new(),
    }
}

/// Returns the language with clearly the most stop words, if they make up a normal share of the text.
fn by_function_words(sample: &str) -> Option<&'static str> {
    const MIN_SHARE: usize = 8; // one word in eight
    let mut counts = [0usize; LANGUAGES.len()];
    let (mut words, mut folded) = (0, String::new());
    each_word(sample, |word| {
        folded.clear();
        fold(word.lower, &mut folded);
        words += 1;
        for code in stopwords::languages_of(&folded) {
            if let Some(at) = LANGUAGES.iter().position(|&(known, ..)| known == code) {
                counts[at] += 1;
            }
        }
    });
    let (best, &count) = counts.iter().enumerate().max_by_key(|&(_, count)| count)?;
    let second = counts.iter().enumerate().filter(|&(at, _)| at != best).map(|(_, &count)| count).max()?;
    let clear = words >= 10 && count * MIN_SHARE >= words && count * 2 >= second * 3;
    clear.then_some(LANGUAGES[best].0)
}

/// Returns the two-letter code for a three-letter one, where one is known.
fn normal_code(code: &str) -> String {
    let stemmed = LANGUAGES.iter().map(|&(two, three, _)| (two, three));
    let code = if matches!(code, "nb" | "nn") { "no" } else { code };
    let mut known = stemmed.chain(OTHERS).filter(|&(_, three)| three == code);
    known.next().map_or(code, |(two, _)| two).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Language, detect};

    #[test]
    fn function_words_win_over_the_declaration() {
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
