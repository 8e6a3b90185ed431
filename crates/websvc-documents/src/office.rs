//! Shared parts of the Office Open XML formats: relations between parts, and document properties.

use std::collections::HashMap;

use crate::error::DocumentError;
use crate::kind::DocumentKind;
use crate::parsed_document::DocumentMetadata;
use crate::xml::{Token, Xml};
use crate::zip_package::{Package, resolve};

/// Targets of a part's relations, by ID.
#[derive(Debug, Default)]
pub(crate) struct Relations {
    targets: HashMap<String, String>,
}

impl Relations {
    pub(crate) fn of(package: &mut Package, kind: DocumentKind, part: &str) -> Result<Self, DocumentError> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let mut relations = Self::default();
        let Some(text) = package.part(&format!("{folder}/_rels/{name}.rels"))? else { return Ok(relations) };
        let mut xml = Xml::new(kind, &text);
        while let Some(token) = xml.next()? {
            let Token::Start(tag) = token else { continue };
            if let (Some(id), Some(target)) = (tag.get("Id"), tag.get("Target")) {
                let is_outside = tag.get("TargetMode") == Some("External");
                let target = if is_outside { target.to_owned() } else { resolve(part, target) };
                relations.targets.insert(id.to_owned(), target);
            }
        }
        Ok(relations)
    }

    pub(crate) fn get(&self, id: &str) -> Option<&str> {
        self.targets.get(id).map(String::as_str)
    }
}

/// Reads the properties that all office formats and books keep as Dublin Core.
pub(crate) fn about(
    package: &mut Package,
    kind: DocumentKind,
    part: &str,
) -> Result<DocumentMetadata, DocumentError> {
    let Some(text) = package.part(part)? else { return Ok(DocumentMetadata::default()) };
    let mut about = DocumentMetadata::default();
    let mut xml = Xml::new(kind, &text);
    while let Some(token) = xml.next()? {
        let Token::Start(tag) = token else { continue };
        let place = match tag.name.as_str() {
            "title" => &mut about.title,
            "creator" | "initial-creator" => &mut about.author,
            "subject" | "description" => &mut about.description,
            "keywords" | "keyword" => &mut about.keywords,
            "language" => &mut about.language,
            "created" | "creation-date" => &mut about.created,
            "modified" | "date" => &mut about.modified,
            _ => continue,
        };
        let text = xml.text()?;
        if place.is_none() && !text.trim().is_empty() {
            *place = Some(text.trim().to_owned());
        }
    }
    Ok(about)
}
