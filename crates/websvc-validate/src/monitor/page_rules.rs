//! Rules for the changes of pages: lines that are not compared, and conditions.

use websvc_types::ViolationCode;
use websvc_types::limits::{CONDITION_TEXT_MAX_CHARS, CONDITIONS_MAX, IGNORED_LINES_MAX};
use websvc_types::monitor::{ConditionText, MonitorCondition};

use crate::bounds;
use crate::path::Path;
use crate::report::Report;
use crate::text_pattern::TextPattern;

/// The rules for the changes of the pages of a target.
#[derive(Debug, Default)]
pub struct PageRules {
    /// Lines in which one of these matches are not compared.
    pub ignored_lines: Vec<TextPattern>,
    /// Conditions that a change must fulfil, all of them.
    pub conditions: Vec<PageCondition>,
}

/// A condition for a change.
#[derive(Debug)]
pub struct PageCondition {
    /// The text, number or field that is looked at.
    pub subject: ConditionSubject,
    /// The range of the number.
    pub range: NumberRange,
}

/// The subject of a condition.
#[derive(Debug)]
pub enum ConditionSubject {
    /// A text, in lower case, that must occur.
    Contains(String, ConditionText),
    /// A text, in lower case, that must not occur.
    Lacks(String, ConditionText),
    /// A pattern that must match.
    Matches(TextPattern, ConditionText),
    /// A pattern whose first match has a number.
    Number(TextPattern),
    /// The path of a field that must have changed.
    Field(String),
}

/// The range of a number, and of its change.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct NumberRange {
    /// The number must be greater.
    pub above: Option<f64>,
    /// The number must be less.
    pub below: Option<f64>,
    /// The number must differ from the previous one by at least this percentage.
    pub changed_by_percent: Option<f64>,
}

/// Checks the rules of a target.
pub(super) fn check(
    report: &mut Report,
    path: &Path<'_>,
    ignored_lines: Option<&[String]>,
    conditions: Option<&[MonitorCondition]>,
) -> PageRules {
    let ignored_path = path.key("ignoreLines");
    let conditions_path = path.key("conditions");
    let (ignored_lines, conditions) = (ignored_lines.unwrap_or_default(), conditions.unwrap_or_default());
    if !bounds::items(report, &ignored_path, ignored_lines.len(), IGNORED_LINES_MAX)
        || !bounds::items(report, &conditions_path, conditions.len(), CONDITIONS_MAX)
    {
        return PageRules::default();
    }
    let ignored = ignored_lines.iter().enumerate();
    let ignored = ignored.filter_map(|(index, text)| pattern(report, &ignored_path.index(index), text));
    let ignored_lines = ignored.collect();
    let conditions = conditions.iter().enumerate();
    let conditions =
        conditions.filter_map(|(index, each)| condition(report, &conditions_path.index(index), each));
    PageRules { ignored_lines, conditions: conditions.collect() }
}

/// Checks a condition. `None` means that the report has a violation.
fn condition(report: &mut Report, path: &Path<'_>, condition: &MonitorCondition) -> Option<PageCondition> {
    let MonitorCondition {
        contains,
        lacks,
        matches,
        number,
        field,
        within,
        above,
        below,
        changed_by_percent,
    } = condition;
    let named = [
        ("contains", contains),
        ("lacks", lacks),
        ("matches", matches),
        ("number", number),
        ("field", field),
    ];
    let mut given = named.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?)));
    let (Some((name, text)), None) = (given.next(), given.next()) else {
        report.violation(path, ViolationCode::Conflict, |condition| {
            format!("{condition} must have exactly one of contains, lacks, matches, number and field")
        });
        return None;
    };
    let text_path = path.key(name);
    let is_text = bounds::not_blank(report, &text_path, text)
        && bounds::chars(report, &text_path, text, 1, CONDITION_TEXT_MAX_CHARS);
    let range = NumberRange { above: *above, below: *below, changed_by_percent: *changed_by_percent };
    let is_valid = check_combination(report, path, name, range, within.is_some());
    if !is_text || !is_valid {
        return None;
    }
    let within = within.unwrap_or_default();
    let subject = match name {
        "contains" => ConditionSubject::Contains(text.to_lowercase(), within),
        "lacks" => ConditionSubject::Lacks(text.to_lowercase(), within),
        "matches" => ConditionSubject::Matches(pattern(report, &text_path, text)?, within),
        "number" => ConditionSubject::Number(pattern(report, &text_path, text)?),
        _ => ConditionSubject::Field(text.trim().to_owned()),
    };
    Some(PageCondition { subject, range })
}

/// Checks that a condition has a range only with a number, and `within` only with a text.
fn check_combination(
    report: &mut Report,
    path: &Path<'_>,
    subject: &str,
    range: NumberRange,
    has_within: bool,
) -> bool {
    let is_number = matches!(subject, "number" | "field");
    let is_ranged = range != NumberRange::default();
    let mut is_valid = true;
    let mut refuse = |text: String| {
        is_valid = false;
        report.violation(path, ViolationCode::Conflict, |condition| format!("{condition} {text}"));
    };
    if is_ranged && !is_number {
        refuse("may have above, below and changedByPercent only with number or field".to_owned());
    }
    if subject == "number" && !is_ranged {
        refuse("must have above, below or changedByPercent with number".to_owned());
    }
    if is_number && has_within {
        refuse("may have within only with contains, lacks or matches".to_owned());
    }
    if range.changed_by_percent.is_some_and(|percent| percent <= 0.0) {
        refuse("must have a changedByPercent above 0".to_owned());
    }
    if let NumberRange { above: Some(above), below: Some(below), .. } = range
        && above >= below
    {
        refuse(format!("must have an above ({above}) that is less than below ({below})"));
    }
    is_valid
}

fn pattern(report: &mut Report, path: &Path<'_>, text: &str) -> Option<TextPattern> {
    let is_text = bounds::not_blank(report, path, text)
        && bounds::chars(report, path, text, 1, CONDITION_TEXT_MAX_CHARS);
    if !is_text {
        return None;
    }
    match TextPattern::compile(text) {
        Ok(pattern) => Some(pattern),
        Err(error) => {
            report.violation(path, ViolationCode::InvalidFormat, |name| {
                format!("{name} is not a regular expression: {error}")
            });
            None
        }
    }
}
