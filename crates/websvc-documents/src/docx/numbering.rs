//! The numbers of lists and headings, counted and displayed as in Word.

use std::collections::{HashMap, HashSet};

use super::KIND;
use super::styles::{Styles, is_on};
use crate::error::DocumentError;
use crate::flow::Marker;
use crate::number_words;
use crate::xml::{Tag, Xml};

/// The number of levels of a list.
const LEVELS: usize = 9;
/// The maximum length of the text around the numbers of a level, in bytes.
const MAX_TEXT_BYTES: usize = 200;

/// A level of a list.
#[derive(Debug, Clone)]
struct Level {
    start: u64,
    format: String,
    /// The displayed text, with `%1` for the number of the first level.
    text: String,
    /// Shows the numbers of all levels as decimal numbers.
    is_legal: bool,
    /// The number of the upper levels after whose items the level begins again; all by default.
    restarting_levels: Option<usize>,
    /// The paragraph style that the level belongs to.
    style: Option<String>,
}

impl Default for Level {
    fn default() -> Self {
        Self {
            start: 1,
            format: "decimal".to_owned(),
            text: String::new(),
            is_legal: false,
            restarting_levels: None,
            style: None,
        }
    }
}

/// A definition that lists share, and with it their numbers.
#[derive(Debug, Default)]
struct Definition {
    levels: Vec<Option<Level>>,
    /// The numbering style that has the levels.
    style: Option<String>,
}

/// A list.
#[derive(Debug, Default)]
struct List {
    definition: String,
    starts: HashMap<usize, u64>,
    levels: HashMap<usize, Level>,
}

/// The marker of an item, and the text that Word displays for it.
#[derive(Debug)]
pub(super) struct Numbered {
    pub(super) marker: Marker,
    pub(super) text: String,
}

impl Default for Numbered {
    fn default() -> Self {
        Self { marker: Marker::Bullet, text: String::new() }
    }
}

/// The lists of a document, and the numbers that they have reached.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    definitions: HashMap<String, Definition>,
    lists: HashMap<String, List>,
    counters: HashMap<String, [Option<u64>; LEVELS]>,
    /// The lists and levels whose own start was used.
    started: HashSet<(String, usize)>,
}

impl Numbering {
    pub(super) fn read(text: &str, styles: &Styles) -> Result<Self, DocumentError> {
        let mut xml = Xml::new(KIND, text);
        let mut numbering = Self::default();
        while let Some(tag) = xml.start()? {
            match tag.name.as_str() {
                "abstractNum" => {
                    let definition = read_definition(&mut xml)?;
                    numbering.definitions.insert(value(&tag, "abstractNumId"), definition);
                }
                "num" => {
                    let list = read_list(&mut xml)?;
                    numbering.lists.insert(value(&tag, "numId"), list);
                }
                _ => {}
            }
        }
        numbering.resolve_styles(styles);
        Ok(numbering)
    }

    /// Follows the definitions that only name a numbering style to the definition of that style.
    fn resolve_styles(&mut self, styles: &Styles) {
        let mut targets = HashMap::new();
        for (id, definition) in &self.definitions {
            let list = definition.style.as_ref().and_then(|style| styles.get(style)?.list.as_ref());
            if let Some(target) = list.and_then(|list| self.lists.get(list)) {
                targets.insert(id.clone(), target.definition.clone());
            }
        }
        for list in self.lists.values_mut() {
            if let Some(target) = targets.get(&list.definition) {
                list.definition.clone_from(target);
            }
        }
    }

    fn level<'n>(&'n self, list: &'n List, level: usize) -> Option<&'n Level> {
        let definition = || self.definitions.get(&list.definition)?.levels.get(level)?.as_ref();
        list.levels.get(&level).or_else(definition)
    }

    /// Returns the level of a list that belongs to a paragraph style.
    pub(super) fn level_of_style(&self, list: &str, style: &str) -> Option<usize> {
        let list = self.lists.get(list)?;
        (0..LEVELS)
            .find(|level| self.level(list, *level).is_some_and(|level| level.style.as_deref() == Some(style)))
    }

    /// Counts an item, and returns its marker; `None` for an item without one.
    pub(super) fn next(&mut self, list_id: &str, level: usize) -> Option<Numbered> {
        let level = level.min(LEVELS - 1);
        let Some(list) = self.lists.get(list_id) else { return Some(Numbered::default()) };
        let Some(format) = self.level(list, level) else { return Some(Numbered::default()) };
        let starts: Vec<u64> =
            (0..LEVELS).map(|level| self.level(list, level).map_or(1, |level| level.start)).collect();
        let restarts = |deeper: usize| {
            let stated = self.level(list, deeper).and_then(|level| level.restarting_levels);
            level < stated.unwrap_or(deeper)
        };
        let mut counters = self.counters.get(&list.definition).copied().unwrap_or_default();
        let own_start =
            list.starts.get(&level).filter(|_| !self.started.contains(&(list_id.to_owned(), level)));
        counters[level] = Some(match (own_start, counters[level]) {
            (Some(start), _) => *start,
            (None, Some(number)) => number.saturating_add(1),
            (None, None) => starts[level],
        });
        for higher in 0..level {
            counters[higher] = counters[higher].or(Some(starts[higher]));
        }
        for (deeper, counter) in counters.iter_mut().enumerate().skip(level + 1) {
            if restarts(deeper) {
                *counter = None;
            }
        }
        let marker = self.marker(list, format, level, &counters);
        self.counters.insert(list.definition.clone(), counters);
        self.started.insert((list_id.to_owned(), level));
        marker
    }

