//! Shared parts of the office formats: relations between parts, and document metadata.

use std::collections::HashMap;

use crate::error::DocumentError;
use crate::kind::DocumentKind;
use crate::parsed_document::DocumentMetadata;
use crate::xml::{Token, Xml};
use crate::zip_package::{Package, resolve};

/// The targets of the relations of a part, by ID.
#[derive(Debug, Default)]
pub(crate) struct Relations {
    targets: HashMap<String, String>,
}

impl Relations {
    pub(crate) fn read(package: &mut Package, kind: DocumentKind, part: &str) -> Result<Self, DocumentError> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let mut relations = Self::default();
        let Some(text) = package.part(&format!("{folder}/_rels/{name}.rels"))? else { return Ok(relations) };
        let mut xml = Xml::new(kind, &text);
        while let Some(token) = xml.next()? {
            let Token::Start(tag) = token else { continue };
            if let (Some(id), Some(target)) = (tag.get("Id"), tag.get("Target")) {
                let is_external = tag.get("TargetMode") == Some("External");
                let target = if is_external { target.to_owned() } else { resolve(part, target) };
                relations.targets.insert(id.to_owned(), target);
            }
        }
        Ok(relations)
    }

    pub(crate) fn get(&self, id: &str) -> Option<&str> {
        self.targets.get(id).map(String::as_str)
    }
}

/// Reads the Dublin Core metadata, which all office formats and EPUB have.
pub(crate) fn read_metadata(
    package: &mut Package,
    kind: DocumentKind,
    part: &str,
) -> Result<DocumentMetadata, DocumentError> {
    let Some(text) = package.part(part)? else { return Ok(DocumentMetadata::default()) };
    let mut metadata = DocumentMetadata::default();
    let mut xml = Xml::new(kind, &text);
    while let Some(token) = xml.next()? {
        let Token::Start(tag) = token else { continue };
        let field = match tag.name.as_str() {
            "title" => &mut metadata.title,
            "creator" | "initial-creator" => &mut metadata.author,
            "subject" | "description" => &mut metadata.description,
            "keywords" | "keyword" => &mut metadata.keywords,
            "language" => &mut metadata.language,
            "created" | "creation-date" => &mut metadata.created,
            "modified" | "date" => &mut metadata.modified,
            _ => continue,
        };
        let text = xml.text()?;
        if field.is_none() && !text.trim().is_empty() {
            *field = Some(text.trim().to_owned());
        }
    }
    Ok(metadata)
}
