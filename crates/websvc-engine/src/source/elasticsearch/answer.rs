//! What a search answers: documents to hits, and images one by one.

use serde::Deserialize;
use serde_json::Value;
use url::Url;
use websvc_index::{folded_words, one_extension};
use websvc_query::{Node, Operator, Query, Size};
use websvc_validate::SourceKind;

use super::mapping::{ImageRecord, Record, field};
use crate::error::SourceError;
use crate::source::plain_text::plain;
use crate::source::{Hit, HitImage, SourceRequest, date};

/// One page of an answer.
#[derive(Debug)]
pub(super) struct HitPage {
    /// How many documents it had.
    pub(super) documents: usize,
    pub(super) hits: Vec<Hit>,
    /// Why there may be more, when the server could not look everywhere.
    pub(super) incomplete: Option<String>,
}

/// Reads the answer to a search.
///
/// # Errors
/// [`SourceError::Unreadable`] for another shape, and for documents of another mapping.
pub(super) fn read(ask: &SourceRequest<'_>, value: &Value) -> Result<HitPage, SourceError> {
    let unreadable = |what: &str| SourceError::Unreadable { what: what.to_owned() };
    let found = value.pointer("/hits/hits").and_then(Value::as_array);
    let found = found.ok_or_else(|| unreadable("it has no list `hits.hits`"))?;
    let records: Vec<(Record, Option<&str>)> = found.iter().filter_map(record).collect();
    if records.is_empty() && !found.is_empty() {
        return Err(unreadable("its documents are not as websvc writes them"));
    }
    let hits = records.into_iter().flat_map(|(record, passage)| hits(ask, record, passage)).collect();
    Ok(HitPage { documents: found.len(), hits, incomplete: incomplete(value) })
}

fn record(hit: &Value) -> Option<(Record, Option<&str>)> {
    let record = Record::deserialize(hit.get("_source")?).ok()?;
    let url = Url::parse(&record.url).ok()?;
    // Files have no host.
    (url.has_host() || url.scheme() == "file").then_some(())?;
    let passage = hit.pointer(&format!("/highlight/{}/0", field::BODY)).and_then(Value::as_str);
    Some((record, passage))
}

/// Tells why an answer may lack results.
fn incomplete(value: &Value) -> Option<String> {
    let count = |name: &str| value.pointer(name).and_then(Value::as_u64).unwrap_or_default();
    let failed = count("/_shards/failed");
    if failed > 0 {
        return Some(format!("{failed} of its {} shards failed", count("/_shards/total")));
    }
    let timed_out = value.get("timed_out").and_then(Value::as_bool).unwrap_or_default();
    timed_out.then(|| "it ran out of time before it had looked everywhere".to_owned())
}

fn hits(ask: &SourceRequest<'_>, record: Record, passage: Option<&str>) -> Vec<Hit> {
    let Record { url, title, description, date, picture, images, .. } = record;
    let date = date.and_then(|date| date::of_text(&date, ask.now));
    let image = match ask.kind {
        SourceKind::Web => None,
        SourceKind::News => picture.map(|url| HitImage { url, width: None, height: None }),
        SourceKind::Images => {
            let pictures = images.iter().filter_map(|text| serde_json::from_str::<ImageRecord>(text).ok());
            return fitting(ask.query, pictures).map(|picture| image_hit(&url, &title, picture)).collect();
        }
    };
    let passage = passage.filter(|_| ask.highlights).map(plain).filter(|passage| !passage.is_empty());
    let description = passage.unwrap_or_else(|| plain(&description));
    vec![Hit { url, title, description, date, image }]
}

fn image_hit(url: &str, title: &str, picture: ImageRecord) -> Hit {
    let ImageRecord { url: image, alt, caption, context, width, height } = picture;
    let first = |texts: [&str; 3]| texts.into_iter().find(|text| !text.is_empty()).unwrap_or("").to_owned();
    Hit {
        url: url.to_owned(),
        title: first([&alt, &caption, title]),
        description: first([&context, &caption, ""]),
        date: None,
        image: Some(HitImage { url: image, width, height }),
    }
}

