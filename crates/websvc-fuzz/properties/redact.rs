//! Properties that hold for the redaction of every text.

use websvc_redact::{Kinds, Options, RedactMode, ReplacementStyle, Syntax, redact};

/// The maximum number of bytes that the rules examine per byte of a text.
const MAX_WORK_PER_BYTE: u64 = 1_200;

/// Checks that findings are sorted and on character boundaries, that a second redaction finds nothing, and that the work
/// is linear. The first byte selects the options.
pub(crate) fn check(data: &[u8]) {
    let Some((choice, text)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(text);
    let syntax = if choice & 1 == 0 { Syntax::Markdown } else { Syntax::Plain };
    let mode = if choice & 2 == 0 { RedactMode::Fast } else { RedactMode::Aggressive };
    let style = [ReplacementStyle::Tag, ReplacementStyle::Mask, ReplacementStyle::Remove]
        [usize::from(choice >> 2) % 3];
    let options = Options { mode, kinds: Kinds::ALL, style };
    let redaction = redact(&text, syntax, &options);
    let mut at = 0;
    for finding in &redaction.findings {
        assert!(finding.range.start >= at && finding.range.end > finding.range.start, "{finding:?}");
        assert!(text.get(finding.range.clone()).is_some(), "{finding:?} cuts a character");
        at = finding.range.end;
    }
    assert!(
        redaction.work <= (text.len() as u64 + 100) * MAX_WORK_PER_BYTE,
        "{} of {}",
        redaction.work,
        text.len()
    );
    if redaction.findings.is_empty() {
        assert_eq!(redaction.text, text, "the text changed without a finding");
    }
    let again = redact(&redaction.text, syntax, &options);
    assert_eq!(again.text, redaction.text, "a second redaction changed {text:?}");
}
