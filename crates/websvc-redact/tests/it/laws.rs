//! Properties of every text: tested on random texts and on adversarial ones.

use std::fmt::Write as _;

use proptest::prelude::*;
use websvc_redact::{Kind, Kinds, Options, RedactMode, ReplacementStyle, Syntax, redact};

use crate::generators::{Dice, harmless, make};

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

/// Pieces of markdown and of personal data in any order.
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
        .prop_map(|(kind, seed)| make(kind, &mut Dice::new(seed)));
    let harmless = any::<u64>().prop_map(|seed| harmless(&mut Dice::new(seed)));
    let piece = prop_oneof![4 => mark.prop_map(str::to_owned), 2 => entity, 1 => harmless, 1 => "\\PC{0,8}"];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_redacted_within_its_borders(text in page(), options in options(), plain: bool) {
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
    fn redacting_again_changes_nothing(text in page(), options in options()) {
        let once = redact(&text, Syntax::Markdown, &options).text;
        prop_assert_eq!(&redact(&once, Syntax::Markdown, &options).text, &once);
    }

    #[test]
    fn nothing_that_was_found_is_left(kinds in proptest::collection::vec((0..6_usize, any::<u64>()), 1..8)) {
        let mut text = String::new();
        for (kind, seed) in kinds {
            let value = make(Kind::ALL[kind], &mut Dice::new(seed));
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
    fn code_and_the_targets_of_links_stay(text in "[a-z ]{0,12}", name in any::<u64>()) {
        let value = make(Kind::Person, &mut Dice::new(name));
        let page = format!("`{value}` {text} [x](https://a.test/{})\n\n```\n{value}\n```\n", value.replace(' ', "_"));
        prop_assert_eq!(&*redact(&page, Syntax::Markdown, &Options::default()).text, page.as_str());
    }
}

#[test]
fn the_work_is_linear_whatever_the_text_is() {
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
fn prose_without_personal_data_comes_back_as_it_was() {
    let mut dice = Dice::new(3);
    let text: String = (0..2_000).map(|_| harmless(&mut dice) + "\n").collect();
    let redaction = redact(&text, Syntax::Markdown, &Options::default());
    let found: Vec<&str> = redaction.findings.iter().map(|finding| &text[finding.range.clone()]).collect();
    assert_eq!(found, Vec::<&str>::new());
    assert!(matches!(redaction.text, std::borrow::Cow::Borrowed(_)));
}
