//! Properties of the redaction of any text.

use websvc_redact::{Kinds, Options, RedactMode, ReplacementStyle, Syntax, redact};

/// The most bytes that may be looked at per byte of a text.
const MOST_WORK: u64 = 1_200;

/// Checks that findings are in order and on the borders of characters, that redacting again finds nothing, and that the
/// work is linear. The first byte chooses how to redact.
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
    assert!(redaction.work <= (text.len() as u64 + 100) * MOST_WORK, "{} of {}", redaction.work, text.len());
    if redaction.findings.is_empty() {
        assert_eq!(redaction.text, text, "nothing was found and the text is another");
    }
    let again = redact(&redaction.text, syntax, &options);
    assert_eq!(again.text, redaction.text, "something was left in {text:?}");
}
