//! Parses search responses: documents become hits, and each image becomes a hit of its own.

use serde::Deserialize;
use serde_json::Value;
use url::Url;
use websvc_index::{ImageUrlTerms, folded_words, one_extension};
use websvc_query::{Node, Operator, Query, Size, Term};
use websvc_validate::SourceKind;

use super::diversity::ScoredHit;
use super::mapping::field;
use super::record::{ImageRecord, Record};
use super::sketch::Sketch;
use crate::error::SourceError;
use crate::source::plain_text::plain;
use crate::source::{Hit, HitImage, SourceRequest, date};

/// One page of results.
#[derive(Debug)]
pub(super) struct HitPage {
    /// The number of documents in the response.
    pub(super) documents: usize,
    pub(super) hits: Vec<ScoredHit>,
    /// The reason why results may be missing, if the server could not search everything.
    pub(super) incomplete: Option<String>,
}

/// Parses the response to a search.
///
/// # Errors
/// [`SourceError::Unreadable`] for an unexpected structure, or for documents with another mapping.
pub(super) fn parse(request: &SourceRequest<'_>, value: &Value) -> Result<HitPage, SourceError> {
    let unreadable = |what: &str| SourceError::Unreadable { what: what.to_owned() };
    let found = value.pointer("/hits/hits").and_then(Value::as_array);
    let found = found.ok_or_else(|| unreadable("the list `hits.hits` is missing"))?;
    let records: Vec<FoundRecord<'_>> = found.iter().filter_map(record).collect();
    if records.is_empty() && !found.is_empty() {
        return Err(unreadable("its documents were not written by websvc"));
    }
    let scored = records.into_iter().flat_map(|FoundRecord { record, snippet, score }| {
        let sketch: Option<Sketch> = record.sketch.parse().ok();
        let hits = hits(request, record, snippet).into_iter();
        hits.map(move |hit| ScoredHit { hit, score, sketch: sketch.clone() })
    });
    let hits = scored.collect();
    Ok(HitPage { documents: found.len(), hits, incomplete: incomplete(value) })
}

/// The document of a hit.
struct FoundRecord<'a> {
    record: Record,
    snippet: Option<&'a str>,
    score: f64,
}

fn record(hit: &Value) -> Option<FoundRecord<'_>> {
    let record = Record::deserialize(hit.get("_source")?).ok()?;
    let url = Url::parse(&record.url).ok()?;
    // The URL of an imported file has no host.
    (url.has_host() || url.scheme() == "file").then_some(())?;
    let score = hit.get("_score").and_then(Value::as_f64).unwrap_or_default();
    Some(FoundRecord { record, snippet: snippet(hit), score })
}

/// Returns the passage with words as they are in the query, or the longest one with their other forms.
fn snippet(hit: &Value) -> Option<&str> {
    let fields = hit.get("highlight")?.as_object()?;
    let passages = fields.get(field::BODY).or_else(|| fields.values().next())?.as_array()?;
    passages.iter().filter_map(Value::as_str).max_by_key(|passage| passage.len())
}

/// Returns the reason why results may be missing.
fn incomplete(value: &Value) -> Option<String> {
    let count = |name: &str| value.pointer(name).and_then(Value::as_u64).unwrap_or_default();
    let failed = count("/_shards/failed");
    if failed > 0 {
        return Some(format!("{failed} of its {} shards failed", count("/_shards/total")));
    }
    let timed_out = value.get("timed_out").and_then(Value::as_bool).unwrap_or_default();
    timed_out.then(|| "the search timed out before all documents were searched".to_owned())
}

fn hits(request: &SourceRequest<'_>, record: Record, snippet: Option<&str>) -> Vec<Hit> {
    let Record { url, title, description, date, news_image, images, .. } = record;
    let date = date.and_then(|date| date::of_text(&date, request.now));
    let image = match request.kind {
        SourceKind::Web => None,
        SourceKind::News => news_image.map(|url| HitImage { url, width: None, height: None }),
        SourceKind::Images => {
            let images = images.iter().filter_map(|text| serde_json::from_str::<ImageRecord>(text).ok());
            return matching_images(request.query, &title, images)
                .into_iter()
                .map(|image| image_hit(&url, &title, image))
                .collect();
        }
    };
    let snippet = snippet.filter(|_| request.highlights).map(plain).filter(|snippet| !snippet.is_empty());
    let description = snippet.unwrap_or_else(|| plain(&description));
    vec![Hit { url, title, description, date, image }]
}

fn image_hit(url: &str, title: &str, image: ImageRecord) -> Hit {
    let ImageRecord { url: image_url, alt, caption, context, width, height } = image;
    let first = |texts: [&str; 3]| texts.into_iter().find(|text| !text.is_empty()).unwrap_or("").to_owned();
    Hit {
        url: url.to_owned(),
        title: first([&alt, &caption, title]),
        description: first([&context, &caption, ""]),
        date: None,
        image: Some(HitImage { url: image_url, width, height }),
    }
}

/// Returns the images of a page that match the query, those with most of its words first.
fn matching_images(
    query: &Query,
    page_title: &str,
    images: impl Iterator<Item = ImageRecord>,
) -> Vec<ImageRecord> {
    let query_words: Vec<String> = query.words().map(folded_words).filter(|word| !word.is_empty()).collect();
    let mut found = Vec::new();
    for image in images {
        let fields = ImageFields::new(&image, page_title);
        let count = query_words.iter().filter(|word| contains(&fields.words, word)).count();
        let has_words = count > 0 || query_words.is_empty();
        let matches = query.root().is_none_or(|root| fields.top_level_verdict(root) != Some(false));
        if has_words && matches {
            found.push((count, image));
        }
    }
    found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    found.into_iter().map(|(_, image)| image).collect()
}

