//! The action `pdf`.

use std::ops::RangeInclusive;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use serde_json::json;

use super::error::ActionError;
use crate::page::Page;
use crate::request::{Orientation, Print};

/// The scales that Chromium supports.
const SCALES: RangeInclusive<f64> = 0.1..=2.0;

/// Prints the page.
pub(super) async fn print(page: &Page<'_>, print: &Print) -> Result<Bytes, ActionError> {
    let Print { paper, orientation, scale } = print;
    let supported = scale.clamp(*SCALES.start(), *SCALES.end());
    if supported != *scale {
        page.warn(format!("a PDF is scaled by 0.1 to 2, so {supported} was used instead of {scale}"));
    }
    let (width, height) = paper.inches();
    let params = json!({
        "landscape": *orientation == Orientation::Landscape,
        "printBackground": true,
        "scale": supported,
        "paperWidth": width,
        "paperHeight": height,
    });
    let response = page.call("Page.printToPDF", params).await?;
    let data = response["data"].as_str().unwrap_or_default();
    let pdf = BASE64_STANDARD
        .decode(data)
        .map_err(|_| ActionError::Failed("the browser returned no PDF".to_owned()))?;
    let limit = page.config.max_file_bytes;
    if pdf.len() > limit {
        return Err(ActionError::Failed(format!("the PDF is larger than {limit} bytes")));
    }
    Ok(pdf.into())
}
