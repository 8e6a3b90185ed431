//! Tables: cells between drawn lines, or cells that stand below each other with white between them.

use super::blocks::{Block, Column, Line, blocks, has_leader};
use super::content::Glyph;
use super::geometry::Rect;
use super::graphics::StraightLine;
use super::lines::Segment;
use super::list_marker;
use super::text::{Span, join, spans};

/// Lines of a grid that are closer than this are one, in points.
const SNAP: f32 = 3.0;
/// Columns are parted by at least so much white, in ems.
const MIN_STRIP: f32 = 0.6;
/// A table without lines has at least so many rows of several cells.
const MIN_ROWS: usize = 3;
/// More lines than this are a drawing.
const MAX_RULES: usize = 4000;
/// A table has at most so many columns.
const MAX_COLUMNS: usize = 40;

/// Makes blocks of the segments of a column; `grids` are those of the page.
pub(super) fn column_blocks(
    segments: Vec<Segment>,
    rules: &[StraightLine],
    grids: &[Grid],
    links: u32,
    out: &mut Vec<Block>,
) {
    let (placed, segments): (Vec<Segment>, Vec<Segment>) =
        segments.into_iter().partition(|segment| segment.grid.is_some());
    let rows = rows(segments);
    let lines: Vec<Line> = rows.iter().map(|row| Line::new(row)).collect();
    let column = Column::new(links, &lines);
    let mut placed: Vec<(f32, &Grid)> =
        placed.iter().filter_map(|segment| Some((segment.y, grids.get(segment.grid?)?))).collect();
    placed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut placed = placed.into_iter().peekable();
    let mut waiting: Vec<Line> = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        if let Some((_, grid)) = placed.next_if(|(y, _)| *y < lines[at].y) {
            blocks(&std::mem::take(&mut waiting), &column, out);
            out.push(grid.block(links));
            continue;
        }
        match aligned(&rows[at..], &lines[at..], rules, &column) {
            Some((count, block)) => {
                blocks(&std::mem::take(&mut waiting), &column, out);
                out.push(block);
                at += count;
            }
            None => {
                waiting.push(lines[at].clone());
                at += 1;
            }
        }
    }
    blocks(&waiting, &column, out);
    out.extend(placed.map(|(_, grid)| grid.block(links)));
}

/// Groups segments into rows by their baselines.
fn rows(mut segments: Vec<Segment>) -> Vec<Vec<Segment>> {
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
    for row in &mut rows {
        row.sort_by(|a, b| a.area.x0.total_cmp(&b.area.x0));
        join_marker(row);
    }
    rows
}

/// Joins the sign of a list with its text: they are no cells.
fn join_marker(row: &mut Vec<Segment>) {
    let is_marker = row.len() >= 2 && {
        let word: Vec<char> = row[0].glyphs.iter().map(|glyph| glyph.character).collect();
        list_marker::kind(&word).is_some() && row[1].area.x0 - row[0].area.x1 < row[0].size * 4.0
    };
    if is_marker {
        let second = row.remove(1);
        let first = &mut row[0];
        if let Some(last) = first.glyphs.last().copied() {
            first.glyphs.push(Glyph { character: ' ', x0: last.x1, x1: second.area.x0, ..last });
        }
        first.glyphs.extend(second.glyphs);
        first.area.unite(&second.area);
    }
}

/// A table between drawn lines.
#[derive(Debug)]
pub(super) struct Grid {
    xs: Vec<f32>,
    ys: Vec<f32>,
    segments: Vec<Segment>,
}

/// Finds the grids that are drawn on a page; one segment stands for those of each from here on.
pub(super) fn cut_grids(segments: &mut Vec<Segment>, rules: &[StraightLine]) -> Vec<Grid> {
    let mut found: Vec<Grid> = clusters(rules).iter().filter_map(|rules| grid(rules)).collect();
    if found.is_empty() {
        return found;
    }
    let mut rest = Vec::new();
    for segment in segments.drain(..) {
        let (x, y) = ((segment.area.x0 + segment.area.x1) / 2.0, segment.y - segment.size * 0.3);
        match found.iter_mut().find(|grid| grid.area().contains(x, y)) {
            Some(grid) => grid.segments.push(segment),
            None => rest.push(segment),
        }
    }
    // A frame around text that it does not part into cells is no table.
    let (grids, frames): (Vec<Grid>, Vec<Grid>) = found.into_iter().partition(Grid::is_table);
    rest.extend(frames.into_iter().flat_map(|frame| frame.segments));
    rest.extend(grids.iter().enumerate().map(|(index, grid)| Segment::of_grid(index, grid.area())));
    *segments = rest;
    grids
}

