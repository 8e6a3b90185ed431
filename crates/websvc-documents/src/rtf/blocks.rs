//! The paragraphs, lists, tables and notes of an RTF file.

use crate::flow::{HtmlFlow, Marker, Role};
use crate::inline::Inline;
use crate::table::Table;

/// The maximum length of the marker of a list item, in characters.
const MAX_MARKER_CHARS: usize = 8;

/// The definition of a cell of a row.
#[derive(Debug, Clone, Copy, Default)]
struct CellDefinition {
    /// The cell is a part of the cell to the left.
    is_merged_left: bool,
    /// The cell is a part of the cell above it.
    is_merged_up: bool,
}

/// The paragraph that a note interrupts.
#[derive(Debug)]
struct Outer {
    inline: Inline,
    lines: Vec<String>,
    marker: Option<Marker>,
    properties: Properties,
}

/// The properties of a paragraph.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Properties {
    /// The level of the heading.
    pub(super) heading: Option<u32>,
    pub(super) is_quote: bool,
    /// The level in a list.
    pub(super) level: Option<usize>,
    /// The indents of the paragraph and, relative to it, of its first line.
    pub(super) indent: i32,
    pub(super) first_indent: i32,
    pub(super) in_table: bool,
}

/// The blocks that are being read.
pub(super) struct Blocks {
    pub(super) flow: HtmlFlow,
    pub(super) inline: Inline,
    /// The properties of the paragraph.
    pub(super) properties: Properties,
    /// The marker of the item.
    marker: Option<Marker>,
    /// The indents of the open lists.
    indents: Vec<i32>,
    /// The finished paragraphs of the cell or the note.
    lines: Vec<String>,
    cells: Vec<String>,
    definitions: Vec<CellDefinition>,
    definition: CellDefinition,
    table: Option<Table>,
    /// The paragraphs that the open notes interrupt, outermost first.
    notes: Vec<Outer>,
}

impl Blocks {
    pub(super) fn new(flow: HtmlFlow) -> Self {
        Self {
            flow,
            inline: Inline::default(),
            properties: Properties::default(),
            marker: None,
            indents: Vec::new(),
            lines: Vec::new(),
            cells: Vec::new(),
            definitions: Vec::new(),
            definition: CellDefinition::default(),
            table: None,
            notes: Vec::new(),
        }
    }

    /// Resets the properties of the paragraph.
    pub(super) fn reset_paragraph(&mut self) {
        self.properties = Properties::default();
    }

    /// Sets the marker of the item. A sign is a bullet, whichever it is.
    pub(super) fn set_marker(&mut self, text: &str) {
        let text = text.trim();
        let is_number = text.contains(|sign: char| sign.is_ascii_digit()) && text.len() < 40;
        let other = || if is_number { Marker::Text(text.to_owned()) } else { Marker::Bullet };
        self.marker = Some(marker_of(text).unwrap_or_else(other));
    }

    /// Appends a tab. After a marker at the start of a hanging paragraph, it begins the text of the item.
    pub(super) fn tab(&mut self) {
        let is_hanging = self.properties.first_indent < 0 && self.marker.is_none();
        if is_hanging && let Some(marker) = marker_of(self.inline.source().trim()) {
            self.inline = Inline::default();
            self.marker = Some(marker);
        } else {
            self.inline.tab();
        }
    }

    pub(super) fn end_paragraph(&mut self) {
        let mut inline = std::mem::take(&mut self.inline);
        let marker = self.marker.take();
        if self.properties.in_table || !self.notes.is_empty() {
            if !inline.is_empty() {
                marker.into_iter().for_each(|marker| inline.prefix(&marker.prefix()));
                self.lines.push(inline.finish());
            }
            return;
        }
        if inline.is_empty() {
            self.flow.paragraph(Role::Body, inline);
            return;
        }
        let role = match (self.properties.heading, marker) {
            (Some(level), _) => Role::Heading(level),
            (None, Some(marker)) => Role::Item { depth: self.depth(), marker },
            (None, None) if self.properties.is_quote => Role::Quote,
            (None, None) if inline.is_code() => Role::Code,
            (None, None) => Role::Body,
        };
        if !matches!(role, Role::Item { .. }) {
            self.indents.clear();
        }
        self.end_table();
        self.flow.paragraph(role, inline);
    }

