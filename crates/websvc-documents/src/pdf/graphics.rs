//! Collects the shapes of a page that matter for its text: straight lines, which are the borders of tables, and small round or
//! square shapes, which are bullets.

use hayro_syntax::content::ops::TypedInstruction;

use super::geometry::{Matrix, Rect};

/// The maximum thickness of a rule, in points.
const MAX_THICKNESS: f32 = 3.0;
/// The minimum length of a rule, in points.
const MIN_LENGTH: f32 = 6.0;
/// The maximum number of rules of a page. More belong to a drawing.
const MAX_RULES: usize = 20_000;
/// The maximum number of rectangles or lines of a path. More belong to a drawing.
const MAX_PATH_ELEMENTS: usize = 4096;

/// The width of a bullet, in points.
const DOT_SIZES: std::ops::RangeInclusive<f32> = 1.5..=9.0;
/// The maximum number of bullets of a page. More are the points of a diagram.
const MAX_DOTS: usize = 400;

/// A horizontal or vertical straight line, such as a table border. Variables call it a rule, because a line is a line
/// of text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StraightLine {
    pub(super) area: Rect,
    pub(super) is_vertical: bool,
}

/// The shapes of a page.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    pub(super) rules: Vec<StraightLine>,
    /// The areas of small round or square shapes.
    pub(super) dots: Vec<Rect>,
}

/// The path that is being constructed.
#[derive(Debug, Default)]
pub(super) struct Paths {
    rectangles: Vec<Rect>,
    lines: Vec<Rect>,
    current_point: Option<(f64, f64)>,
    /// The area of the current part, and of the parts before it.
    part: Option<Rect>,
    parts: Vec<Rect>,
    has_curve: bool,
}

impl Paths {
    /// Applies a path instruction. Returns `false` for other instructions.
    pub(super) fn apply(
        &mut self,
        instruction: &TypedInstruction<'_, '_>,
        ctm: &Matrix,
        shapes: &mut Shapes,
    ) -> bool {
        match instruction {
            TypedInstruction::RectPath(r) if self.rectangles.len() < MAX_PATH_ELEMENTS => {
                let (x, y, width, height) = (r.0.as_f64(), r.1.as_f64(), r.2.as_f64(), r.3.as_f64());
                self.rectangles.push(ctm.apply_to_rect(x, y, x + width, y + height));
            }
            TypedInstruction::MoveTo(to) => {
                self.finish_part();
                let point = ctm.apply(to.0.as_f64(), to.1.as_f64());
                self.include(point);
                self.current_point = Some(point);
            }
            TypedInstruction::LineTo(to) if self.lines.len() < MAX_PATH_ELEMENTS => {
                let end = ctm.apply(to.0.as_f64(), to.1.as_f64());
                if let Some(start) = self.current_point.replace(end) {
                    let mut area = Rect::EMPTY;
                    area.include(start.0 as f32, start.1 as f32);
                    area.include(end.0 as f32, end.1 as f32);
                    self.lines.push(area);
                    self.include(end);
                }
            }
            TypedInstruction::StrokePath(_)
            | TypedInstruction::CloseAndStrokePath(_)
            | TypedInstruction::FillAndStrokeNonZero(_)
            | TypedInstruction::FillAndStrokeEvenOdd(_)
            | TypedInstruction::CloseFillAndStrokeNonZero(_)
            | TypedInstruction::CloseFillAndStrokeEvenOdd(_) => {
                for line in
                    self.lines.iter().chain(self.rectangles.iter().flat_map(edges).collect::<Vec<_>>().iter())
                {
                    push_rule(&mut shapes.rules, *line);
                }
                if self.has_curve {
                    self.push_dots(&mut shapes.dots);
                }
                self.clear();
            }
            TypedInstruction::FillPathNonZero(_)
            | TypedInstruction::FillPathNonZeroCompatibility(_)
            | TypedInstruction::FillPathEvenOdd(_) => {
                for rectangle in &self.rectangles {
                    push_rule(&mut shapes.rules, *rectangle);
                }
                self.push_dots(&mut shapes.dots);
                self.clear();
            }
            TypedInstruction::EndPath(_) => self.clear(),
            TypedInstruction::CubicTo(c) => self.curve_to(ctm, (c.4.as_f64(), c.5.as_f64())),
            TypedInstruction::CubicStartTo(c) => self.curve_to(ctm, (c.2.as_f64(), c.3.as_f64())),
            TypedInstruction::CubicEndTo(c) => self.curve_to(ctm, (c.2.as_f64(), c.3.as_f64())),
            TypedInstruction::RectPath(_) | TypedInstruction::LineTo(_) | TypedInstruction::ClosePath(_) => {}
            _ => return false,
        }
        true
    }

    /// Adds the end of a curve. The ends of the curves of a circle touch its four sides.
    fn curve_to(&mut self, ctm: &Matrix, end: (f64, f64)) {
        let end = ctm.apply(end.0, end.1);
        self.include(end);
        self.has_curve = true;
        self.current_point = Some(end);
    }

    fn include(&mut self, point: (f64, f64)) {
        self.part.get_or_insert(Rect::EMPTY).include(point.0 as f32, point.1 as f32);
    }

    fn finish_part(&mut self) {
        let part = self.part.take().filter(|_| self.parts.len() < MAX_PATH_ELEMENTS);
        self.parts.extend(part);
    }

    fn push_dots(&mut self, dots: &mut Vec<Rect>) {
        self.finish_part();
        for area in self.parts.iter().chain(&self.rectangles) {
            let (width, height) = (area.width(), area.height());
            let is_dot = DOT_SIZES.contains(&width) && (0.7..1.4).contains(&(height / width));
            if is_dot && dots.len() < MAX_DOTS {
                dots.push(*area);
            }
        }
    }

    fn clear(&mut self) {
        self.rectangles.clear();
        self.lines.clear();
        self.current_point = None;
        self.part = None;
        self.parts.clear();
        self.has_curve = false;
    }
}

/// Returns the four sides of a rectangle.
fn edges(area: &Rect) -> Vec<Rect> {
    if area.width() <= MAX_THICKNESS || area.height() <= MAX_THICKNESS {
        return vec![*area];
    }
    vec![
        Rect { y1: area.y0, ..*area },
        Rect { y0: area.y1, ..*area },
        Rect { x1: area.x0, ..*area },
        Rect { x0: area.x1, ..*area },
    ]
}

/// Adds a rectangle to the rules if it is thin and long enough.
fn push_rule(rules: &mut Vec<StraightLine>, area: Rect) {
    let is_vertical = area.height() > area.width();
    let (length, thickness) =
        if is_vertical { (area.height(), area.width()) } else { (area.width(), area.height()) };
    if thickness <= MAX_THICKNESS && length >= MIN_LENGTH && rules.len() < MAX_RULES {
        rules.push(StraightLine { area, is_vertical });
    }
}
