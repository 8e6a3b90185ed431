//! Lone surrogates: JavaScript strings may contain them, and Chromium writes them to its JSON, which is then invalid.

/// Replaces every escaped surrogate in a JSON text that is not part of a pair by U+FFFD.
pub(crate) fn replace_lone(json: &mut [u8]) {
    let mut at = 0;
    while at < json.len() {
        if json[at] != b'\\' {
            at += 1;
            continue;
        }
        match unit(json, at) {
            Some(0xd800..=0xdbff) if matches!(unit(json, at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => {
                json[at + 2..at + 6].copy_from_slice(b"fffd");
                at += 6;
            }
            // Another escape, such as an escaped backslash: its second character must be skipped.
            Some(_) | None => at += 2,
        }
    }
}

/// Returns the UTF-16 code unit of a `\u` escape at an index.
fn unit(json: &[u8], at: usize) -> Option<u16> {
    let escape = json.get(at..at + 6)?;
    let digits = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replace_lone_replaces_lone_surrogates_only() {
        for (json, expected) in [
            (r#""a\ud800""#, "\"a\u{fffd}\""),
            (r#""\udf75\ud83c""#, "\"\u{fffd}\u{fffd}\""),
            (r#""\ud83c\ud83c\udf75""#, "\"\u{fffd}\u{1f375}\""),
            (r#""\\ud800""#, r#""\\ud800""#),
            (r#""\u0041\"\n""#, r#""A\"\n""#),
        ] {
            let mut bytes = json.as_bytes().to_vec();
            replace_lone(&mut bytes);
            let read: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(read, serde_json::from_str::<serde_json::Value>(expected).unwrap(), "{json}");
        }
        let mut truncated = br#""\ud8"#.to_vec();
        replace_lone(&mut truncated);
        assert_eq!(truncated, br#""\ud8"#);
    }
}
