//! Properties that hold for every text, tested on random and adversarial texts.

use std::fmt::Write as _;

use proptest::prelude::*;
use websvc_redact::{Kind, Kinds, Options, RedactMode, ReplacementStyle, Syntax, redact};

use crate::generators::{Random, generate, harmless};

fn options() -> impl Strategy<Value = Options> {
    let mode = prop_oneof![Just(RedactMode::Fast), Just(RedactMode::Aggressive)];
    let style = prop_oneof![
        Just(ReplacementStyle::Tag),
        Just(ReplacementStyle::Mask),
        Just(ReplacementStyle::Remove)
    ];
    (mode, style, proptest::sample::subsequence(Kind::ALL.to_vec(), 1..=6))
        .prop_map(|(mode, style, kinds)| Options { mode, kinds: kinds.into_iter().collect(), style })
}

/// Returns pieces of markdown, personal data and harmless text in any order.
fn page() -> impl Strategy<Value = String> {
    let mark = proptest::sample::select(vec![
        " ",
        "\n",
        "\n\n",
        "| ",
        "**",
        "_",
        "`",
        "```\n",
        "- ",
        "# ",
        "> ",
        ": ",
        ", ",
        "(",
        ")",
        "[",
        "](",
        "<",
        ">",
        "@",
        "+",
        "-",
        ".",
        "/",
        "://",
        "www.",
        "mailto:",
        "Tel. ",
        "password: ",
        "Dr. ",
        "Author: ",
        "\\",
        "é",
        "様",
        "ß",
        "=",
        "'s",
        "1",
        "A",
    ]);
    let entity = (proptest::sample::select(Kind::ALL.to_vec()), any::<u64>())
        .prop_map(|(kind, seed)| generate(kind, &mut Random::new(seed)));
    let harmless = any::<u64>().prop_map(|seed| harmless(&mut Random::new(seed)));
    let piece = prop_oneof![4 => mark.prop_map(str::to_owned), 2 => entity, 1 => harmless, 1 => "\\PC{0,8}"];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn findings_of_any_text_are_sorted_and_on_character_boundaries(text in page(), options in options(), plain: bool) {
        let syntax = if plain { Syntax::Plain } else { Syntax::Markdown };
        let redaction = redact(&text, syntax, &options);
        let mut at = 0;
        for finding in &redaction.findings {
            prop_assert!(finding.range.start >= at && finding.range.end > finding.range.start);
            prop_assert!(text.get(finding.range.clone()).is_some());
            prop_assert!(options.kinds.has(finding.kind));
            at = finding.range.end;
        }
        if redaction.findings.is_empty() {
            prop_assert_eq!(&*redaction.text, text.as_str());
        } else if options.style == ReplacementStyle::Mask {
            prop_assert_eq!(redaction.text.chars().count(), text.chars().count());
        }
    }

    #[test]
    fn redaction_is_idempotent(text in page(), options in options()) {
        let once = redact(&text, Syntax::Markdown, &options).text;
        prop_assert_eq!(&redact(&once, Syntax::Markdown, &options).text, &once);
    }

    #[test]
    fn redacted_text_contains_no_finding(kinds in proptest::collection::vec((0..6_usize, any::<u64>()), 1..8)) {
        let mut text = String::new();
        for (kind, seed) in kinds {
            let value = generate(Kind::ALL[kind], &mut Random::new(seed));
            writeln!(text, "Contact: {value}, again: {value}.\n\nand {value}").unwrap();
        }
        let redaction = redact(&text, Syntax::Markdown, &Options::default());
        for finding in &redaction.findings {
            let found = &text[finding.range.clone()];
            if found.contains(' ') || found.len() >= 12 {
                prop_assert!(!redaction.text.contains(found), "{found:?} in {:?}", redaction.text);
            }
        }
    }

    #[test]
    fn code_and_link_targets_stay(text in "[a-z ]{0,12}", name in any::<u64>()) {
        let value = generate(Kind::Person, &mut Random::new(name));
        let page = format!("`{value}` {text} [x](https://a.test/{})\n\n```\n{value}\n```\n", value.replace(' ', "_"));
        prop_assert_eq!(&*redact(&page, Syntax::Markdown, &Options::default()).text, page.as_str());
    }
}

#[test]
fn work_is_linear_for_adversarial_texts() {
    let pieces = [
        "a@",
        "a@a.",
        "1 ",
        "12-",
        "(1) ",
        "+1",
        "A ",
        "Dr. ",
        "John ",
        "St. ",
        "New ",
        "1 rue de ",
        "Via de ",
        "password:",
        "token=",
        "a:",
        "A. ",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "-----BEGIN ",
        "`",
        "``` ",
        "`a ``b ",
        "[](",
        "<a:",
        "https://",
        "www.",
        "aB1-",
        "SW1A 1A",
        "DE89 ",
        "4111 ",
        "eyJa.",
        "田",
        "田様",
        "東京都区1",
        "12 Main Street, ",
        "10115 ",
        "52.5200, ",
        "1°",
        "Berlin, ",
        "key aB3dE5fG7hI9jK1lM3nO5 ",
        "_",
        "\\",
        "a'",
    ];
    for piece in pieces {
        for mode in [RedactMode::Fast, RedactMode::Aggressive] {
            let options = Options { mode, kinds: Kinds::ALL, style: ReplacementStyle::Tag };
            let work = |bytes: usize| {
                let text = piece.repeat(bytes / piece.len());
                redact(&text, Syntax::Markdown, &options).work
            };
            let (small, large) = (work(4_000), work(40_000));
            assert!(large <= 12 * small + 40_000, "{piece:?}: {small} for 4 kB, {large} for 40 kB");
            assert!(large <= 40_000 * 600, "{piece:?}: {large}");
        }
    }
}

#[test]
fn text_without_personal_data_is_unchanged() {
    let mut random = Random::new(3);
    let text: String = (0..2_000).map(|_| harmless(&mut random) + "\n").collect();
    let redaction = redact(&text, Syntax::Markdown, &Options::default());
    let found: Vec<&str> = redaction.findings.iter().map(|finding| &text[finding.range.clone()]).collect();
    assert_eq!(found, Vec::<&str>::new());
    assert!(matches!(redaction.text, std::borrow::Cow::Borrowed(_)));
}
