//! Structured data of a page: JSON-LD, microdata and RDFa as graphs of schema.org entities, and meta tags.
//!
//! All syntaxes are read into the same [`Graph`], so that a reader of products or menus has one mapping. Broken input is
//! skipped, and every list, text and depth is limited.

mod graph;
mod json_ld;
mod json_ld_graph;
mod microdata;
mod rdfa;
mod value;

pub(crate) use graph::{Entity, EntityId, Graph, Literal, Property};
pub(crate) use json_ld::{blocks, objects};
pub(crate) use value::plain_text;

use crate::dom::Dom;
use crate::meta_tags::{self, MetaValue};
use serde_json::Value;
use std::collections::BTreeMap;

/// The structured data of a page, by syntax.
#[derive(Debug)]
pub(crate) struct StructuredData {
    /// Entities of the JSON-LD blocks.
    pub(crate) json_ld: Graph,
    /// Items of the microdata.
    pub(crate) microdata: Graph,
    /// Resources of RDFa Lite with terms of schema.org.
    pub(crate) rdfa: Graph,
    /// Meta tags by their lower-case names, Open Graph among them.
    pub(crate) meta: BTreeMap<String, MetaValue>,
}

impl StructuredData {
    /// Reads the structured data of a page with these JSON-LD blocks.
    pub(crate) fn read(dom: &Dom, json_ld: &[Value]) -> StructuredData {
        StructuredData {
            json_ld: json_ld_graph::read(json_ld),
            microdata: microdata::read(dom),
            rdfa: rdfa::read(dom),
            meta: meta_tags::read(dom),
        }
    }

    /// Returns the first value of a meta tag that is not empty.
    pub(crate) fn meta(&self, names: &[&str]) -> Option<&str> {
        let values = names.iter().filter_map(|name| self.meta.get(*name)).map(MetaValue::first);
        values.map(str::trim).find(|value| !value.is_empty())
    }
}
