//! The format `json`.

use websvc_types::format::Json;
use websvc_types::limits::PROMPT_MAX_CHARS;

use crate::bounds;
use crate::json_schema::{self, SchemaCompiler};
use crate::path::Path;
use crate::report::Report;

/// Checks the options of the format.
pub(crate) fn check(report: &mut Report, path: &Path<'_>, options: &Json, compiler: SchemaCompiler) {
    let Json { schema, prompt } = options;
    if let Some(schema) = schema {
        json_schema::check(report, &path.key("schema"), schema, compiler);
    }
    if let Some(prompt) = prompt {
        bounds::chars(report, &path.key("prompt"), prompt, 0, PROMPT_MAX_CHARS);
    }
}
