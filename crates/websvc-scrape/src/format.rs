//! The formats of a plan from a page as received: the body is parsed once, and each format is written from that
//! document.
//!
//! Everything here is CPU work and runs on the blocking pool.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::blocklist::banner_selectors;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use jiff::Timestamp;
use serde_json::Value;
use url::Url;
use websvc_branding::{StyleReport, design};
use websvc_documents::DocumentKind;
use websvc_extract::{
    Base64Images, Content, ContentOptions, ContentScope, Document, ExtractError, MetaValue, PageAttributes,
    PageMetadata, Selectors, Source,
};
use websvc_transport::without_credentials;
use websvc_types::format::AttributeSelector;
use websvc_types::{CacheState as WireCacheState, Format, Metadata, ProxyUsed};
use websvc_validate::ScrapePlan;

use crate::document_pages::{self, DOCUMENT_CONTENT_TYPE};
use crate::documents::{ConvertedDocument, document_kind, options_of};
use crate::error::ScrapeError;
use crate::index_copy::index_copy;
use crate::out_links::out_links;
use crate::page::Page;
use crate::raw::{CacheState, RawPage};
use crate::redaction::{self, PersonalData};
use crate::shell::is_shell;

/// The warning for a shell page that was not rendered: a caller must not take missing content for an empty page.
const SHELL_WARNING: &str =
    "the page needs JavaScript and was not rendered by a browser: the served HTML has almost no text";

/// The warning about values that were left out.
const TOO_MANY_ATTRIBUTES: &str =
    "format attributes: the page has too many matching elements, and the list is incomplete";

/// The warnings for a page that is about something else (operations.md, section 8).
const NO_PRODUCT: &str = "No product found: the data of the page does not describe exactly one product";
const NO_MENU: &str = "No menu found: the page has no sections with dishes in its data or text. Menus in PDF files \
                       and images are not read";

/// The warnings about the design of a page.
const NO_DESIGN: &str = "no branding: the URL is a file, not a page";
const PARTIAL_DESIGN: &str =
    "format branding: the page is large, and only a part of its elements was examined";

/// Writes the formats of `plan`. Takes the page by value, so that its bytes are freed after parsing: large pages would
/// be in memory twice.
///
/// # Errors
/// [`ScrapeError::Extract`] for a body that is not text of a known kind, or for an invalid selector.
pub(crate) fn format_page(
    mut raw: RawPage,
    mut converted: Option<ConvertedDocument>,
    plan: &ScrapePlan,
    for_index: bool,
) -> Result<Page, ScrapeError> {
    let mut options = options(plan).map_err(ScrapeError::Extract)?;
    let is_unread_pdf = converted.is_none() && document_kind(&raw) == Some(DocumentKind::Pdf);
    if is_unread_pdf || is_only_bytes(plan) {
        return Ok(as_raw_file(&raw, plan));
    }
    if converted.is_some() {
        // A document has no navigation around its content, and its headers and footers are removed already.
        options.scope = ContentScope::Full;
    }
    let styles = take_styles(&mut raw);
    let banners = banners(&raw, converted.as_ref())?;
    if plan.block_ads {
        options.banners = banners.clone();
    }
    let document = parse(&raw, converted.as_ref())?;
    let raw_base64 = wants(plan, "rawBase64").then(|| STANDARD.encode(&raw.body));
    let metadata = document.metadata();
    let out_links = plan.needs_out_links.then(|| Box::new(out_links(&raw, &document, &metadata)));
    let is_unrendered_shell = !raw.is_rendered && is_shell(&raw);
    raw.body = Bytes::new();
    if let Some(converted) = &mut converted {
        converted.html = String::new();
    }
    let (raw, converted) = (&raw, converted.as_ref());
    let content = document.content(&options);
    let mut page = Page { out_links, raw_base64, ..page_without_formats(raw) };
    for format in &plan.formats {
        write(&mut page, format, &document, &content);
    }
    if let Some(converted) = converted {
        document_pages::write(&mut page, converted, raw, &options)?;
    }
    page.warnings.clone_from(&raw.warnings);
    page.warnings.extend(converted.into_iter().flat_map(|converted| converted.warnings.iter().cloned()));
    read_product_and_menu(&mut page, plan, converted.is_none().then_some(&document));
    if wants(plan, "video") && converted.is_none() {
        page.videos = Some(document.videos()).filter(|videos| !videos.is_empty());
    }
    if let Some(styles) = styles {
        let document = converted.is_none().then_some(&document);
        read_design(&mut page, styles, document, &raw.url);
    }
    // Warnings about the choice of the content do not concern a caller that requests only a screenshot or the source.
    if plan.formats.iter().any(shows_content) {
        page.warnings.extend(content.warnings());
        page.warnings.extend(document.embedded_document().as_ref().map(only_shows));
    }
    page.embedded_document = embedded_document(raw, &document, plan);
    if is_unrendered_shell {
        page.warnings.push(SHELL_WARNING.to_owned());
    }
    let is_storable = plan.store_in_cache && !raw.unverified;
    if is_storable && for_index {
        // The index takes the main content; it is extracted a second time only if the plan selects other content.
        page.index_copy = if converted.is_some() || is_plain(plan) {
            index_copy(raw, &document, &content, metadata.clone())
        } else {
            let options = ContentOptions { banners, ..ContentOptions::default() };
            index_copy(raw, &document, &document.content(&options), metadata.clone())
        };
    }
    page.metadata = document_metadata(raw, metadata, converted);
    if wants(plan, "rawHtml") {
        page.raw_html = Some(document.into_raw_html());
    }
    if let Some(options) = plan.redact_pii.as_ref() {
        redaction::redact_page(&mut page, options, &PersonalData::RULES);
    }
    Ok(page)
}

