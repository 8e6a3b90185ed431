//! The format `screenshot`, which is also an action.

use websvc_types::Viewport;
use websvc_types::format::Screenshot;
use websvc_types::limits::{QUALITY_MAX, QUALITY_MIN, VIEWPORT_MAX_HEIGHT, VIEWPORT_MAX_WIDTH, VIEWPORT_MIN};

use crate::bounds;
use crate::path::Path;
use crate::report::Report;

/// Checks the options of a screenshot.
pub(crate) fn check(report: &mut Report, path: &Path<'_>, options: &Screenshot) {
    let Screenshot { full_page: _, quality, viewport } = options;
    if let Some(quality) = quality {
        bounds::number(report, &path.key("quality"), *quality, QUALITY_MIN, QUALITY_MAX);
    }
    if let Some(Viewport { width, height }) = viewport {
        let path = path.key("viewport");
        bounds::number(report, &path.key("width"), *width, VIEWPORT_MIN, VIEWPORT_MAX_WIDTH);
        bounds::number(report, &path.key("height"), *height, VIEWPORT_MIN, VIEWPORT_MAX_HEIGHT);
    }
}