/// Groups the lines that touch.
fn clusters(rules: &[StraightLine]) -> Vec<Vec<StraightLine>> {
    let mut clusters: Vec<(Rect, Vec<StraightLine>)> = Vec::new();
    for rule in rules.iter().take(MAX_RULES) {
        let touches = |area: &Rect| {
            rule.area.x0 <= area.x1 + SNAP
                && rule.area.x1 >= area.x0 - SNAP
                && rule.area.y0 <= area.y1 + SNAP
                && rule.area.y1 >= area.y0 - SNAP
        };
        let (joined, apart): (Vec<_>, Vec<_>) = clusters.into_iter().partition(|(area, _)| touches(area));
        clusters = apart;
        let mut cluster = (rule.area, vec![*rule]);
        for (area, rules) in joined {
            cluster.0.unite(&area);
            cluster.1.extend(rules);
        }
        clusters.push(cluster);
    }
    clusters.into_iter().map(|(_, rules)| rules).collect()
}

fn grid(rules: &[StraightLine]) -> Option<Grid> {
    let (upright, across): (Vec<&StraightLine>, Vec<&StraightLine>) =
        rules.iter().partition(|rule| rule.upright);
    // Many tables have no outer lines: the ends of the inner ones are where those would be.
    let ends_x = across.iter().flat_map(|rule| [rule.area.x0, rule.area.x1]);
    let ends_y = upright.iter().flat_map(|rule| [rule.area.y0, rule.area.y1]);
    let outer = |ends: Vec<f32>| {
        let least = ends.iter().copied().fold(f32::INFINITY, f32::min);
        let most = ends.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        [least, most].into_iter().filter(|end| end.is_finite())
    };
    let xs = snapped(upright.iter().map(|rule| rule.area.x0).chain(outer(ends_x.collect())));
    let ys = snapped(across.iter().map(|rule| rule.area.y0).chain(outer(ends_y.collect())));
    let is_grid = xs.len() >= 3 && ys.len() >= 3 && xs.len() <= MAX_COLUMNS && ys.len() <= 500;
    is_grid.then_some(Grid { xs, ys, segments: Vec::new() })
}

/// Returns the distinct values, those close to each other as one.
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

    fn is_table(&self) -> bool {
        let cells = self.cells();
        let filled = cells.iter().flatten().filter(|cell| !cell.is_empty()).count();
        let rows = cells.iter().filter(|row| row.iter().any(|cell| !cell.is_empty())).count();
        rows >= 1 && filled >= 3 && filled * 4 >= cells.iter().map(Vec::len).sum::<usize>()
    }

    /// Returns the characters of each cell, those of one line after the other.
    fn cells(&self) -> Vec<Vec<Vec<Glyph>>> {
        let mut cells = vec![vec![Vec::new(); self.xs.len() - 1]; self.ys.len() - 1];
        let mut segments: Vec<&Segment> = self.segments.iter().collect();
        segments.sort_by(|a, b| a.y.total_cmp(&b.y).then(a.area.x0.total_cmp(&b.area.x0)));
        for segment in segments {
            let row = slot(&self.ys, segment.y - segment.size * 0.3);
            let (mut column, mut before) = (0, None);
            for glyph in &segment.glyphs {
                // A word that is too long for its cell stays whole.
                let begins = before.is_none_or(|(space, link)| space || link != glyph.link);
                if begins {
                    column = slot(&self.xs, (glyph.x0 + glyph.x1) / 2.0);
                }
                before = Some((glyph.character == ' ', glyph.link));
                cells[row][column].push(*glyph);
            }
        }
        cells
    }

    fn block(&self, links: u32) -> Block {
        let rows = self
            .cells()
            .into_iter()
            .map(|row| row.into_iter().map(|glyphs| cell(glyphs, links)).collect::<Vec<Vec<Span>>>());
        Block::Table(rows.filter(|row| row.iter().any(|cell| !cell.is_empty())).collect())
    }
}

/// Returns between which two of the sorted values another lies.
fn slot(edges: &[f32], value: f32) -> usize {
    edges.partition_point(|edge| *edge <= value).saturating_sub(1).min(edges.len() - 2)
}