    /// Returns the depth of an item: its level, or the number of list indents that are smaller.
    fn depth(&mut self) -> usize {
        if let Some(level) = self.properties.level {
            return level;
        }
        while self.indents.last().is_some_and(|indent| *indent > self.properties.indent) {
            self.indents.pop();
        }
        if self.indents.last().is_none_or(|indent| *indent < self.properties.indent) {
            self.indents.push(self.properties.indent);
        }
        self.indents.len() - 1
    }

    /// Begins the definition of a row.
    pub(super) fn begin_row_definition(&mut self) {
        self.definitions.clear();
        self.definition = CellDefinition::default();
    }

    /// Reads a control word of the definition of a cell, which ends with `\cellx`.
    pub(super) fn cell_definition(&mut self, word: &str) {
        match word {
            "clmrg" => self.definition.is_merged_left = true,
            "clvmrg" => self.definition.is_merged_up = true,
            _ if self.definitions.len() < 256 => self.definitions.push(std::mem::take(&mut self.definition)),
            _ => {}
        }
    }

    /// Ends a cell. A cell of a nested table is a line of the cell around it.
    pub(super) fn end_cell(&mut self, is_nested: bool) {
        self.properties.in_table = true;
        self.end_paragraph();
        if !is_nested {
            self.cells.push(std::mem::take(&mut self.lines).join("<br>"));
        }
    }

    pub(super) fn end_row(&mut self) {
        self.properties.in_table = false;
        let cells = std::mem::take(&mut self.cells);
        let table = self.table.get_or_insert_with(Table::default);
        table.row();
        let definitions =
            self.definitions.iter().copied().chain(std::iter::repeat(CellDefinition::default()));
        let mut cells = cells.into_iter().zip(definitions).peekable();
        while let Some((cell, definition)) = cells.next() {
            let mut columns = 1;
            while cells.next_if(|(_, next)| next.is_merged_left).is_some() {
                columns += 1;
            }
            if definition.is_merged_up {
                table.continued_cell(columns);
            } else {
                table.cell(cell, columns);
            }
        }
    }

    fn end_table(&mut self) {
        if let Some(table) = self.table.take() {
            self.flow.block(&table.finish());
        }
    }

    /// Begins a note. Returns `false` if notes are nested too deeply.
    pub(super) fn begin_note(&mut self, max_depth: usize) -> bool {
        if self.notes.len() >= max_depth {
            return false;
        }
        self.notes.push(Outer {
            inline: std::mem::take(&mut self.inline),
            lines: std::mem::take(&mut self.lines),
            marker: self.marker.take(),
            properties: std::mem::take(&mut self.properties),
        });
        true
    }

    /// Ends a note: its text goes to the end of the document, and a reference to it into the text.
    pub(super) fn end_note(&mut self) {
        self.end_paragraph();
        let Some(Outer { inline, lines, marker, properties }) = self.notes.pop() else { return };
        let note = std::mem::replace(&mut self.lines, lines);
        (self.inline, self.marker, self.properties) = (inline, marker, properties);
        if !note.is_empty() {
            let number = self.flow.add_note(note.join("<br>"));
            self.inline.note_reference(number);
        }
    }

    /// Returns the HTML, and whether content was dropped because of the size limit.
    pub(super) fn finish(mut self) -> (String, bool) {
        while !self.notes.is_empty() {
            self.end_note();
        }
        if !self.cells.is_empty() {
            self.end_row();
        }
        self.properties.in_table = false;
        self.end_paragraph();
        for line in std::mem::take(&mut self.lines) {
            self.flow.block(&format!("<p>{line}</p>\n"));
        }
        self.end_table();
        self.flow.finish()
    }
}

/// Returns the marker that a text is: a number, letters with punctuation, or a sign.
fn marker_of(text: &str) -> Option<Marker> {
    if text.is_empty() || text.chars().count() > MAX_MARKER_CHARS || text.contains(char::is_whitespace) {
        return None;
    }
    let digits = text.trim_end_matches(['.', ')']);
    if let Ok(number) = digits.parse() {
        return (text.len() - digits.len() <= 1).then_some(Marker::Number(number));
    }
    let is_numbered = text.ends_with(['.', ')']) && text.chars().any(char::is_alphanumeric);
    if is_numbered {
        return Some(Marker::Text(text.to_owned()));
    }
    // Fonts of symbols have bullets at letters.
    let is_sign =
        text.chars().count() == 1 && !text.starts_with(|sign: char| sign.is_alphanumeric() && sign != 'o');
    is_sign.then_some(Marker::Bullet)
}
