//! Filler text: paragraphs in several languages, the same in every run.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// The texts of the languages, by language tag.
static TEXTS: LazyLock<HashMap<String, Texts>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../sites/filler.json"))
        .unwrap_or_else(|error| panic!("sites/filler.json: {error}"))
});

/// The texts of a language.
#[derive(Debug, Deserialize)]
struct Texts {
    words: Vec<String>,
    /// Sentences in which `{}` stands for a word. They contain no digits, so no rule for a value finds one in them.
    sentences: Vec<String>,
}

/// A generator of filler text.
#[derive(Debug)]
pub(super) struct Filler {
    texts: &'static Texts,
    state: u64,
}

impl Filler {
    /// Creates a generator for the language with this tag. The same seed gives the same text.
    pub(super) fn new(language: &str, seed: &str) -> Self {
        // FNV-1a.
        let state = seed.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self { texts: &TEXTS[language], state }
    }

    /// Returns a number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.state >> 40).unwrap_or_default() % bound
    }

    fn choose(&mut self, among: &'static [String]) -> &'static str {
        &among[self.below(among.len())]
    }

    pub(super) fn sentence(&mut self) -> String {
        let texts = self.texts;
        let mut pieces = self.choose(&texts.sentences).split("{}");
        let mut sentence = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            sentence.push_str(self.choose(&texts.words));
            sentence.push_str(piece);
        }
        sentence
    }

    /// Returns a paragraph of three to six sentences.
    pub(super) fn paragraph(&mut self) -> String {
        let sentences: Vec<String> = (0..3 + self.below(4)).map(|_| self.sentence()).collect();
        sentences.join(" ")
    }
}
