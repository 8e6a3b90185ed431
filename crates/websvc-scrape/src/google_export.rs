//! Documents of Google Docs, Sheets, Slides and Drive: read through the files that Google exports of them, because the
//! pages that show them are programs without content.

use http::StatusCode;
use url::Url;

use crate::raw::RawPage;

/// Host of the sign-in page that Google redirects to for a document that is not shared with everyone.
const SIGN_IN: &str = "accounts.google.com";

/// Said of such a document.
const NOT_SHARED: &str =
    "Google asks for a sign-in: the document is not shared with everyone who has the link";

/// Path segments after the identifier of a document in addresses that people share; others, such as `export` and `pub`,
/// are files and pages themselves.
const VIEWS: [&str; 8] = ["", "copy", "edit", "htmlview", "mobilebasic", "present", "preview", "view"];

/// Returns the address of the file that has the content of a document; `None` when the address is that of something else.
pub(crate) fn export_url(url: &Url) -> Option<Url> {
    let mut segments = url.path_segments()?.filter(|segment| !segment.is_empty());
    let mut next = || segments.next().unwrap_or_default();
    let mut export = url.clone();
    export.set_fragment(None);
    match (url.host_str()?, next()) {
        ("docs.google.com", application) => {
            let (id, view) = identifier(&mut next)?;
            if !VIEWS.contains(&view) {
                return None;
            }
            let (tail, query) = match application {
                "document" => ("export", "format=docx".to_owned()),
                "presentation" => ("export/pptx", String::new()),
                "spreadsheets" => match sheet(url) {
                    Some(sheet) => ("export", format!("format=csv&gid={sheet}")),
                    None => ("export", "format=xlsx".to_owned()),
                },
                _ => return None,
            };
            export.set_path(&format!("/{application}/d/{id}/{tail}"));
            export.set_query((!query.is_empty()).then_some(&query));
        }
        ("drive.google.com", "file") => {
            let (id, view) = identifier(&mut next)?;
            if !VIEWS.contains(&view) {
                return None;
            }
            download(&mut export, id);
        }
        ("drive.google.com", "open") => {
            let id = url.query_pairs().find(|(name, _)| name == "id").map(|(_, id)| id.into_owned());
            download(&mut export, id.as_deref().filter(|id| is_identifier(id))?);
        }
        _ => return None,
    }
    Some(export)
}

/// Reads `d/IDENTIFIER/VIEW`, perhaps after the number of an account: `u/0`.
fn identifier<'u>(next: &mut impl FnMut() -> &'u str) -> Option<(&'u str, &'u str)> {
    let mut mark = next();
    if mark == "u" {
        next();
        mark = next();
    }
    let id = next();
    (mark == "d" && is_identifier(id)).then(|| (id, next()))
}

/// Tells whether a text is an identifier; `e` begins the address of a published page.
fn is_identifier(text: &str) -> bool {
    text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

fn download(export: &mut Url, id: &str) {
    export.set_path("/uc");
    export.set_query(Some(&format!("export=download&id={id}")));
}

/// Returns the number of the sheet that an address shows, from its query or its fragment.
fn sheet(url: &Url) -> Option<u64> {
    let parts = url.query().into_iter().chain(url.fragment()).flat_map(|text| text.split('&'));
    parts.rev().find_map(|part| part.strip_prefix("gid=")?.parse().ok())
}

/// Returns what was exported as the page at the address of its document.
pub(crate) fn exported(url: &Url, mut page: RawPage) -> RawPage {
    page.source_url = url.clone();
    if page.url.host_str() == Some(SIGN_IN) {
        // Not a success, so that it is neither cached nor indexed as the document.
        page.status = StatusCode::UNAUTHORIZED;
        page.warnings.push(NOT_SHARED.to_owned());
        return page;
    }
    page.url = url.clone();
    if let Some(sheet) = sheet(url).filter(|_| url.path().starts_with("/spreadsheets/")) {
        // Sheets are told apart by what a fragment is not.
        page.url.set_query(Some(&format!("gid={sheet}")));
        page.url.set_fragment(None);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_read_through_their_exports() {
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
    fn what_is_a_page_or_a_file_itself_is_read_as_it_is() {
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
