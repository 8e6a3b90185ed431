//! Precision and recall of `redactPII`, by entity, on sentences with known personal data.
//!
//! A model reads several sentences at a time, as it reads a part of a page. Between them are texts without personal data
//! that resemble it.

use std::fmt;
use std::ops::Range;
use std::time::{Duration, Instant};

use websvc_engine::{NamedAnswer, check_named, name_personal_data};
use websvc_model::Model;
use websvc_redact::{
    Finding, Kind, Kinds, NamedPart, NamedText, Options, RedactMode, ReplacementStyle, Syntax, redact,
    redact_named, without_ordinary_words,
};

use crate::generators::{Random, harmless};
use crate::sentences::fill;

/// Number of sentences with personal data in a document, and of texts without.
const SENTENCES: usize = 8;

/// Counts of an entity: pieces that were found or missed, and wrong findings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Score {
    pub(crate) hits: u32,
    pub(crate) misses: u32,
    pub(crate) wrong: u32,
}

/// Counts by entity, in the order of [`Kind::ALL`].
pub(crate) type Scores = [Score; 6];

/// The results of the modes of `redactPII`.
#[derive(Debug, Default)]
pub(crate) struct Evaluation {
    /// The rules alone.
    pub(crate) fast: Scores,
    /// The model, and the rules where it read nothing or missed what they find for certain.
    pub(crate) accurate: Scores,
    /// The model and the rules.
    pub(crate) aggressive: Scores,
    /// Number of documents.
    pub(crate) documents: u32,
    /// Number of documents that the model did not read, or for which it gave no usable answer.
    pub(crate) unread: u32,
    /// Number of documents in which it missed what the rules find for certain, or named nearly everything.
    pub(crate) missed: u32,
}

/// A text, with the kinds and ranges of its personal data.
struct Document {
    text: String,
    gold: Vec<(Kind, Range<usize>)>,
}

/// Evaluates the modes with a model on sentences that are filled `rounds` times. A request may take `timeout`.
pub(crate) async fn evaluate(
    model: &dyn Model,
    templates: &[&str],
    rounds: u32,
    timeout: Duration,
) -> Evaluation {
    let mut random = Random::new(17);
    let mut evaluation = Evaluation::default();
    for _ in 0..rounds {
        for templates in templates.chunks(SENTENCES) {
            let document = document(templates, &mut random);
            let text = document.text.as_str();
            let named = name_personal_data(model, Kinds::ALL, text, Instant::now() + timeout).await;
            evaluation.documents += 1;
            evaluation.unread += u32::from(named.is_err());
            let fast = redact(text, Syntax::Markdown, &options(RedactMode::Fast)).findings;
            let wide = redact(text, Syntax::Markdown, &options(RedactMode::Aggressive)).findings;
            let (accurate, aggressive) = match named {
                Ok(texts) => {
                    let all = findings(text, without_ordinary_words(text, texts.clone()));
                    let NamedAnswer { texts, problem } =
                        check_named(text, Syntax::Markdown, Kinds::ALL, texts);
                    evaluation.missed += u32::from(problem.is_some());
                    let checked = findings(text, texts);
                    let with_rules = problem.map(|_| joined(&checked, fast.clone()));
                    (with_rules.unwrap_or(checked), joined(&all, wide))
                }
                // The service applies the rules, too.
                Err(_) => (fast.clone(), wide),
            };
            document.score(&fast, &mut evaluation.fast);
            document.score(&accurate, &mut evaluation.accurate);
            document.score(&aggressive, &mut evaluation.aggressive);
        }
    }
    evaluation
}

fn options(mode: RedactMode) -> Options {
    Options { mode, kinds: Kinds::ALL, style: ReplacementStyle::Tag }
}

fn document(templates: &[&str], random: &mut Random) -> Document {
    let mut document = Document { text: String::new(), gold: Vec::new() };
    for template in templates {
        let (text, gold) = fill(template, random);
        let start = document.text.len();
        let shifted = gold.into_iter().map(|(kind, range)| (kind, start + range.start..start + range.end));
        document.gold.extend(shifted);
        document.text.push_str(&text);
        document.text.push_str("\n\n");
        document.text.push_str(&harmless(random));
        document.text.push_str("\n\n");
    }
    document
}

/// Returns the findings of the texts that a model named.
fn findings(text: &str, texts: Vec<NamedText>) -> Vec<Finding> {
    let parts = [NamedPart { range: 0..text.len(), texts }];
    redact_named(text, Syntax::Markdown, &options(RedactMode::Fast), &parts).findings
}

/// Returns the findings of the model, and those of the rules elsewhere.
fn joined(named: &[Finding], rules: Vec<Finding>) -> Vec<Finding> {
    let is_free = |found: &Finding| named.iter().all(|other| !overlap(&found.range, &other.range));
    named.iter().cloned().chain(rules.into_iter().filter(is_free)).collect()
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

impl Document {
    /// Adds the counts of findings: a piece is found if a finding of its kind covers it, and a finding is wrong if it
    /// overlaps no piece of its kind.
    fn score(&self, findings: &[Finding], scores: &mut Scores) {
        for (kind, range) in &self.gold {
            let covers = |found: &Finding| {
                found.kind == *kind && found.range.start <= range.start && range.end <= found.range.end
            };
            let score = &mut scores[*kind as usize];
            *if findings.iter().any(covers) { &mut score.hits } else { &mut score.misses } += 1;
        }
        for found in findings {
            let is_right =
                self.gold.iter().any(|(kind, range)| *kind == found.kind && overlap(&found.range, range));
            scores[found.kind as usize].wrong += u32::from(!is_right);
        }
    }
}

impl Score {
    /// Returns the share of right findings; `None` without findings.
    fn precision(self) -> Option<f64> {
        share(self.hits, self.hits + self.wrong)
    }

    /// Returns the share of pieces that were found; `None` without pieces.
    fn recall(self) -> Option<f64> {
        share(self.hits, self.hits + self.misses)
    }
}

fn share(part: u32, whole: u32) -> Option<f64> {
    (whole > 0).then(|| f64::from(part) / f64::from(whole))
}

impl fmt::Display for Evaluation {
    /// Writes a table: the number of pieces of each entity, and the precision and recall of each mode.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| entity | pieces | fast P | fast R | accurate P | accurate R | aggressive P | aggressive R |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|---|")?;
        for kind in Kind::ALL {
            let Score { hits, misses, wrong: _ } = self.fast[kind as usize];
            write!(f, "| {} | {} |", kind.name(), hits + misses)?;
            for scores in [&self.fast, &self.accurate, &self.aggressive] {
                let score = scores[kind as usize];
                for value in [score.precision(), score.recall()] {
                    match value {
                        Some(value) => write!(f, " {value:.3} |")?,
                        None => write!(f, " - |")?,
                    }
                }
            }
            writeln!(f)?;
        }
        write!(
            f,
            "{} documents, of which the model did not read {} and read {} badly, which the rules redacted, too",
            self.documents, self.unread, self.missed
        )
    }
}
