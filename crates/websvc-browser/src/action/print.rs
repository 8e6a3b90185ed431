//! The action `pdf`.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use serde_json::json;

use super::failure::Failure;
use crate::page::Page;
use crate::request::{Orientation, Print};

/// What Chromium can do.
const SCALES: (f64, f64) = (0.1, 2.0);

/// Prints the page.
pub(super) async fn print(page: &Page<'_>, print: &Print) -> Result<Bytes, Failure> {
    let Print { paper, orientation, scale } = print;
    let possible = scale.clamp(SCALES.0, SCALES.1);
    if possible != *scale {
        page.warn(format!("a PDF is scaled by 0.1 to 2, so {possible} was used instead of {scale}"));
    }
    let (width, height) = paper.inches();
    let params = json!({
        "landscape": *orientation == Orientation::Landscape,
        "printBackground": true,
        "scale": possible,
        "paperWidth": width,
        "paperHeight": height,
    });
    let answer = page.call("Page.printToPDF", params).await?;
    let data = answer["data"].as_str().unwrap_or_default();
    let pdf = BASE64_STANDARD.decode(data).map_err(|_| Failure::Reason("it gave no PDF".to_owned()))?;
    let limit = page.config.file_bytes;
    if pdf.len() > limit {
        return Err(Failure::Reason(format!("the PDF is larger than {limit} bytes")));
    }
    Ok(pdf.into())
}