/// Returns a page without formats that has the details of this fetch.
fn page_without_formats(raw: &RawPage) -> Page {
    Page {
        cache_state: raw.cache_state,
        elapsed: raw.elapsed,
        retry_after: raw.retry_after(),
        artifacts: raw.artifacts.clone(),
        ..Page::default()
    }
}

/// Returns whether a plan requests nothing but the bytes, which are then not parsed.
pub(crate) fn is_only_bytes(plan: &ScrapePlan) -> bool {
    matches!(plan.formats.as_slice(), [Format::RawBase64(_)])
}

fn wants(plan: &ScrapePlan, format: &str) -> bool {
    plan.formats.iter().any(|requested| requested.name() == format)
}

/// Returns a file that must not be parsed as base64 of its bytes (specification, section 2.2, `parsers`).
fn as_raw_file(raw: &RawPage, plan: &ScrapePlan) -> Page {
    let encoded = |name| wants(plan, name).then(|| STANDARD.encode(&raw.body));
    let mut page = Page {
        markdown: encoded("markdown"),
        html: encoded("html"),
        raw_html: encoded("rawHtml"),
        raw_base64: encoded("rawBase64"),
        warnings: raw.warnings.clone(),
        ..page_without_formats(raw)
    };
    page.metadata = wire_metadata(raw, PageMetadata::default());
    read_product_and_menu(&mut page, plan, None);
    if plan.redact_pii.is_some() {
        redaction::warn_not_redacted(&mut page);
    }
    page
}

/// Updates a cached page for a new request: its source URL, cache state and times.
pub(crate) fn mark_cached(page: &mut Page, source_url: &Url, fetched_at: Timestamp) {
    page.cache_state = CacheState::Hit(fetched_at);
    page.elapsed = Duration::ZERO;
    page.metadata.source_url = Some(without_credentials(source_url).into());
    page.metadata.proxy_used = Some(ProxyUsed::Basic);
    page.metadata.cache_state = Some(WireCacheState::Hit);
    page.metadata.cached_at = Some(fetched_at.to_string());
}

pub(crate) fn parse(raw: &RawPage, converted: Option<&ConvertedDocument>) -> Result<Document, ScrapeError> {
    let (bytes, content_type) = match converted {
        Some(converted) => (converted.html.as_bytes(), Some(DOCUMENT_CONTENT_TYPE)),
        None => (&raw.body[..], raw.content_type()),
    };
    let source = Source { bytes, content_type, url: &raw.url };
    Document::parse(source).map_err(ScrapeError::Extract)
}

