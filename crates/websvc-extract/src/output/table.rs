//! Tables: data as GFM tables with spans expanded, layout tables as the blocks in them.
//!
//! Elements are tables by their tags, their roles or their styles.

use super::boxes::BoxKind;
use super::inline::{EscapeContext, Inline};
use super::lines::BlockSeparator;
use super::markdown::Writer;
use super::{OutputContext, code};
use crate::dom::{Dom, NodeId, Tag};
use crate::limits::{MAX_OUTPUT_BYTES, MAX_TABLE_CELLS};

/// Maximum span that is expanded. A larger one is a mistake or an attack.
const MAX_SPAN: usize = 64;

/// Maximum number of rows of a header that are joined to one.
const MAX_HEADER_ROWS: usize = 4;

/// Maximum number of elements between a table and its rows that have neither a tag nor a role of a table.
const MAX_WRAPPERS: usize = 6;

/// Maximum depth of tables by role or style around a table of this kind: the text of each is read again at each depth.
const MAX_NESTED_BOXES: usize = 8;

/// The captions and rows of a table.
#[derive(Default)]
struct Shape {
    captions: Vec<NodeId>,
    rows: Vec<Vec<NodeId>>,
    /// Number of rows at the start that are in a `<thead>`.
    head_rows: usize,
}

impl Writer<'_> {
    pub(super) fn table(&mut self, id: NodeId) {
        self.flush();
        if self.flat > 0 {
            self.children(id);
            return;
        }
        let tag = self.context.dom.tag(id).unwrap_or(Tag::Other);
        if tag != Tag::Table && self.open_boxes > MAX_NESTED_BOXES {
            return self.element_of_tag(id, tag);
        }
        let mut shape = Shape::default();
        self.add_parts(id, &mut shape, 0);
        if tag != Tag::Table && (self.is_layout(id, &shape) || !self.is_all_in_cells(id, &shape)) {
            self.open_boxes += 1;
            self.element_of_tag(id, tag);
            self.open_boxes -= 1;
            return self.flush();
        }
        if self.is_layout(id, &shape) {
            self.layout(id, &shape);
            return;
        }
        for &caption in &shape.captions {
            self.node(caption);
            self.flush();
        }
        if let Some(title) = self.title_row(&shape) {
            shape.rows.remove(0);
            shape.head_rows = shape.head_rows.saturating_sub(1);
            self.block(title);
        }
        let header_rows = self.header_rows(&shape);
        let mut grid = self.grid(&shape, header_rows);
        join_header(&mut grid, header_rows);
        let width = grid.iter().map(Vec::len).max().unwrap_or(0);
        if width == 0 {
            return;
        }
        self.separate_block();
        for (index, row) in grid.iter().enumerate() {
            let mut line = String::from("|");
            for column in 0..width {
                line.push(' ');
                line.push_str(row.get(column).map_or("", String::as_str));
                line.push_str(" |");
            }
            self.lines.line(&line);
            if index == 0 {
                self.lines.line(&format!("|{}", " --- |".repeat(width)));
            }
        }
        self.lines.separate(BlockSeparator::Blank);
        self.write_pending_notes();
    }

    /// Writes each cell as separate blocks. Cells next to line numbers are code.
    fn layout(&mut self, table: NodeId, shape: &Shape) {
        let OutputContext { dom, view, .. } = self.context;
        let is_code = |cell: NodeId| {
            let class = dom.attribute(cell, "class").unwrap_or_default();
            class.contains("code") && !view.below(dom, cell).any(|id| dom.is(id, Tag::Pre))
        };
        let mut cells =
            shape.rows.iter().flatten().copied().filter(|&cell| !code::is_gutter(dom, cell)).peekable();
        let has_line_numbers = shape.rows.iter().flatten().any(|&cell| code::is_gutter(dom, cell));
        if has_line_numbers && cells.peek().is_some() && cells.all(is_code) {
            return self.code_block(table);
        }
        for &cell in shape.captions.iter().chain(shape.rows.iter().flatten()) {
            if !code::is_gutter(dom, cell) {
                self.children(cell);
                self.flush();
            }
        }
    }

    /// Returns the texts of all cells. The text of a cell that spans several rows is repeated in each row, once per
    /// row. In a header of several rows it is repeated in each column, too.
    fn grid(&mut self, shape: &Shape, header_rows: usize) -> Vec<Vec<String>> {
        let dom = self.context.dom;
        let mut grid: Vec<Vec<String>> = Vec::new();
        // For each column the cell above that reaches into the next rows.
        let mut above: Vec<SpanningCell> = Vec::new();
        let (mut budget, mut bytes) = (MAX_TABLE_CELLS, 0);
        for (index, row) in shape.rows.iter().enumerate() {
            let is_joined = index < header_rows && header_rows > 1;
            let (mut cells, mut new_bytes) = (Vec::new(), 0);
            for &cell in row {
                take_covered(&mut above, &mut cells);
                let is_full = bytes + new_bytes > MAX_OUTPUT_BYTES;
                let text = if is_full { String::new() } else { self.cell(cell) };
                new_bytes += text.len();
                let (columns, rows) = (span(dom, cell, "colspan"), span(dom, cell, "rowspan"));
                for column in 0..columns {
                    let text = if column == 0 || is_joined { text.clone() } else { String::new() };
                    above.resize_with(above.len().max(cells.len() + 1), Default::default);
                    above[cells.len()] = SpanningCell { remaining_rows: rows - 1, text: text.clone() };
                    cells.push(text);
                }
            }
            take_covered(&mut above, &mut cells);
            budget = budget.saturating_sub(cells.len().max(1));
            // Cells that reach in from rows above are counted, too.
            bytes += cells.iter().map(String::len).sum::<usize>();
            if is_joined || cells.iter().any(|text| !text.is_empty()) {
                grid.push(cells);
            }
            if budget == 0 || bytes > MAX_OUTPUT_BYTES {
                break;
            }
        }
        grid
    }

    fn cell(&mut self, id: NodeId) -> String {
        let outer = std::mem::replace(&mut self.inline, Inline::new(EscapeContext::TableCell));
        self.flat += 1;
        self.children(id);
        self.flat -= 1;
        let mut cell = std::mem::replace(&mut self.inline, outer);
        cell.take().replace('\n', " ")
    }
}

