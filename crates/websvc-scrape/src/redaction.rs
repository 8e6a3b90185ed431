//! Removal of personal data from a formatted page (specification, section 2.2.3).
//!
//! The specification requires this for the markdown. The texts of the metadata repeat the markdown, so they are
//! redacted too. HTML, links and images are not; a warning of the page says so.

use std::collections::HashSet;

use serde_json::Value;
use url::Url;
use websvc_redact::{
    Kind, Kinds, NamedPart, NamedText, Options, RedactMode, ReplacementStyle, Syntax, redact, redact_named,
};
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
    "redactPII covers parsed text only: the file is returned as it was received and is not redacted";

/// Means to find personal data in a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonalData {
    /// Texts that a language model named in parts of the markdown.
    pub markdown: Vec<NamedPart>,
    /// Texts that it named in the metadata.
    pub metadata: Vec<NamedText>,
    /// True if the rules of the mode apply, too.
    pub with_rules: bool,
}

impl PersonalData {
    /// The rules alone.
    pub const RULES: Self = Self { markdown: Vec::new(), metadata: Vec::new(), with_rules: true };
}

/// Options of a redaction, with the means to find personal data.
struct Redactor<'a> {
    options: Options,
    data: &'a PersonalData,
    /// The named texts of the metadata and of the markdown, for a text of the metadata.
    metadata: Vec<NamedText>,
}

/// Adds the warning that nothing was removed from a file that is returned as it is.
pub fn warn_not_redacted(page: &mut Page) {
    let files = [&page.markdown, &page.html, &page.raw_html, &page.raw_base64];
    if files.into_iter().any(Option::is_some) {
        page.warnings.push(UNREAD_WARNING.to_owned());
    }
}

/// Returns the kinds of personal data that the options request.
#[must_use]
pub fn requested_kinds(options: &RedactOptions) -> Kinds {
    match options.entities.as_deref() {
        None | Some([]) => Kinds::ALL,
        Some(entities) => entities.iter().map(kind).collect(),
    }
}

/// The texts of the metadata of a page that are redacted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MetadataTexts {
    /// The texts, a line each.
    pub lines: String,
    /// True if there are others, which did not fit.
    pub is_truncated: bool,
}

/// Returns the texts of the metadata that are redacted, each once, up to a size in bytes. A URL alone is not one of them.
#[must_use]
pub fn metadata_texts(page: &Page, max_bytes: usize) -> MetadataTexts {
    let metadata = &page.metadata;
    let mut all: Vec<&str> =
        [&metadata.title, &metadata.description].into_iter().flatten().map(String::as_str).collect();
    for value in metadata.other.values() {
        push_texts(value, &mut all);
    }
    let is_url =
        |text: &str| text.contains("://") && !text.contains(char::is_whitespace) && Url::parse(text).is_ok();
    let mut texts = MetadataTexts::default();
    let mut seen = HashSet::new();
    for text in all.into_iter().map(str::trim).filter(|text| !text.is_empty() && !is_url(text)) {
        if !seen.insert(text) {
            continue;
        }
        if texts.lines.len() + text.len() >= max_bytes {
            texts.is_truncated = true;
            continue;
        }
        texts.lines.push_str(text);
        texts.lines.push('\n');
    }
    texts
}

/// Adds the texts that [`Redactor::value`] redacts.
fn push_texts<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| push_texts(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
    }
}

