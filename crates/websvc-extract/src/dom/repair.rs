//! Applies changes that browsers and the page's scripts would make, if they are clear from the markup alone.

use super::{Dom, Namespace, NodeId, NodeKind, Tag};
use html5ever::local_name;
use std::collections::{HashMap, HashSet};

/// Maximum number of declarative shadow trees of a page.
const MAX_SHADOW_TREES: usize = 1_000;

/// Maximum number of nodes of a shadow tree that are searched for slots.
const MAX_SHADOW_NODES: usize = 20_000;

/// Maximum number of slots of one shadow tree that are filled.
const MAX_SLOTS: usize = 100;

impl Dom {
    /// Returns whether the page may have an element with one of these tags, without a walk of the tree.
    pub(super) fn has_any(&self, tags: &[Tag]) -> bool {
        self.nodes.iter().any(|node| matches!(node.kind, NodeKind::Element(tag) if tags.contains(&tag)))
    }

    /// Moves streamed parts to their places: React sends `<template id="B:1">` first and `<div hidden id="S:1">` later.
    pub(super) fn move_streamed_fragments(&mut self) {
        if !self.has_any(&[Tag::Template]) {
            return;
        }
        let placeholders: HashMap<String, NodeId> = self
            .elements(Tag::Template)
            .filter_map(|id| Some((self.attribute(id, "id")?.strip_prefix("B:")?.to_owned(), id)))
            .collect();
        if placeholders.is_empty() {
            return;
        }
        let moves: Vec<(NodeId, NodeId)> = self
            .elements(Tag::Div)
            .filter(|&id| self.attribute(id, "hidden").is_some())
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

    /// Shows declarative shadow trees: `<template shadowrootmode>` becomes the content of its parent, with the other children
    /// of the parent in its slots.
    pub(super) fn show_shadow_trees(&mut self) {
        if !self.has_any(&[Tag::Template]) {
            return;
        }
        let is_shadow_root = |&id: &NodeId| {
            self.is(id, Tag::Template)
                && (self.attribute(id, "shadowrootmode").is_some()
                    || self.attribute(id, "shadowroot").is_some())
        };
        let templates: Vec<NodeId> =
            self.descendants(NodeId::ROOT).filter(is_shadow_root).take(MAX_SHADOW_TREES).collect();
        // A host has one tree.
        let mut hosts = HashSet::new();
        let trees: Vec<(NodeId, NodeId)> = templates
            .into_iter()
            .filter_map(|template| Some((self.parent(template)?, template)))
            .filter(|&(host, _)| hosts.insert(host))
            .collect();
        // Inner trees first: their slots are filled before they become the content of an outer slot.
        for (host, template) in trees.into_iter().rev() {
            self.fill_slots(host, template);
            while let Some(child) = self.first_child(template) {
                self.insert(child, host, template);
            }
        }
    }

    /// Moves the children of a host into the slots of its shadow tree. Browsers do not show those without a slot, so they
    /// stay in a template.
    fn fill_slots(&mut self, host: NodeId, template: NodeId) {
        let is_slot = |&id: &NodeId| self.tag(id).is_some() && self.name(id) == "slot";
        let inside = self.descendants(template).take(MAX_SHADOW_NODES);
        let slots: Vec<NodeId> = inside.filter(is_slot).take(MAX_SLOTS).collect();
        let slot_of = |child: NodeId| {
            let wanted = self.attribute(child, "slot").unwrap_or_default();
            slots.iter().copied().find(|&slot| self.attribute(slot, "name").unwrap_or_default() == wanted)
        };
        let light = self.children(host).filter(|&child| child != template);
        let moves: Vec<(NodeId, Option<NodeId>)> = light.map(|child| (child, slot_of(child))).collect();
        let is_shown = |id: NodeId| self.tag(id).is_some() || !self.text(id).trim().is_empty();
        let filled: Vec<NodeId> =
            moves.iter().filter(|&&(child, _)| is_shown(child)).filter_map(|&(_, slot)| slot).collect();
        for slot in filled {
            // The content of a slot is a fallback.
            while let Some(fallback) = self.first_child(slot) {
                self.detach(fallback);
            }
        }
        // Filled slots are not those of an outer tree.
        for &slot in &slots {
            let node = &mut self.nodes[slot.index()];
            (node.name, node.kind) = (local_name!("span"), NodeKind::Element(Tag::Span));
        }
        let name = local_name!("template");
        let unshown = self.push(NodeKind::Element(Tag::Template), name, Namespace::Html, 0..0);
        for (child, slot) in moves {
            self.insert(child, slot.unwrap_or(unshown), NodeId::NONE);
        }
        self.insert(unshown, host, NodeId::NONE);
    }
}
