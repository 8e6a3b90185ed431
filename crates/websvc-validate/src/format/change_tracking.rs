//! The format `changeTracking`.

use websvc_types::format::ChangeTracking;
use websvc_types::limits::{CHANGE_TAG_MAX_CHARS, PROMPT_MAX_CHARS};
use websvc_types::{Format, ViolationCode};

use crate::bounds;
use crate::json_schema::{self, SchemaCompiler};
use crate::path::Path;
use crate::report::Report;

pub(super) fn check(
    report: &mut Report,
    path: &Path<'_>,
    options: &ChangeTracking,
    compiler: SchemaCompiler,
) {
    let ChangeTracking { modes: _, schema, prompt, tag } = options;
    if let Some(schema) = schema {
        json_schema::check(report, &path.key("schema"), schema, compiler);
    }
    if let Some(prompt) = prompt {
        bounds::chars(report, &path.key("prompt"), prompt, 0, PROMPT_MAX_CHARS);
    }
    if let Some(tag) = tag {
        bounds::chars(report, &path.key("tag"), tag, 0, CHANGE_TAG_MAX_CHARS);
    }
}

/// Checks that the markdown, which is compared, is among the formats too (operations.md, section 6.1).
pub(super) fn check_markdown(report: &mut Report, path: &Path<'_>, formats: &[Format]) {
    if !formats.iter().any(|format| matches!(format, Format::Markdown(_))) {
        report.violation(path, ViolationCode::Conflict, |name| {
            format!("{name}: the format changeTracking needs the format markdown in the same list")
        });
    }
}
