//! Screenshots of a page, within the limits on pixels and bytes.
//!
//! A screenshot with a quality below 100 is a JPEG. WebP would be limited to 16,383 pixels per side, and pages are often
//! longer.

mod area;
mod capture;
mod scroll_through;
mod stitch;

use crate::error::BrowserError;
use crate::page::{Page, device_metrics};
use crate::rendered_page::Image;
use crate::request::{Extent, Screenshot, Viewport};

use area::ClipRect;
use capture::{CaptureOutcome, capture_whole};
use scroll_through::scroll_through;
use stitch::{SLICE_PIXELS, capture_in_slices};

/// The maximum quality of the JPEG that replaces an image that is too large.
const REDUCED_QUALITY: u8 = 70;
/// The quality that selects PNG.
const PNG_QUALITY: u8 = 100;
/// Takes a screenshot, in a window of the requested size if there is one.
pub(crate) async fn take(page: &Page<'_>, screenshot: &Screenshot) -> Result<Image, BrowserError> {
    let Some(requested) = screenshot.viewport.filter(|viewport| *viewport != page.viewport) else {
        return capture(page, screenshot).await;
    };
    let viewport = limit_viewport(page, requested);
    page.call("Emulation.setDeviceMetricsOverride", device_metrics(page.device, viewport)).await?;
    page.wait_idle_after_action().await?;
    let image = capture(page, screenshot).await;
    page.call("Emulation.setDeviceMetricsOverride", device_metrics(page.device, page.viewport)).await?;
    image
}

/// Reduces a window to the limits of a screenshot, with a warning.
fn limit_viewport(page: &Page<'_>, requested: Viewport) -> Viewport {
    let viewport = area::largest_window(requested, page.device, page.config.max_screenshot_pixels);
    if viewport != requested {
        let Viewport { width, height } = viewport;
        page.warn(format!("the window was reduced to {width} by {height} pixels for the screenshot"));
    }
    viewport
}

async fn capture(page: &Page<'_>, screenshot: &Screenshot) -> Result<Image, BrowserError> {
    let quality = screenshot.quality.filter(|quality| *quality < PNG_QUALITY);
    let mut area = match screenshot.extent {
        Extent::Window => None,
        Extent::FullPage => {
            scroll_through(page).await?;
            Some(full_page(page).await?)
        }
    };
    let limit = page.config.max_file_bytes;
    if let CaptureOutcome::Taken(image) = attempt(page, area.as_ref(), quality).await? {
        return Ok(image);
    }
    let quality = Some(quality.unwrap_or(REDUCED_QUALITY).min(REDUCED_QUALITY));
    page.warn(format!(
        "the screenshot was larger than {limit} bytes and was replaced by a JPEG of lower quality"
    ));
    let rows = match attempt(page, area.as_ref(), quality).await? {
        CaptureOutcome::Taken(image) => return Ok(image),
        CaptureOutcome::TooLarge { rows } => rows,
    };
    // With a margin of a tenth, because the number of rows that fit is an estimate.
    if let (Some(area), Some(fitting)) = (&mut area, rows) {
        let rows = (fitting - fitting / 10).max(1);
        page.warn(format!(
            "the page is {} pixels high; the screenshot was cut after {rows}, to stay below {limit} bytes",
            area.rows()
        ));
        area.truncate(rows);
        if let CaptureOutcome::Taken(image) = attempt(page, Some(area), quality).await? {
            return Ok(image);
        }
    }
    Err(BrowserError::Protocol { detail: format!("the screenshot is larger than {limit} bytes") })
}

/// Returns the area of the whole page, reduced to the limits of a screenshot, with a warning.
async fn full_page(page: &Page<'_>) -> Result<ClipRect, BrowserError> {
    let layout = page.call("Page.getLayoutMetrics", serde_json::json!({})).await?;
    let mut area = ClipRect::from_layout(&layout, page.device);
    let (columns, rows) = (area.columns(), area.rows());
    area.limit(page.config.max_screenshot_pixels);
    if area.columns() < columns {
        page.warn(format!(
            "the page is {columns} pixels wide; the screenshot was cut after {}",
            area.columns()
        ));
    }
    if area.rows() < rows {
        page.warn(format!("the page is {rows} pixels high; the screenshot was cut after {}", area.rows()));
    }
    Ok(area)
}

async fn attempt(
    page: &Page<'_>,
    area: Option<&ClipRect>,
    quality: Option<u8>,
) -> Result<CaptureOutcome, BrowserError> {
    match area {
        Some(area) if area.pixels() > SLICE_PIXELS => capture_in_slices(page, area, quality).await,
        area => capture_whole(page, area, quality).await,
    }
}
