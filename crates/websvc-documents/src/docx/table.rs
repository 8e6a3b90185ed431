//! Reads tables.

use super::Reader;
use super::paragraph::is_deletion;
use crate::error::DocumentError;
use crate::flow::{Block, Role};
use crate::html::escape;
use crate::inline::Inline;
use crate::table::Table;
use crate::xml::{Tag, Token, Xml};

/// The cell that is being read.
#[derive(Default)]
struct Cell {
    blocks: Vec<(Role, Inline)>,
    columns: usize,
    /// The cell continues the cell above it.
    continues: bool,
    /// The next text is that of another cell in a row of a nested table, and belongs to the line of this row.
    is_in_row: bool,
}

impl Reader<'_> {
    /// Reads the table whose start tag was read last. Nested tables become text of the cell that contains them, a line for each row. A table
    /// of a single cell is a frame around blocks.
    pub(super) fn table(&mut self, xml: &mut Xml<'_>) -> Result<Vec<Block>, DocumentError> {
        let mut table = Table::default();
        let mut cell = Cell::default();
        let mut only: Option<Vec<(Role, Inline)>> = None;
        let (mut depth, mut cells, mut is_deleted) = (1, 0, false);
        while depth > 0 {
            match xml.next()? {
                None => break,
                Some(Token::Start(tag)) => match tag.name.as_str() {
                    "tbl" => depth += 1,
                    "tr" if depth > 1 => cell.is_in_row = false,
                    "tr" if depth == 1 => {
                        table.row();
                        is_deleted = false;
                    }
                    "tc" if depth == 1 => cell = Cell { columns: 1, ..Cell::default() },
                    "p" => {
                        let paragraph = self.paragraph(xml)?;
                        self.add_to_cell(paragraph, &mut cell);
                    }
                    "Fallback" | "sdtPr" | "tblPr" | "tblGrid" => xml.skip()?,
                    _ if depth == 1 => {
                        is_deleted |= is_deletion(&tag);
                        cell_property(&tag, &mut cell, &mut table);
                    }
                    _ => {}
                },
                Some(Token::End(name)) => match name.as_str() {
                    "tbl" => {
                        depth -= 1;
                        cell.is_in_row = false;
                    }
                    "tc" if depth > 1 => cell.is_in_row = !cell.blocks.is_empty(),
                    "tr" if depth == 1 && is_deleted => table.drop_row(),
                    "tc" if depth == 1 => {
                        cells += 1;
                        let Cell { blocks, columns, continues, .. } = std::mem::take(&mut cell);
                        if continues {
                            table.continued_cell(columns);
                        } else {
                            only = (cells == 1).then(|| blocks.clone());
                            table.cell(cell_markup(blocks), columns);
                        }
                    }
                    _ => {}
                },
                Some(Token::Text(_)) => {}
            }
        }
        Ok(match only.filter(|_| table.single_row_cells() == Some(1)) {
            Some(blocks) => blocks.into_iter().map(|(role, inline)| Block::Paragraph(role, inline)).collect(),
            None => vec![Block::Markup(table.finish())],
        })
    }

    fn add_to_cell(&mut self, paragraph: super::paragraph::Paragraph, cell: &mut Cell) {
        let block = self.block(paragraph);
        for block in std::iter::once(block).chain(std::mem::take(&mut self.boxes)) {
            if let Block::Paragraph(role, inline) = block
                && !inline.is_empty()
            {
                match cell.blocks.last_mut().filter(|_| std::mem::take(&mut cell.is_in_row)) {
                    Some((_, line)) => line.append(inline),
                    None => cell.blocks.push((role, inline)),
                }
            }
        }
    }
}

fn cell_property(tag: &Tag, cell: &mut Cell, table: &mut Table) {
    let number = || tag.parsed("val");
    match tag.name.as_str() {
        "gridSpan" => cell.columns = number().unwrap_or(1),
        "gridBefore" => (0..number().unwrap_or(0).min(64)).for_each(|_| table.cell(String::new(), 1)),
        "vMerge" => cell.continues = tag.get("val") != Some("restart"),
        _ => {}
    }
}

/// Returns the markup of a cell: its paragraphs on lines of their own, with the numbers of list items.
fn cell_markup(blocks: Vec<(Role, Inline)>) -> String {
    let lines: Vec<String> = blocks.into_iter().map(|(role, inline)| line(&role, inline)).collect();
    lines.join("<br>")
}

fn line(role: &Role, inline: Inline) -> String {
    match role {
        Role::Item { marker, .. } => escape(&marker.prefix()) + &inline.finish(),
        Role::Code => format!("<code>{}</code>", escape(inline.into_source().trim())),
        Role::Body | Role::ItemText | Role::Quote | Role::Heading(_) => inline.finish(),
    }
}
