//! Removal of personal data from a formatted page (specification, section 2.2.3).
//!
//! The specification requires this for the markdown. The texts of the metadata repeat the markdown, so they are
//! redacted too. HTML, links and images are not; a warning of the page says so.

use serde_json::Value;
use websvc_redact::{Kind, Kinds, Options, RedactMode, ReplacementStyle, Syntax, redact};
use websvc_types::{RedactEntity, RedactOptions, ReplaceStyle};

use crate::page::Page;

/// The names of meta tags that contain the name of a person.
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

/// The warning for a file that is not parsed: it cannot be redacted, and the caller must not take it for redacted.
const UNREAD_WARNING: &str =
    "redactPII covers parsed text only: with these parsers the PDF is returned as a file and is not redacted";

/// Adds the warning that nothing was removed from a file that is returned as it is.
pub(crate) fn warn_not_redacted(page: &mut Page) {
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
    if let Some(design) = &mut page.design {
        design.choices.redact_texts(|text| replace(text, Syntax::Plain, &options));
    }
    let unredacted = [
        ("html", page.html.is_some()),
        ("rawHtml", page.raw_html.is_some()),
        ("links", page.links.is_some()),
        ("images", page.images.is_some()),
        ("product", page.product.is_some()),
        ("menu", page.menu.is_some()),
        ("branding", page.design.is_some()),
    ];
    let unredacted: Vec<&str> =
        unredacted.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name).collect();
    if !unredacted.is_empty() {
        let names = unredacted.join(", ");
        page.warnings.push(format!("redactPII covers the markdown and the metadata; not redacted: {names}"));
    }
}

/// Redacts the texts of a meta tag; the name of an author is redacted completely.
fn redact_value(value: &mut Value, is_author: bool, options: &Options) {
    match value {
        Value::String(text) if is_author && !text.contains("://") => *text = redact_name(text, options),
        Value::String(text) => replace(text, Syntax::Plain, options),
        Value::Array(values) => {
            for value in values {
                redact_value(value, is_author, options);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
    }
}

fn redact_name(name: &str, options: &Options) -> String {
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
    fn markdown_and_texts_of_metadata_are_redacted() {
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
    fn style_mode_and_entities_of_the_request_apply() {
        let page = redacted(json!({ "replaceStyle": "mask", "entities": ["PERSON"] }));
        assert_eq!(page.markdown.unwrap(), "Mail `x@a.test` or [jane@a.test](mailto:jane@a.test).");
        assert_eq!(page.metadata.title.unwrap(), "******** | Tea");
        let page = redacted(json!({ "replaceStyle": "remove", "mode": "aggressive" }));
        assert_eq!(page.markdown.unwrap(), "Mail `` or [](mailto:).");
        assert_eq!(page.metadata.other["author"], json!(""));
    }

    #[test]
    fn warning_names_formats_that_are_not_redacted() {
        let mut page = Page { html: Some(String::new()), links: Some(Vec::new()), ..Page::default() };
        redact_page(&mut page, &RedactOptions::default());
        assert_eq!(
            page.warnings,
            ["redactPII covers the markdown and the metadata; not redacted: html, links"]
        );
    }
}
