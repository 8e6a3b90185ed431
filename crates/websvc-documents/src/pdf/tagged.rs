//! Turns the content of a tagged page into blocks by the structure of the file, if the structure is plausible.

use super::blocks::{Block, Column, Line, PlacedBlock, Text, TextRole, code_text, text_of_lines};
use super::drop_caps;
use super::glyphs::Glyph;
use super::lines::segments;
use super::list_marker::{self, ListMarker};
use super::segment::Segment;
use super::structure::{Role, Structure};
use super::tables::rows;
use super::text::{Span, join, spans};

/// The minimum share of the letters that belong to an element.
const MIN_COVERED: f32 = 0.97;
/// The maximum share of the letters in groups, which have no purpose that can be written.
const MAX_LOOSE: f32 = 0.05;
/// The maximum number of lines of a paragraph.
const MAX_LINES: usize = 60;
/// The distance upwards, in ems, after which an element continues at the top of the next column.
const COLUMN_JUMP: f32 = 2.0;
/// The minimum number of paragraphs that show that their ends are wrong.
const MIN_PARAGRAPHS: usize = 5;

/// The minimum distance of the cells of a table that is not tagged, in ems, and its minimum number of lines.
const CELL_GAP: f32 = 1.15;
const MIN_TABLE_LINES: usize = 3;
/// The minimum indent of the items of a nested list, in ems.
const NESTED: f32 = 0.6;

/// The number of the content of no element, which is after that of all elements.
const UNTAGGED: u32 = u32::MAX;

/// The content of an element on a page.
struct Part {
    element: u32,
    lines: Vec<Line>,
}

/// Returns the blocks of a page in the order of the structure; `None` if the structure does not fit to the page.
pub(super) fn blocks(
    structure: &Structure,
    page: u32,
    glyphs: &[Glyph],
    link_offset: u32,
) -> Option<Vec<PlacedBlock>> {
    if structure.is_empty() {
        return None;
    }
    let parts = parts(structure, page, glyphs)?;
    if !are_plausible(structure, &parts) || parts.iter().any(|part| is_untagged_table(structure, part)) {
        return None;
    }
    let mut writer =
        Writer { structure, link_offset, blocks: Vec::new(), label: None, table: None, last_item: None };
    join_listings(structure, parts).iter().for_each(|part| writer.add(part));
    writer.finish_table();
    if let Some(PlacedBlock { block: Block::Text(first), .. }) = writer.blocks.first_mut() {
        first.starts_column = true;
    }
    Some(writer.blocks)
}

/// Returns the content of the elements in their order; `None` if too little of the page belongs to elements.
fn parts(structure: &Structure, page: u32, glyphs: &[Glyph]) -> Option<Vec<Part>> {
    let mut by_element: Vec<(u32, Vec<Glyph>)> = Vec::new();
    let mut places: std::collections::HashMap<u32, usize> = std::collections::HashMap::new();
    let (mut covered, mut loose, mut letters) = (0_usize, 0_usize, 0_usize);
    let mut last: Option<(u32, u32)> = None;
    for glyph in glyphs.iter().filter(|glyph| !glyph.artifact) {
        // Values of fields and text in other directions are not part of the structure.
        if glyph.font == u16::MAX || glyph.rotation != 0 {
            return None;
        }
        letters += usize::from(glyph.character != ' ');
        let element = match (last, glyph.mcid) {
            (Some((id, element)), Some(mcid)) if id == mcid => element,
            (_, mcid) => mcid.and_then(|mcid| structure.block(page, mcid)).unwrap_or(UNTAGGED),
        };
        last = glyph.mcid.map(|mcid| (mcid, element));
        covered += usize::from(glyph.character != ' ' && element != UNTAGGED);
        let is_loose = element != UNTAGGED
            && matches!(structure.role(element), Role::Group | Role::List | Role::Table | Role::Row);
        loose += usize::from(is_loose && glyph.character != ' ');
        let place = *places.entry(element).or_insert_with(|| {
            by_element.push((element, Vec::new()));
            by_element.len() - 1
        });
        by_element[place].1.push(*glyph);
    }
    let is_covered = letters > 0 && covered as f32 >= MIN_COVERED * letters as f32;
    if !is_covered || loose as f32 > MAX_LOOSE * letters as f32 {
        return None;
    }
    // The label of an item comes before the item, which can have text of its own.
    let place = |element: u32| match (structure.role(element), structure.ancestors(element).nth(1)) {
        (Role::Label, Some((item, Role::Item))) => (item, 0),
        _ => (element, 1),
    };
    by_element.sort_by_key(|(element, _)| place(*element));
    // The number of a page that is not marked as an artifact is not content.
    by_element.retain(|(element, glyphs)| {
        *element != UNTAGGED || glyphs.iter().any(|glyph| glyph.character.is_alphabetic())
    });
    let parts = by_element.into_iter().map(|(element, glyphs)| {
        let lines = glyphs.chunk_by(|last, next| next.y > last.y - COLUMN_JUMP * last.size).flat_map(lines);
        Part { element, lines: lines.collect() }
    });
    Some(parts.filter(|part| !part.lines.is_empty()).collect())
}

