//! The lists and the numbered headings of an OpenDocument file, with their numbers.

use std::collections::HashMap;

use super::styles::{LEVELS, Styles, marker};
use crate::flow::{Marker, Role};
use crate::xml::Tag;

/// The maximum number of lists that others can continue.
const MAX_LISTS: usize = 10_000;

/// An open list.
#[derive(Debug, Default)]
struct List {
    /// The ID by which another list continues this one.
    id: String,
    style: String,
    /// The open item has had its first paragraph.
    has_text: bool,
    /// The number of the open item.
    number: u64,
    /// The item has no number.
    is_header: bool,
    /// The number of the next item, if the list or the item states it.
    start: Option<u64>,
}

/// The open lists, outermost first.
#[derive(Debug, Default)]
pub(super) struct Lists {
    open: Vec<List>,
    /// The last top-level list: its style and its last number, for a list that continues it.
    last: Option<(String, u64)>,
    /// The last numbers of the lists that are closed, by ID.
    numbers: HashMap<String, u64>,
}

impl Lists {
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Begins a list.
    pub(super) fn begin(&mut self, tag: &Tag, styles: &Styles) {
        let inherited = self.open.last().map(|list| list.style.clone()).unwrap_or_default();
        let style = tag.get("style-name").map_or(inherited, str::to_owned);
        let continued = match (tag.get_exact("text:continue-list"), &self.last) {
            (Some(id), _) => self.numbers.get(id),
            (None, Some((last, number))) if tag.get_exact("text:continue-numbering") == Some("true") => {
                Some(number).filter(|_| self.open.is_empty() && *last == style)
            }
            (None, _) => None,
        };
        let first = || {
            let level = styles.list(&style).and_then(|levels| levels.get(self.open.len())?.as_ref());
            level.map_or(1, |level| level.start)
        };
        let start = continued.map_or_else(first, |number| number.saturating_add(1));
        let id = tag.get_exact("xml:id").unwrap_or_default().to_owned();
        self.open.push(List { id, style, start: Some(start), ..List::default() });
    }

    /// Begins an item.
    pub(super) fn item(&mut self, tag: &Tag) {
        let Some(list) = self.open.last_mut() else { return };
        let own_start = tag.get_exact("text:start-value").and_then(|start| start.parse().ok());
        let start = list.start.take();
        list.number = own_start.or(start).unwrap_or_else(|| list.number.saturating_add(1));
        (list.has_text, list.is_header) = (false, false);
    }

    /// Begins an item without a number.
    pub(super) fn header(&mut self) {
        if let Some(list) = self.open.last_mut() {
            (list.has_text, list.is_header) = (false, true);
        }
    }

    /// Ends the innermost list if `name` is its element.
    pub(super) fn end(&mut self, name: &str) {
        if name == "list"
            && let Some(List { id, style, number, .. }) = self.open.pop()
        {
            if !id.is_empty() && self.numbers.len() < MAX_LISTS {
                self.numbers.insert(id, number);
            }
            if self.open.is_empty() {
                self.last = Some((style, number));
            }
        }
    }

    /// Returns the role of a paragraph with text in the open item.
    pub(super) fn role(&mut self, styles: &Styles) -> Role {
        let mut numbers = [1; LEVELS];
        for (slot, list) in numbers.iter_mut().zip(&self.open) {
            *slot = list.number;
        }
        let depth = self.open.len().saturating_sub(1);
        let Some(list) = self.open.last_mut() else { return Role::Body };
        if std::mem::replace(&mut list.has_text, true) || list.is_header {
            return Role::ItemText;
        }
        let marker = match styles.list(&list.style) {
            Some(levels) => marker(levels, depth.min(LEVELS - 1), &numbers),
            None => Some(Marker::Bullet),
        };
        match marker {
            Some(marker) => Role::Item { depth, marker },
            None => Role::Body,
        }
    }
}

/// The numbers of the headings so far.
#[derive(Debug, Default)]
pub(super) struct Headings {
    numbers: [u64; LEVELS],
}

impl Headings {
    /// Counts a heading, and returns its number with a space; an empty text if headings have none.
    pub(super) fn next(&mut self, level: u32, styles: &Styles) -> String {
        let index = usize::try_from(level).unwrap_or(1).clamp(1, LEVELS) - 1;
        let start = |level: usize| styles.headings[level].as_ref().map_or(1, |level| level.start);
        for (level, number) in self.numbers.iter_mut().enumerate().take(index) {
            *number = (*number).max(start(level));
        }
        self.numbers[index] =
            if self.numbers[index] == 0 { start(index) } else { self.numbers[index].saturating_add(1) };
        self.numbers[index + 1..].fill(0);
        if styles.headings[index].is_none() {
            return String::new();
        }
        let marker = marker(&styles.headings, index, &self.numbers);
        marker.filter(|marker| *marker != Marker::Bullet).map_or_else(String::new, |marker| marker.prefix())
    }
}
