//! The format `question`.

use websvc_types::format::Question;
use websvc_types::limits::{QUESTION_MAX_CHARS, QUESTION_MIN_CHARS};

use crate::bounds;
use crate::path::Path;
use crate::report::Report;

pub(super) fn check(report: &mut Report, path: &Path<'_>, options: &Question) {
    let Question { question } = options;
    bounds::chars(report, &path.key("question"), question, QUESTION_MIN_CHARS, QUESTION_MAX_CHARS);
}
