//! Paths of requests in their normal form.

use std::borrow::Cow;

/// Returns a path without double and trailing slashes.
pub(crate) fn normalize(path: &str) -> Cow<'_, str> {
    if path == "/" || !(path.contains("//") || path.ends_with('/')) {
        return Cow::Borrowed(path);
    }
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    Cow::Owned(format!("/{}", segments.join("/")))
}