/// Returns whether a part is text directly in a group, most lines of which are cells: a table that its producer takes for
/// layout.
fn is_untagged_table(structure: &Structure, part: &Part) -> bool {
    let outer = structure.ancestors(part.element).nth(1).map(|(_, role)| role);
    let has_cells = |line: &&Line| {
        line.glyphs.iter().any(|glyph| glyph.character == ' ' && glyph.x1 - glyph.x0 > CELL_GAP * glyph.size)
    };
    structure.role(part.element) == Role::Inline
        && matches!(outer, None | Some(Role::Group))
        && part.lines.len() >= MIN_TABLE_LINES
        && part.lines.iter().filter(has_cells).count() * 2 > part.lines.len()
}

fn lines(glyphs: &[Glyph]) -> Vec<Line> {
    let mut segments = segments(glyphs);
    drop_caps::join(&mut segments);
    let rows: Vec<Vec<Segment>> = rows(segments);
    rows.iter().map(|row| Line::new(row)).collect()
}

/// Joins the lines of a listing, which many writers tag as a paragraph each.
fn join_listings(structure: &Structure, parts: Vec<Part>) -> Vec<Part> {
    let is_listing = |part: &Part| {
        matches!(structure.role(part.element), Role::Paragraph | Role::Inline | Role::Code)
            && part.lines.iter().all(|line| line.mono)
            && structure.ancestors(part.element).all(|(_, role)| !matches!(role, Role::Cell | Role::Item))
    };
    let mut joined: Vec<Part> = Vec::new();
    for part in parts {
        match joined.last_mut() {
            Some(last) if is_listing(last) && is_listing(&part) => last.lines.extend(part.lines),
            _ => joined.push(part),
        }
    }
    joined
}

/// Returns whether the elements are paragraphs as a reader sees them, and not lines or whole pages.
fn are_plausible(structure: &Structure, parts: &[Part]) -> bool {
    let paragraphs: Vec<&Part> = parts.iter().filter(|part| is_paragraph(structure, part)).collect();
    if paragraphs.iter().any(|part| part.lines.len() > MAX_LINES) {
        return false;
    }
    let continues = |pair: &&[&Part]| {
        let end = pair[0].lines.last().and_then(|line| line.glyphs.last());
        let start = pair[1].lines.first().and_then(|line| line.glyphs.first());
        end.is_some_and(|glyph| glyph.character.is_alphabetic() || glyph.character == ',')
            && start.is_some_and(|glyph| glyph.character.is_lowercase())
            && structure.ancestors(pair[0].element).all(|(_, role)| role != Role::Cell)
    };
    let broken = paragraphs.windows(2).filter(continues).count();
    paragraphs.len() < MIN_PARAGRAPHS || broken * 4 < paragraphs.len()
}

fn is_paragraph(structure: &Structure, part: &Part) -> bool {
    matches!(structure.role(part.element), Role::Paragraph | Role::Inline)
}

