//! Languages: which one a text is in, its stemmer and its stop words.

use frostem::{Algorithm, Stemmer};

use super::{fold, folded, head, stopwords};

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
/// A clear finding in a long text wins over the declaration, because templates often declare `en` for
/// everything; for short texts the declaration wins.
pub(crate) fn detect(declared: Option<&str>, text: &str) -> String {
    const ENOUGH_BYTES: usize = 300;
    const LOOK_AT_BYTES: usize = 3_000;
    let declared = declared.map(|tag| {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        folded(&primary.trim().to_lowercase())
    });
    let declared = declared.filter(|code| (2..=3).contains(&code.len())).map(|code| normal_code(&code));
    let sample = head(text, LOOK_AT_BYTES);
    let found = whatlang::detect(sample).filter(whatlang::Info::is_reliable);
    let found = found.map(|info| normal_code(info.lang().code()));
    match (declared, found) {
        (Some(declared), Some(found)) => {
            if text.len() >= ENOUGH_BYTES {
                found
            } else {
                declared
            }
        }
        (Some(code), None) | (None, Some(code)) => code,
        (None, None) if text.is_ascii() && !text.is_empty() => "en".to_owned(),
        (None, None) => String::new(),
    }
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
    fn a_long_text_wins_over_the_declaration() {
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