/// Returns the images that the query means, those with most of its words first.
fn fitting(query: &Query, pictures: impl Iterator<Item = ImageRecord>) -> impl Iterator<Item = ImageRecord> {
    let wanted: Vec<String> = query.words().map(folded_words).filter(|word| !word.is_empty()).collect();
    let mut found = Vec::new();
    for picture in pictures {
        let known = ImageFields { words: format!(" {} ", folded_words(&picture.text())), picture: &picture };
        let count = wanted.iter().filter(|word| known.says(word)).count();
        let says_some = count > 0 || wanted.is_empty();
        let fits = query.root().is_none_or(|root| known.top(root) != Some(false));
        if says_some && fits {
            found.push((count, picture));
        }
    }
    found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    found.into_iter().map(|(_, picture)| picture)
}

/// What an image tells of itself. `None` of a verdict is what its page decides, and has decided.
struct ImageFields<'a> {
    /// Folded, each between spaces.
    words: String,
    picture: &'a ImageRecord,
}

impl ImageFields<'_> {
    fn says(&self, folded: &str) -> bool {
        self.words.contains(&format!(" {folded} "))
    }

    /// Judges the top level, where words only rank.
    fn top(&self, node: &Node) -> Option<bool> {
        match node {
            Node::Word(_) => None,
            Node::And(children) => all(children.iter().map(|child| self.top(child))),
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
            Node::Word(text) | Node::Phrase(text) => self.text(text),
            Node::Operator(operator) => self.operator(operator),
        }
    }

    /// Judges a text; punctuation alone says nothing.
    fn text(&self, text: &str) -> Option<bool> {
        let folded = folded_words(text);
        (!folded.is_empty()).then(|| self.says(&folded))
    }

    fn operator(&self, operator: &Operator) -> Option<bool> {
        let size = self.picture.width.zip(self.picture.height);
        match operator {
            Operator::ImageSize(Size { width, height }) => Some(size == Some((*width, *height))),
            // As wide and as high, and not of this size: as in the embedded index.
            Operator::Larger(Size { width, height }) => {
                Some(size.is_some_and(|(w, h)| w >= *width && h >= *height && (w, h) != (*width, *height)))
            }
            Operator::FileType(extension) => {
                Some(self.picture.extension().as_deref() == Some(one_extension(extension)))
            }
            Operator::InTitle(term) => self.text(term.text()),
            Operator::AllInTitle(terms) => all(terms.iter().map(|term| self.text(term.text()))),
            Operator::Site(_) | Operator::InUrl(_) | Operator::AllInUrl(_) | Operator::Related(_) => None,
        }
    }
}

/// Joins verdicts of which all have to hold.
fn all(verdicts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut sum = Some(true);
    for verdict in verdicts {
        match verdict {
            Some(false) => return Some(false),
            None => sum = None,
            Some(true) => {}
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, expected: &[&str]) {
        let picture = |name: &str, alt: &str, width: u32| ImageRecord {
            url: format!("http://i.test/{name}"),
            alt: alt.to_owned(),
            width: Some(width),
            height: Some(100),
            ..ImageRecord::default()
        };
        let pictures = [
            picture("cup.jpg", "A cup of tea", 100),
            picture("pot.png", "Green tea in a pot", 200),
            picture("dog.png", "A dog", 300),
        ];
        let query = websvc_query::parse(query).query;
        let found: Vec<String> = fitting(&query, pictures.into_iter()).map(|found| found.url).collect();
        let expected: Vec<String> = expected.iter().map(|name| format!("http://i.test/{name}")).collect();
        assert_eq!(found, expected, "{query}");
    }

    #[test]
    fn the_images_of_a_page_are_judged_one_by_one() {
        check("green tea", &["pot.png", "cup.jpg"]);
        check("tea -green", &["cup.jpg"]);
        check("\"cup of tea\"", &["cup.jpg"]);
        check("tea filetype:jpeg", &["cup.jpg"]);
        check("tea larger:100x100", &["pot.png"]);
        check("tea imagesize:100x100", &["cup.jpg"]);
        check("tea OR dog filetype:png", &["pot.png", "dog.png"]);
        check("site:a.test", &["cup.jpg", "pot.png", "dog.png"]);
        check("coffee", &[]);
    }
}