/// Joins the lines of a cell.
fn cell(glyphs: Vec<Glyph>, links: u32) -> Vec<Span> {
    let mut text = Vec::new();
    let mut line: Vec<Glyph> = Vec::new();
    for glyph in glyphs {
        if line.last().is_some_and(|last| (last.y - glyph.y).abs() > glyph.size * 0.7) {
            join(&mut text, trimmed(&line, links));
            line.clear();
        }
        if glyph.character != ' ' || !line.is_empty() {
            line.push(glyph);
        }
    }
    join(&mut text, trimmed(&line, links));
    text
}

fn trimmed(line: &[Glyph], links: u32) -> Vec<Span> {
    let end = line.iter().rposition(|glyph| glyph.character != ' ').map_or(0, |at| at + 1);
    spans(&line[..end], links)
}

/// Finds a table without upright lines that begins with the first row; returns how many rows it has.
fn aligned(
    rows: &[Vec<Segment>],
    lines: &[Line],
    rules: &[StraightLine],
    column: &Column,
) -> Option<(usize, Block)> {
    if rows[0].len() < 2 || lines[0].mono || has_leader(&lines[0]) {
        return None;
    }
    let (strips, count) = common_strips(rows, lines, column);
    let several = rows[..count].iter().filter(|row| row.len() >= 2).count();
    let (top, bottom) = (lines[0].area.y0, lines[count - 1].area.y1);
    let ruled = rules.iter().any(|rule| {
        !rule.upright && rule.area.y0 > top - 8.0 && rule.area.y1 < bottom + 8.0 && rule.area.width() > 40.0
    });
    let needed = if ruled { MIN_ROWS - 1 } else { MIN_ROWS };
    if strips.is_empty() || several < needed || several * 2 < count {
        return None;
    }
    let table = cells(&rows[..count], &lines[..count], &strips, column);
    let filled = table.iter().flatten().filter(|cell| !cell.is_empty()).count();
    let is_table = table.len() >= 2 && filled * 2 >= table.len() * (strips.len() + 1);
    is_table.then_some((count, Block::Table(table)))
}

/// Returns the strips of white that all rows from the first have in common, and how many rows these are.
fn common_strips(rows: &[Vec<Segment>], lines: &[Line], column: &Column) -> (Vec<(f32, f32)>, usize) {
    let mut strips = gaps(&rows[0]);
    let mut count = 1;
    for (row, line) in rows.iter().zip(lines).skip(1) {
        let last = &lines[count - 1];
        if line.y - last.y > column.leading.max(line.size) * 2.4 || line.mono != last.mono || has_leader(line)
        {
            break;
        }
        let next = narrowed(&strips, row);
        let wide: Vec<(f32, f32)> =
            next.into_iter().filter(|(x0, x1)| x1 - x0 >= line.size * MIN_STRIP).collect();
        if wide.len() < strips.len() && (count >= MIN_ROWS || wide.is_empty() || row.len() < 2) {
            break;
        }
        strips = wide;
        count += 1;
    }
    // Lines of one cell at the end belong to what follows, unless they go on in a cell.
    while count > 1
        && rows[count - 1].len() < 2
        && rows[count - 1][0].area.x0 < strips.first().map_or(0.0, |s| s.0)
    {
        count -= 1;
    }
    (strips, count)
}

fn gaps(row: &[Segment]) -> Vec<(f32, f32)> {
    row.windows(2).map(|pair| (pair[0].area.x1, pair[1].area.x0)).collect()
}

/// Returns what of the strips is white in a row too.
fn narrowed(strips: &[(f32, f32)], row: &[Segment]) -> Vec<(f32, f32)> {
    let mut free = Vec::new();
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
        // One strip stays one: its widest part.
        free.extend(parts.into_iter().max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0))));
    }
    free
}

fn cells(
    rows: &[Vec<Segment>],
    lines: &[Line],
    strips: &[(f32, f32)],
    column: &Column,
) -> Vec<Vec<Vec<Span>>> {
    let mut table: Vec<Vec<Vec<Span>>> = Vec::new();
    let mut last_y = f32::NEG_INFINITY;
    for (row, line) in rows.iter().zip(lines) {
        let mut cells: Vec<Vec<Span>> = vec![Vec::new(); strips.len() + 1];
        for segment in row {
            let middle = (segment.area.x0 + segment.area.x1) / 2.0;
            let at = strips.partition_point(|(x0, x1)| (x0 + x1) / 2.0 <= middle);
            join(&mut cells[at], spans(&segment.glyphs, column.links));
        }
        // A line without its first cell, close below, goes on with the cells above.
        let goes_on = cells[0].is_empty() && line.y - last_y < column.leading.max(line.size * 1.25) * 1.25;
        last_y = line.y;
        match table.last_mut() {
            Some(above) if goes_on => {
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