    fn marker(
        &self,
        list: &List,
        format: &Level,
        level: usize,
        counters: &[Option<u64>; LEVELS],
    ) -> Option<Numbered> {
        if format.format == "bullet" {
            return Some(Numbered::default());
        }
        let text = self.text(list, format, counters);
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let number = counters[level].unwrap_or_default();
        let plain = number.to_string();
        let is_plain = text.strip_prefix(&plain).is_some_and(|rest| matches!(rest, "." | ")" | ""));
        let is_plain = is_plain && level_marks(&format.text) == 1;
        let marker = if is_plain { Marker::Number(number) } else { Marker::Text(text.to_owned()) };
        Some(Numbered { marker, text: text.to_owned() })
    }

    /// Returns the displayed text of an item.
    fn text(&self, list: &List, format: &Level, counters: &[Option<u64>; LEVELS]) -> String {
        let mut text = String::new();
        let mut characters = format.text.chars().peekable();
        while let Some(character) = characters.next() {
            let digit = characters.peek().and_then(|next| next.to_digit(10)).filter(|_| character == '%');
            let Some(index) = digit.and_then(|digit| usize::try_from(digit).ok()?.checked_sub(1)) else {
                text.push(character);
                continue;
            };
            characters.next();
            let name = self.level(list, index).map_or("decimal", |level| level.format.as_str());
            let name = if format.is_legal { "decimal" } else { name };
            let number = counters.get(index).copied().flatten().unwrap_or_default();
            text.push_str(&number_words::format(number, name));
        }
        text
    }
}

/// Returns how many numbers the text of a level shows.
fn level_marks(text: &str) -> usize {
    text.matches('%').count()
}

fn value(tag: &Tag, name: &str) -> String {
    tag.get(name).unwrap_or_default().to_owned()
}

fn number(tag: &Tag, name: &str) -> Option<usize> {
    tag.parsed(name)
}

fn read_definition(xml: &mut Xml<'_>) -> Result<Definition, DocumentError> {
    let mut definition = Definition { levels: vec![None; LEVELS], style: None };
    while let Some(tag) = xml.start_in("abstractNum")? {
        match tag.name.as_str() {
            "numStyleLink" => definition.style = tag.get("val").map(str::to_owned),
            "lvl" => {
                let index = number(&tag, "ilvl").unwrap_or(LEVELS);
                let level = read_level(xml, index)?;
                if let Some(slot) = definition.levels.get_mut(index) {
                    *slot = Some(level);
                }
            }
            _ => {}
        }
    }
    Ok(definition)
}

fn read_list(xml: &mut Xml<'_>) -> Result<List, DocumentError> {
    let mut list = List::default();
    let mut level = 0;
    while let Some(tag) = xml.start_in("num")? {
        match tag.name.as_str() {
            "abstractNumId" => list.definition = value(&tag, "val"),
            "lvlOverride" => level = number(&tag, "ilvl").unwrap_or_default().min(LEVELS - 1),
            "startOverride" => {
                list.starts.extend(tag.get("val").and_then(|start| Some((level, start.parse().ok()?))));
            }
            "lvl" => {
                let changed = read_level(xml, level)?;
                list.levels.insert(level, changed);
            }
            _ => {}
        }
    }
    Ok(list)
}

/// Reads a level of a list. Without a text it shows its own number.
fn read_level(xml: &mut Xml<'_>, index: usize) -> Result<Level, DocumentError> {
    let mut level = Level { text: format!("%{}.", index + 1), ..Level::default() };
    while let Some(tag) = xml.start_in("lvl")? {
        match tag.name.as_str() {
            "start" => level.start = tag.parsed("val").unwrap_or(1),
            "numFmt" => level.format = value(&tag, "val"),
            "lvlText" => {
                level.text = value(&tag, "val");
                level.text.truncate(level.text.floor_char_boundary(MAX_TEXT_BYTES));
            }
            "isLgl" => level.is_legal = is_on(&tag),
            "lvlRestart" => level.restarting_levels = number(&tag, "val"),
            "pStyle" => level.style = tag.get("val").map(str::to_owned),
            "rPr" | "pPr" => xml.skip()?,
            _ => {}
        }
    }
    Ok(level)
}
