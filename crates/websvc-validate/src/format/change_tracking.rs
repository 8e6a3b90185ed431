//! The format `changeTracking`.

use websvc_types::format::ChangeTracking;
use websvc_types::limits::PROMPT_MAX_CHARS;

use crate::path::Path;
use crate::report::Report;
use crate::{bounds, json_schema};

pub(super) fn check(report: &mut Report, path: &Path<'_>, options: &ChangeTracking) {
    let ChangeTracking { modes: _, schema, prompt, tag: _ } = options;
    if let Some(schema) = schema {
        json_schema::check(report, &path.key("schema"), schema);
    }
    if let Some(prompt) = prompt {
        bounds::chars(report, &path.key("prompt"), prompt, 0, PROMPT_MAX_CHARS);
    }
}
