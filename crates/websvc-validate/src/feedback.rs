//! Rules of feedback (clients.md, section 2.14).

use websvc_types::ViolationCode;
use websvc_types::feedback::{
    FeedbackEndpoint, FeedbackRating, FeedbackRequest, FeedbackSource, MissingContent, SearchFeedbackRequest,
};
use websvc_types::limits::{
    FEEDBACK_CODE_MAX_CHARS, FEEDBACK_CODES_MAX, FEEDBACK_DESCRIPTION_MAX_CHARS, FEEDBACK_MAX_BYTES,
    FEEDBACK_METADATA_MAX_BYTES, FEEDBACK_MISSING_MAX, FEEDBACK_NOTE_MAX_CHARS, FEEDBACK_PAGES_MAX,
    FEEDBACK_REASON_MAX_CHARS, FEEDBACK_SOURCES_MAX, FEEDBACK_SUGGESTIONS_MAX_CHARS,
    FEEDBACK_TOPIC_MAX_CHARS, FEEDBACK_TOPIC_MIN_CHARS, SEARCH_FEEDBACK_MISSING_MAX,
};

use crate::json_size::json_bytes;
use crate::path::Path;
use crate::report::{Report, quoted};
use crate::{bounds, target, uuid};

/// Checks feedback on a search, and returns it.
pub(crate) fn check_search(report: &mut Report, request: SearchFeedbackRequest) -> SearchFeedbackRequest {
    // The origin and the integration are accepted for compatibility and not used.
    let SearchFeedbackRequest {
        rating,
        valuable_sources,
        missing_content,
        query_suggestions,
        origin: _,
        integration: _,
    } = &request;
    check_sources(report, valuable_sources.as_deref());
    check_missing(report, missing_content.as_deref(), SEARCH_FEEDBACK_MISSING_MAX);
    check_text(report, "querySuggestions", query_suggestions.as_deref(), FEEDBACK_SUGGESTIONS_MAX_CHARS);
    let content = SearchContent {
        has_sources: has_items(valuable_sources.as_ref()),
        has_missing: has_items(missing_content.as_ref()),
        has_suggestions: has_text(query_suggestions.as_ref()),
    };
    check_search_content(report, *rating, content);
    check_size(report, &request);
    request
}

/// The content of feedback on a search.
#[derive(Debug, Clone, Copy)]
struct SearchContent {
    has_sources: bool,
    has_missing: bool,
    has_suggestions: bool,
}

/// Checks that feedback on a search has the content that its rating needs. Feedback is stored once for each search, so less
/// would block what is useful.
fn check_search_content(report: &mut Report, rating: FeedbackRating, content: SearchContent) {
    let SearchContent { has_sources, has_missing, has_suggestions } = content;
    let (is_complete, field, needed) = match rating {
        FeedbackRating::Good => (has_sources, "valuableSources", "valuableSources"),
        FeedbackRating::Partial => {
            (has_sources || has_missing, "valuableSources", "valuableSources or missingContent")
        }
        FeedbackRating::Bad => {
            (has_missing || has_suggestions, "missingContent", "missingContent or querySuggestions")
        }
    };
    let path = Path::Root;
    // An invalid value was removed, and is reported already.
    let is_reported = ["valuableSources", "missingContent", "querySuggestions"]
        .iter()
        .any(|name| report.has(&path.key(name)));
    if !is_complete && !is_reported && !report.has(&path.key("rating")) {
        report.violation(&path.key(field), ViolationCode::Missing, |_| {
            format!("{needed} is required for this rating of a search")
        });
    }
}

