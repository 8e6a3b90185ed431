//! Which country a page belongs to, and what that means to a searcher who names one.

use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet, Searcher, Term};
use url::Url;

use crate::document::Document;
use crate::rank::Candidate;
use crate::schema::{Fields, country_label};

/// Top-level domains of two letters that are sold to everybody, so that they say nothing of a country.
const SOLD_TO_ALL: [&str; 22] = [
    "ai", "am", "bz", "cc", "co", "eu", "fm", "gg", "im", "io", "is", "la", "ly", "me", "nu", "sh", "so",
    "st", "to", "tv", "vc", "ws",
];

/// Returns the country of a page: the one it names, else that of its top-level domain, else that of its language tag
/// (`de-AT`). Two letters in upper case.
pub(crate) fn country_of(document: &Document) -> Option<String> {
    let named = document.country.as_deref().and_then(country);
    named.or_else(|| by_host(&document.url)).or_else(|| {
        let mut subtags = document.language.as_deref()?.split(['-', '_']).skip(1);
        subtags.find_map(country)
    })
}

fn by_host(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let top = url.domain()?.rsplit('.').next()?;
    if SOLD_TO_ALL.contains(&top) { None } else { country(top) }
}

/// Returns a country code in upper case, with `UK` as `GB`; `None` for what is no code.
fn country(text: &str) -> Option<String> {
    let ok = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let code = ok.then(|| text.to_ascii_uppercase())?;
    Some(if code == "UK" { "GB".to_owned() } else { code })
}

/// Adds `bonus` to the score of the candidates that belong to `country`.
pub(crate) fn boost_country(
    searcher: &Searcher,
    fields: &Fields,
    country: &str,
    bonus: f32,
    candidates: &mut [Candidate],
) -> tantivy::Result<()> {
    let term = Term::from_field_text(fields.label, &country_label(country));
    let mut order: Vec<_> = candidates.iter().enumerate().map(|(at, found)| (found.address, at)).collect();
    order.sort_unstable();
    for group in order.chunk_by(|(a, _), (b, _)| a.segment_ord == b.segment_ord) {
        let index = searcher.segment_reader(group[0].0.segment_ord).inverted_index(fields.label)?;
        let Some(mut postings) = index.read_postings(&term, IndexRecordOption::Basic)? else {
            continue;
        };
        for &(DocAddress { segment_ord: _, doc_id }, at) in group {
            if postings.doc() < doc_id {
                postings.seek(doc_id);
            }
            if postings.doc() == doc_id {
                candidates[at].score += bonus;
            }
        }
    }
    Ok(())
}
