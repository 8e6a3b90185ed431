//! Properties of the redaction of texts that a language model named.

use websvc_redact::{
    Kind, Kinds, NamedPart, NamedText, Options, RedactMode, ReplacementStyle, Syntax, redact_named,
};

/// Kinds by the letter that selects one in a line of the input.
const KINDS: [(char, Kind); 6] = [
    ('P', Kind::Person),
    ('E', Kind::Email),
    ('T', Kind::Phone),
    ('L', Kind::Location),
    ('F', Kind::Financial),
    ('S', Kind::Secret),
];

/// Checks that only texts are replaced that were named for the part, or are repetitions of one, that findings are in order
/// and at character boundaries, and that the rest of the text stays. The first byte of `data` selects the options; lines
/// with a letter and a named text follow, then an empty line and the text.
pub(crate) fn check(data: &[u8]) {
    let Some((selector, rest)) = data.split_first() else { return };
    let rest = String::from_utf8_lossy(rest);
    let Some((names, text)) = rest.split_once("\n\n") else { return };
    let texts: Vec<NamedText> = names.lines().filter_map(named).collect();
    let named_texts: Vec<String> = names.lines().filter_map(|line| Some(parts(line)?.1.to_owned())).collect();
    let syntax = if selector & 1 == 0 { Syntax::Markdown } else { Syntax::Plain };
    let style = [ReplacementStyle::Tag, ReplacementStyle::Mask, ReplacementStyle::Remove]
        [usize::from(selector >> 2) % 3];
    let options = Options { mode: RedactMode::Fast, kinds: Kinds::ALL, style };
    // The part may be wrong: it may split a character or end behind the text.
    let end = if selector & 2 == 0 { text.len() } else { text.len() / 2 + usize::from(selector >> 4) };
    let redaction = redact_named(text, syntax, &options, &[NamedPart { range: 0..end, texts }]);
    let (mut position, mut kept) = (0, String::new());
    for finding in &redaction.findings {
        assert!(finding.range.start >= position && finding.range.end > finding.range.start, "{finding:?}");
        let found = text.get(finding.range.clone()).expect("a finding does not split a character");
        assert!(named_texts.iter().any(|named| named == found), "{found:?} was not named");
        kept.push_str(&text[position..finding.range.start]);
        position = finding.range.end;
    }
    kept.push_str(&text[position..]);
    match style {
        ReplacementStyle::Remove => assert_eq!(redaction.text, kept, "the rest of the text must stay"),
        ReplacementStyle::Mask => {
            assert_eq!(redaction.text.chars().count(), text.chars().count(), "a mask has the same length");
        }
        ReplacementStyle::Tag if redaction.findings.is_empty() => assert_eq!(redaction.text, text),
        ReplacementStyle::Tag => assert!(redaction.text.contains('<')),
    }
}

fn parts(line: &str) -> Option<(Kind, &str)> {
    let mut characters = line.chars();
    let letter = characters.next()?;
    let kind = KINDS.iter().find(|(name, _)| *name == letter)?.1;
    Some((kind, characters.as_str().trim()))
}

fn named(line: &str) -> Option<NamedText> {
    let (kind, text) = parts(line)?;
    NamedText::new(kind, text)
}
