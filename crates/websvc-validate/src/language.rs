//! Languages by their BCP 47 tags.

use websvc_types::ViolationCode;

use crate::bounds;
use crate::domain::without_repetitions;
use crate::path::Path;
use crate::report::{Report, quoted};
use websvc_types::limits::{LANGUAGE_MAX_CHARS, LANGUAGES_MAX};

/// Checks the languages of a visit; a tag with underscores (`en_US`) is read as with hyphens.
pub(crate) fn tags(report: &mut Report, path: &Path<'_>, texts: &[String]) -> Vec<String> {
    let mut tags = Vec::new();
    if !bounds::items(report, path, texts.len(), LANGUAGES_MAX) {
        return tags;
    }
    for (index, text) in texts.iter().enumerate() {
        let tag = text.replace('_', "-");
        if is_tag(&tag) {
            tags.push(tag);
        } else {
            report.violation(&path.index(index), ViolationCode::InvalidFormat, |name| {
                format!("{name} must be a language tag such as en or pt-BR, not {}", quoted(text))
            });
        }
    }
    without_repetitions(tags)
}

/// Tells whether a text has the form of a tag (RFC 5646, section 2.1); that its parts are registered is not checked.
fn is_tag(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let language = parts.next().unwrap_or_default();
    matches!(language.len(), 2..=3 | 5..=8)
        && language.bytes().all(|byte| byte.is_ascii_alphabetic())
        && parts.all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric()))
        && tag.len() <= LANGUAGE_MAX_CHARS as usize
}
