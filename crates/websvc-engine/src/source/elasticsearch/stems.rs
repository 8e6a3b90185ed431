//! The subfields with stemmed words. The texts of a page are in the subfield of its language, because the analyzers of a
//! server belong to fields and stem one language each. A search looks in all of them.
//!
//! The analyzers are built into Elasticsearch and OpenSearch, so that the subfields can be added to an existing index.
//! Quickwit has no such analyzers.

use serde_json::{Map, Value, json};

use super::record::Record;
use crate::source::http_json::DeclarationError;

/// The field with the subfields.
pub(super) const STEMS: &str = "stems";

/// The subfield of pages in other languages, whose words are not stemmed.
const OTHER: &str = "other";

/// The languages of an index unless the configuration names others.
const DEFAULT_LANGUAGES: [&str; 4] = ["en", "de", "fr", "es"];

/// The maximum number of languages. Each word of a query is searched in every language, and servers limit the clauses of
/// a query.
const MAX_LANGUAGES: usize = 4;

/// The maximum size of the stemmed text of a page. The rest of a longer text matches as it is written.
pub(super) const MAX_STEMMED_BYTES: usize = 1024 * 1024;

/// Two-letter codes of languages, and the analyzers for them.
const ANALYZERS: [(&str, &str); 17] = [
    ("ar", "arabic"),
    ("da", "danish"),
    ("de", "german"),
    ("el", "greek"),
    ("en", "english"),
    ("es", "spanish"),
    ("fi", "finnish"),
    ("fr", "french"),
    ("hu", "hungarian"),
    ("it", "italian"),
    ("nl", "dutch"),
    ("no", "norwegian"),
    ("pt", "portuguese"),
    ("ro", "romanian"),
    ("ru", "russian"),
    ("sv", "swedish"),
    ("tr", "turkish"),
];

/// The stemmed languages of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stems {
    /// Codes and analyzers, the main language first.
    languages: Vec<(&'static str, &'static str)>,
}

/// The names of the two fields of a subfield.
pub(super) struct StemFields {
    /// The stemmed title.
    pub(super) title: String,
    /// All stemmed texts of the page, including the title.
    pub(super) text: String,
}

impl Stems {
    /// Returns the languages with these codes.
    ///
    /// # Errors
    /// [`DeclarationError`] for an unknown code, a code that is named twice, and too many codes.
    pub(super) fn new(codes: Option<&[String]>) -> Result<Self, DeclarationError> {
        let invalid = |what: String| DeclarationError::Key { key: "languages", what };
        let default: Vec<String> = DEFAULT_LANGUAGES.map(str::to_owned).into();
        let codes = codes.unwrap_or(&default);
        if codes.is_empty() || codes.len() > MAX_LANGUAGES {
            return Err(invalid(format!("must have 1 to {MAX_LANGUAGES} languages, not {}", codes.len())));
        }
        let mut languages: Vec<(&'static str, &'static str)> = Vec::new();
        for code in codes {
            let Some(language) = ANALYZERS.into_iter().find(|(known, _)| known == code) else {
                let known = ANALYZERS.map(|(known, _)| known).join(", ");
                return Err(invalid(format!("{code:?} is not one of {known}")));
            };
            if languages.contains(&language) {
                return Err(invalid(format!("names {code:?} twice")));
            }
            languages.push(language);
        }
        Ok(Self { languages })
    }

    /// Returns the codes of the languages, the main language first.
    pub(super) fn codes(&self) -> impl Iterator<Item = &'static str> + use<'_> {
        self.languages.iter().map(|(code, _)| *code)
    }

