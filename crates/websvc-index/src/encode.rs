//! A document as the fields of the index.

use jiff::Timestamp;
use tantivy::TantivyDocument;
use tantivy::tokenizer::{PreTokenizedString, Token};

use crate::address::{Address, extension_of_type};
use crate::analysis::{Kind, Language, detect, each_word, fold, head};
use crate::card::{self, Head};
use crate::document::Document;
use crate::schema::{BODY_AT, Fields, SECTION_GAP, STEM_MARK, TITLE_WORDS};

/// How often a word counts that stands in the title, a heading, the description or the URL (the body counts once).
///
/// The sections are one field to the ranking, with words repeated by weight: BM25F, the form of BM25 for structured
/// text. Greater weights of the title made the judged collections worse; ranking values titles apart from BM25.
const TITLE_WEIGHT: usize = 1;
const HEADING_WEIGHT: usize = 1;
const DESCRIPTION_WEIGHT: usize = 1;
const URL_WEIGHT: usize = 1;

/// Longer bodies are cut: a single page must not fill the index.
const MAX_BODY_BYTES: usize = 4 << 20;

/// Turns `document` into fields; `None` when its URL has no host. `first_seen` is in Unix seconds.
pub(crate) fn encode(
    fields: &Fields,
    document: &Document,
    first_seen: Option<i64>,
) -> Option<TantivyDocument> {
    let address = Address::parse(&document.url)?;
    let body = head(&document.body, MAX_BODY_BYTES);
    let description = document.description.as_deref().unwrap_or_default();
    let sample = if body.len() < 100 { format!("{} {body}", document.title) } else { String::new() };
    let language = detect(document.language.as_deref(), if sample.is_empty() { body } else { &sample });

    let mut words = Words::new(Language::from_code(&language));
    words.title(&document.title);
    let published = document.published.map(Timestamp::as_second);
    let card_head =
        Head { url: &document.url, title: &document.title, description, language: &language, published };
    words.position = BODY_AT;
    let card = card::encode(&card_head, body, |passage| words.section(passage, 1));
    for heading in &document.headings {
        words.gap();
        words.section(heading, HEADING_WEIGHT);
    }
    words.gap();
    words.section(description, DESCRIPTION_WEIGHT);
    words.gap();
    words.section(&address.topic, URL_WEIGHT);

    let seen = first_seen.or_else(|| document.seen.map(Timestamp::as_second));
    let date = published.or_else(|| document.modified.map(Timestamp::as_second)).or(seen);
    let mut out = TantivyDocument::new();
    out.add_text(fields.url, &document.url);
    out.add_pre_tokenized_text(fields.site, list(address.sites));
    out.add_pre_tokenized_text(fields.url_words, url_words(&address.text));
    let by_type = document.content_type.as_deref().and_then(extension_of_type).map(str::to_owned);
    out.add_pre_tokenized_text(fields.extension, list(address.extension.into_iter().chain(by_type)));
    out.add_pre_tokenized_text(fields.title, words.titles.finish());
    out.add_pre_tokenized_text(fields.terms, words.terms.finish());
    out.add_pre_tokenized_text(fields.exact, words.exact.finish());
    if !language.is_empty() {
        out.add_text(fields.language, &language);
    }
    if let Some(date) = date {
        out.add_i64(fields.date, date);
    }
    if let Some(seen) = seen {
        out.add_i64(fields.first_seen, seen);
    }
    out.add_u64(fields.fingerprint, document.fingerprint());
    out.add_bytes(fields.card, &card);
    Some(out)
}

/// The tokens of the three text fields while a document is read once from front to back.
struct Words {
    language: Option<Language>,
    position: u32,
    titles: Tokens,
    terms: Tokens,
    exact: Tokens,
    folded: String,
    stem: String,
}

impl Words {
    fn new(language: Option<Language>) -> Self {
        Self {
            language,
            position: 0,
            titles: Tokens::default(),
            terms: Tokens::default(),
            exact: Tokens::default(),
            folded: String::new(),
            stem: String::new(),
        }
    }

    fn gap(&mut self) {
        self.position += SECTION_GAP;
    }

    fn title(&mut self, text: &str) {
        each_word(text, |word| {
            if self.position < TITLE_WORDS {
                self.word(word.lower, word.kind, TITLE_WEIGHT);
                self.titles.push(&self.folded, self.position, 1);
                for form in [&mut self.stem, &mut self.folded] {
                    form.insert(0, STEM_MARK);
                }
                self.titles.push(&self.stem, self.position, 1);
                if self.language.is_some_and(Language::has_accents) && self.stem != self.folded {
                    self.titles.push(&self.folded, self.position, 1);
                }
            }
            self.position += 1;
        });
    }

    /// Adds a text at the current position and returns the number of its words.
    fn section(&mut self, text: &str, weight: usize) -> u32 {
        let start = self.position;
        each_word(text, |word| {
            self.word(word.lower, word.kind, weight);
            self.position += 1;
        });
        self.position - start
    }

    /// Adds one word and leaves its forms in `folded` and `stem`.
    fn word(&mut self, lower: &str, kind: Kind, weight: usize) {
        self.folded.clear();
        fold(lower, &mut self.folded);
        self.stem.clear();
        self.exact.push(&self.folded, self.position, 1);
        let language = self.language.filter(|_| kind == Kind::Letters);
        let Some(language) = language else {
            self.stem.push_str(&self.folded);
            return self.terms.push(&self.folded, self.position, weight);
        };
        language.stem(lower, &mut self.stem);
        if language.is_stop_word(&self.folded) {
            return;
        }
        self.terms.push(&self.stem, self.position, weight);
        if language.has_accents() && self.stem != self.folded {
            self.terms.push(&self.folded, self.position, weight);
        }
    }
}

#[derive(Default)]
struct Tokens(Vec<Token>);

impl Tokens {
    fn push(&mut self, text: &str, position: u32, times: usize) {
        if text.is_empty() {
            return;
        }
        let token = Token { position: position as usize, text: text.to_owned(), ..Token::default() };
        self.0.extend(std::iter::repeat_n(token, times));
    }

    fn finish(self) -> PreTokenizedString {
        PreTokenizedString { text: String::new(), tokens: self.0 }
    }
}

fn list(terms: impl IntoIterator<Item = String>) -> PreTokenizedString {
    let mut tokens = Tokens::default();
    terms.into_iter().for_each(|term| tokens.push(&term, 0, 1));
    tokens.finish()
}

fn url_words(text: &str) -> PreTokenizedString {
    let (mut tokens, mut position, mut folded) = (Tokens::default(), 0, String::new());
    each_word(text, |word| {
        folded.clear();
        fold(word.lower, &mut folded);
        tokens.push(&folded, position, 1);
        position += 1;
    });
    tokens.finish()
}