/// A cell that reaches into rows below its own.
#[derive(Clone, Default)]
struct SpanningCell {
    /// Number of further rows.
    remaining_rows: usize,
    text: String,
}

/// Adds the cells of rows above that reach into this row at its current column.
fn take_covered(above: &mut [SpanningCell], cells: &mut Vec<String>) {
    while let Some(cell) = above.get_mut(cells.len()).filter(|cell| cell.remaining_rows > 0) {
        cell.remaining_rows -= 1;
        cells.push(cell.text.clone());
    }
}

impl Writer<'_> {
    /// Adds the captions and rows below a table, or below a group of rows.
    fn add_parts(&self, group: NodeId, shape: &mut Shape, wrappers: usize) {
        let OutputContext { dom, view, .. } = self.context;
        for child in view.children(dom, group) {
            let Some(tag) = dom.tag(child) else { continue };
            match (tag, self.boxes.of(dom, child, tag)) {
                (Tag::Caption, _) => shape.captions.push(child),
                (Tag::Tr, _) | (_, BoxKind::Row) => {
                    let mut cells = Vec::new();
                    self.add_cells(child, &mut cells, 0);
                    shape.rows.push(cells);
                }
                (Tag::Thead, _) if wrappers == 0 => {
                    let is_first = shape.rows.is_empty();
                    self.add_parts(child, shape, wrappers + 1);
                    if is_first {
                        shape.head_rows = shape.rows.len();
                    }
                }
                (Tag::Table | Tag::Td | Tag::Th, _) | (_, BoxKind::Table) => {}
                (Tag::Tbody | Tag::Tfoot, _) | (_, BoxKind::RowGroup) => {
                    self.add_parts(child, shape, wrappers + 1);
                }
                // Other elements are between the rows of tables by role or style.
                _ if wrappers < MAX_WRAPPERS && !dom.is(group, Tag::Table) => {
                    self.add_parts(child, shape, wrappers + 1);
                }
                _ => {}
            }
        }
    }

    fn add_cells(&self, row: NodeId, cells: &mut Vec<NodeId>, wrappers: usize) {
        let OutputContext { dom, view, .. } = self.context;
        for child in view.children(dom, row) {
            let Some(tag) = dom.tag(child) else { continue };
            if matches!(tag, Tag::Td | Tag::Th) || self.is_cell_by_box(child, tag) {
                cells.push(child);
            } else if wrappers < MAX_WRAPPERS && !dom.is(row, Tag::Tr) {
                self.add_cells(child, cells, wrappers + 1);
            }
        }
    }

    /// Returns whether all text of an element is in the cells and captions that were found.
    fn is_all_in_cells(&self, table: NodeId, shape: &Shape) -> bool {
        let OutputContext { dom, view, .. } = self.context;
        let bytes = |id| view.below(dom, id).map(|inner| dom.text(inner).trim().len()).sum::<usize>();
        let parts = shape.captions.iter().chain(shape.rows.iter().flatten());
        parts.map(|&part| bytes(part)).sum::<usize>() == bytes(table)
    }

    fn is_cell_by_box(&self, id: NodeId, tag: Tag) -> bool {
        matches!(self.boxes.of(self.context.dom, id, tag), BoxKind::Cell | BoxKind::HeaderCell)
    }

    fn is_header_cell(&self, cell: NodeId) -> bool {
        let dom = self.context.dom;
        dom.is(cell, Tag::Th)
            || dom.tag(cell).is_some_and(|tag| self.boxes.of(dom, cell, tag) == BoxKind::HeaderCell)
    }

    fn is_header_row(&self, shape: &Shape, index: usize) -> bool {
        let Some(row) = shape.rows.get(index).filter(|row| !row.is_empty()) else { return false };
        index < shape.head_rows || row.iter().all(|&cell| self.is_header_cell(cell))
    }

    /// Returns the only cell of the first row, if it is the title of a table whose header follows.
    fn title_row(&self, shape: &Shape) -> Option<NodeId> {
        let [cell] = shape.rows.first()?[..] else { return None };
        let has_header = self.is_header_row(shape, 1) && shape.rows[1].len() > 1 && shape.rows.len() > 2;
        (has_header && span(self.context.dom, cell, "colspan") > 1).then_some(cell)
    }

    /// Returns the number of rows that are the header: several, if cells span rows or columns in it, or if they are
    /// marked as the head.
    fn header_rows(&self, shape: &Shape) -> usize {
        let dom = self.context.dom;
        let count = (0..MAX_HEADER_ROWS + 1).take_while(|&index| self.is_header_row(shape, index)).count();
        let spans = |&cell: &NodeId| span(dom, cell, "colspan") > 1 || span(dom, cell, "rowspan") > 1;
        let is_grouped = shape.head_rows >= count || shape.rows.iter().take(count).flatten().any(spans);
        if (2..=MAX_HEADER_ROWS).contains(&count) && count < shape.rows.len() && is_grouped {
            count
        } else {
            1
        }
    }

    /// Returns whether a table is used for layout only.
    fn is_layout(&self, table: NodeId, shape: &Shape) -> bool {
        let OutputContext { dom, view, .. } = self.context;
        match dom.attribute(table, "role") {
            Some("presentation" | "none") => return true,
            Some("table" | "grid" | "treegrid") => return false,
            _ => {}
        }
        let width = shape.rows.iter().map(Vec::len).max().unwrap_or(0);
        let has_header = shape.rows.iter().flatten().any(|&cell| self.is_header_cell(cell));
        // One column is a table only if it has a head.
        let is_column = width == 1 && shape.rows.len() > 1 && shape.head_rows > 0 && has_header;
        if shape.rows.len() < 2 && width < 3 || width < 2 && !is_column {
            return true;
        }
        if shape.rows.iter().flatten().any(|&cell| code::is_gutter(dom, cell)) {
            return true;
        }
        let (mut blocks, mut has_nested) = (0, false);
        for id in view.below(dom, table).skip(1) {
            match dom.tag(id) {
                Some(Tag::Table) => has_nested = true,
                Some(Tag::H1 | Tag::H2 | Tag::H3 | Tag::Blockquote | Tag::Pre | Tag::Form | Tag::Hr) => {
                    blocks += 2;
                }
                Some(Tag::P | Tag::Ul | Tag::Ol) => blocks += 1,
                _ => {}
            }
        }
        let cells: usize = shape.rows.iter().map(Vec::len).sum();
        if has_nested {
            return !has_header || has_several_tables(dom, table);
        }
        // Styles make tables of columns, too.
        let is_styled = !dom.is(table, Tag::Table) && dom.attribute(table, "role").is_none();
        !has_header && blocks > if is_styled { 0 } else { cells }
    }
}