/// Returns the options for the content that the index takes of a page.
pub(crate) fn index_options(
    raw: &RawPage,
    converted: Option<&ConvertedDocument>,
) -> Result<ContentOptions, ScrapeError> {
    let scope = if converted.is_some() { ContentScope::Full } else { ContentScope::Main };
    Ok(ContentOptions { scope, banners: banners(raw, converted)?, ..ContentOptions::default() })
}

/// Returns the selectors of cookie banners that may be on a page; a document has none.
fn banners(raw: &RawPage, converted: Option<&ConvertedDocument>) -> Result<Selectors, ScrapeError> {
    let selectors = if converted.is_some() { Vec::new() } else { banner_selectors(&raw.body) };
    Selectors::parse(&selectors).map_err(ScrapeError::Extract)
}

/// Returns whether a plan takes the main content without `includeTags` and `excludeTags`.
fn is_plain(plan: &ScrapePlan) -> bool {
    plan.only_main_content && plan.include_tags.is_empty() && plan.exclude_tags.is_empty()
}

fn options(plan: &ScrapePlan) -> Result<ContentOptions, ExtractError> {
    Ok(ContentOptions {
        scope: if plan.only_main_content { ContentScope::Main } else { ContentScope::Full },
        include_tags: Selectors::parse(&plan.include_tags)?,
        exclude_tags: Selectors::parse(&plan.exclude_tags)?,
        banners: Selectors::default(),
        base64_images: if plan.remove_base64_images { Base64Images::Replace } else { Base64Images::Keep },
    })
}

/// Writes one format. Formats that this crate cannot write were reported before the page was fetched.
fn write(page: &mut Page, format: &Format, document: &Document, content: &Content<'_>) {
    match format {
        Format::Markdown(_) => page.markdown = Some(content.markdown()),
        Format::Html(_) => page.html = Some(content.html()),
        Format::Links(_) => page.links = Some(content.links()),
        Format::Images(_) => page.images = Some(document.images()),
        Format::Attributes(options) => write_attributes(page, &options.selectors, document),
        // The raw HTML is moved out of the document last, and the bytes were encoded before; the other formats are not
        // written from the content.
        Format::RawHtml(_)
        | Format::RawBase64(_)
        | Format::Product(_)
        | Format::Menu(_)
        | Format::Summary(_)
        | Format::Screenshot(_)
        | Format::Json(_)
        | Format::ChangeTracking(_)
        | Format::Branding(_)
        | Format::Audio(_)
        | Format::Video(_)
        | Format::Question(_)
        | Format::Highlights(_) => {}
    }
}

/// Writes the values of attributes of the whole page. The validator has parsed the selectors before.
fn write_attributes(page: &mut Page, selectors: &[AttributeSelector], document: &Document) {
    match document.attributes(selectors) {
        Ok(PageAttributes { values, is_complete }) => {
            page.attributes = Some(values);
            if !is_complete {
                page.warnings.push(TOO_MANY_ATTRIBUTES.to_owned());
            }
        }
        Err(error) => page.warnings.push(format!("format attributes: {error}")),
    }
}

/// Reads the product and the menu of a page, if requested. A file has neither.
fn read_product_and_menu(page: &mut Page, plan: &ScrapePlan, document: Option<&Document>) {
    if wants(plan, "product") {
        page.product = document.and_then(Document::product).map(Box::new);
        if page.product.is_none() {
            page.warnings.push(NO_PRODUCT.to_owned());
        }
    }
    if wants(plan, "menu") {
        page.menu = document.and_then(Document::menu).map(Box::new);
        if page.menu.is_none() {
            page.warnings.push(NO_MENU.to_owned());
        }
    }
}

/// Takes the computed styles out of the results of the browser, of which the page has a copy.
fn take_styles(raw: &mut RawPage) -> Option<Value> {
    let styles = raw.artifacts.as_mut()?.styles.take();
    raw.artifacts.take_if(|artifacts| artifacts.is_empty());
    styles
}

