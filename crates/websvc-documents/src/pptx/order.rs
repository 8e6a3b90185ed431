//! The reading order of the shapes on a slide: by their position, from the top to the bottom, column by column.

use std::collections::HashMap;

use super::slide::Shape;
use super::{KIND, area};
use crate::error::DocumentError;
use crate::xml::{Tag, Token, Xml};

/// The maximum overlap of two areas that still counts as one after the other, in EMU: a millimetre.
const TOLERANCE: f64 = 36_000.0;
/// The maximum number of placeholders of a layout.
const MAX_PLACEHOLDERS: usize = 1000;

/// The area of a shape in EMU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    /// Returns the smallest area around two others.
    pub(super) fn around(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

/// Returns the two numbers of an element such as `<a:off x="1" y="2"/>`.
pub(super) fn pair(tag: &Tag, first: &str, second: &str) -> Option<(f64, f64)> {
    let number = |name| tag.get(name).and_then(|value| value.parse::<f64>().ok()).filter(|value| value.is_finite());
    Some((number(first)?, number(second)?))
}

/// The areas of the placeholders of a layout, by type and index.
#[derive(Debug, Default)]
pub(super) struct Placeholders {
    by_index: HashMap<String, Area>,
    by_type: HashMap<String, Area>,
}

impl Placeholders {
    /// Reads the placeholders of a layout or master. Those that were read before are replaced.
    pub(super) fn read(&mut self, text: &str) -> Result<(), DocumentError> {
        let mut xml = Xml::new(KIND, text);
        let (mut placeholder, mut off) = (None, None);
        while let Some(token) = xml.next()? {
            let Token::Start(tag) = token else { continue };
            match tag.name.as_str() {
                "sp" | "pic" | "graphicFrame" => (placeholder, off) = (None, None),
                "ph" => placeholder = Some(key(&tag)),
                "off" => off = pair(&tag, "x", "y"),
                "ext" => {
                    let area = area(off.take(), pair(&tag, "cx", "cy"));
                    if let (Some((kind, index)), Some(area)) = (placeholder.take(), area)
                        && self.by_index.len() + self.by_type.len() < MAX_PLACEHOLDERS
                    {
                        self.by_index.extend(index.map(|index| (index, area)));
                        self.by_type.insert(kind, area);
                    }
                }
                "txBody" => xml.skip()?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the area of a placeholder of a slide.
    pub(super) fn area(&self, tag: &Tag) -> Option<Area> {
        let (kind, index) = key(tag);
        index.and_then(|index| self.by_index.get(&index)).or_else(|| self.by_type.get(&kind)).copied()
    }
}

/// Returns the type and the index of a placeholder. A centered title is a title, and a body is the default.
fn key(tag: &Tag) -> (String, Option<String>) {
    let kind = match tag.get("type") {
        Some("ctrTitle" | "title") => "title",
        Some(kind) => kind,
        None => "body",
    };
    (kind.to_owned(), tag.get("idx").map(str::to_owned))
}

/// Sorts shapes in reading order. Shapes without a position come first, in the order of the file.
pub(super) fn in_reading_order(shapes: Vec<Shape>) -> Vec<Shape> {
    let (placed, mut ordered): (Vec<Shape>, Vec<Shape>) = shapes.into_iter().partition(|shape| shape.area.is_some());
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
