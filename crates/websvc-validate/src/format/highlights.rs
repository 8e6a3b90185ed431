//! The format `highlights`.

use websvc_types::format::Highlights;
use websvc_types::limits::{QUESTION_MAX_CHARS, QUESTION_MIN_CHARS};

use crate::bounds;
use crate::path::Path;
use crate::report::Report;

pub(super) fn check(report: &mut Report, path: &Path<'_>, options: &Highlights) {
    let Highlights { query } = options;
    bounds::chars(report, &path.key("query"), query, QUESTION_MIN_CHARS, QUESTION_MAX_CHARS);
}
