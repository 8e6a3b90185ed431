//! The mode `json` of the format `changeTracking`: a language model reads the changes of a page.

use serde_json::{Map, Value, json};
use websvc_diff::{ValueChange, changed_fields};
use websvc_model::{Feature, ResponseFormat};
use websvc_types::format::{ChangeTracking, Json};

use super::json::extract_valid;
use super::session::{ContentRequest, ModelSession};

const FEATURE: Feature = Feature::ChangeTracking;

/// The maximum length of a summary of changes.
const MAX_TOKENS: u32 = 2_000;

const INSTRUCTIONS: &str = "The content is the difference of two versions of a web page, as a unified diff: removed lines begin \
    with a minus, added lines with a plus. Describe what changed, from the content alone. Invent nothing.";

/// Two versions of a page, and their difference.
pub(crate) struct ChangedVersions<'a> {
    pub(crate) previous: &'a str,
    pub(crate) current: &'a str,
    /// The unified diff.
    pub(crate) diff: &'a str,
}

/// Returns the changes of a page as JSON. With a schema, the model extracts the data of both versions, each on its own, and
/// the fields that differ are returned. Without a schema, it summarizes the difference. If that fails, adds a warning and
/// returns `None`.
pub(crate) async fn describe_changes(
    session: &mut ModelSession<'_>,
    options: &ChangeTracking,
    versions: ChangedVersions<'_>,
) -> Option<Map<String, Value>> {
    let ChangeTracking { modes: _, schema, prompt, tag: _ } = options;
    let ChangedVersions { previous, current, diff } = versions;
    if schema.is_none() {
        return summarize(session, prompt.as_deref(), diff).await;
    }
    let extraction = Json { schema: schema.clone(), prompt: prompt.clone() };
    let mut other = ModelSession { warnings: Vec::new(), ..*session };
    let (before, after) = tokio::join!(
        extract_valid(&mut other, FEATURE, &extraction, previous),
        extract_valid(session, FEATURE, &extraction, current),
    );
    for warning in other.warnings {
        if !session.warnings.contains(&warning) {
            session.warnings.push(warning);
        }
    }
    let entry = |(name, ValueChange { previous, current })| {
        (name, json!({ "previous": previous, "current": current }))
    };
    Some(changed_fields(&before?, &after?).into_iter().map(entry).collect())
}

async fn summarize(
    session: &mut ModelSession<'_>,
    prompt: Option<&str>,
    diff: &str,
) -> Option<Map<String, Value>> {
    let prompt = prompt.map(str::trim).filter(|prompt| !prompt.is_empty());
    let request = ContentRequest {
        feature: FEATURE,
        instructions: INSTRUCTIONS,
        prompt: prompt.unwrap_or("Summarize the changes, as an object with short names."),
        content: diff,
        shape: ResponseFormat::Json,
        max_tokens: MAX_TOKENS,
    };
    Some(match session.complete(request).await?.into_json() {
        Value::Object(summary) => summary,
        value => Map::from_iter([("value".to_owned(), value)]),
    })
}
