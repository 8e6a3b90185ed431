//! Reads EPUB books: the chapters in the order of the spine, with the XHTML reduced to semantic elements.

use std::collections::HashMap;

use crate::error::DocumentError;
use crate::flow::is_web_url;
use crate::html::{Html, escape, push_escaped};
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::office::read_metadata;
use crate::parsed_document::{PageCounts, ParsedDocument};
use crate::xml::{Tag, Token, Xml};
use crate::zip_package::{Package, resolve};

const KIND: DocumentKind = DocumentKind::Epub;

/// The elements that are written to the output. Of other elements, only the content is written.
const ALLOWED_ELEMENTS: &[&str] = &[
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "p",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "blockquote",
    "pre",
    "code",
    "em",
    "strong",
    "b",
    "i",
    "sup",
    "sub",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "caption",
    "figure",
    "figcaption",
    "section",
    "div",
    "br",
    "hr",
    "del",
    "s",
    "q",
    "cite",
    "kbd",
    "samp",
    "var",
    "ruby",
    "rt",
    "rp",
];
/// The elements that are dropped with their content.
const DROPPED_ELEMENTS: &[&str] = &["script", "style", "head", "svg", "nav", "template", "object", "iframe"];

/// Reads a book.
pub(crate) fn parse(bytes: Vec<u8>, limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let mut package = Package::open(KIND, bytes, limits.max_inflated_bytes)?;
    if package.part("META-INF/rights.xml")?.is_some() {
        return Err(DocumentError::Encrypted { kind: KIND });
    }
    let package_document = package_document(&mut package)?;
    let metadata = read_metadata(&mut package, KIND, &package_document)?;
    let chapters = chapters(&mut package, &package_document)?;
    let mut html = Html::new(limits.max_output_bytes);
    let mut pages =
        PageCounts { total: u32::try_from(chapters.len()).unwrap_or(u32::MAX), ..PageCounts::default() };
    let mut warnings = Vec::new();
    for chapter in chapters.iter().take(limits.max_pages as usize) {
        if html.is_full() || (limits.stop)() {
            break;
        }
        if let Some(text) = package.part(chapter)? {
            let (markup, is_damaged) = sanitize_xhtml(&text)?;
            html.push(&markup);
            if is_damaged {
                warnings.push(format!("the chapter {chapter} is damaged and was read partially"));
            }
        }
        pages.read += 1;
    }
    if html.is_full() {
        warnings.push("the text was cut off at the maximum output size".to_owned());
    }
    Ok(ParsedDocument {
        html: html.into_string(),
        page_html: None,
        layout_html: None,
        metadata,
        pages: Some(pages),
        warnings,
    })
}

/// Returns the path of the package document (OPF), which describes the book.
fn package_document(package: &mut Package) -> Result<String, DocumentError> {
    reject_encrypted(package)?;
    let text = package.required("META-INF/container.xml")?;
    let mut xml = Xml::new(KIND, &text);
    while let Some(token) = xml.next()? {
        if let Token::Start(tag) = token
            && tag.name == "rootfile"
            && let Some(path) = tag.get("full-path")
        {
            return Ok(path.to_owned());
        }
    }
    Err(DocumentError::damaged(KIND, "its container does not name a package document"))
}

/// Rejects books with encrypted content. Obfuscated fonts are accepted, because fonts are not content.
fn reject_encrypted(package: &mut Package) -> Result<(), DocumentError> {
    const FONT_OBFUSCATION: [&str; 2] =
        ["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"];
    let Some(text) = package.part("META-INF/encryption.xml")? else { return Ok(()) };
    let mut xml = Xml::new(KIND, &text);
    while let Some(token) = xml.next()? {
        if let Token::Start(tag) = token
            && tag.name == "EncryptionMethod"
            && tag.get("Algorithm").is_some_and(|algorithm| !FONT_OBFUSCATION.contains(&algorithm))
        {
            return Err(DocumentError::Unsupported {
                feature: "an epub file with copy protection".to_owned(),
            });
        }
    }
    Ok(())
}

/// Returns the paths of the chapters in reading order.
fn chapters(package: &mut Package, package_document: &str) -> Result<Vec<String>, DocumentError> {
    let text = package.required(package_document)?;
    let mut xml = Xml::new(KIND, &text);
    let mut items: HashMap<String, String> = HashMap::new();
    let mut chapters = Vec::new();
    while let Some(token) = xml.next()? {
        let Token::Start(tag) = token else { continue };
        match tag.name.as_str() {
            "item" => {
                let is_navigation =
                    tag.get("properties").is_some_and(|names| names.split(' ').any(|name| name == "nav"));
                if let (Some(id), Some(href), false) = (tag.get("id"), tag.get("href"), is_navigation) {
                    items.insert(id.to_owned(), resolve(package_document, &percent_decode(href)));
                }
            }
            "itemref" if tag.get("linear") != Some("no") => {
                chapters.extend(tag.get("idref").and_then(|id| items.get(id)).cloned());
            }
            _ => {}
        }
    }
    Ok(chapters)
}

/// Decodes percent-encoding in the path of a part.
fn percent_decode(href: &str) -> String {
    let mut bytes = Vec::with_capacity(href.len());
    let mut rest = href.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the sanitized content of a chapter, and whether the chapter is damaged, so that the content is incomplete.
fn sanitize_xhtml(text: &str) -> Result<(String, bool), DocumentError> {
    let mut xml = Xml::new(KIND, text);
    let mut markup = String::new();
    let mut open: Vec<String> = Vec::new();
    let is_damaged = loop {
        match xml.next() {
            Ok(None) => break false,
            Err(DocumentError::Damaged { .. }) => break true,
            Err(error) => return Err(error),
            Ok(Some(Token::Text(text))) => push_escaped(&mut markup, &text),
            Ok(Some(Token::Start(tag))) if DROPPED_ELEMENTS.contains(&tag.name.as_str()) => xml.skip()?,
            Ok(Some(Token::Start(tag))) => start_element(&tag, &mut markup, &mut open),
            Ok(Some(Token::End(name))) => end_element(&name, &mut markup, &mut open),
        }
    };
    while let Some(name) = open.pop() {
        markup.push_str(&format!("</{name}>"));
    }
    markup.push('\n');
    Ok((markup, is_damaged))
}

fn start_element(tag: &Tag, markup: &mut String, open: &mut Vec<String>) {
    let name = tag.name.as_str();
    let url = tag.get("href").filter(|url| name == "a" && is_web_url(url));
    if let Some(url) = url {
        markup.push_str(&format!("<a href=\"{}\">", escape(url)));
        open.push("a".to_owned());
    } else if name == "img" {
        push_escaped(markup, tag.get("alt").unwrap_or_default());
    } else if ALLOWED_ELEMENTS.contains(&name) {
        markup.push_str(&format!("<{name}>"));
        if !matches!(name, "br" | "hr") {
            open.push(name.to_owned());
        }
    }
}

fn end_element(name: &str, markup: &mut String, open: &mut Vec<String>) {
    // Also closes the inner elements that have no end tag.
    if let Some(index) = open.iter().rposition(|open_name| open_name == name) {
        while open.len() > index {
            if let Some(inner) = open.pop() {
                markup.push_str(&format!("</{inner}>"));
            }
        }
    }
}
