//! Reports of small pages.

use serde_json::{Value, json};
use url::Url;
use websvc_branding::{StyleReport, design};
use websvc_extract::DeclaredBrand;
use websvc_types::branding::PageBranding;

pub(crate) fn page_url() -> Url {
    Url::parse("https://tea.test/").unwrap()
}

/// Replaces fields of an object.
pub(crate) fn merge(object: &mut Value, changes: Value) {
    let Value::Object(changes) = changes else { panic!("{changes}") };
    for (name, value) in changes {
        object[name] = value;
    }
}

/// Returns an element of a kind, with changes to its defaults.
pub(crate) fn item(kind: &str, tag: &str, changes: Value) -> Value {
    let mut item = json!({ "k": kind, "t": tag, "r": [0, 100, 200, 40], "c": "rgb(0, 0, 0)", "f": "Inter", "z": "16px" });
    merge(&mut item, changes);
    item
}

/// Returns a button with this label and background.
pub(crate) fn button(label: &str, background: &str, changes: Value) -> Value {
    let mut item = item("button", "button", json!({ "x": label, "own": true, "l": [[background, 1]] }));
    merge(&mut item, changes);
    item
}

/// Returns an image that may be the logo.
pub(crate) fn image(url: &str, changes: Value) -> Value {
    let mut image =
        json!({ "t": "img", "url": format!("https://tea.test{url}"), "r": [20, 20, 120, 40], "n": "" });
    merge(&mut image, changes);
    image
}

/// Returns a report of a white page with these elements and changes.
pub(crate) fn report(items: Vec<Value>, changes: Value) -> Value {
    let mut report = json!({ "w": 1280, "h": 800, "dw": 1280, "dh": 1600, "cs": "normal" });
    let body = item(
        "root",
        "body",
        json!({ "own": true, "l": [["rgb(255, 255, 255)", 1]], "r": [0, 0, 1280, 1600] }),
    );
    report["items"] = std::iter::once(body).chain(items).collect();
    merge(&mut report, changes);
    report
}

pub(crate) fn branding_with(report: Value, declared: &DeclaredBrand) -> PageBranding {
    design(&StyleReport::parse(report).unwrap(), declared, &page_url()).branding
}

pub(crate) fn branding(report: Value) -> PageBranding {
    branding_with(report, &DeclaredBrand::default())
}
