//! Detects tables: cells between drawn lines, or aligned cells with white space between them.

use super::blocks::{Block, Column, Line, PlacedBlock, blocks, has_leader};
use super::geometry::{Rect, median};
use super::glyphs::Glyph;
use super::graphics::StraightLine;
use super::list_marker;
use super::segment::Segment;
use super::text::{Span, join, spans};

/// The distance below which two lines of a grid are one line, in points.
const SNAP: f32 = 3.0;
/// The minimum width of the white space between columns, in ems.
const MIN_STRIP: f32 = 0.6;
/// The minimum number of rows with several cells of a table without drawn lines.
const MIN_ROWS: usize = 3;
/// The maximum number of drawn lines that are examined. More belong to a drawing.
const MAX_RULES: usize = 4000;
/// The maximum number of vertical lines of a grid.
const MAX_COLUMNS: usize = 40;
/// The minimum size of a line of one cell that is a heading between two tables, relative to the first row.
const HEADING_SCALE: f32 = 1.12;
/// The minimum distance of rows with an empty row between them, relative to the usual one.
const EMPTY_ROW: f32 = 1.7;

/// Groups the segments of a column into blocks, including tables, and appends them. `grids` are the grids of the page.
pub(super) fn column_blocks(
    segments: Vec<Segment>,
    rules: &[StraightLine],
    grids: &[Grid],
    link_offset: u32,
    out: &mut Vec<PlacedBlock>,
) {
    let (grid_segments, segments): (Vec<Segment>, Vec<Segment>) =
        segments.into_iter().partition(|segment| segment.grid.is_some());
    let rows = rows(segments);
    let lines: Vec<Line> = rows.iter().map(|row| Line::new(row)).collect();
    let column = Column::new(link_offset, &lines);
    let mut pending_grids: Vec<(f32, &Grid)> =
        grid_segments.iter().filter_map(|segment| Some((segment.y, grids.get(segment.grid?)?))).collect();
    pending_grids.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut pending_grids = pending_grids.into_iter().peekable();
    let mut pending_lines: Vec<Line> = Vec::new();
    let mut index = 0;
    while index < rows.len() {
        if let Some((_, grid)) = pending_grids.next_if(|(y, _)| *y < lines[index].y) {
            blocks(&std::mem::take(&mut pending_lines), &column, out);
            out.push(grid.block(link_offset));
            continue;
        }
        match aligned_table(&rows[index..], &lines[index..], rules, &column) {
            Some((count, block)) => {
                blocks(&std::mem::take(&mut pending_lines), &column, out);
                out.push(PlacedBlock::of_lines(block, &lines[index..index + count]));
                index += count;
            }
            None => {
                pending_lines.push(lines[index].clone());
                index += 1;
            }
        }
    }
    blocks(&pending_lines, &column, out);
    out.extend(pending_grids.map(|(_, grid)| grid.block(link_offset)));
}

/// Groups segments into rows by their baselines.
pub(super) fn rows(mut segments: Vec<Segment>) -> Vec<Vec<Segment>> {
    segments.sort_by(|a, b| a.y.total_cmp(&b.y));
    let mut rows: Vec<Vec<Segment>> = Vec::new();
    for segment in segments {
        match rows.last_mut() {
            Some(row) if (segment.y - row[0].y).abs() < 0.35 * segment.size.min(row[0].size) => {
                row.push(segment);
            }
            _ => rows.push(vec![segment]),
        }
    }
    rows.iter_mut().for_each(|row| row.sort_by(|a, b| a.area.x0.total_cmp(&b.area.x0)));
    list_marker::remove_line_numbers(&mut rows);
    list_marker::mark_notes(&mut rows);
    list_marker::mark_bare_numbers(&mut rows);
    rows.iter_mut().for_each(join_marker);
    rows
}

