//! Rules of formats (specification, section 2.2.1).

mod attributes;
mod change_tracking;
mod json;

use websvc_types::format::{Highlights, Question};
use websvc_types::limits::{QUESTION_MAX_CHARS, QUESTION_MIN_CHARS};
use websvc_types::{Format, ViolationCode};

use crate::bounds;
use crate::json_schema::SchemaCompiler;
use crate::path::Path;
use crate::report::Report;

pub(crate) use json::check as json;

/// Checks the formats. A format that is repeated with the same options counts once.
pub(crate) fn check(
    report: &mut Report,
    path: &Path<'_>,
    formats: Vec<Format>,
    compiler: SchemaCompiler,
) -> Vec<Format> {
    let mut checked: Vec<Format> = Vec::with_capacity(formats.len().min(Format::NAMES.len()));
    let tracking = formats.iter().position(|format| matches!(format, Format::ChangeTracking(_)));
    for (index, format) in formats.into_iter().enumerate() {
        let path = path.index(index);
        if checked.contains(&format) {
            continue;
        }
        check_one(report, &path, &format, compiler);
        if checked.iter().any(|other| other.name() == format.name()) {
            // A result has one field for each format.
            report.violation(&path, ViolationCode::Conflict, |name| {
                format!("{name}: the format {} is given twice, with different options", format.name())
            });
        } else {
            checked.push(format);
        }
    }
    if let Some(index) = tracking {
        change_tracking::check_markdown(report, &path.index(index), &checked);
    }
    checked
}

fn check_one(report: &mut Report, path: &Path<'_>, format: &Format, compiler: SchemaCompiler) {
    match format {
        Format::Json(options) => json(report, path, options, compiler),
        Format::ChangeTracking(options) => change_tracking::check(report, path, options, compiler),
        Format::Question(Question { question: text }) => check_question(report, &path.key("question"), text),
        Format::Highlights(Highlights { query }) => check_question(report, &path.key("query"), query),
        Format::Attributes(options) => attributes::check(report, path, options),
        Format::Markdown(_)
        | Format::Screenshot(_)
        | Format::Summary(_)
        | Format::Html(_)
        | Format::RawHtml(_)
        | Format::RawBase64(_)
        | Format::Links(_)
        | Format::Images(_)
        | Format::Branding(_)
        | Format::Product(_)
        | Format::Menu(_)
        | Format::Audio(_)
        | Format::Video(_) => {}
    }
}

fn check_question(report: &mut Report, path: &Path<'_>, text: &str) {
    bounds::chars(report, path, text, QUESTION_MIN_CHARS, QUESTION_MAX_CHARS);
}
