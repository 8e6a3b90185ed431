//! Tables: data as GFM tables with spans expanded, layout tables as the blocks in them.

use super::inline::{EscapeContext, Inline};
use super::lines::BlockSeparator;
use super::markdown::Writer;
use super::{OutputContext, code};
use crate::dom::{Dom, NodeId, Tag};
use crate::limits::{MAX_OUTPUT_BYTES, MAX_TABLE_CELLS};

/// Maximum span that is expanded. A larger one is a mistake or an attack.
const MAX_SPAN: usize = 64;

/// The captions and rows of a table.
struct Shape {
    captions: Vec<NodeId>,
    rows: Vec<Vec<NodeId>>,
}

impl Writer<'_> {
    pub(super) fn table(&mut self, id: NodeId) {
        self.flush();
        if self.flat > 0 {
            self.children(id);
            return;
        }
        let shape = shape(self.context, id);
        if is_layout(self.context, id, &shape) {
            self.layout(id, &shape);
            return;
        }
        for &caption in &shape.captions {
            self.node(caption);
            self.flush();
        }
        let grid = self.grid(&shape);
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
    /// row.
    fn grid(&mut self, shape: &Shape) -> Vec<Vec<String>> {
        let dom = self.context.dom;
        let mut grid: Vec<Vec<String>> = Vec::new();
        // For each column the cell above that reaches into the next rows.
        let mut above: Vec<SpanningCell> = Vec::new();
        let (mut budget, mut bytes) = (MAX_TABLE_CELLS, 0);
        for row in &shape.rows {
            let (mut cells, mut new_bytes) = (Vec::new(), 0);
            for &cell in row {
                take_covered(&mut above, &mut cells);
                let is_full = bytes + new_bytes > MAX_OUTPUT_BYTES;
                let text = if is_full { String::new() } else { self.cell(cell) };
                new_bytes += text.len();
                let span = |name| {
                    dom.attribute(cell, name).and_then(|n| n.trim().parse::<usize>().ok()).unwrap_or(1)
                };
                let (columns, rows) =
                    (span("colspan").clamp(1, MAX_SPAN), span("rowspan").clamp(1, MAX_SPAN));
                for column in 0..columns {
                    let text = if column == 0 { text.clone() } else { String::new() };
                    above.resize_with(above.len().max(cells.len() + 1), Default::default);
                    above[cells.len()] = SpanningCell { remaining_rows: rows - 1, text: text.clone() };
                    cells.push(text);
                }
            }
            take_covered(&mut above, &mut cells);
            budget = budget.saturating_sub(cells.len().max(1));
            // Cells that reach in from rows above are counted, too.
            bytes += cells.iter().map(String::len).sum::<usize>();
            if cells.iter().any(|text| !text.is_empty()) {
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

fn shape(context: OutputContext<'_>, table: NodeId) -> Shape {
    let OutputContext { dom, view, .. } = context;
    let mut shape = Shape { captions: Vec::new(), rows: Vec::new() };
    let mut groups = vec![table];
    while let Some(group) = groups.pop() {
        for child in view.children(dom, group) {
            match dom.tag(child) {
                Some(Tag::Caption) => shape.captions.push(child),
                Some(Tag::Tr) => shape.rows.push(
                    view.children(dom, child)
                        .filter(|&cell| matches!(dom.tag(cell), Some(Tag::Td | Tag::Th)))
                        .collect(),
                ),
                Some(Tag::Thead | Tag::Tbody | Tag::Tfoot) if group == table => {
                    groups.insert(0, child);
                }
                _ => {}
            }
        }
    }
    shape
}

/// Returns whether a table is used for layout only.
fn is_layout(context: OutputContext<'_>, table: NodeId, shape: &Shape) -> bool {
    let dom = context.dom;
    match dom.attribute(table, "role") {
        Some("presentation" | "none") => return true,
        Some("table" | "grid" | "treegrid") => return false,
        _ => {}
    }
    let width = shape.rows.iter().map(Vec::len).max().unwrap_or(0);
    if shape.rows.len() < 2 && width < 3 || width < 2 {
        return true;
    }
    let has_header = shape.rows.iter().flatten().any(|&cell| dom.is(cell, Tag::Th));
    if shape.rows.iter().flatten().any(|&cell| code::is_gutter(dom, cell)) {
        return true;
    }
    let (mut blocks, mut has_nested) = (0, false);
    for id in context.view.below(dom, table).skip(1) {
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
    if has_nested { !has_header || has_several_tables(dom, table) } else { !has_header && blocks > cells }
}

/// Returns whether several tables are inside a table: such a table has little text of its own in its cells.
fn has_several_tables(dom: &Dom, table: NodeId) -> bool {
    let inner = dom.descendants(table).skip(1).filter(|&id| dom.is(id, Tag::Table)).count();
    inner > 1
}