/// Joins a list marker with its text, because they are not cells of a table.
fn join_marker(row: &mut Vec<Segment>) {
    let is_marker = row.len() >= 2 && {
        let word: Vec<char> = row[0].glyphs.iter().map(|glyph| glyph.character).collect();
        list_marker::parse_marker(&word).is_some() && row[1].area.x0 - row[0].area.x1 < row[0].size * 4.0
    };
    if is_marker {
        list_marker::join_first(row);
    }
}

/// A table between drawn lines.
#[derive(Debug)]
pub(super) struct Grid {
    /// The sorted positions of the vertical lines.
    xs: Vec<f32>,
    /// The sorted positions of the horizontal lines.
    ys: Vec<f32>,
    /// The text within the grid.
    segments: Vec<Segment>,
}

/// Finds the grids on a page, and replaces the segments of each by one segment that represents the grid.
pub(super) fn extract_grids(segments: &mut Vec<Segment>, rules: &[StraightLine]) -> Vec<Grid> {
    let mut candidates: Vec<Grid> = clusters(rules).iter().filter_map(|rules| grid(rules)).collect();
    if candidates.is_empty() {
        return candidates;
    }
    let mut rest = Vec::new();
    for segment in segments.drain(..) {
        let (x, y) = ((segment.area.x0 + segment.area.x1) / 2.0, segment.y - segment.size * 0.3);
        match candidates.iter_mut().find(|grid| grid.area().contains(x, y)) {
            Some(grid) => grid.segments.push(segment),
            None => rest.push(segment),
        }
    }
    // A frame around text without cells is not a table.
    let (grids, frames): (Vec<Grid>, Vec<Grid>) = candidates.into_iter().partition(Grid::is_table);
    rest.extend(frames.into_iter().flat_map(|frame| frame.segments));
    rest.extend(grids.iter().enumerate().map(|(index, grid)| Segment::for_grid(index, grid.area())));
    *segments = rest;
    grids
}

/// Groups the rules that touch each other.
fn clusters(rules: &[StraightLine]) -> Vec<Vec<StraightLine>> {
    let mut clusters: Vec<(Rect, Vec<StraightLine>)> = Vec::new();
    for rule in rules.iter().take(MAX_RULES) {
        let touches = |area: &Rect| {
            rule.area.x0 <= area.x1 + SNAP
                && rule.area.x1 >= area.x0 - SNAP
                && rule.area.y0 <= area.y1 + SNAP
                && rule.area.y1 >= area.y0 - SNAP
        };
        let (joined, separate): (Vec<_>, Vec<_>) = clusters.into_iter().partition(|(area, _)| touches(area));
        clusters = separate;
        let mut cluster = (rule.area, vec![*rule]);
        for (area, rules) in joined {
            cluster.0.unite(&area);
            cluster.1.extend(rules);
        }
        clusters.push(cluster);
    }
    clusters.into_iter().map(|(_, rules)| rules).collect()
}

/// Returns the grid that touching rules form; `None` if they do not form a grid.
fn grid(rules: &[StraightLine]) -> Option<Grid> {
    let (vertical, horizontal): (Vec<&StraightLine>, Vec<&StraightLine>) =
        rules.iter().partition(|rule| rule.is_vertical);
    // Many tables have no outer lines. The ends of the inner lines are at the positions of the outer ones.
    let ends_x = horizontal.iter().flat_map(|rule| [rule.area.x0, rule.area.x1]);
    let ends_y = vertical.iter().flat_map(|rule| [rule.area.y0, rule.area.y1]);
    let bounds = |ends: Vec<f32>| {
        let min = ends.iter().copied().fold(f32::INFINITY, f32::min);
        let max = ends.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        [min, max].into_iter().filter(|end| end.is_finite())
    };
    let xs = snapped(vertical.iter().map(|rule| rule.area.x0).chain(bounds(ends_x.collect())));
    let ys = snapped(horizontal.iter().map(|rule| rule.area.y0).chain(bounds(ends_y.collect())));
    let is_grid = xs.len() >= 3 && ys.len() >= 3 && xs.len() <= MAX_COLUMNS && ys.len() <= 500;
    is_grid.then_some(Grid { xs, ys, segments: Vec::new() })
}

