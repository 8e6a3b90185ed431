//! Pictures of a page, within what a picture may be.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::error::BrowserError;
use crate::page::{Page, metrics};
use crate::rendered::{ImageKind, Picture};
use crate::request::{Extent, Screenshot, Viewport};

/// The longest side that Chromium draws, in pixels of the picture.
const LONGEST_SIDE: u64 = 16_384;
/// The quality of a JPEG that takes the place of a picture that is too large.
const LESSER_QUALITY: u8 = 70;
/// PNG from here.
const BEST_QUALITY: u8 = 100;

/// Takes a picture, in a window of its own size if it wants one.
pub(crate) async fn take(page: &Page<'_>, screenshot: &Screenshot) -> Result<Picture, BrowserError> {
    let Some(wanted) = screenshot.viewport.filter(|wanted| *wanted != page.viewport) else {
        return shoot(page, screenshot, page.viewport).await;
    };
    let viewport = bounded(page, wanted);
    page.call("Emulation.setDeviceMetricsOverride", metrics(page.device, viewport)).await?;
    page.calm().await?;
    let picture = shoot(page, screenshot, viewport).await;
    page.call("Emulation.setDeviceMetricsOverride", metrics(page.device, page.viewport)).await?;
    picture
}

async fn shoot(
    page: &Page<'_>,
    screenshot: &Screenshot,
    viewport: Viewport,
) -> Result<Picture, BrowserError> {
    let clip = match screenshot.extent {
        Extent::Window => Value::Null,
        Extent::FullPage => full_page(page, viewport).await?,
    };
    let quality = screenshot.quality.filter(|quality| *quality < BEST_QUALITY);
    let picture = capture(page, &clip, quality).await?;
    let limit = page.config.file_bytes;
    if picture.bytes.len() <= limit {
        return Ok(picture);
    }
    let lesser = capture(page, &clip, Some(quality.unwrap_or(LESSER_QUALITY).min(LESSER_QUALITY))).await?;
    if lesser.bytes.len() > limit {
        return Err(BrowserError::Protocol { detail: format!("the picture is larger than {limit} bytes") });
    }
    page.warn(format!("the picture was larger than {limit} bytes and became a JPEG of lesser quality"));
    Ok(lesser)
}

/// Returns the area of the whole page, or as much of it as a picture may show.
async fn full_page(page: &Page<'_>, viewport: Viewport) -> Result<Value, BrowserError> {
    let layout = page.call("Page.getLayoutMetrics", json!({})).await?;
    let height = layout["cssContentSize"]["height"].as_f64().unwrap_or_default().ceil();
    let limit = longest(page, u64::from(viewport.width));
    #[expect(clippy::cast_precision_loss, reason = "pixels of one side are few")]
    let cut = height.min(limit as f64).max(1.0);
    if cut < height {
        page.warn(format!("the page is {height} pixels long; its picture was cut after {cut}"));
    }
    Ok(json!({"x": 0, "y": 0, "width": viewport.width, "height": cut, "scale": 1}))
}

/// Draws a window in to what a picture may be.
fn bounded(page: &Page<'_>, wanted: Viewport) -> Viewport {
    let scale = u64::from(page.device.scale());
    let width = u64::from(wanted.width).min(LONGEST_SIDE / scale).max(1);
    let height = u64::from(wanted.height).min(longest(page, width)).max(1);
    let narrow = |side: u64, wanted: u32| u32::try_from(side).unwrap_or(wanted);
    let viewport = Viewport { width: narrow(width, wanted.width), height: narrow(height, wanted.height) };
    if viewport != wanted {
        let (width, height) = (viewport.width, viewport.height);
        page.warn(format!("the window was made smaller for its picture: {width} by {height} pixels"));
    }
    viewport
}

/// Returns how many CSS pixels high a picture of this width may be.
fn longest(page: &Page<'_>, width: u64) -> u64 {
    let scale = u64::from(page.device.scale());
    let by_area = page.config.picture_pixels / (width * scale * scale).max(1);
    by_area.min(LONGEST_SIDE / scale).max(1)
}

async fn capture(page: &Page<'_>, clip: &Value, quality: Option<u8>) -> Result<Picture, BrowserError> {
    let mut params = match quality {
        Some(quality) => json!({"format": "jpeg", "quality": quality}),
        None => json!({"format": "png", "optimizeForSpeed": true}),
    };
    if !clip.is_null() {
        params["clip"] = clip.clone();
        params["captureBeyondViewport"] = true.into();
    }
    let method = "Page.captureScreenshot";
    let answer = page.call(method, params).await?;
    let data = answer["data"].as_str().unwrap_or_default();
    let bytes = BASE64_STANDARD.decode(data).map_err(|_| BrowserError::lacking(method, "picture"))?;
    let kind = if quality.is_some() { ImageKind::Jpeg } else { ImageKind::Png };
    Ok(Picture { bytes: bytes.into(), kind })
}
