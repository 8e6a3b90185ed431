//! Puts in place what scripts of the page would, where markup alone tells how.

use super::{Dom, NodeId, Tag};
use std::collections::HashMap;

impl Dom {
    /// Moves streamed parts to their places: React sends `<template id="B:1">` first and `<div hidden id="S:1">` later.
    pub(super) fn move_streamed_fragments(&mut self) {
        let places: HashMap<String, NodeId> = self
            .descendants(NodeId::ROOT)
            .filter(|&id| self.is(id, Tag::Template))
            .filter_map(|id| Some((self.attribute(id, "id")?.strip_prefix("B:")?.to_owned(), id)))
            .collect();
        if places.is_empty() {
            return;
        }
        let is_part = |&id: &NodeId| self.is(id, Tag::Div) && self.attribute(id, "hidden").is_some();
        let moves: Vec<(NodeId, NodeId)> = self
            .descendants(NodeId::ROOT)
            .filter(is_part)
            .filter_map(|id| Some((id, *places.get(self.attribute(id, "id")?.strip_prefix("S:")?)?)))
            .collect();
        for (part, place) in moves {
            // A part never holds its own place, but a page may claim so.
            let Some(parent) = self.parent(place).filter(|_| self.ancestors(place).all(|id| id != part))
            else {
                continue;
            };
            while let Some(child) = self.first_child(part) {
                self.insert(child, parent, place);
            }
        }
    }
}
