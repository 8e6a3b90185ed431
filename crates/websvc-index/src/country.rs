//! The country of a page, and the ranking bonus for pages of the searcher's country.

use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet, Searcher, Term};
use url::Url;

use crate::candidate::Candidate;
use crate::document::Document;
use crate::schema::{Fields, country_label};

/// Top-level domains with two letters that are in use worldwide, so that they do not indicate a country.
const GENERIC_DOMAINS: [&str; 22] = [
    "ai", "am", "bz", "cc", "co", "eu", "fm", "gg", "im", "io", "is", "la", "ly", "me", "nu", "sh", "so",
    "st", "to", "tv", "vc", "ws",
];

/// Returns the country of a page as two letters in upper case: the first known of the country that the page declares,
/// that of its top-level domain and that of its language tag (`de-AT`).
pub(crate) fn country_of(document: &Document) -> Option<String> {
    let declared = document.country.as_deref().and_then(country);
    declared.or_else(|| by_host(&document.url)).or_else(|| {
        let mut subtags = document.language.as_deref()?.split(['-', '_']).skip(1);
        subtags.find_map(country)
    })
}

fn by_host(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let top = url.domain()?.rsplit('.').next()?;
    if GENERIC_DOMAINS.contains(&top) { None } else { country(top) }
}

/// Returns a country code in upper case, with `UK` as `GB`; `None` if the text is not a country code.
fn country(text: &str) -> Option<String> {
    let is_code = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let code = is_code.then(|| text.to_ascii_uppercase())?;
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
    let addresses = candidates.iter().map(|candidate| candidate.address);
    let mut order: Vec<_> = addresses.enumerate().map(|(index, address)| (address, index)).collect();
    order.sort_unstable();
    for group in order.chunk_by(|(a, _), (b, _)| a.segment_ord == b.segment_ord) {
        let inverted = searcher.segment_reader(group[0].0.segment_ord).inverted_index(fields.label)?;
        let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::Basic)? else {
            continue;
        };
        for &(DocAddress { segment_ord: _, doc_id }, candidate) in group {
            if postings.doc() < doc_id {
                postings.seek(doc_id);
            }
            if postings.doc() == doc_id {
                candidates[candidate].score += bonus;
            }
        }
    }
    Ok(())
}
