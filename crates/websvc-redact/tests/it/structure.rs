//! A property test: redaction does not change the structure of markdown that a parser reads.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options as Extensions, Parser, Tag};
use websvc_redact::{Kind, Options, Syntax, redact};

use crate::generators::{Random, generate};

/// Returns the events of a markdown parser, with all text as one word.
fn structure(page: &str) -> Vec<String> {
    let mut events: Vec<String> = Vec::new();
    for event in Parser::new_ext(page, Extensions::ENABLE_TABLES | Extensions::ENABLE_STRIKETHROUGH) {
        let event = match event {
            // The parser takes the replacement of a finding for an HTML tag.
            Event::Text(_) | Event::InlineHtml(_) | Event::Html(_) | Event::SoftBreak => "words".to_owned(),
            // Secrets in code are redacted.
            Event::Code(_) => "code".to_owned(),
            Event::Start(Tag::Link { dest_url, .. }) if dest_url.contains(':') => {
                format!("link {}", dest_url.split(':').next().unwrap_or_default())
            }
            other => format!("{other:?}"),
        };
        if event != "words" || events.last().is_none_or(|last| last != "words") {
            events.push(event);
        }
    }
    events
}

/// Returns personal data in one line, as in a page.
fn data() -> impl Strategy<Value = String> {
    (proptest::sample::select(Kind::ALL.to_vec()), any::<u64>())
        .prop_map(|(kind, seed)| generate(kind, &mut Random::new(seed)))
        .prop_filter("one line without marks of markdown", |value| {
            !value.contains(['\n', '*', '_', '`', '|', '<', '[', '~', '\\'])
        })
}

/// Returns a block of markdown with personal data.
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
    fn redaction_keeps_the_structure_of_markdown(blocks in proptest::collection::vec(block(), 1..8)) {
        let page = blocks.join("\n\n");
        let redacted = redact(&page, Syntax::Markdown, &Options::default()).text;
        prop_assert_eq!(structure(&redacted), structure(&page), "{} became {}", page, redacted);
    }
}
