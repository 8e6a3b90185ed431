//! The format `attributes`.

use websvc_selector::Dialect;
use websvc_types::ViolationCode;
use websvc_types::format::{AttributeSelector, Attributes};
use websvc_types::limits::{ATTRIBUTE_NAME_MAX_CHARS, ATTRIBUTE_SELECTORS_MAX};

use crate::path::Path;
use crate::report::Report;
use crate::{bounds, selector};

pub(super) fn check(report: &mut Report, path: &Path<'_>, options: &Attributes) {
    let Attributes { selectors } = options;
    let path = path.key("selectors");
    if selectors.is_empty() {
        report.violation(&path, ViolationCode::TooShort, |name| {
            format!("{name} must have at least one selector")
        });
    }
    if !bounds::items(report, &path, selectors.len(), ATTRIBUTE_SELECTORS_MAX) {
        return;
    }
    for (index, AttributeSelector { selector, attribute }) in selectors.iter().enumerate() {
        let path = path.index(index);
        selector::check(report, &path.key("selector"), selector, Dialect::Page);
        let path = path.key("attribute");
        if bounds::not_blank(report, &path, attribute) {
            bounds::chars(report, &path, attribute, 1, ATTRIBUTE_NAME_MAX_CHARS);
        }
    }
}
