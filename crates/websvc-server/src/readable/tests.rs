//! Tests of the parts of pages that keys for some formats may read.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use websvc_types::Format;
use websvc_types::branding::PageBranding;
use websvc_types::menu::PageMenu;
use websvc_types::product::PageProduct;
use websvc_types::video::PageVideo;

use super::*;

fn readable(formats: &[&str]) -> ReadableFormats {
    let formats = Some(formats.iter().map(|format| (*format).to_owned()).collect());
    ReadableFormats { rights: Some(Arc::new(KeyRights { formats, ..KeyRights::default() })) }
}

/// Returns a page with all fields.
fn page() -> Value {
    json!({
        "markdown": "x",
        "html": "x",
        "rawHtml": "x",
        "links": ["x"],
        "images": ["x"],
        "screenshot": "x",
        "audio": "x",
        "video": "x",
        "videos": [PageVideo::default()],
        "summary": "x",
        "json": { "x": 1 },
        "answer": "x",
        "highlights": "x",
        "highlightPassages": [{ "text": "x", "start": 0, "end": 1 }],
        "changeTracking": { "previousScrapeAt": null, "changeStatus": "new", "visibility": "visible" },
        "branding": PageBranding::default(),
        "product": PageProduct::default(),
        "menu": PageMenu::default(),
        "attributes": [{ "selector": "a", "attribute": "b", "values": ["x"] }],
        "pages": [{ "pageNumber": 1, "markdown": "x" }],
        "blocks": [],
        "rawBase64": "x",
        "actions": {
            "screenshots": ["x"],
            "scrapes": [{ "url": "x", "html": "x" }],
            "javascriptReturns": [{ "type": "string", "value": "x" }],
            "pdfs": ["x"],
        },
        "metadata": {},
    })
}

#[test]
fn each_format_shows_its_own_fields_only() {
    let mut shown = BTreeSet::new();
    let names = Format::NAMES.iter().copied().chain(["attributes", "rawBase64"]);
    for format in names {
        let mut content: PageContent = serde_json::from_value(page()).unwrap();
        readable(&[format]).limit_page(&mut content);
        let left = serde_json::to_value(&content).unwrap();
        let fields: Vec<&str> = left.as_object().unwrap().keys().map(String::as_str).collect();
        let expected: &[&str] = match format {
            "markdown" => &["blocks", "markdown", "metadata", "pages"],
            "rawHtml" => &["actions", "metadata", "rawHtml"],
            "screenshot" => &["actions", "metadata", "screenshot"],
            "video" => &["metadata", "video", "videos"],
            "question" => &["answer", "metadata"],
            "highlights" => &["highlightPassages", "highlights", "metadata"],
            other => &[other, "metadata"],
        };
        assert_eq!(fields.iter().collect::<BTreeSet<_>>(), expected.iter().collect(), "{format}");
        match format {
            "rawHtml" => assert_eq!(left["actions"].as_object().unwrap().len(), 2, "{left}"),
            "screenshot" => assert_eq!(left["actions"], json!({ "screenshots": ["x"], "pdfs": ["x"] })),
            _ => {}
        }
        shown.extend(fields.into_iter().map(str::to_owned));
    }
    let all: BTreeSet<String> = page().as_object().unwrap().keys().cloned().collect();
    assert_eq!(shown, all, "a field is shown with no format");
}

#[test]
fn key_for_all_formats_sees_the_whole_page_without_a_warning() {
    let all = ReadableFormats { rights: Some(Arc::default()) };
    let mut content: PageContent = serde_json::from_value(page()).unwrap();
    assert_eq!(all.limit_page(&mut content), None);
    assert_eq!(content, serde_json::from_value(page()).unwrap());
}

#[test]
fn warning_is_added_to_those_of_the_page() {
    let stored = json!({ "html": "x", "markdown": "x", "warning": "slow" });
    let document = readable(&["markdown"]).document(stored.to_string().as_bytes()).unwrap();
    let expected = "slow; html left out: the key of this request does not allow the formats";
    assert_eq!(document.warning.as_deref(), Some(expected));
}

#[test]
fn page_of_a_check_loses_the_changes_that_the_key_may_not_read() {
    let judgment =
        json!({ "meaningful": true, "confidence": "high", "reason": "x", "meaningfulChanges": [] });
    let page = |diff: Value, snapshot: Value| -> MonitorCheckPage {
        let page = json!({
            "id": "1", "targetId": "1", "url": "http://a.test/", "status": "changed", "previousScrapeId": null,
            "currentScrapeId": null, "statusCode": 200, "error": null, "metadata": null, "diff": diff,
            "judgment": judgment, "createdAt": "",
        });
        let snapshot = serde_json::from_value(snapshot).unwrap();
        MonitorCheckPage { snapshot, ..serde_json::from_value(page).unwrap() }
    };
    let text = || page(json!({ "text": "+x", "json": { "files": [] } }), Value::Null);
    let data = || page(json!({ "json": { "x": 1 } }), json!({ "json": { "x": 1 } }));
    let both = || page(json!({ "text": "+x", "json": { "x": 1 } }), json!({ "json": { "x": 1 } }));
    // The formats, the page, and whether the text, its JSON, the data and the judgment are left.
    for (formats, page, left) in [
        (&["markdown"][..], text(), [true, true, false, true]),
        (&["markdown"], data(), [false, false, false, false]),
        (&["markdown"], both(), [true, false, false, false]),
        (&["json"], text(), [false, false, false, false]),
        (&["json"], data(), [false, true, true, true]),
        (&["json"], both(), [false, true, true, false]),
        (&["changeTracking"], both(), [true, true, true, true]),
        (&["html"], both(), [false, false, false, false]),
    ] {
        let name = format!("{formats:?} {page:?}");
        let MonitorCheckPage { diff, snapshot, judgment, .. } = readable(formats).check_page(page);
        let (text, json) = diff.map_or((false, false), |diff| (diff.text.is_some(), diff.json.is_some()));
        assert_eq!([text, json, snapshot.is_some(), judgment.is_some()], left, "{name}");
    }
}
