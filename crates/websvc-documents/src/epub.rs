//! Books: the chapters in the order of the spine, their XHTML reduced to what has a meaning.

use std::collections::HashMap;

use crate::error::DocumentError;
use crate::flow::is_web_address;
use crate::html::{Html, escaped, push_escaped};
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::office::about;
use crate::parsed_document::{PageCounts, ParsedDocument};
use crate::xml::{Tag, Token, Xml};
use crate::zip_package::{Package, resolve};

const KIND: DocumentKind = DocumentKind::Epub;

/// The elements that are kept; of all others only the content is.
const KEPT: &[&str] = &[
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
/// The elements that are left out with their content.
const DROPPED: &[&str] = &["script", "style", "head", "svg", "nav", "template", "object", "iframe"];

/// Reads a book.
pub(crate) fn parse(bytes: Vec<u8>, limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let mut package = Package::open(KIND, bytes, limits.max_inflated_bytes)?;
    if package.part("META-INF/rights.xml")?.is_some() {
        return Err(DocumentError::Encrypted { kind: KIND });
    }
    let root = root(&mut package)?;
    let about = about(&mut package, KIND, &root)?;
    let chapters = chapters(&mut package, &root)?;
    let mut html = Html::new(limits.max_output_bytes);
    let mut pages =
        PageCounts { total: u32::try_from(chapters.len()).unwrap_or(u32::MAX), ..PageCounts::default() };
    let mut warnings = Vec::new();
    for chapter in chapters.iter().take(limits.max_pages as usize) {
        if html.is_full() || (limits.stop)() {
            break;
        }
        if let Some(text) = package.part(chapter)? {
            let (markup, broken) = sanitize_xhtml(&text)?;
            html.push(&markup);
            if broken {
                warnings.push(format!("the chapter {chapter} is damaged and was read in part"));
            }
        }
        pages.read += 1;
    }
    if html.is_full() {
        warnings.push("the text was cut off at the largest size of an answer".to_owned());
    }
    Ok(ParsedDocument { html: html.into_string(), about, pages: Some(pages), warnings })
}

/// Returns the part that describes the book.
fn root(package: &mut Package) -> Result<String, DocumentError> {
    refuse_protected(package)?;
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
    Err(DocumentError::damaged(KIND, "its container names no book"))
}

/// Refuses books whose content is encrypted; fonts that are only hidden from others are no content.
fn refuse_protected(package: &mut Package) -> Result<(), DocumentError> {
    const OF_FONTS: [&str; 2] = ["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"];
    let Some(text) = package.part("META-INF/encryption.xml")? else { return Ok(()) };
    let mut xml = Xml::new(KIND, &text);
    while let Some(token) = xml.next()? {
        if let Token::Start(tag) = token
            && tag.name == "EncryptionMethod"
            && tag.get("Algorithm").is_some_and(|algorithm| !OF_FONTS.contains(&algorithm))
        {
            return Err(DocumentError::Unsupported { what: "an epub file with copy protection".to_owned() });
        }
    }
    Ok(())
}

/// Returns the parts of the chapters in the order of reading.
fn chapters(package: &mut Package, root: &str) -> Result<Vec<String>, DocumentError> {
    let text = package.required(root)?;
    let mut xml = Xml::new(KIND, &text);
    let mut items: HashMap<String, String> = HashMap::new();
    let mut chapters = Vec::new();
    while let Some(token) = xml.next()? {
        let Token::Start(tag) = token else { continue };
        match tag.name.as_str() {
            "item" => {
                let is_contents =
                    tag.get("properties").is_some_and(|names| names.split(' ').any(|name| name == "nav"));
                if let (Some(id), Some(href), false) = (tag.get("id"), tag.get("href"), is_contents) {
                    items.insert(id.to_owned(), resolve(root, &unescaped(href)));
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

/// Undoes `%20` in the names of parts.
fn unescaped(href: &str) -> String {
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

/// Returns the content of a chapter, and whether it breaks off.
fn sanitize_xhtml(text: &str) -> Result<(String, bool), DocumentError> {
    let mut xml = Xml::new(KIND, text);
    let mut markup = String::new();
    let mut open: Vec<String> = Vec::new();
    let broken = loop {
        match xml.next() {
            Ok(None) => break false,
            Err(DocumentError::Damaged { .. }) => break true,
            Err(error) => return Err(error),
            Ok(Some(Token::Text(text))) => push_escaped(&mut markup, &text),
            Ok(Some(Token::Start(tag))) if DROPPED.contains(&tag.name.as_str()) => xml.skip()?,
            Ok(Some(Token::Start(tag))) => start(&tag, &mut markup, &mut open),
            Ok(Some(Token::End(name))) => end(&name, &mut markup, &mut open),
        }
    };
    while let Some(name) = open.pop() {
        markup.push_str(&format!("</{name}>"));
    }
    markup.push('\n');
    Ok((markup, broken))
}

fn start(tag: &Tag, markup: &mut String, open: &mut Vec<String>) {
    let name = tag.name.as_str();
    let address = tag.get("href").filter(|address| name == "a" && is_web_address(address));
    if let Some(address) = address {
        markup.push_str(&format!("<a href=\"{}\">", escaped(address)));
        open.push("a".to_owned());
    } else if name == "img" {
        push_escaped(markup, tag.get("alt").unwrap_or_default());
    } else if KEPT.contains(&name) {
        markup.push_str(&format!("<{name}>"));
        if !matches!(name, "br" | "hr") {
            open.push(name.to_owned());
        }
    }
}

fn end(name: &str, markup: &mut String, open: &mut Vec<String>) {
    // What was opened within and not closed ends with it.
    if let Some(at) = open.iter().rposition(|known| known == name) {
        while open.len() > at {
            if let Some(inner) = open.pop() {
                markup.push_str(&format!("</{inner}>"));
            }
        }
    }
}
