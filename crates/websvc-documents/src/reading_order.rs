//! The reading order of the shapes on a slide: by their position, from the top to the bottom, column by column.

use crate::flow::Block;

/// The maximum overlap of two areas that still counts as one after the other, in EMU: a millimetre.
const TOLERANCE: f64 = 36_000.0;

/// The area of a shape in EMU, of which a centimetre has 360,000.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Area {
    /// Creates the area of a shape from its left and upper edge, and its width and height.
    pub(crate) fn new((left, top): (f64, f64), (width, height): (f64, f64)) -> Self {
        Self { left, top, right: left + width, bottom: top + height }
    }

    /// Returns the smallest area around two others.
    pub(crate) fn around(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

/// A shape of a slide.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    /// The area; `None` if the position is unknown.
    pub(crate) area: Option<Area>,
    pub(crate) blocks: Vec<Block>,
}

/// Sorts shapes in reading order. Shapes without a position come first, in the order of the file.
pub(crate) fn in_reading_order(shapes: Vec<Shape>) -> Vec<Shape> {
    let (placed, mut ordered): (Vec<Shape>, Vec<Shape>) =
        shapes.into_iter().partition(|shape| shape.area.is_some());
    cut(placed, Direction::Down, 0, &mut ordered);
    ordered
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Down,
    Right,
}

impl Direction {
    /// Returns the start and the end of an area in this direction.
    fn span(self, shape: &Shape) -> (f64, f64) {
        match (self, shape.area) {
            (Self::Down, Some(area)) => (area.top, area.bottom),
            (Self::Right, Some(area)) => (area.left, area.right),
            (_, None) => (0.0, 0.0),
        }
    }
}

/// Cuts shapes into groups that are one after the other, first into rows, each row into columns, and so on. Shapes that
/// overlap in both directions are sorted by their upper left corner. `failed` is the number of directions without a cut.
fn cut(mut shapes: Vec<Shape>, direction: Direction, failed: usize, ordered: &mut Vec<Shape>) {
    shapes.sort_by(|a, b| direction.span(a).0.total_cmp(&direction.span(b).0));
    if shapes.len() < 2 {
        ordered.extend(shapes);
        return;
    }
    if failed == 2 {
        let corner = |shape: &Shape| shape.area.map_or((0.0, 0.0), |area| (area.top, area.left));
        shapes.sort_by(|a, b| corner(a).0.total_cmp(&corner(b).0).then(corner(a).1.total_cmp(&corner(b).1)));
        ordered.extend(shapes);
        return;
    }
    let mut groups: Vec<Vec<Shape>> = Vec::new();
    let mut end = f64::NEG_INFINITY;
    for shape in shapes {
        let (start, shape_end) = direction.span(&shape);
        match groups.last_mut() {
            Some(group) if start < end - TOLERANCE => group.push(shape),
            _ => groups.push(vec![shape]),
        }
        end = end.max(shape_end);
    }
    let failed = if groups.len() > 1 { 0 } else { failed + 1 };
    let next = if direction == Direction::Down { Direction::Right } else { Direction::Down };
    for group in groups {
        cut(group, next, failed, ordered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(shapes: &[(&'static str, [f64; 4])]) -> Vec<String> {
        let shapes = shapes.iter().map(|&(name, [left, top, right, bottom])| {
            let scale = 360_000.0;
            let area =
                Area { left: left * scale, top: top * scale, right: right * scale, bottom: bottom * scale };
            Shape { area: Some(area), blocks: vec![Block::Markup(name.to_owned())] }
        });
        let names = in_reading_order(shapes.collect()).into_iter().flat_map(|shape| shape.blocks);
        names.map(|block| if let Block::Markup(name) = block { name } else { String::new() }).collect()
    }

    #[test]
    fn shapes_are_read_by_rows_and_columns() {
        let grid = [
            ("d", [5.0, 5.0, 9.0, 8.0]),
            ("b", [5.0, 1.0, 9.0, 4.0]),
            ("c", [1.0, 5.0, 4.0, 8.0]),
            ("a", [1.0, 1.0, 4.0, 4.0]),
        ];
        assert_eq!(order(&grid), ["a", "b", "c", "d"]);
        let columns = [
            ("right", [6.0, 2.0, 9.0, 9.0]),
            ("left 2", [1.0, 6.0, 5.0, 9.0]),
            ("left 1", [1.0, 2.0, 5.0, 5.0]),
            ("head", [1.0, 0.0, 9.0, 1.0]),
        ];
        assert_eq!(order(&columns), ["head", "left 1", "left 2", "right"]);
    }
}