    /// Returns the fields of each subfield.
    pub(super) fn fields(&self) -> impl Iterator<Item = StemFields> + use<'_> {
        self.codes().chain([OTHER]).map(StemFields::from_name)
    }

    /// Returns the fields for pages without stems. Words of scripts without spaces have none.
    pub(super) fn unstemmed_fields() -> StemFields {
        StemFields::from_name(OTHER)
    }

    /// Returns the mapping of the subfields.
    pub(super) fn mapping(&self) -> Value {
        let subfield = |(name, analyzer): (&str, &str)| {
            let fields = json!({
                // A title is only searched for words. The text is searched for neighboring words, and highlighted.
                "title": {"type": "text", "analyzer": analyzer, "index_options": "freqs"},
                "text": {"type": "text", "analyzer": analyzer, "index_options": "offsets"},
            });
            (name.to_owned(), json!({ "properties": fields }))
        };
        let subfields = self.languages.iter().copied().chain([(OTHER, "websvc")]).map(subfield);
        json!({"properties": subfields.collect::<Map<String, Value>>()})
    }

    /// Returns a stored page with its texts in the subfield of its language. `record` is a [`Record`] as JSON.
    pub(super) fn expand(&self, record: &str) -> String {
        // An unreadable record is sent as it is, so that the server gives the reason.
        let (Ok(page), Some(start)) = (serde_json::from_str::<Record>(record), record.strip_suffix('}'))
        else {
            return record.to_owned();
        };
        let Record { title, headings, body, description, language, .. } = page;
        let body = head(&body, MAX_STEMMED_BYTES);
        // The beginning of the body stands in for a missing description, and must not count twice.
        let description = Some(description).filter(|text| !body.starts_with(text.as_str()));
        let mut text = vec![title.as_str(), body];
        text.extend(headings.iter().map(String::as_str));
        text.extend(description.as_deref());
        let name = self.codes().find(|code| *code == language).unwrap_or(OTHER);
        let stems = json!({ name: {"title": title, "text": text} });
        format!("{start},\"{STEMS}\":{stems}}}")
    }
}

impl StemFields {
    fn from_name(name: &str) -> Self {
        Self { title: format!("{STEMS}.{name}.title"), text: format!("{STEMS}.{name}.text") }
    }
}

/// Returns the longest prefix of whole characters with at most `max` bytes.
fn head(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(codes: &[&str]) -> Result<Stems, String> {
        let codes: Vec<String> = codes.iter().map(|&code| code.to_owned()).collect();
        Stems::new(Some(&codes)).map_err(|error| error.to_string())
    }

    #[test]
    fn languages_are_known_distinct_and_few() {
        let default: Vec<&str> = Stems::new(None).unwrap().codes().collect();
        assert_eq!(default, ["en", "de", "fr", "es"]);
        assert!(stems(&["it"]).is_ok());
        let known = "ar, da, de, el, en, es, fi, fr, hu, it, nl, no, pt, ro, ru, sv, tr";
        for (codes, expected) in [
            (&["xx"][..], format!("languages: \"xx\" is not one of {known}")),
            (&["it", "it"], "languages: names \"it\" twice".to_owned()),
            (&[], "languages: must have 1 to 4 languages, not 0".to_owned()),
            (&["it", "en", "de", "fr", "es"], "languages: must have 1 to 4 languages, not 5".to_owned()),
        ] {
            assert_eq!(stems(codes), Err(expected));
        }
    }

    #[test]
    fn page_is_in_the_subfield_of_its_language() {
        let stems = stems(&["en", "it"]).unwrap();
        let expanded = |language: &str| {
            let record = Record {
                title: "T".to_owned(),
                body: "Text.".to_owned(),
                headings: vec!["H".to_owned()],
                description: "Te".to_owned(),
                language: language.to_owned(),
                ..Record::default()
            };
            let expanded = stems.expand(&serde_json::to_string(&record).unwrap());
            let mut expanded: Value = serde_json::from_str(&expanded).unwrap();
            let stems = expanded.as_object_mut().unwrap().shift_remove(STEMS).unwrap();
            assert_eq!(expanded, serde_json::to_value(record).unwrap());
            stems
        };
        let texts = json!({"title": "T", "text": ["T", "Text.", "H"]});
        assert_eq!(expanded("it"), json!({ "it": texts }));
        assert_eq!(expanded("de"), json!({ "other": texts }));
        assert_eq!(stems.expand("no record"), "no record");
    }
}
