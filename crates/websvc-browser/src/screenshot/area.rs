//! How much of a page a picture shows, counted in the pixels of the picture.

use serde_json::{Value, json};

use crate::request::{Device, Viewport};

/// The longest side of a picture: what a JPEG can say.
const LONGEST_SIDE: u32 = 65_535;
/// The longest side, and the most pixels, of a window: Chromium holds all of it at once.
const LONGEST_WINDOW_SIDE: u32 = 16_384;
const WINDOW_PIXELS: u64 = 40_000_000;

/// A part of the page from its upper left corner on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClipRect {
    columns: u32,
    rows: u32,
    /// How far the page is zoomed: telephones show pages that were not made for them smaller.
    zoom: f64,
    /// Pixels of the picture for one of CSS.
    fineness: f64,
}

impl ClipRect {
    /// Returns the whole page, whose layout Chromium has told.
    pub(super) fn of_layout(layout: &Value, device: Device) -> Self {
        let content = &layout["cssContentSize"];
        let zoom = layout["cssVisualViewport"]["scale"].as_f64().filter(|zoom| *zoom > 0.0).unwrap_or(1.0);
        let fineness = zoom * f64::from(device.scale());
        let pixels = |side: &Value| whole_pixels(side.as_f64().unwrap_or_default() * fineness);
        Self { columns: pixels(&content["width"]), rows: pixels(&content["height"]), zoom, fineness }
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

    /// Cuts it to the longest sides, and below to this many pixels.
    pub(super) fn bound(&mut self, pixels: u64) {
        self.columns = self.columns.min(LONGEST_SIDE);
        let rows = u32::try_from(pixels / u64::from(self.columns)).unwrap_or(LONGEST_SIDE);
        self.cut(rows.clamp(1, LONGEST_SIDE));
    }

    /// Cuts what is below this many rows.
    pub(super) fn cut(&mut self, rows: u32) {
        self.rows = self.rows.min(rows);
    }

    /// Returns what Chromium is to draw for some of the rows.
    pub(super) fn clip(&self, from: u32, rows: u32) -> Value {
        json!({
            "x": 0,
            "y": f64::from(from) / self.fineness,
            "width": f64::from(self.columns) / self.fineness,
            "height": f64::from(rows) / self.fineness,
            "scale": self.zoom,
        })
    }
}

/// Returns the largest window of at most this size whose picture may be taken.
pub(super) fn largest_window(wanted: Viewport, device: Device, pixels: u64) -> Viewport {
    let scale = device.scale();
    let longest = LONGEST_WINDOW_SIDE / scale;
    let width = wanted.width.clamp(1, longest);
    let by_area = pixels.min(WINDOW_PIXELS) / (u64::from(width) * u64::from(scale * scale));
    let highest = u32::try_from(by_area).unwrap_or(longest).clamp(1, longest);
    Viewport { width, height: wanted.height.clamp(1, highest) }
}

fn whole_pixels(length: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between the bounds")]
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
        ClipRect::of_layout(&layout, device)
    }

    #[test]
    fn a_page_is_counted_in_pixels_of_its_picture() {
        let check = |area: ClipRect, expected| assert_eq!((area.columns(), area.rows()), expected);
        check(area(1280.0, 3000.2, 1.0, Device::Desktop), (1280, 3001));
        check(area(390.0, 1000.0, 1.0, Device::Mobile), (1170, 3000));
        check(area(980.0, 2000.0, 0.5, Device::Mobile), (1470, 3000));
        check(area(0.0, 0.0, 0.0, Device::Desktop), (1, 1));
    }

    #[test]
    fn no_picture_has_a_longer_side_or_more_pixels_than_it_may() {
        let check = |mut area: ClipRect, pixels, expected| {
            area.bound(pixels);
            assert_eq!((area.columns(), area.rows()), expected);
        };
        check(area(1280.0, 3000.0, 1.0, Device::Desktop), 100_000_000, (1280, 3000));
        check(area(1280.0, 90_000.0, 1.0, Device::Desktop), 100_000_000, (1280, 65_535));
        check(area(2000.0, 90_000.0, 1.0, Device::Desktop), 100_000_000, (2000, 50_000));
        check(area(90_000.0, 5.0, 1.0, Device::Desktop), 100_000_000, (65_535, 5));
        check(area(1280.0, 5.0, 1.0, Device::Desktop), 1, (1280, 1));
    }

    #[test]
    fn a_window_is_drawn_in_to_what_may_be_drawn() {
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
    fn slices_are_told_in_lengths_of_the_page() {
        let clip = area(390.0, 1000.0, 1.0, Device::Mobile).clip(300, 600);
        assert_eq!(clip, json!({"x": 0, "y": 100.0, "width": 390.0, "height": 200.0, "scale": 1.0}));
    }
}