/// The element and the text of a cell.
type OpenCell = (u32, Vec<Span>);

/// A table that is being collected.
struct OpenTable {
    element: u32,
    /// The rows with their elements, and their cells with theirs.
    rows: Vec<(u32, Vec<OpenCell>)>,
    lines: Vec<Line>,
}

struct Writer<'s> {
    structure: &'s Structure,
    link_offset: u32,
    blocks: Vec<PlacedBlock>,
    /// The label of the next item, with the item.
    label: Option<(u32, String)>,
    table: Option<OpenTable>,
    /// The last item, if it is the last block.
    last_item: Option<LastItem>,
}

/// An item, and the place of its list.
#[derive(Clone, Copy)]
struct LastItem {
    list: Option<u32>,
    /// The depth by the structure, and with the indent.
    stated: u16,
    depth: u16,
    x0: f32,
    y: f32,
}

impl Writer<'_> {
    fn add(&mut self, part: &Part) {
        let (mut table, mut row, mut cell, mut item, mut depth) = (None, None, None, None, 0_u16);
        for (element, role) in self.structure.ancestors(part.element) {
            match role {
                Role::Table => table = Some(element),
                Role::Row => row = Some(element),
                Role::Cell => cell = Some(element),
                Role::Item => item = item.or(Some(element)),
                Role::List => depth += 1,
                _ => {}
            }
        }
        if let (Some(table), Some(row), Some(cell)) = (table, row, cell) {
            return self.add_cell(part, table, row, cell);
        }
        self.finish_table();
        let role = self.structure.role(part.element);
        match (role, item) {
            (Role::Label, Some(item)) => {
                let glyphs = part.lines.iter().flat_map(|line| &line.glyphs);
                self.label = Some((item, glyphs.map(|glyph| glyph.character).collect()));
            }
            (Role::Code, None) => self.add_code(part),
            (Role::ContentsEntry, None) => self.add_contents(part),
            (Role::Paragraph | Role::Inline, None)
                if part.lines.iter().all(|line| line.mono) && part.lines.len() > 1 =>
            {
                self.add_code(part);
            }
            (_, Some(item)) => self.add_item(part, item, depth),
            (_, None) => self.add_text(part, role),
        }
    }

    fn add_text(&mut self, part: &Part, role: Role) {
        let mut text = self.text(part);
        text.role = match role {
            Role::Heading(Some(level)) => TextRole::Heading(level),
            Role::Heading(None) => TextRole::Unknown,
            _ if self.structure.has_headings => TextRole::Body,
            _ => TextRole::Unknown,
        };
        if matches!(role, Role::Heading(_)) {
            text.marker_to_text();
        }
        self.push(Block::Text(text), part.element, &part.lines);
    }

    /// Adds a paragraph of an item. Only the first one has the marker; the others continue it.
    fn add_item(&mut self, part: &Part, item: u32, depth: u16) {
        let mut text = self.text(part);
        text.role = TextRole::Body;
        let depth = self.item_depth(part, depth);
        text.x0 = f32::from(depth) * text.size * 4.0;
        if let Some((labelled, label)) = self.label.take()
            && labelled == item
        {
            text.marker_to_text();
            let label = label.trim();
            let characters: Vec<char> = label.chars().collect();
            let marker = list_marker::parse_marker(&characters).or_else(|| bare_number(&characters));
            text.marker = Some(marker.unwrap_or(ListMarker::Bullet));
            // The term of a description, or a number that lists cannot have.
            if marker.is_none() && label.chars().any(char::is_alphanumeric) {
                text.label = label.to_owned();
                text.marker_to_text();
                text.marker = Some(ListMarker::Bullet);
            }
        } else if let Some(PlacedBlock { block: Block::Text(last), element: Some(element), .. }) =
            self.blocks.last_mut()
            && self.structure.ancestors(*element).find(|(_, role)| *role == Role::Item).map(|(item, _)| item)
                == Some(item)
            && text.marker.is_none()
        {
            join(&mut last.spans, text.spans);
            last.lines += text.lines;
            return;
        } else {
            text.marker = text.marker.or(Some(ListMarker::Bullet));
        }
        self.push(Block::Text(text), part.element, &part.lines);
    }

    /// Returns the depth of an item. Some producers write nested lists as lists of the same depth one after the other, so
    /// that only their indents differ.
    fn item_depth(&mut self, part: &Part, stated: u16) -> u16 {
        let mut ancestors = self.structure.ancestors(part.element);
        let list = ancestors.find(|(_, role)| *role == Role::List).map(|(list, _)| list);
        let Some(line) = part.lines.first() else { return stated };
        let Self { last_item, blocks, .. } = self;
        let is_item =
            |placed: &PlacedBlock| matches!(&placed.block, Block::Text(text) if text.marker.is_some());
        let last = last_item
            .filter(|last| last.stated == stated && line.y > last.y && blocks.last().is_some_and(is_item));
        let indent = |last: LastItem| (line.area.x0 - last.x0) / line.size;
        let depth = match last {
            Some(last) if last.list != list && indent(last) > NESTED => last.depth + 1,
            Some(last) if last.list != list && indent(last) < -NESTED => stated.max(last.depth - 1),
            Some(last) => last.depth,
            None => stated,
        };
        self.last_item = Some(LastItem { list, stated, depth, x0: line.area.x0, y: line.y });
        depth
    }

    fn add_code(&mut self, part: &Part) {
        let column = Column::new(self.link_offset, &part.lines);
        let code = code_text(&part.lines, &column);
        match self.blocks.last_mut() {
            Some(PlacedBlock { block: Block::Code(last), .. }) => last.extend(code),
            _ => self.push(Block::Code(code), part.element, &part.lines),
        }
    }

    fn add_contents(&mut self, part: &Part) {
        let entries = part.lines.iter().map(|line| super::blocks::contents_entry(line, self.link_offset));
        let entries: Vec<Vec<Span>> = entries.collect();
        match self.blocks.last_mut() {
            Some(PlacedBlock { block: Block::Contents(last), .. }) => last.extend(entries),
            _ => self.push(Block::Contents(entries), part.element, &part.lines),
        }
    }

    fn add_cell(&mut self, part: &Part, table: u32, row: u32, cell: u32) {
        if self.table.as_ref().is_some_and(|open| open.element != table) {
            self.finish_table();
        }
        let open = self.table.get_or_insert_with(|| OpenTable {
            element: table,
            rows: Vec::new(),
            lines: Vec::new(),
        });
        if open.rows.last().is_none_or(|(last, _)| *last != row) {
            open.rows.push((row, Vec::new()));
        }
        let Some((_, cells)) = open.rows.last_mut() else { return };
        if cells.last().is_none_or(|(last, _)| *last != cell) {
            cells.push((cell, Vec::new()));
        }
        let Some((_, text)) = cells.last_mut() else { return };
        part.lines.iter().for_each(|line| join(text, spans(&line.glyphs, self.link_offset)));
        open.lines.extend_from_slice(&part.lines);
    }

    fn finish_table(&mut self) {
        let Some(open) = self.table.take() else { return };
        let rows = open.rows.into_iter().map(|(_, cells)| cells.into_iter().map(|(_, cell)| cell).collect());
        self.push(Block::Table(rows.collect()), open.element, &open.lines);
    }

    fn text(&self, part: &Part) -> Text {
        text_of_lines(&part.lines, &Column::new(self.link_offset, &part.lines))
    }

    fn push(&mut self, block: Block, element: u32, lines: &[Line]) {
        let mut placed = PlacedBlock::of_lines(block, lines);
        placed.element = Some(element);
        self.blocks.push(placed);
    }
}

/// Returns the marker of a number without a period.
fn bare_number(label: &[char]) -> Option<ListMarker> {
    let digits: String = label.iter().collect();
    digits.parse().ok().filter(|_| label.len() <= 3).map(ListMarker::Number)
}