/// Reads the design of a page from its computed styles. A file has none.
fn read_design(page: &mut Page, styles: Value, document: Option<&Document>, url: &Url) {
    let Some(document) = document.filter(|document| document.kind().is_html()) else {
        page.warnings.push(NO_DESIGN.to_owned());
        return;
    };
    match StyleReport::parse(styles) {
        Ok(report) => {
            if report.is_cut() {
                page.warnings.push(PARTIAL_DESIGN.to_owned());
            }
            page.design = Some(Box::new(design(&report, &document.declared_brand(), url)));
        }
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "the computed styles have another form"
            );
            page.warnings.push("no branding: the styles of the page could not be read".to_owned());
        }
    }
}

/// Returns whether a format is written from the content of the page.
pub(crate) fn shows_content(format: &Format) -> bool {
    matches!(format, Format::Markdown(_) | Format::Html(_) | Format::Links(_) | Format::Images(_))
}

/// Returns the PDF file that is to be read instead of a page, if the page only shows one, and the plan has its text and
/// reads PDF files. A crawl reads it as a page of its own, under its own rules.
fn embedded_document(raw: &RawPage, document: &Document, plan: &ScrapePlan) -> Option<Url> {
    let is_wanted = raw.status.is_success()
        && !plan.needs_out_links
        && options_of(plan).is_some()
        && plan.formats.iter().any(|format| matches!(format, Format::Markdown(_) | Format::Html(_)));
    document.embedded_document().filter(|url| is_wanted && matches!(url.scheme(), "http" | "https"))
}

/// Returns the warning about a page that only shows a file.
pub(crate) fn only_shows(target: &Url) -> String {
    format!("the page only shows another document: {target}")
}

/// Returns the metadata of a page, with the page counts of a PDF.
fn document_metadata(
    raw: &RawPage,
    metadata: PageMetadata,
    converted: Option<&ConvertedDocument>,
) -> Metadata {
    let pages = converted.and_then(|converted| converted.pages.as_ref());
    let (num_pages, total_pages) = pages.map(|pages| (pages.read, pages.total)).unzip();
    Metadata { num_pages, total_pages, ..wire_metadata(raw, metadata) }
}

fn wire_metadata(raw: &RawPage, page: PageMetadata) -> Metadata {
    let PageMetadata {
        title,
        description,
        language,
        keywords,
        robots,
        favicon,
        published_time,
        modified_time,
        author,
        canonical: _,
        content_type,
        article: _,
        country: _,
        explicit: _,
        meta,
    } = page;
    // A page may give its meta tags any name, but must not overwrite our own keys.
    let meta = meta.into_iter().filter(|(name, _)| !Metadata::KEYS.contains(&name.as_str()));
    let mut other: BTreeMap<String, Value> = meta.map(|(name, value)| (name, json(value))).collect();
    for (name, value) in [
        ("keywords", keywords),
        ("robots", robots),
        ("favicon", favicon),
        ("publishedTime", published_time),
        ("modifiedTime", modified_time),
        ("author", author),
    ] {
        if let Some(value) = value {
            other.insert(name.to_owned(), Value::String(value));
        }
    }
    let (cache_state, cached_at) = match raw.cache_state {
        CacheState::Hit(at) => (WireCacheState::Hit, Some(at.to_string())),
        CacheState::Miss => (WireCacheState::Miss, None),
    };
    Metadata {
        title,
        description,
        language,
        source_url: Some(without_credentials(&raw.source_url).into()),
        url: Some(without_credentials(&raw.url).into()),
        status_code: Some(raw.status.as_u16()),
        content_type: raw.content_type().map(str::to_owned).or(content_type),
        proxy_used: Some(raw.proxy_used),
        cache_state: Some(cache_state),
        cached_at,
        error: (!raw.status.is_success()).then(|| format!("the page responded with {}", raw.status)),
        other,
        ..Metadata::default()
    }
}

fn json(value: MetaValue) -> Value {
    match value {
        MetaValue::One(text) => Value::String(text),
        MetaValue::Many(texts) => texts.into_iter().map(Value::String).collect(),
    }
}