/// Returns the sorted values, with values close to each other merged.
fn snapped(values: impl Iterator<Item = f32>) -> Vec<f32> {
    let mut values: Vec<f32> = values.collect();
    values.sort_by(f32::total_cmp);
    values.dedup_by(|a, b| (*a - *b).abs() < SNAP);
    values
}

impl Grid {
    fn area(&self) -> Rect {
        let mut area = Rect::EMPTY;
        for (x, y) in self.xs.iter().zip(&self.ys).chain(self.xs.last().zip(self.ys.last())) {
            area.include(*x, *y);
        }
        area
    }

    /// Returns whether enough cells have text.
    fn is_table(&self) -> bool {
        let cells = self.cells();
        let filled = cells.iter().flatten().filter(|cell| !cell.is_empty()).count();
        let rows = cells.iter().filter(|row| row.iter().any(|cell| !cell.is_empty())).count();
        rows >= 1 && filled >= 3 && filled * 4 >= cells.iter().map(Vec::len).sum::<usize>()
    }

    /// Returns the glyphs of each cell, line by line.
    fn cells(&self) -> Vec<Vec<Vec<Glyph>>> {
        let mut cells: Vec<Vec<Vec<Glyph>>> = vec![vec![Vec::new(); self.xs.len() - 1]; self.ys.len() - 1];
        let mut segments: Vec<&Segment> = self.segments.iter().collect();
        segments.sort_by(|a, b| a.y.total_cmp(&b.y).then(a.area.x0.total_cmp(&b.area.x0)));
        for segment in segments {
            let row = interval_index(&self.ys, segment.y - segment.size * 0.3);
            let (mut column, mut last) = (0, None);
            for glyph in &segment.glyphs {
                // A word that crosses a line of the grid is not split.
                let begins_word = last.is_none_or(|(is_space, link)| is_space || link != glyph.link);
                if begins_word {
                    column = interval_index(&self.xs, (glyph.x0 + glyph.x1) / 2.0);
                }
                last = Some((glyph.character == ' ', glyph.link));
                let cell = &mut cells[row][column];
                if let Some(before) = cell.last().copied()
                    && before.x1 + 0.15 * glyph.size < glyph.x0
                    && before.character != ' '
                    && glyph.character != ' '
                {
                    cell.push(Glyph { character: ' ', x0: before.x1, x1: glyph.x0, ..before });
                }
                cell.push(*glyph);
            }
        }
        cells
    }

    fn block(&self, link_offset: u32) -> PlacedBlock {
        let rows = self
            .cells()
            .into_iter()
            .map(|row| row.into_iter().map(|glyphs| cell(glyphs, link_offset)).collect::<Vec<Vec<Span>>>());
        let mut rows: Vec<Vec<Vec<Span>>> =
            rows.filter(|row| row.iter().any(|cell| !cell.is_empty())).collect();
        // A column without text comes from lines that nearly coincide.
        for column in (0..self.xs.len() - 1).rev() {
            if rows.iter().all(|row| row.get(column).is_none_or(Vec::is_empty)) {
                rows.iter_mut().filter(|row| column < row.len()).for_each(|row| drop(row.remove(column)));
            }
        }
        let corners = [self.xs.first().zip(self.ys.first()), self.xs.last().zip(self.ys.last())];
        let mut area = Rect::EMPTY;
        corners.into_iter().flatten().for_each(|(x, y)| area.include(*x, *y));
        PlacedBlock { block: Block::Table(rows), area: Some(area), element: None }
    }
}

/// Returns the index of the interval between sorted edges that contains a value.
fn interval_index(edges: &[f32], value: f32) -> usize {
    edges.partition_point(|edge| *edge <= value).saturating_sub(1).min(edges.len() - 2)
}

