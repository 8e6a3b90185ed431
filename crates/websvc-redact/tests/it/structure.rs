//! The structure of markdown survives: a reader of markdown sees the same before and after, but for the words.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options as Extensions, Parser, Tag};
use websvc_redact::{Kind, Options, Syntax, redact};

use crate::generators::{Dice, make};

/// Returns what a reader of markdown sees: its events, all that is words being one word.
fn structure(page: &str) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for event in Parser::new_ext(page, Extensions::ENABLE_TABLES | Extensions::ENABLE_STRIKETHROUGH) {
        let event = match event {
            // What takes the place of a finding looks like a tag of HTML.
            Event::Text(_) | Event::InlineHtml(_) | Event::Html(_) | Event::SoftBreak => "words".to_owned(),
            // Secrets are taken out of code.
            Event::Code(_) => "code".to_owned(),
            Event::Start(Tag::Link { dest_url, .. }) if dest_url.contains(':') => {
                format!("link {}", dest_url.split(':').next().unwrap_or_default())
            }
            other => format!("{other:?}"),
        };
        if event != "words" || seen.last().is_none_or(|last| last != "words") {
            seen.push(event);
        }
    }
    seen
}

/// Personal data in one line, as it is met in a page.
fn data() -> impl Strategy<Value = String> {
    (proptest::sample::select(Kind::ALL.to_vec()), any::<u64>())
        .prop_map(|(kind, seed)| make(kind, &mut Dice::new(seed)))
        .prop_filter("one line, without marks of its own", |value| {
            !value.contains(['\n', '*', '_', '`', '|', '<', '[', '~', '\\'])
        })
}

/// A block of markdown with personal data in it.
fn block() -> impl Strategy<Value = String> {
    let form = proptest::sample::select(vec![
        "# About {}",
        "See {} there.",
        "- one {}\n- two\n  - three {}",
        "1. from {}\n2. to {}",
        "> quoted {}\n> and {} more",
        "| a | b |\n|---|---|\n| x {} | y |\n| {} | z {} |",
        "the **bold {}** and *slanted {}* end",
        "a [link to {}](https://a.test/x) and ![picture of {}](https://a.test/y.png)",
        "in `code` and ~~struck {}~~",
        "```sh\nexport X={}\n```",
        "    indented",
        "write to someone or {}",
        "Dear {},\n\nbye.\n\nKind regards,\nyours {}",
        "By {}, today\n\n---",
        "[mail](mailto:a@a.test) and [call](tel:+4930901820) {}",
    ]);
    (form, proptest::collection::vec(data(), 3)).prop_map(|(form, values)| {
        let mut values = values.into_iter();
        let mut block = String::new();
        for (at, piece) in form.split("{}").enumerate() {
            if at > 0 {
                block.push_str(&values.next().unwrap_or_default());
            }
            block.push_str(piece);
        }
        block
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn a_reader_of_markdown_sees_the_same_structure(blocks in proptest::collection::vec(block(), 1..8)) {
        let page = blocks.join("\n\n");
        let redacted = redact(&page, Syntax::Markdown, &Options::default()).text;
        prop_assert_eq!(structure(&redacted), structure(&page), "{} became {}", page, redacted);
    }
}