/// Removes personal data from the markdown of a page and the texts of its metadata.
pub fn redact_page(page: &mut Page, options: &RedactOptions, data: &PersonalData) {
    page.is_redacted = true;
    let in_markdown = data.markdown.iter().flat_map(|part| &part.texts);
    let metadata = data.metadata.iter().chain(in_markdown).cloned().collect();
    let redactor = Redactor { options: options_of(options), data, metadata };
    if let Some(markdown) = &mut page.markdown {
        redactor.markdown(markdown);
    }
    let blocks = page.blocks.iter_mut().flatten().flat_map(|page| &mut page.items);
    let pages = page.pages.iter_mut().flatten();
    for text in pages.map(|page| &mut page.markdown).chain(blocks.map(|block| &mut block.content)) {
        redactor.page_markdown(text);
    }
    let metadata = &mut page.metadata;
    for text in [&mut metadata.title, &mut metadata.description].into_iter().flatten() {
        redactor.plain(text);
    }
    for (name, value) in &mut metadata.other {
        let is_author = AUTHORS.iter().any(|author| author.eq_ignore_ascii_case(name));
        redactor.value(value, is_author && redactor.options.kinds.has(Kind::Person));
    }
    if let Some(design) = &mut page.design {
        // The markdown does not have all of these texts, so a model may not have read them.
        design.choices.redact_texts(|text| {
            redactor.plain(text);
            redactor.apply_rules(text, Syntax::Plain);
        });
    }
    let unredacted = [
        ("html", page.html.is_some()),
        ("rawHtml", page.raw_html.is_some()),
        ("rawBase64", page.raw_base64.is_some()),
        ("links", page.links.is_some()),
        ("images", page.images.is_some()),
        ("attributes", page.attributes.is_some()),
        ("product", page.product.is_some()),
        ("menu", page.menu.is_some()),
        ("videos", page.videos.is_some()),
        ("branding", page.design.is_some()),
    ];
    let unredacted: Vec<&str> =
        unredacted.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name).collect();
    if !unredacted.is_empty() {
        let names = unredacted.join(", ");
        page.warnings.push(format!("redactPII covers the markdown and the metadata; not redacted: {names}"));
    }
}