/// Returns the text of a cell, with its lines joined.
fn cell(glyphs: Vec<Glyph>, link_offset: u32) -> Vec<Span> {
    let mut text = Vec::new();
    let mut line: Vec<Glyph> = Vec::new();
    for glyph in glyphs {
        if line.last().is_some_and(|last| (last.y - glyph.y).abs() > glyph.size * 0.7) {
            join(&mut text, trimmed_spans(&line, link_offset));
            line.clear();
        }
        if glyph.character != ' ' || !line.is_empty() {
            line.push(glyph);
        }
    }
    join(&mut text, trimmed_spans(&line, link_offset));
    text
}

fn trimmed_spans(line: &[Glyph], link_offset: u32) -> Vec<Span> {
    let end = line.iter().rposition(|glyph| glyph.character != ' ').map_or(0, |index| index + 1);
    spans(&line[..end], link_offset)
}

/// Returns the table of aligned cells that begins with the first row, and its number of rows; `None` if there is none.
fn aligned_table(
    rows: &[Vec<Segment>],
    lines: &[Line],
    rules: &[StraightLine],
    column: &Column,
) -> Option<(usize, Block)> {
    if rows[0].len() < 2 || lines[0].mono || has_leader(&lines[0]) {
        return None;
    }
    let (strips, count) = common_strips(rows, lines, column);
    let multi_cell_rows = rows[..count].iter().filter(|row| row.len() >= 2).count();
    let (top, bottom) = (lines[0].area.y0, lines[count - 1].area.y1);
    let has_rule = rules.iter().any(|rule| {
        !rule.is_vertical
            && rule.area.y0 > top - 8.0
            && rule.area.y1 < bottom + 8.0
            && rule.area.width() > 40.0
    });
    let min_rows = if has_rule { MIN_ROWS - 1 } else { MIN_ROWS };
    if strips.is_empty() || multi_cell_rows < min_rows || multi_cell_rows * 2 < count {
        return None;
    }
    let breaks = row_breaks(&rows[..count], &lines[..count], strips[0].0, rules, column);
    let table = cells(&rows[..count], &strips, &breaks, column);
    let filled = table.iter().flatten().filter(|cell| !cell.is_empty()).count();
    let is_table = table.len() >= 2 && filled * 2 >= table.len() * (strips.len() + 1);
    is_table.then_some((count, Block::Table(table)))
}

/// Returns the strips of white space that the rows from the first have in common, and the number of these rows.
fn common_strips(rows: &[Vec<Segment>], lines: &[Line], column: &Column) -> (Vec<(f32, f32)>, usize) {
    let mut strips = gaps(&rows[0]);
    let mut count = 1;
    let mut widest = 0.0_f32;
    let size = rows[0].iter().map(|cell| cell.size).fold(f32::INFINITY, f32::min);
    for (row, line) in rows.iter().zip(lines).skip(1) {
        let last = &lines[count - 1];
        let distance = line.y - last.y;
        let is_heading = row.len() == 1 && line.size > size * HEADING_SCALE;
        // An empty row before rows with other cells is the end of a sheet's table.
        let is_other = count >= MIN_ROWS
            && distance > widest * EMPTY_ROW
            && row.len().abs_diff(rows[count - 1].len()) > 0;
        if is_heading || is_other {
            break;
        }
        widest = widest.max(distance);
        if line.y - last.y > column.leading.max(line.size) * 2.4 || line.mono != last.mono || has_leader(line)
        {
            break;
        }
        let narrowed = narrow_strips(&strips, row);
        let wide: Vec<(f32, f32)> =
            narrowed.into_iter().filter(|(x0, x1)| x1 - x0 >= line.size * MIN_STRIP).collect();
        if wide.len() < strips.len() && (count >= MIN_ROWS || wide.is_empty() || row.len() < 2) {
            break;
        }
        strips = wide;
        count += 1;
    }
    // Rows with one cell at the end belong to the text after the table, unless they continue a cell.
    while count > 1
        && rows[count - 1].len() < 2
        && rows[count - 1][0].area.x0 < strips.first().map_or(0.0, |s| s.0)
    {
        count -= 1;
    }
    (strips, count)
}

/// Returns the gaps between the segments of a row.
fn gaps(row: &[Segment]) -> Vec<(f32, f32)> {
    row.windows(2).map(|pair| (pair[0].area.x1, pair[1].area.x0)).collect()
}

