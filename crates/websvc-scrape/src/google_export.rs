//! Documents of Google Docs, Sheets, Slides and Drive: fetched as the files that Google exports, because their web
//! pages are applications without content in the HTML.

use http::StatusCode;
use url::Url;

use crate::raw::RawPage;

/// The host of the sign-in page that Google redirects to for a document that is not shared with everyone.
const SIGN_IN_HOST: &str = "accounts.google.com";

/// The warning for such a document.
const NOT_SHARED_WARNING: &str =
    "Google requires a sign-in: the document is not shared with everyone who has the link";

/// The path segments after the document ID in the URLs that users share; others, such as `export` and `pub`, are files
/// and pages themselves.
const VIEW_SEGMENTS: [&str; 8] =
    ["", "copy", "edit", "htmlview", "mobilebasic", "present", "preview", "view"];

/// Returns the URL of the export of a Google document; `None` if the URL is not that of a document.
pub(crate) fn export_url(url: &Url) -> Option<Url> {
    let mut segments = url.path_segments()?.filter(|segment| !segment.is_empty());
    let mut next = || segments.next().unwrap_or_default();
    let mut export = url.clone();
    export.set_fragment(None);
    match (url.host_str()?, next()) {
        ("docs.google.com", application) => {
            let (id, view) = parse_document_path(&mut next)?;
            if !VIEW_SEGMENTS.contains(&view) {
                return None;
            }
            let (export_path, query) = match application {
                "document" => ("export", "format=docx".to_owned()),
                "presentation" => ("export/pptx", String::new()),
                "spreadsheets" => match sheet(url) {
                    Some(sheet) => ("export", format!("format=csv&gid={sheet}")),
                    None => ("export", "format=xlsx".to_owned()),
                },
                _ => return None,
            };
            export.set_path(&format!("/{application}/d/{id}/{export_path}"));
            export.set_query((!query.is_empty()).then_some(&query));
        }
        ("drive.google.com", "file") => {
            let (id, view) = parse_document_path(&mut next)?;
            if !VIEW_SEGMENTS.contains(&view) {
                return None;
            }
            set_download(&mut export, id);
        }
        ("drive.google.com", "open") => {
            let id = url.query_pairs().find(|(name, _)| name == "id").map(|(_, id)| id.into_owned());
            set_download(&mut export, id.as_deref().filter(|id| is_document_id(id))?);
        }
        _ => return None,
    }
    Some(export)
}

/// Parses `d/ID/VIEW`, optionally after the number of an account: `u/0`.
fn parse_document_path<'u>(next: &mut impl FnMut() -> &'u str) -> Option<(&'u str, &'u str)> {
    let mut prefix = next();
    if prefix == "u" {
        next();
        prefix = next();
    }
    let id = next();
    (prefix == "d" && is_document_id(id)).then(|| (id, next()))
}

/// Returns whether a text is a document ID; the segment `e` belongs to the URL of a published page.
fn is_document_id(text: &str) -> bool {
    text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

fn set_download(export: &mut Url, id: &str) {
    export.set_path("/uc");
    export.set_query(Some(&format!("export=download&id={id}")));
}

/// Returns the number of the sheet that a URL shows, from its query or its fragment.
fn sheet(url: &Url) -> Option<u64> {
    let parts = url.query().into_iter().chain(url.fragment()).flat_map(|text| text.split('&'));
    parts.rev().find_map(|part| part.strip_prefix("gid=")?.parse().ok())
}

/// Returns an export as the page at the URL of its document.
pub(crate) fn exported(url: &Url, mut page: RawPage) -> RawPage {
    page.source_url = url.clone();
    if page.url.host_str() == Some(SIGN_IN_HOST) {
        // The error status prevents that the sign-in page is cached or indexed as the document.
        page.status = StatusCode::UNAUTHORIZED;
        page.warnings.push(NOT_SHARED_WARNING.to_owned());
        return page;
    }
    page.url = url.clone();
    if let Some(sheet) = sheet(url).filter(|_| url.path().starts_with("/spreadsheets/")) {
        // The sheet is in the query, because the index ignores fragments.
        page.url.set_query(Some(&format!("gid={sheet}")));
        page.url.set_fragment(None);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_url_has_export_url() {
        for (given, expected) in [
            (
                "https://docs.google.com/document/d/1a-B_c/edit?usp=sharing#heading=h.x",
                "document/d/1a-B_c/export?format=docx",
            ),
            ("https://docs.google.com/document/u/0/d/1a/", "document/d/1a/export?format=docx"),
            ("https://docs.google.com/presentation/d/1a/edit#slide=id.p", "presentation/d/1a/export/pptx"),
            ("https://docs.google.com/spreadsheets/d/1a/edit", "spreadsheets/d/1a/export?format=xlsx"),
            (
                "https://docs.google.com/spreadsheets/d/1a/edit?gid=0#gid=7",
                "spreadsheets/d/1a/export?format=csv&gid=7",
            ),
            (
                "https://docs.google.com/spreadsheets/d/1a/htmlview?gid=3",
                "spreadsheets/d/1a/export?format=csv&gid=3",
            ),
        ] {
            let expected = format!("https://docs.google.com/{expected}");
            let export = export_url(&given.parse().unwrap());
            assert_eq!(export.as_ref().map(Url::as_str), Some(expected.as_str()), "{given}");
        }
        for given in ["file/d/1a/view?usp=sharing", "file/u/1/d/1a/preview", "open?usp=x&id=1a"] {
            let export = export_url(&format!("https://drive.google.com/{given}").parse().unwrap());
            let expected = "https://drive.google.com/uc?export=download&id=1a";
            assert_eq!(export.as_ref().map(Url::as_str), Some(expected), "{given}");
        }
    }

    #[test]
    fn page_or_file_url_has_no_export_url() {
        for given in [
            "https://docs.google.com/",
            "https://docs.google.com/document/d/e/2PACX-1v/pub",
            "https://docs.google.com/document/d/1a/export?format=pdf",
            "https://docs.google.com/document/d/1a/pub",
            "https://docs.google.com/forms/d/1a/viewform",
            "https://docs.google.com/forms/d/1a/edit",
            "https://docs.google.com/spreadsheets/d/1a/gviz/tq",
            "https://drive.google.com/uc?export=download&id=1a",
            "https://drive.google.com/drive/folders/1a",
            "https://drive.google.com/open?id=a%2Fb",
            "https://docs.google.com.evil.test/document/d/1a/edit",
        ] {
            assert_eq!(export_url(&given.parse().unwrap()), None, "{given}");
        }
    }
}
