//! A picture that Chromium draws in one piece.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use serde_json::{Value, json};

use super::area::ClipRect;
use crate::connection::CdpError;
use crate::error::BrowserError;
use crate::page::Page;
use crate::rendered_page::{ImageKind, Picture};

const METHOD: &str = "Page.captureScreenshot";

/// What became of a picture.
#[derive(Debug)]
pub(super) enum CaptureOutcome {
    Taken(Picture),
    /// It has more bytes than a picture may have; so many rows had not, if that is known.
    TooLarge {
        rows: Option<u32>,
    },
}

impl CaptureOutcome {
    /// Returns a file as a picture: without a quality it is a PNG.
    pub(super) fn taken(bytes: Bytes, quality: Option<u8>) -> Self {
        let kind = if quality.is_some() { ImageKind::Jpeg } else { ImageKind::Png };
        Self::Taken(Picture { bytes, kind })
    }
}

/// Takes the window, or an area of the page.
pub(super) async fn whole(
    page: &Page<'_>,
    area: Option<&ClipRect>,
    quality: Option<u8>,
) -> Result<CaptureOutcome, BrowserError> {
    let clip = area.map(|area| area.clip(0, area.rows()));
    match capture(page, clip, quality).await {
        Ok(bytes) if bytes.len() <= page.config.file_bytes => Ok(CaptureOutcome::taken(bytes, quality)),
        Ok(_) | Err(Refusal::TooLarge) => Ok(CaptureOutcome::TooLarge { rows: None }),
        Err(Refusal::Browser(error)) => Err(error),
    }
}

/// Takes some rows of an area, as a PNG.
pub(super) async fn slice(
    page: &Page<'_>,
    area: &ClipRect,
    from: u32,
    rows: u32,
) -> Result<Bytes, BrowserError> {
    capture(page, Some(area.clip(from, rows)), None).await.map_err(|refusal| match refusal {
        Refusal::TooLarge => BrowserError::lacking(METHOD, "slice of a size that can be"),
        Refusal::Browser(error) => error,
    })
}

/// Why there are no bytes.
enum Refusal {
    TooLarge,
    Browser(BrowserError),
}

async fn capture(page: &Page<'_>, clip: Option<Value>, quality: Option<u8>) -> Result<Bytes, Refusal> {
    let mut params = match quality {
        Some(quality) => json!({"format": "jpeg", "quality": quality}),
        None => json!({"format": "png", "optimizeForSpeed": true}),
    };
    if let Some(clip) = clip {
        params["clip"] = clip;
        // The layout stays that of the window: what is fixed there is drawn once, where the window is.
        params["captureBeyondViewport"] = true.into();
    }
    let answer = page.call(METHOD, params).await.map_err(|error| match error {
        CdpError::TooLarge { .. } => Refusal::TooLarge,
        error => Refusal::Browser(error.into()),
    })?;
    let data = answer["data"].as_str().unwrap_or_default();
    let bytes = BASE64_STANDARD.decode(data);
    bytes.map(Bytes::from).map_err(|_| Refusal::Browser(BrowserError::lacking(METHOD, "picture")))
}
