//! Serving a directory of files as a website.

use std::path::{Component, Path, PathBuf};

use percent_encoding::percent_decode_str;

use crate::page::Page;

/// The media types by extension; files with other extensions are `application/octet-stream`.
const TYPES: &[(&str, &str)] = &[
    ("css", "text/css; charset=utf-8"),
    ("gif", "image/gif"),
    ("htm", "text/html; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("ico", "image/x-icon"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("md", "text/markdown; charset=utf-8"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain; charset=utf-8"),
    ("webp", "image/webp"),
    ("xml", "application/xml"),
];

/// Returns the file for the path of a URL below `root`. A symbolic link to a file outside of `root` is not followed.
pub(crate) async fn serve(root: &Path, url_path: &str) -> Page {
    let Some(file) = locate(root, url_path) else { return not_found() };
    if file.is_dir() {
        if !url_path.ends_with('/') {
            return Page::redirect(301, &format!("{url_path}/"));
        }
        return read(&file.join("index.html")).await;
    }
    read(&file).await
}

async fn read(file: &Path) -> Page {
    let extension = file.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let content_type =
        TYPES.iter().find(|(name, _)| *name == extension).map(|(_, content_type)| *content_type);
    match tokio::fs::read(file).await {
        Ok(bytes) => Page::new(content_type.unwrap_or("application/octet-stream"), bytes),
        Err(_) => not_found(),
    }
}

/// Returns the file or directory of a path, if it exists below `root`.
fn locate(root: &Path, url_path: &str) -> Option<PathBuf> {
    let decoded = percent_decode_str(url_path).decode_utf8().ok()?;
    let relative = Path::new(decoded.trim_start_matches('/'));
    if !relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return None;
    }
    let root = root.canonicalize().ok()?;
    let found = root.join(relative).canonicalize().ok()?;
    found.starts_with(&root).then_some(found)
}

fn not_found() -> Page {
    Page::html("<title>Not found</title><p>There is no such page.").status(404)
}
