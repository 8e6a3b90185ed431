//! Pictures of a page, within what a picture may be.
//!
//! Below a quality of 100 they are JPEG and not WebP, whose sides end at 16,383 pixels: a page is often longer.

mod area;
mod capture;
mod stitch;

use crate::error::BrowserError;
use crate::page::{Page, metrics};
use crate::rendered_page::Picture;
use crate::request::{Extent, Screenshot, Viewport};

use area::ClipRect;
use capture::{CaptureOutcome, whole};
use stitch::{SLICE_PIXELS, in_slices};

/// The quality of a JPEG that takes the place of a picture that is too large.
const LESSER_QUALITY: u8 = 70;
/// PNG from here.
const BEST_QUALITY: u8 = 100;
/// Takes a picture, in a window of its own size if it wants one.
pub(crate) async fn take(page: &Page<'_>, screenshot: &Screenshot) -> Result<Picture, BrowserError> {
    let Some(wanted) = screenshot.viewport.filter(|wanted| *wanted != page.viewport) else {
        return shoot(page, screenshot).await;
    };
    let viewport = bounded(page, wanted);
    page.call("Emulation.setDeviceMetricsOverride", metrics(page.device, viewport)).await?;
    page.wait_idle_after_action().await?;
    let picture = shoot(page, screenshot).await;
    page.call("Emulation.setDeviceMetricsOverride", metrics(page.device, page.viewport)).await?;
    picture
}

/// Draws a window in to what a picture may be.
fn bounded(page: &Page<'_>, wanted: Viewport) -> Viewport {
    let viewport = area::largest_window(wanted, page.device, page.config.picture_pixels);
    if viewport != wanted {
        let Viewport { width, height } = viewport;
        page.warn(format!("the window was made smaller for its picture: {width} by {height} pixels"));
    }
    viewport
}

async fn shoot(page: &Page<'_>, screenshot: &Screenshot) -> Result<Picture, BrowserError> {
    let quality = screenshot.quality.filter(|quality| *quality < BEST_QUALITY);
    let mut area = match screenshot.extent {
        Extent::Window => None,
        Extent::FullPage => Some(full_page(page).await?),
    };
    let limit = page.config.file_bytes;
    if let CaptureOutcome::Taken(picture) = attempt(page, area.as_ref(), quality).await? {
        return Ok(picture);
    }
    let quality = Some(quality.unwrap_or(LESSER_QUALITY).min(LESSER_QUALITY));
    page.warn(format!("the picture was larger than {limit} bytes and became a JPEG of lesser quality"));
    let rows = match attempt(page, area.as_ref(), quality).await? {
        CaptureOutcome::Taken(picture) => return Ok(picture),
        CaptureOutcome::TooLarge { rows } => rows,
    };
    // What fitted in was as much of it as this; the rest may be worse.
    if let (Some(area), Some(fitting)) = (&mut area, rows) {
        let cut = (fitting - fitting / 10).max(1);
        page.warn(format!(
            "the page is {} pixels long; its picture was cut after {cut}, where it has {limit} bytes",
            area.rows()
        ));
        area.cut(cut);
        if let CaptureOutcome::Taken(picture) = attempt(page, Some(area), quality).await? {
            return Ok(picture);
        }
    }
    Err(BrowserError::Protocol { detail: format!("the picture is larger than {limit} bytes") })
}

/// Returns the area of the whole page, or as much of it as a picture may show.
async fn full_page(page: &Page<'_>) -> Result<ClipRect, BrowserError> {
    let layout = page.call("Page.getLayoutMetrics", serde_json::json!({})).await?;
    let mut area = ClipRect::of_layout(&layout, page.device);
    let (columns, rows) = (area.columns(), area.rows());
    area.bound(page.config.picture_pixels);
    if area.columns() < columns {
        page.warn(format!("the page is {columns} pixels wide; its picture was cut after {}", area.columns()));
    }
    if area.rows() < rows {
        page.warn(format!("the page is {rows} pixels long; its picture was cut after {}", area.rows()));
    }
    Ok(area)
}

async fn attempt(
    page: &Page<'_>,
    area: Option<&ClipRect>,
    quality: Option<u8>,
) -> Result<CaptureOutcome, BrowserError> {
    match area {
        Some(area) if area.pixels() > SLICE_PIXELS => in_slices(page, area, quality).await,
        area => whole(page, area, quality).await,
    }
}
