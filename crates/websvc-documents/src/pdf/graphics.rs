//! The straight lines of a page, which are what tables are drawn with.

use hayro_syntax::content::ops::TypedInstruction;

use super::geometry::{Matrix, Rect};

/// A line thinner than this is a rule, in points.
const MAX_THICKNESS: f32 = 3.0;
/// A rule is at least so long, in points.
const MIN_LENGTH: f32 = 6.0;
/// More rules than this are a drawing.
const MAX_RULES: usize = 20_000;
/// More corners than this are a drawing.
const MAX_POINTS: usize = 4096;

/// A straight line, across or upright.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StraightLine {
    pub(super) area: Rect,
    pub(super) upright: bool,
}

/// The path that is being built.
#[derive(Debug, Default)]
pub(super) struct Paths {
    rectangles: Vec<Rect>,
    lines: Vec<Rect>,
    at: Option<(f64, f64)>,
}

impl Paths {
    /// Follows an instruction of paths; returns whether it was one.
    pub(super) fn take(
        &mut self,
        instruction: &TypedInstruction<'_, '_>,
        ctm: &Matrix,
        rules: &mut Vec<StraightLine>,
    ) -> bool {
        match instruction {
            TypedInstruction::RectPath(r) if self.rectangles.len() < MAX_POINTS => {
                let (x, y, width, height) = (r.0.as_f64(), r.1.as_f64(), r.2.as_f64(), r.3.as_f64());
                self.rectangles.push(ctm.apply_to_box(x, y, x + width, y + height));
            }
            TypedInstruction::MoveTo(to) => self.at = Some(ctm.apply(to.0.as_f64(), to.1.as_f64())),
            TypedInstruction::LineTo(to) if self.lines.len() < MAX_POINTS => {
                let end = ctm.apply(to.0.as_f64(), to.1.as_f64());
                if let Some(start) = self.at.replace(end) {
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
                    push(rules, *line);
                }
                self.clear();
            }
            TypedInstruction::FillPathNonZero(_)
            | TypedInstruction::FillPathNonZeroCompatibility(_)
            | TypedInstruction::FillPathEvenOdd(_) => {
                for rectangle in &self.rectangles {
                    push(rules, *rectangle);
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
        self.at = None;
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

fn push(rules: &mut Vec<StraightLine>, area: Rect) {
    let upright = area.height() > area.width();
    let (length, thickness) =
        if upright { (area.height(), area.width()) } else { (area.width(), area.height()) };
    if thickness <= MAX_THICKNESS && length >= MIN_LENGTH && rules.len() < MAX_RULES {
        rules.push(StraightLine { area, upright });
    }
}
