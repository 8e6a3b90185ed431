//! Removes personal data from a page that was written (specification, section 2.2.3).
//!
//! The specification promises this for the markdown. The texts of the metadata say the same as the markdown, so that
//! they are redacted, too. HTML, links and images are not: the page says so in a warning.

use serde_json::Value;
use websvc_redact::{Kind, Kinds, Options, RedactMode, ReplacementStyle, Syntax, redact};
use websvc_types::{RedactEntity, RedactOptions, ReplaceStyle};

use crate::page::Page;

/// The names of meta tags that hold the name of a person.
const AUTHORS: &[&str] = &[
    "author",
    "article:author",
    "book:author",
    "byl",
    "citation_author",
    "creator",
    "dc.creator",
    "dcterms.creator",
    "parsely-author",
    "sailthru.author",
    "twitter:creator",
];

/// A file that is not read cannot be redacted, and whoever asked for that must not take it for harmless.
const UNREAD_WARNING: &str = "redactPII covers what is read of a page: with these parsers the PDF is given as it is, and is not redacted";

/// Says of a page that is a file as it is that nothing was removed from it.
pub(crate) fn warn_of_unread(page: &mut Page) {
    if page.markdown.is_some() || page.html.is_some() || page.raw_html.is_some() {
        page.warnings.push(UNREAD_WARNING.to_owned());
    }
}

/// Removes personal data from the markdown of a page and the texts of its metadata.
pub(crate) fn redact_page(page: &mut Page, options: &RedactOptions) {
    page.is_redacted = true;
    let options = options_of(options);
    if let Some(markdown) = &mut page.markdown {
        replace(markdown, Syntax::Markdown, &options);
    }
    let metadata = &mut page.metadata;
    for text in [&mut metadata.title, &mut metadata.description].into_iter().flatten() {
        replace(text, Syntax::Plain, &options);
    }
    for (name, value) in &mut metadata.other {
        let is_author = AUTHORS.iter().any(|author| author.eq_ignore_ascii_case(name));
        redact_value(value, is_author && options.kinds.has(Kind::Person), &options);
    }
    let unredacted = [
        ("html", page.html.is_some()),
        ("rawHtml", page.raw_html.is_some()),
        ("links", page.links.is_some()),
        ("images", page.images.is_some()),
    ];
    let unredacted: Vec<&str> = unredacted.into_iter().filter(|(_, is)| *is).map(|(name, _)| name).collect();
    if !unredacted.is_empty() {
        let names = unredacted.join(", ");
        page.warnings.push(format!("redactPII covers the markdown and the metadata; not redacted: {names}"));
    }
}

/// Redacts the texts of a meta tag; a text that is the name of an author, as a whole.
fn redact_value(value: &mut Value, is_author: bool, options: &Options) {
    match value {
        Value::String(text) if is_author && !text.contains("://") => *text = whole(text, options),
        Value::String(text) => replace(text, Syntax::Plain, options),
        Value::Array(values) => {
            for value in values {
                redact_value(value, is_author, options);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
    }
}

fn whole(name: &str, options: &Options) -> String {
    match options.style {
        ReplacementStyle::Tag => Kind::Person.tag().to_owned(),
        ReplacementStyle::Mask => "*".repeat(name.chars().count()),
        ReplacementStyle::Remove => String::new(),
    }
}

fn replace(text: &mut String, syntax: Syntax, options: &Options) {
    let redaction = redact(text, syntax, options);
    if !redaction.findings.is_empty() {
        *text = redaction.text.into_owned();
    }
}

fn options_of(options: &RedactOptions) -> Options {
    let RedactOptions { mode, entities, replace_style } = options;
    let mode = match mode.unwrap_or(websvc_types::RedactMode::Accurate) {
        websvc_types::RedactMode::Accurate | websvc_types::RedactMode::Fast => RedactMode::Fast,
        websvc_types::RedactMode::Aggressive => RedactMode::Aggressive,
    };
    let style = match replace_style.unwrap_or(ReplaceStyle::Tag) {
        ReplaceStyle::Tag => ReplacementStyle::Tag,
        ReplaceStyle::Mask => ReplacementStyle::Mask,
        ReplaceStyle::Remove => ReplacementStyle::Remove,
    };
    let kinds = match entities.as_deref() {
        None | Some([]) => Kinds::ALL,
        Some(entities) => entities.iter().map(kind).collect(),
    };
    Options { mode, kinds, style }
}

fn kind(entity: &RedactEntity) -> Kind {
    match entity {
        RedactEntity::Person => Kind::Person,
        RedactEntity::Email => Kind::Email,
        RedactEntity::Phone => Kind::Phone,
        RedactEntity::Location => Kind::Location,
        RedactEntity::Financial => Kind::Financial,
        RedactEntity::Secret => Kind::Secret,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;
    use websvc_types::Metadata;

    use super::*;

    fn page() -> Page {
        let other = BTreeMap::from([
            ("author".to_owned(), json!("Xochitl Quetzal")),
            ("og:url".to_owned(), json!("https://a.test/jane@a.test")),
            ("keywords".to_owned(), json!(["tea", "jane@a.test"])),
        ]);
        Page {
            markdown: Some("Mail `x@a.test` or [jane@a.test](mailto:jane@a.test).".to_owned()),
            metadata: Metadata { title: Some("Jane Doe | Tea".to_owned()), other, ..Metadata::default() },
            ..Page::default()
        }
    }

    fn redacted(options: Value) -> Page {
        let mut page = page();
        redact_page(&mut page, &serde_json::from_value(options).unwrap());
        page
    }

    #[test]
    fn markdown_and_the_texts_of_the_metadata_are_redacted() {
        let page = redacted(json!({}));
        assert_eq!(page.markdown.unwrap(), "Mail `x@a.test` or [<EMAIL>](mailto:<EMAIL>).");
        assert_eq!(page.metadata.title.unwrap(), "<PERSON> | Tea");
        let other = page.metadata.other;
        assert_eq!(other["author"], json!("<PERSON>"));
        assert_eq!(other["og:url"], json!("https://a.test/jane@a.test"));
        assert_eq!(other["keywords"], json!(["tea", "<EMAIL>"]));
        assert!(page.warnings.is_empty());
    }

    #[test]
    fn style_mode_and_entities_are_those_of_the_request() {
        let page = redacted(json!({ "replaceStyle": "mask", "entities": ["PERSON"] }));
        assert_eq!(page.markdown.unwrap(), "Mail `x@a.test` or [jane@a.test](mailto:jane@a.test).");
        assert_eq!(page.metadata.title.unwrap(), "******** | Tea");
        let page = redacted(json!({ "replaceStyle": "remove", "mode": "aggressive" }));
        assert_eq!(page.markdown.unwrap(), "Mail `` or [](mailto:).");
        assert_eq!(page.metadata.other["author"], json!(""));
    }

    #[test]
    fn formats_that_keep_personal_data_are_named() {
        let mut page = Page { html: Some(String::new()), links: Some(Vec::new()), ..Page::default() };
        redact_page(&mut page, &RedactOptions::default());
        assert_eq!(
            page.warnings,
            ["redactPII covers the markdown and the metadata; not redacted: html, links"]
        );
    }
}