/// The words and the properties of an image. A verdict of `None` means that only the page can decide, and it did
/// already.
struct ImageFields<'a> {
    /// The folded words, each between spaces, as all texts here.
    words: String,
    title: String,
    url_words: String,
    image: &'a ImageRecord,
}

fn contains(words: &str, folded: &str) -> bool {
    words.contains(&format!(" {folded} "))
}

/// Judges whether a text is in words. Punctuation alone decides nothing.
fn judge_text(words: &str, text: &str) -> Option<bool> {
    let folded = folded_words(text);
    (!folded.is_empty()).then(|| contains(words, &folded))
}

impl ImageFields<'_> {
    fn new<'a>(image: &'a ImageRecord, page_title: &str) -> ImageFields<'a> {
        let spaced = |text: &str| format!(" {} ", folded_words(text));
        ImageFields {
            words: spaced(&image.text(page_title)),
            title: spaced(image.title(page_title)),
            url_words: format!(" {} ", ImageUrlTerms::from_url(&image.url).url_words),
            image,
        }
    }

    /// Judges the top level of a query, where words only affect the ranking.
    fn top_level_verdict(&self, node: &Node) -> Option<bool> {
        match node {
            Node::Word(_) => None,
            Node::And(children) => all(children.iter().map(|child| self.top_level_verdict(child))),
            Node::Or(_) | Node::Not(_) | Node::Phrase(_) | Node::Operator(_) => self.verdict(node),
        }
    }

    fn verdict(&self, node: &Node) -> Option<bool> {
        match node {
            Node::And(children) => all(children.iter().map(|child| self.verdict(child))),
            Node::Or(children) => {
                all(children.iter().map(|child| self.verdict(child).map(|holds| !holds))).map(|none| !none)
            }
            Node::Not(child) => self.verdict(child).map(|holds| !holds),
            Node::Word(text) | Node::Phrase(text) => judge_text(&self.words, text),
            Node::Operator(operator) => self.operator(operator),
        }
    }

    fn operator(&self, operator: &Operator) -> Option<bool> {
        let size = self.image.width.zip(self.image.height);
        match operator {
            Operator::ImageSize(Size { width, height }) => Some(size == Some((*width, *height))),
            // At least as wide and as high, but not the same size, as in the embedded index.
            Operator::Larger(Size { width, height }) => {
                Some(size.is_some_and(|(w, h)| w >= *width && h >= *height && (w, h) != (*width, *height)))
            }
            Operator::FileType(extension) => {
                Some(self.image.extension().as_deref() == Some(one_extension(extension)))
            }
            Operator::InTitle(term) => self.in_title(term),
            Operator::AllInTitle(terms) => all(terms.iter().map(|term| self.in_title(term))),
            Operator::InUrl(term) => judge_text(&self.url_words, term.text()),
            Operator::AllInUrl(terms) => {
                all(terms.iter().map(|term| judge_text(&self.url_words, term.text())))
            }
            Operator::Site(_) | Operator::Related(_) => None,
        }
    }

    /// Judges the words of a text in the title, in any order, or a quoted text as it is.
    fn in_title(&self, argument: &Term) -> Option<bool> {
        match argument {
            Term::Phrase(text) => judge_text(&self.title, text),
            Term::Word(text) => {
                let words = folded_words(text);
                all(words.split_whitespace().map(|word| Some(contains(&self.title, word))))
            }
        }
    }
}

/// Combines verdicts of conditions that must all hold.
fn all(verdicts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut result = Some(true);
    for verdict in verdicts {
        match verdict {
            Some(false) => return Some(false),
            None => result = None,
            Some(true) => {}
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, expected: &[&str]) {
        let image = |name: &str, alt: &str, width: u32| ImageRecord {
            url: format!("http://i.test/{name}"),
            alt: alt.to_owned(),
            width: Some(width),
            height: Some(100),
            ..ImageRecord::default()
        };
        let images = [
            image("cup.jpg", "A cup of tea", 100),
            image("pot.png", "Green tea in a pot", 200),
            image("dog.png", "A dog", 300),
        ];
        let query = websvc_query::parse(query).query;
        let found = matching_images(&query, "Crockery", images.into_iter());
        let found: Vec<String> = found.into_iter().map(|found| found.url).collect();
        let expected: Vec<String> = expected.iter().map(|name| format!("http://i.test/{name}")).collect();
        assert_eq!(found, expected, "{query}");
    }

    #[test]
    fn images_of_a_page_are_matched_separately() {
        check("green tea", &["pot.png", "cup.jpg"]);
        check("tea -green", &["cup.jpg"]);
        check("\"cup of tea\"", &["cup.jpg"]);
        check("tea filetype:jpeg", &["cup.jpg"]);
        check("tea larger:100x100", &["pot.png"]);
        check("tea imagesize:100x100", &["cup.jpg"]);
        check("tea OR dog filetype:png", &["pot.png", "dog.png"]);
        check("site:a.test", &["cup.jpg", "pot.png", "dog.png"]);
        check("coffee", &[]);
        check("crockery pot", &["pot.png", "cup.jpg", "dog.png"]);
        check("intitle:crockery", &[]);
        check("inurl:dog", &["dog.png"]);
    }
}
