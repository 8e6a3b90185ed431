//! Lists: items with their numbers, and lists that are inside lists without an item around them.

use super::OutputContext;
use super::lines::BlockSeparator;
use super::markdown::{Writer, WrittenList};
use crate::dom::{NodeId, NodeKind, Tag};

/// Maximum number of elements between a list and its items.
const MAX_WRAPPERS: usize = 8;

/// A list while it is written.
struct List {
    is_ordered: bool,
    is_reversed: bool,
    number: u64,
    delimiter: char,
    /// The width of the marker of the last item, to which lists without an item of their own belong.
    indent: Option<usize>,
}

/// Returns the other delimiter of a number.
fn other(delimiter: char) -> char {
    if delimiter == '.' { ')' } else { '.' }
}

impl Writer<'_> {
    pub(super) fn list(&mut self, id: NodeId, tag: Tag) {
        self.flush();
        if self.flat > 0 {
            self.children(id);
            return;
        }
        let nested = self.in_item;
        let mut list = self.new_list(id, tag);
        // An ordered list with another number cannot follow a paragraph without a blank line.
        if nested && !self.lines.at_marker() && (!list.is_ordered || list.number == 1) {
            self.lines.cancel_blank();
        } else if !self.lines.at_marker() {
            self.separate_block();
        }
        self.open_lists += 1;
        self.items(id, &mut list, 0);
        self.open_lists -= 1;
        if list.is_ordered && list.indent.is_some() {
            let end = self.lines.position();
            self.written_list =
                Some(WrittenList { end, next_number: list.number, delimiter: list.delimiter });
        }
        if nested {
            self.lines.cancel_blank();
        } else {
            self.lines.separate(BlockSeparator::Blank);
        }
        self.write_pending_notes();
    }

    fn new_list(&self, id: NodeId, tag: Tag) -> List {
        let OutputContext { dom, view, .. } = self.context;
        let number = |id: NodeId, name| dom.attribute(id, name).and_then(|value| value.trim().parse().ok());
        let is_ordered = tag == Tag::Ol;
        let is_reversed = is_ordered && dom.attribute(id, "reversed").is_some();
        let items = || view.children(dom, id).filter(|&child| dom.is(child, Tag::Li));
        let default = || if is_reversed { items().count() as u64 } else { 1 };
        let first = items().next().and_then(|item| number(item, "value"));
        let number = first.or_else(|| number(id, "start")).unwrap_or_else(default);
        // Two lists without anything between them would be one. The other delimiter begins a new one.
        let delimiter = match self.written_list {
            Some(last) if last.end == self.lines.position() && last.next_number != number => {
                other(last.delimiter)
            }
            _ => '.',
        };
        List { is_ordered, is_reversed, number, delimiter, indent: None }
    }

    /// Writes the items below an element: the list, or an element between a list and its items.
    fn items(&mut self, id: NodeId, list: &mut List, wrappers: usize) {
        let OutputContext { dom, view, .. } = self.context;
        let children: Vec<NodeId> = view.children(dom, id).collect();
        for child in children {
            if dom.is(child, Tag::Li) {
                self.list_item(child, list);
            } else if dom.kind(child) == NodeKind::Text && dom.text(child).trim().is_empty() {
                // White space between items.
            } else if wrappers < MAX_WRAPPERS && self.has_items_of_list(child) {
                self.items(child, list, wrappers + 1);
            } else {
                self.between_items(child, list);
            }
        }
    }

    fn list_item(&mut self, item: NodeId, list: &mut List) {
        let dom = self.context.dom;
        if list.indent.is_some() {
            self.flush();
            self.lines.cancel_blank();
        }
        let expected = list.number;
        if let Some(value) = dom.attribute(item, "value").and_then(|value| value.trim().parse().ok()) {
            list.number = value;
        }
        // Only the first number of a list counts, so that another delimiter begins a new one.
        if list.is_ordered && list.indent.is_some() && (list.number != expected || list.is_reversed) {
            list.delimiter = other(list.delimiter);
            self.lines.separate(BlockSeparator::Blank);
        }
        let marker = if list.is_ordered {
            format!("{}{} ", list.number.min(999_999_999), list.delimiter)
        } else {
            "- ".to_owned()
        };
        if self.footnotes.note(item).is_some() && !self.in_note {
            self.note(item);
        } else if self.footnotes.is_shared(item) && !self.in_note {
            self.shared_block(item);
        } else {
            list.indent = Some(marker.len());
            self.item(item, &marker);
        }
        list.number =
            if list.is_reversed { list.number.saturating_sub(1) } else { list.number.saturating_add(1) };
    }

    /// Writes what is between the items of a list, which belongs to the item before it.
    fn between_items(&mut self, child: NodeId, list: &List) {
        let Some(indent) = list.indent else { return self.node(child) };
        self.flush();
        if self.context.dom.tag(child).is_some_and(|tag| matches!(tag, Tag::Ul | Tag::Ol)) {
            self.lines.cancel_blank();
        }
        self.lines.reopen(&" ".repeat(indent));
        let outer = std::mem::replace(&mut self.in_item, true);
        self.node(child);
        self.flush();
        self.in_item = outer;
        self.lines.close();
    }

    /// Returns whether an element has items that are in no other list.
    fn has_items_of_list(&self, id: NodeId) -> bool {
        let dom = self.context.dom;
        let is_list = |tag| matches!(tag, Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir);
        let first = dom.descendants(id).take(40).find(|&inner| {
            dom.tag(inner).is_some_and(|tag| tag == Tag::Li || is_list(tag))
                || !dom.text(inner).trim().is_empty()
        });
        first.is_some_and(|inner| dom.is(inner, Tag::Li))
    }

    pub(super) fn item(&mut self, id: NodeId, marker: &str) {
        self.flush();
        if self.flat > 0 {
            self.children(id);
            self.flush();
            return;
        }
        let indent = " ".repeat(marker.len());
        match self.checkbox(id) {
            Some(checked) => {
                self.lines.open(&format!("{marker}{}", if checked { "[x] " } else { "[ ] " }), &indent);
            }
            None => self.lines.open(marker, &indent),
        }
        self.children_in_item(id, true);
        self.lines.close();
    }

    /// Returns the state of the checkbox at the start of an item.
    fn checkbox(&self, item: NodeId) -> Option<bool> {
        let dom = self.context.dom;
        let first = dom.descendants(item).skip(1).take(6).find(|&id| dom.is(id, Tag::Input))?;
        (dom.attribute(first, "type") == Some("checkbox")).then(|| dom.attribute(first, "checked").is_some())
    }
}
