//! Rules of CSS selectors, for served pages and for browser actions.

use websvc_selector::{Dialect, Selector, SelectorError};
use websvc_types::ViolationCode;
use websvc_types::limits::SELECTOR_MAX_CHARS;

use crate::bounds;
use crate::path::Path;
use crate::report::{Report, quoted};

/// Checks a selector. A tag name is a selector, too.
pub(crate) fn check(report: &mut Report, path: &Path<'_>, text: &str, dialect: Dialect) {
    let is_valid_text =
        bounds::not_blank(report, path, text) && bounds::chars(report, path, text, 1, SELECTOR_MAX_CHARS);
    if !is_valid_text || is_tag_name(text) {
        return;
    }
    let Err(error) = Selector::parse(text, dialect) else { return };
    let rule = match (error, dialect) {
        (SelectorError::Syntax, Dialect::Page) => {
            "a CSS selector over tags, classes, attributes and positions, without states such as :hover"
                .to_owned()
        }
        (SelectorError::Syntax, Dialect::Browser) => "a CSS selector without pseudo-elements".to_owned(),
        (error, _) => format!("a shorter CSS selector: {error}"),
    };
    report.violation(path, ViolationCode::InvalidFormat, |name| {
        format!("{name} must be {rule}, not {}", quoted(text))
    });
}

/// Returns whether a text is a plain tag name, as most are. It then does not need to be parsed.
fn is_tag_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}