/// Returns the parts of the strips that are also white space in a row.
fn narrow_strips(strips: &[(f32, f32)], row: &[Segment]) -> Vec<(f32, f32)> {
    let mut narrowed = Vec::new();
    for &(x0, x1) in strips {
        let mut parts = vec![(x0, x1)];
        for segment in row {
            parts = parts
                .into_iter()
                .flat_map(|(a, b)| {
                    let before = (a, b.min(segment.area.x0));
                    let after = (a.max(segment.area.x1), b);
                    if segment.area.x0 >= b || segment.area.x1 <= a {
                        vec![(a, b)]
                    } else {
                        vec![before, after]
                    }
                })
                .filter(|(a, b)| b > a)
                .collect();
        }
        // A strip is not split: only its widest part remains.
        narrowed.extend(parts.into_iter().max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0))));
    }
    narrowed
}

/// Returns for each line whether it begins a row of a table. The other lines continue the cells of the line above.
/// `first_x1` is the right edge of the first cells.
fn row_breaks(
    rows: &[Vec<Segment>],
    lines: &[Line],
    first_x1: f32,
    rules: &[StraightLine],
    column: &Column,
) -> Vec<bool> {
    let (top, bottom) = (lines[0].y, lines[lines.len() - 1].y);
    let area = Rect::around(lines.iter().map(|line| &line.area));
    let is_across = |rule: &&StraightLine| {
        let covered = rule.area.x1.min(area.x1) - rule.area.x0.max(area.x0);
        !rule.is_vertical && (top..bottom).contains(&rule.area.y0) && covered > 0.8 * area.width()
    };
    let ys = snapped(rules.iter().take(MAX_RULES).filter(is_across).map(|rule| rule.area.y0));
    let is_ruled = |pair: &[Line]| ys.iter().any(|y| pair[0].y <= *y && *y < pair[1].y);
    // Lines separate all rows, and not only the header from the others.
    if ys.len() >= MIN_ROWS && ys.len() * 4 >= lines.len() {
        return std::iter::once(true).chain(lines.windows(2).map(is_ruled)).collect();
    }
    let distances = lines.windows(2).map(|pair| pair[1].y - pair[0].y);
    let usual = median(distances).unwrap_or(0.0);
    let mut breaks = vec![true];
    for (pair, row) in lines.windows(2).zip(&rows[1..]) {
        let distance = pair[1].y - pair[0].y;
        // A line that is nearer than usual and has fewer cells is the second line of a cell.
        let is_near = distance < 0.85 * usual && row.len() < rows[0].len();
        // The same applies to a line without its first cell and close to the line above.
        let lacks_first =
            row[0].area.x0 > first_x1 && distance < column.leading.max(pair[1].size * 1.25) * 1.25;
        breaks.push(!(is_near || lacks_first) || is_ruled(pair));
    }
    breaks
}

/// Distributes the segments of the rows to the cells between the strips.
fn cells(
    rows: &[Vec<Segment>],
    strips: &[(f32, f32)],
    breaks: &[bool],
    column: &Column,
) -> Vec<Vec<Vec<Span>>> {
    let mut table: Vec<Vec<Vec<Span>>> = Vec::new();
    for (row, begins_row) in rows.iter().zip(breaks) {
        let mut cells: Vec<Vec<Span>> = vec![Vec::new(); strips.len() + 1];
        for segment in row {
            let middle = (segment.area.x0 + segment.area.x1) / 2.0;
            let index = strips.partition_point(|(x0, x1)| (x0 + x1) / 2.0 <= middle);
            join(&mut cells[index], spans(&segment.glyphs, column.link_offset));
        }
        match table.last_mut() {
            Some(above) if !begins_row => {
                for (cell, more) in above.iter_mut().zip(cells) {
                    if !more.is_empty() {
                        join(cell, more);
                    }
                }
            }
            _ => table.push(cells),
        }
    }
    table
}