impl Redactor<'_> {
    fn markdown(&self, text: &mut String) {
        self.replace(text, Syntax::Markdown, &self.data.markdown);
    }

    /// Redacts a page of a document. The ranges of the named parts are not those of the page, so all named texts count.
    /// The rules always apply, too: the model may have read only a part of the text, such as the cleaned markdown.
    fn page_markdown(&self, text: &mut String) {
        self.replace(text, Syntax::Markdown, &[self.named_in(text)]);
        if !self.data.with_rules {
            self.apply_rules(text, Syntax::Markdown);
        }
    }

    /// Returns the named texts that occur in a text, as its only part. A search for all of them would be built for each of
    /// the texts, of which a page may have thousands.
    fn named_in(&self, text: &str) -> NamedPart {
        let texts = self.metadata.iter().filter(|named| named.is_in(text)).cloned().collect();
        NamedPart { range: 0..text.len(), texts }
    }

    fn plain(&self, text: &mut String) {
        self.replace(text, Syntax::Plain, &[self.named_in(text)]);
    }

    /// Redacts the texts of a meta tag; the name of an author is redacted completely.
    fn value(&self, value: &mut Value, is_author: bool) {
        match value {
            Value::String(text) if is_author && !text.contains("://") => *text = self.name(text),
            Value::String(text) => self.plain(text),
            Value::Array(values) => {
                for value in values {
                    self.value(value, is_author);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
    }

    fn name(&self, name: &str) -> String {
        match self.options.style {
            ReplacementStyle::Tag => Kind::Person.tag().to_owned(),
            ReplacementStyle::Mask => "*".repeat(name.chars().count()),
            ReplacementStyle::Remove => String::new(),
        }
    }

    fn replace(&self, text: &mut String, syntax: Syntax, parts: &[NamedPart]) {
        // The ranges of the parts are those of the original text, so named texts come before the rules.
        if parts.iter().any(|part| !part.texts.is_empty()) {
            let redaction = redact_named(text, syntax, &self.options, parts);
            if !redaction.findings.is_empty() {
                *text = redaction.text.into_owned();
            }
        }
        if self.data.with_rules {
            self.apply_rules(text, syntax);
        }
    }

    fn apply_rules(&self, text: &mut String, syntax: Syntax) {
        let redaction = redact(text, syntax, &self.options);
        if !redaction.findings.is_empty() {
            *text = redaction.text.into_owned();
        }
    }
}

fn options_of(options: &RedactOptions) -> Options {
    let RedactOptions { mode, entities: _, replace_style } = options;
    let mode = match mode.unwrap_or(websvc_types::RedactMode::Accurate) {
        websvc_types::RedactMode::Accurate | websvc_types::RedactMode::Fast => RedactMode::Fast,
        websvc_types::RedactMode::Aggressive => RedactMode::Aggressive,
    };
    let style = match replace_style.unwrap_or(ReplaceStyle::Tag) {
        ReplaceStyle::Tag => ReplacementStyle::Tag,
        ReplaceStyle::Mask => ReplacementStyle::Mask,
        ReplaceStyle::Remove => ReplacementStyle::Remove,
    };
    Options { mode, kinds: requested_kinds(options), style }
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
    use websvc_types::{DocumentPage, Metadata};

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
        redact_page(&mut page, &serde_json::from_value(options).unwrap(), &PersonalData::RULES);
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
    fn named_texts_are_replaced_with_and_without_the_rules() {
        let named = |kind, text| NamedText::new(kind, text).unwrap();
        let with = |with_rules| {
            let mut page = page();
            page.markdown = Some("Ask Bo about tea: x@a.test.".to_owned());
            let texts = vec![named(Kind::Person, "Bo")];
            let metadata = vec![named(Kind::Person, "Jane")];
            let data =
                PersonalData { markdown: vec![NamedPart { range: 0..9, texts }], metadata, with_rules };
            redact_page(&mut page, &RedactOptions::default(), &data);
            page
        };
        let page = with(false);
        assert_eq!(page.markdown.unwrap(), "Ask <PERSON> about tea: x@a.test.");
        assert_eq!(page.metadata.title.unwrap(), "<PERSON> Doe | Tea");
        assert_eq!(page.metadata.other["author"], json!("<PERSON>"));
        assert_eq!(page.metadata.other["keywords"], json!(["tea", "jane@a.test"]));
        assert_eq!(with(true).markdown.unwrap(), "Ask <PERSON> about tea: <EMAIL>.");
    }

    #[test]
    fn pages_of_a_document_are_redacted_with_all_named_texts_and_the_rules() {
        let mut page = page();
        page.markdown = None;
        page.pages = Some(vec![DocumentPage::new(1, "Ask Bo: x@a.test.".to_owned())]);
        let texts = vec![NamedText::new(Kind::Person, "Bo").unwrap()];
        let markdown = vec![NamedPart { range: 900..950, texts }];
        let data = PersonalData { markdown, metadata: Vec::new(), with_rules: false };
        redact_page(&mut page, &RedactOptions::default(), &data);
        assert_eq!(page.pages.unwrap()[0].markdown, "Ask <PERSON>: <EMAIL>.");
    }

    #[test]
    fn texts_of_the_metadata_are_listed_once_up_to_a_size() {
        let mut page = page();
        page.metadata.description = Some("Jane Doe | Tea".to_owned());
        page.metadata.other.insert("og:see".to_owned(), json!("See https://a.test/ or ask Bo"));
        let check = |max_bytes, lines: &str, is_truncated| {
            let expected = MetadataTexts { lines: lines.to_owned(), is_truncated };
            assert_eq!(metadata_texts(&page, max_bytes), expected);
        };
        let all = "Jane Doe | Tea\nXochitl Quetzal\ntea\njane@a.test\nSee https://a.test/ or ask Bo\n";
        check(all.len(), all, false);
        check(all.len() - 1, "Jane Doe | Tea\nXochitl Quetzal\ntea\njane@a.test\n", true);
        check(15, "Jane Doe | Tea\n", true);
    }

    #[test]
    fn warning_names_formats_that_are_not_redacted() {
        let mut page = Page { html: Some(String::new()), links: Some(Vec::new()), ..Page::default() };
        redact_page(&mut page, &RedactOptions::default(), &PersonalData::RULES);
        assert_eq!(
            page.warnings,
            ["redactPII covers the markdown and the metadata; not redacted: html, links"]
        );
    }
}