/// Checks feedback on any result, and returns it.
pub(crate) fn check(report: &mut Report, request: FeedbackRequest) -> FeedbackRequest {
    let FeedbackRequest {
        endpoint,
        job_id,
        rating,
        issues,
        tags,
        note,
        valuable_sources,
        missing_content,
        query_suggestions,
        url,
        page_numbers,
        metadata,
        // Accepted for compatibility and not used.
        origin: _,
        integration: _,
    } = &request;
    let path = Path::Root;
    if !report.has(&path.key("jobId")) {
        uuid::check(report, &path.key("jobId"), job_id);
    }
    check_codes(report, "issues", issues.as_deref());
    check_codes(report, "tags", tags.as_deref());
    check_text(report, "note", note.as_deref(), FEEDBACK_NOTE_MAX_CHARS);
    check_sources(report, valuable_sources.as_deref());
    check_missing(report, missing_content.as_deref(), FEEDBACK_MISSING_MAX);
    check_text(report, "querySuggestions", query_suggestions.as_deref(), FEEDBACK_SUGGESTIONS_MAX_CHARS);
    if let Some(url) = url {
        target::check(report, &path.key("url"), url);
    }
    check_pages(report, page_numbers.as_deref());
    if let Some(metadata) = metadata {
        let bytes = json_bytes(metadata);
        if bytes > FEEDBACK_METADATA_MAX_BYTES {
            report.violation(&path.key("metadata"), ViolationCode::TooLong, |name| {
                format!("{name} must have at most {FEEDBACK_METADATA_MAX_BYTES} bytes as JSON, not {bytes}")
            });
        }
    }
    let content = SearchContent {
        has_sources: has_items(valuable_sources.as_ref()),
        has_missing: has_items(missing_content.as_ref()),
        has_suggestions: has_text(query_suggestions.as_ref()),
    };
    let SearchContent { has_sources, has_missing, has_suggestions } = content;
    let has_substance = has_items(issues.as_ref())
        || has_items(tags.as_ref())
        || has_text(note.as_ref())
        || has_sources
        || has_missing
        || has_suggestions
        || has_items(page_numbers.as_ref())
        || metadata.as_ref().is_some_and(|metadata| !metadata.is_empty());
    if !has_substance && !report.has_within(&path) {
        report.violation(&path.key("note"), ViolationCode::Missing, |_| SUBSTANCE.to_owned());
    }
    if *endpoint == FeedbackEndpoint::Search && has_substance && !report.has(&path.key("endpoint")) {
        check_search_content(report, *rating, content);
    }
    check_size(report, &request);
    request
}

/// The message about feedback that has only a rating.
const SUBSTANCE: &str = "a rating alone is not enough: one of issues, tags, note, valuableSources, missingContent, \
                         querySuggestions, pageNumbers and metadata is required";

fn check_sources(report: &mut Report, sources: Option<&[FeedbackSource]>) {
    let Some(sources) = sources else { return };
    let path = Path::Root.key("valuableSources");
    bounds::items(report, &path, sources.len(), FEEDBACK_SOURCES_MAX);
    for (index, FeedbackSource { url, reason }) in sources.iter().enumerate() {
        let path = path.index(index);
        if !report.has(&path.key("url")) {
            target::check(report, &path.key("url"), url);
        }
        if let Some(reason) = reason {
            bounds::chars(report, &path.key("reason"), reason, 0, FEEDBACK_REASON_MAX_CHARS);
        }
    }
}

fn check_missing(report: &mut Report, missing: Option<&[MissingContent]>, max: usize) {
    let Some(missing) = missing else { return };
    let path = Path::Root.key("missingContent");
    bounds::items(report, &path, missing.len(), max);
    for (index, MissingContent { topic, description }) in missing.iter().enumerate() {
        let path = path.index(index);
        let topic_path = path.key("topic");
        if !report.has(&topic_path) {
            bounds::chars(report, &topic_path, topic, FEEDBACK_TOPIC_MIN_CHARS, FEEDBACK_TOPIC_MAX_CHARS);
        }
        if let Some(description) = description {
            let path = path.key("description");
            bounds::chars(report, &path, description, 0, FEEDBACK_DESCRIPTION_MAX_CHARS);
        }
    }
}

fn check_codes(report: &mut Report, field: &str, codes: Option<&[String]>) {
    let Some(codes) = codes else { return };
    let path = Path::Root.key(field);
    bounds::items(report, &path, codes.len(), FEEDBACK_CODES_MAX);
    for (index, code) in codes.iter().enumerate() {
        if !is_code(code) {
            report.violation(&path.index(index), ViolationCode::InvalidFormat, |name| {
                format!(
                    "{name} must be 1 to {FEEDBACK_CODE_MAX_CHARS} lower-case letters, digits, _ and -, not {}",
                    quoted(code)
                )
            });
        }
    }
}

fn check_pages(report: &mut Report, pages: Option<&[u32]>) {
    let Some(pages) = pages else { return };
    let path = Path::Root.key("pageNumbers");
    bounds::items(report, &path, pages.len(), FEEDBACK_PAGES_MAX);
}

fn check_text(report: &mut Report, field: &str, text: Option<&str>, max: u32) {
    if let Some(text) = text {
        bounds::chars(report, &Path::Root.key(field), text, 0, max);
    }
}

fn check_size(report: &mut Report, request: &impl serde::Serialize) {
    let bytes = json_bytes(request);
    if bytes > FEEDBACK_MAX_BYTES {
        report.violation(&Path::Root, ViolationCode::TooLong, |_| {
            format!("feedback must have at most {FEEDBACK_MAX_BYTES} bytes, not {bytes}")
        });
    }
}

fn has_items<T>(list: Option<&Vec<T>>) -> bool {
    list.is_some_and(|list| !list.is_empty())
}

fn has_text(text: Option<&String>) -> bool {
    text.is_some_and(|text| !text.trim().is_empty())
}

fn is_code(text: &str) -> bool {
    let is_allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    (1..=FEEDBACK_CODE_MAX_CHARS as usize).contains(&text.len()) && text.bytes().all(is_allowed)
}
