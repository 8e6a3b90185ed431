//! Applies changes that the page's scripts would make, if they are clear from the markup alone.

use super::{Dom, NodeId, Tag};
use std::collections::HashMap;

impl Dom {
    /// Moves streamed parts to their places: React sends `<template id="B:1">` first and `<div hidden id="S:1">` later.
    pub(super) fn move_streamed_fragments(&mut self) {
        let placeholders: HashMap<String, NodeId> = self
            .descendants(NodeId::ROOT)
            .filter(|&id| self.is(id, Tag::Template))
            .filter_map(|id| Some((self.attribute(id, "id")?.strip_prefix("B:")?.to_owned(), id)))
            .collect();
        if placeholders.is_empty() {
            return;
        }
        let is_part = |&id: &NodeId| self.is(id, Tag::Div) && self.attribute(id, "hidden").is_some();
        let moves: Vec<(NodeId, NodeId)> = self
            .descendants(NodeId::ROOT)
            .filter(is_part)
            .filter_map(|id| Some((id, *placeholders.get(self.attribute(id, "id")?.strip_prefix("S:")?)?)))
            .collect();
        for (part, placeholder) in moves {
            // A part never contains its own placeholder, but a hostile page may.
            let Some(parent) =
                self.parent(placeholder).filter(|_| self.ancestors(placeholder).all(|id| id != part))
            else {
                continue;
            };
            while let Some(child) = self.first_child(part) {
                self.insert(child, parent, placeholder);
            }
        }
    }
}
