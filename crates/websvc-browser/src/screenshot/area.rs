//! The area of a page that a screenshot shows, in pixels of the image.

use serde_json::{Value, json};

use crate::request::{Device, Viewport};

/// The maximum side of an image, which is the limit of JPEG.
const MAX_SIDE: u32 = 65_535;
/// The maximum side of a window. Chromium has all of its pixels in memory.
const MAX_WINDOW_SIDE: u32 = 16_384;
/// The maximum number of pixels of a window.
const MAX_WINDOW_PIXELS: u64 = 40_000_000;

/// An area of the page that begins at its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClipRect {
    columns: u32,
    rows: u32,
    /// The zoom of the page. Mobile devices zoom out of pages that are not made for them.
    zoom: f64,
    /// The pixels of the image per CSS pixel.
    pixel_ratio: f64,
}

impl ClipRect {
    /// Returns the area of the whole page from the result of `Page.getLayoutMetrics`.
    pub(super) fn from_layout(layout: &Value, device: Device) -> Self {
        let content = &layout["cssContentSize"];
        let zoom = layout["cssVisualViewport"]["scale"].as_f64().filter(|zoom| *zoom > 0.0).unwrap_or(1.0);
        let pixel_ratio = zoom * f64::from(device.scale());
        let pixels = |side: &Value| whole_pixels(side.as_f64().unwrap_or_default() * pixel_ratio);
        Self { columns: pixels(&content["width"]), rows: pixels(&content["height"]), zoom, pixel_ratio }
    }

    pub(super) fn columns(&self) -> u32 {
        self.columns
    }

    pub(super) fn rows(&self) -> u32 {
        self.rows
    }

    pub(super) fn pixels(&self) -> u64 {
        u64::from(self.columns) * u64::from(self.rows)
    }

    /// Reduces the area to the maximum sides and to at most `max_pixels` pixels.
    pub(super) fn limit(&mut self, max_pixels: u64) {
        self.columns = self.columns.min(MAX_SIDE);
        let rows = u32::try_from(max_pixels / u64::from(self.columns)).unwrap_or(MAX_SIDE);
        self.truncate(rows.clamp(1, MAX_SIDE));
    }

    /// Returns the number of rows that fit into `limit` bytes if all take the same part of a file of `bytes`.
    pub(super) fn fitting_rows(&self, limit: usize, bytes: usize) -> u32 {
        let rows = self.rows as usize * limit / bytes.max(1);
        u32::try_from(rows).unwrap_or(u32::MAX)
    }

    /// Reduces the area to at most `rows` rows.
    pub(super) fn truncate(&mut self, rows: u32) {
        self.rows = self.rows.min(rows);
    }

    /// Returns the `clip` of `Page.captureScreenshot` for a range of rows.
    pub(super) fn clip(&self, from: u32, rows: u32) -> Value {
        json!({
            "x": 0,
            "y": f64::from(from) / self.pixel_ratio,
            "width": f64::from(self.columns) / self.pixel_ratio,
            "height": f64::from(rows) / self.pixel_ratio,
            "scale": self.zoom,
        })
    }
}

/// Returns the requested window, reduced to the maximum sides and to at most `max_pixels` pixels of its image.
pub(super) fn largest_window(requested: Viewport, device: Device, max_pixels: u64) -> Viewport {
    let scale = device.scale();
    let max_side = MAX_WINDOW_SIDE / scale;
    let width = requested.width.clamp(1, max_side);
    let rows_by_area = max_pixels.min(MAX_WINDOW_PIXELS) / (u64::from(width) * u64::from(scale * scale));
    let max_height = u32::try_from(rows_by_area).unwrap_or(max_side).clamp(1, max_side);
    Viewport { width, height: requested.height.clamp(1, max_height) }
}

fn whole_pixels(length: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value is clamped to the range"
    )]
    let pixels = length.ceil().clamp(1.0, f64::from(u32::MAX)) as u32;
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(width: f64, height: f64, zoom: f64, device: Device) -> ClipRect {
        let layout = json!({
            "cssContentSize": {"width": width, "height": height},
            "cssVisualViewport": {"scale": zoom},
        });
        ClipRect::from_layout(&layout, device)
    }

    #[test]
    fn from_layout_computes_pixels_of_the_image() {
        let check = |area: ClipRect, expected| assert_eq!((area.columns(), area.rows()), expected);
        check(area(1280.0, 3000.2, 1.0, Device::Desktop), (1280, 3001));
        check(area(390.0, 1000.0, 1.0, Device::Mobile), (1170, 3000));
        check(area(980.0, 2000.0, 0.5, Device::Mobile), (1470, 3000));
        check(area(0.0, 0.0, 0.0, Device::Desktop), (1, 1));
    }

    #[test]
    fn limit_reduces_sides_and_pixels() {
        let check = |mut area: ClipRect, pixels, expected| {
            area.limit(pixels);
            assert_eq!((area.columns(), area.rows()), expected);
        };
        check(area(1280.0, 3000.0, 1.0, Device::Desktop), 100_000_000, (1280, 3000));
        check(area(1280.0, 90_000.0, 1.0, Device::Desktop), 100_000_000, (1280, 65_535));
        check(area(2000.0, 90_000.0, 1.0, Device::Desktop), 100_000_000, (2000, 50_000));
        check(area(90_000.0, 5.0, 1.0, Device::Desktop), 100_000_000, (65_535, 5));
        check(area(1280.0, 5.0, 1.0, Device::Desktop), 1, (1280, 1));
    }

    #[test]
    fn largest_window_reduces_sides_and_pixels() {
        let check = |width, height, device, pixels, expected| {
            let Viewport { width, height } = largest_window(Viewport { width, height }, device, pixels);
            assert_eq!((width, height), expected);
        };
        check(1280, 800, Device::Desktop, u64::MAX, (1280, 800));
        check(7680, 4320, Device::Desktop, u64::MAX, (7680, 4320));
        check(7680, 4320, Device::Mobile, u64::MAX, (5461, 813));
        check(100_000, 10_000, Device::Desktop, 1_280_000, (16_384, 78));
    }

    #[test]
    fn clip_is_in_css_pixels() {
        let clip = area(390.0, 1000.0, 1.0, Device::Mobile).clip(300, 600);
        assert_eq!(clip, json!({"x": 0, "y": 100.0, "width": 390.0, "height": 200.0, "scale": 1.0}));
    }
}