/// Returns the number of columns or rows that a cell covers.
fn span(dom: &Dom, cell: NodeId, name: &str) -> usize {
    dom.attribute(cell, name).and_then(|n| n.trim().parse::<usize>().ok()).unwrap_or(1).clamp(1, MAX_SPAN)
}

/// Joins the rows of a header to one: a column has the texts of all cells above it, each on its line.
fn join_header(grid: &mut Vec<Vec<String>>, header_rows: usize) {
    if header_rows < 2 || grid.len() < header_rows {
        return;
    }
    let body = grid.split_off(header_rows);
    let width = grid.iter().map(Vec::len).max().unwrap_or(0);
    let joined = (0..width).map(|column| {
        let mut texts: Vec<&str> = grid
            .iter()
            .filter_map(|row| row.get(column))
            .map(String::as_str)
            .filter(|text| !text.is_empty())
            .collect();
        texts.dedup();
        texts.join("<br>")
    });
    let header: Vec<String> = joined.collect();
    *grid = body;
    grid.insert(0, header);
}

/// Returns whether several tables are inside a table: such a table has little text of its own in its cells.
fn has_several_tables(dom: &Dom, table: NodeId) -> bool {
    let inner = dom.descendants(table).skip(1).filter(|&id| dom.is(id, Tag::Table)).count();
    inner > 1
}
