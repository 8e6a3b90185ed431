//! Properties of the redaction of any text.

use websvc_redact::{Kinds, Options, RedactMode, ReplacementStyle, Syntax, redact};

/// Maximum number of bytes that are examined per byte of a text.
const MAX_WORK_PER_BYTE: u64 = 1_200;

/// Checks that findings are in order and at character boundaries, that a second redaction changes nothing, and that the
/// work is linear. The first byte of `data` selects the options.
pub(crate) fn check(data: &[u8]) {
    let Some((selector, text)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(text);
    let syntax = if selector & 1 == 0 { Syntax::Markdown } else { Syntax::Plain };
    let mode = if selector & 2 == 0 { RedactMode::Fast } else { RedactMode::Aggressive };
    let style = [ReplacementStyle::Tag, ReplacementStyle::Mask, ReplacementStyle::Remove]
        [usize::from(selector >> 2) % 3];
    let options = Options { mode, kinds: Kinds::ALL, style };
    let redaction = redact(&text, syntax, &options);
    let mut end = 0;
    for finding in &redaction.findings {
        assert!(finding.range.start >= end && finding.range.end > finding.range.start, "{finding:?}");
        assert!(text.get(finding.range.clone()).is_some(), "{finding:?} splits a character");
        end = finding.range.end;
    }
    assert!(
        redaction.work <= (text.len() as u64 + 100) * MAX_WORK_PER_BYTE,
        "{} of {}",
        redaction.work,
        text.len()
    );
    if redaction.findings.is_empty() {
        assert_eq!(redaction.text, text, "the text must not change without findings");
    }
    let again = redact(&redaction.text, syntax, &options);
    assert_eq!(again.text, redaction.text, "a second redaction changed {text:?}");
}
