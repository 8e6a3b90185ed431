//! Collects the straight lines of a page, which are the borders of tables.

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

/// A horizontal or vertical straight line, such as a table border. Variables call it a rule, because a line is a line
/// of text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StraightLine {
    pub(super) area: Rect,
    pub(super) is_vertical: bool,
}

/// The path that is being constructed.
#[derive(Debug, Default)]
pub(super) struct Paths {
    rectangles: Vec<Rect>,
    lines: Vec<Rect>,
    current_point: Option<(f64, f64)>,
}

impl Paths {
    /// Applies a path instruction. Returns `false` for other instructions.
    pub(super) fn apply(
        &mut self,
        instruction: &TypedInstruction<'_, '_>,
        ctm: &Matrix,
        rules: &mut Vec<StraightLine>,
    ) -> bool {
        match instruction {
            TypedInstruction::RectPath(r) if self.rectangles.len() < MAX_PATH_ELEMENTS => {
                let (x, y, width, height) = (r.0.as_f64(), r.1.as_f64(), r.2.as_f64(), r.3.as_f64());
                self.rectangles.push(ctm.apply_to_rect(x, y, x + width, y + height));
            }
            TypedInstruction::MoveTo(to) => {
                self.current_point = Some(ctm.apply(to.0.as_f64(), to.1.as_f64()));
            }
            TypedInstruction::LineTo(to) if self.lines.len() < MAX_PATH_ELEMENTS => {
                let end = ctm.apply(to.0.as_f64(), to.1.as_f64());
                if let Some(start) = self.current_point.replace(end) {
                    let mut area = Rect::EMPTY;
                    area.include(start.0 as f32, start.1 as f32);
                    area.include(end.0 as f32, end.1 as f32);
                    self.lines.push(area);
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
                    push_rule(rules, *line);
                }
                self.clear();
            }
            TypedInstruction::FillPathNonZero(_)
            | TypedInstruction::FillPathNonZeroCompatibility(_)
            | TypedInstruction::FillPathEvenOdd(_) => {
                for rectangle in &self.rectangles {
                    push_rule(rules, *rectangle);
                }
                self.clear();
            }
            TypedInstruction::EndPath(_) => self.clear(),
            TypedInstruction::RectPath(_)
            | TypedInstruction::LineTo(_)
            | TypedInstruction::ClosePath(_)
            | TypedInstruction::CubicTo(_)
            | TypedInstruction::CubicStartTo(_)
            | TypedInstruction::CubicEndTo(_) => {}
            _ => return false,
        }
        true
    }

    fn clear(&mut self) {
        self.rectangles.clear();
        self.lines.clear();
        self.current_point = None;
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
