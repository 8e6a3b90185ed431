//! Matrices and rectangles, in points from the upper left corner of a page.

/// An affine transform, in the element order of PDF: `[a b c d e f]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Matrix(pub(super) [f64; 6]);

impl Matrix {
    pub(super) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    pub(super) fn translation(x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// Returns the transform that applies `inner` first and then this one.
    pub(super) fn after(&self, inner: &Self) -> Self {
        let ([a, b, c, d, e, f], [p, q, r, s, t, u]) = (self.0, inner.0);
        Self([
            a * p + c * q,
            b * p + d * q,
            a * r + c * s,
            b * r + d * s,
            a * t + c * u + e,
            b * t + d * u + f,
        ])
    }

    pub(super) fn apply(&self, x: f64, y: f64) -> (f64, f64) {
        let [a, b, c, d, e, f] = self.0;
        (a * x + c * y + e, b * x + d * y + f)
    }

    /// Returns the bounding box of a transformed rectangle.
    pub(super) fn apply_to_rect(&self, x0: f64, y0: f64, x1: f64, y1: f64) -> Rect {
        let corners = [self.apply(x0, y0), self.apply(x1, y0), self.apply(x0, y1), self.apply(x1, y1)];
        let mut area = Rect::EMPTY;
        for (x, y) in corners {
            area.include(x as f32, y as f32);
        }
        area
    }
}

/// An axis-aligned rectangle. `y` increases downwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rect {
    pub(super) x0: f32,
    pub(super) y0: f32,
    pub(super) x1: f32,
    pub(super) y1: f32,
}

impl Rect {
    pub(super) const EMPTY: Self =
        Self { x0: f32::INFINITY, y0: f32::INFINITY, x1: f32::NEG_INFINITY, y1: f32::NEG_INFINITY };

    /// Returns the smallest rectangle around others.
    pub(super) fn around<'a>(areas: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut around = Self::EMPTY;
        areas.into_iter().for_each(|area| around.unite(area));
        around
    }

    pub(super) fn include(&mut self, x: f32, y: f32) {
        self.x0 = self.x0.min(x);
        self.y0 = self.y0.min(y);
        self.x1 = self.x1.max(x);
        self.y1 = self.y1.max(y);
    }

    pub(super) fn unite(&mut self, other: &Self) {
        self.x0 = self.x0.min(other.x0);
        self.y0 = self.y0.min(other.y0);
        self.x1 = self.x1.max(other.x1);
        self.y1 = self.y1.max(other.y1);
    }

    pub(super) fn width(&self) -> f32 {
        (self.x1 - self.x0).max(0.0)
    }

    pub(super) fn height(&self) -> f32 {
        (self.y1 - self.y0).max(0.0)
    }

    pub(super) fn contains(&self, x: f32, y: f32) -> bool {
        (self.x0..=self.x1).contains(&x) && (self.y0..=self.y1).contains(&y)
    }
}

/// Returns the median of the values; `None` if there are no values.
pub(super) fn median(values: impl Iterator<Item = f32>) -> Option<f32> {
    let mut values: Vec<f32> = values.collect();
    if values.is_empty() {
        return None;
    }
    let middle = values.len() / 2;
    Some(*values.select_nth_unstable_by(middle, f32::total_cmp).1)
}
