//! A screenshot that Chromium captures in one message.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use serde_json::{Value, json};

use super::area::ClipRect;
use crate::connection::CdpError;
use crate::error::BrowserError;
use crate::page::Page;
use crate::rendered_page::{Image, ImageKind};

const METHOD: &str = "Page.captureScreenshot";

/// The outcome of a screenshot.
#[derive(Debug)]
pub(super) enum CaptureOutcome {
    Taken(Image),
    /// The file exceeds the size limit.
    TooLarge {
        /// About the number of rows that fit into the limit, if known.
        rows: Option<u32>,
    },
}

impl CaptureOutcome {
    /// Returns the outcome for a file: a JPEG if there is a quality, otherwise a PNG.
    pub(super) fn taken(bytes: Bytes, quality: Option<u8>) -> Self {
        let kind = if quality.is_some() { ImageKind::Jpeg } else { ImageKind::Png };
        Self::Taken(Image { bytes, kind })
    }
}

/// Captures the window, or an area of the page.
pub(super) async fn capture_whole(
    page: &Page<'_>,
    area: Option<&ClipRect>,
    quality: Option<u8>,
) -> Result<CaptureOutcome, BrowserError> {
    let clip = area.map(|area| area.clip(0, area.rows()));
    let limit = page.config.max_file_bytes;
    match capture(page, clip, quality).await {
        Ok(bytes) if bytes.len() <= limit => Ok(CaptureOutcome::taken(bytes, quality)),
        Ok(bytes) => {
            Ok(CaptureOutcome::TooLarge { rows: area.map(|area| area.fitting_rows(limit, bytes.len())) })
        }
        Err(CaptureError::TooLarge) => Ok(CaptureOutcome::TooLarge { rows: None }),
        Err(CaptureError::Browser(error)) => Err(error),
    }
}

/// Captures some rows of an area as a PNG.
pub(super) async fn capture_slice(
    page: &Page<'_>,
    area: &ClipRect,
    from: u32,
    rows: u32,
) -> Result<Bytes, BrowserError> {
    capture(page, Some(area.clip(from, rows)), None).await.map_err(|error| match error {
        CaptureError::TooLarge => BrowserError::missing_field(METHOD, "slice within the message size limit"),
        CaptureError::Browser(error) => error,
    })
}

/// The error of a capture.
enum CaptureError {
    TooLarge,
    Browser(BrowserError),
}

async fn capture(page: &Page<'_>, clip: Option<Value>, quality: Option<u8>) -> Result<Bytes, CaptureError> {
    let mut params = match quality {
        Some(quality) => json!({"format": "jpeg", "quality": quality}),
        None => json!({"format": "png", "optimizeForSpeed": true}),
    };
    if let Some(clip) = clip {
        params["clip"] = clip;
        // The layout viewport stays that of the window, so fixed elements appear once, at their position in the window.
        params["captureBeyondViewport"] = true.into();
    }
    let response = page.call(METHOD, params).await.map_err(|error| match error {
        CdpError::TooLarge { .. } => CaptureError::TooLarge,
        error => CaptureError::Browser(error.into()),
    })?;
    let data = response["data"].as_str().unwrap_or_default();
    let bytes = BASE64_STANDARD.decode(data);
    bytes.map(Bytes::from).map_err(|_| CaptureError::Browser(BrowserError::missing_field(METHOD, "image")))
}
