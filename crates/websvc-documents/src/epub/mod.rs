//! Reads EPUB books: the chapters in the order of the spine, and after them those outside of it.

mod chapter;

use std::collections::HashMap;

use crate::error::DocumentError;
use crate::html::Html;
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::office::{Images, read_metadata};
use crate::parsed_document::{PageCounts, ParsedDocument};
use crate::xml::Xml;
use crate::zip_package::{Package, resolve};
use chapter::{Chapters, Sanitizer};

const KIND: DocumentKind = DocumentKind::Epub;

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
    let mut pages = PageCounts::unread(chapters.len());
    let mut warnings = Vec::new();
    let numbers = Chapters::new(&chapters);
    let mut images = Images::default();
    for chapter in chapters.iter().take(limits.max_pages as usize) {
        if html.is_full() || (limits.stop)() {
            break;
        }
        if let Some(text) = package.part(chapter)? {
            let mut sanitizer = Sanitizer::new(&numbers, chapter, &mut package, &mut images);
            let is_damaged = sanitizer.read(&text)?;
            html.push(&sanitizer.finish());
            if is_damaged {
                warnings.push(format!("the chapter {chapter} is damaged and was read partially"));
            }
        }
        pages.read += 1;
    }
    if html.is_full() {
        warnings.push("the text was cut off at the maximum output size".to_owned());
    }
    let (html, pages) = (html.into_string(), Some(pages));
    Ok(ParsedDocument { html, metadata, pages, warnings, ..ParsedDocument::default() })
}

/// Returns the path of the package document (OPF), which describes the book.
fn package_document(package: &mut Package) -> Result<String, DocumentError> {
    reject_encrypted(package)?;
    let text = package.required("META-INF/container.xml")?;
    let mut xml = Xml::new(KIND, &text);
    while let Some(tag) = xml.start()? {
        if tag.name == "rootfile"
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
    while let Some(tag) = xml.start()? {
        if tag.name == "EncryptionMethod"
            && tag.get("Algorithm").is_some_and(|algorithm| !FONT_OBFUSCATION.contains(&algorithm))
        {
            return Err(DocumentError::Unsupported {
                feature: "an epub file with copy protection".to_owned(),
            });
        }
    }
    Ok(())
}

/// Returns the paths of the chapters in reading order. Chapters outside of this order, such as notes and answers, come
/// last.
fn chapters(package: &mut Package, package_document: &str) -> Result<Vec<String>, DocumentError> {
    let text = package.required(package_document)?;
    let mut xml = Xml::new(KIND, &text);
    let mut items: HashMap<String, String> = HashMap::new();
    let (mut chapters, mut others) = (Vec::new(), Vec::new());
    while let Some(tag) = xml.start()? {
        match tag.name.as_str() {
            "item" => {
                let is_navigation =
                    tag.get("properties").is_some_and(|names| names.split(' ').any(|name| name == "nav"));
                if let (Some(id), Some(href), false) = (tag.get("id"), tag.get("href"), is_navigation) {
                    items.insert(id.to_owned(), resolve(package_document, &percent_decode(href)));
                }
            }
            "itemref" => {
                let list = if tag.get("linear") == Some("no") { &mut others } else { &mut chapters };
                list.extend(tag.get("idref").and_then(|id| items.get(id)).cloned());
            }
            _ => {}
        }
    }
    chapters.append(&mut others);
    Ok(chapters)
}

/// Decodes percent-encoding in the path of a part.
fn percent_decode(href: &str) -> String {
    percent_encoding::percent_decode_str(href).decode_utf8_lossy().into_owned()
}
