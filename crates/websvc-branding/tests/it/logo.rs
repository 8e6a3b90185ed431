//! Tests of the choice of the logo.

use serde_json::{Value, json};
use websvc_extract::DeclaredBrand;

use crate::report::{branding_with, image, report};

fn declared() -> DeclaredBrand {
    DeclaredBrand {
        title: Some("Teahouse".to_owned()),
        og_image: Some("https://tea.test/og.png".to_owned()),
        ..DeclaredBrand::default()
    }
}

fn logo_of(images: Vec<Value>, declared: &DeclaredBrand) -> Option<String> {
    let mut report = report(Vec::new(), json!({}));
    report["logos"] = images.into();
    let found = branding_with(report, declared);
    assert_eq!(found.logo, found.images.logo);
    found.logo
}

#[track_caller]
fn check(images: Vec<Value>, expected: Option<&str>) {
    let found = logo_of(images, &declared());
    assert_eq!(found.as_deref().map(|url| url.trim_start_matches("https://tea.test")), expected);
}

const HOME: &str = "https://tea.test/";

#[test]
fn linked_image_of_the_header_wins() {
    let customer = |name: &str| {
        image(
            &format!("/c/{name}-logo.png"),
            json!({ "alt": format!("{name} logo"), "n": "|customers", "i": [5], "r": [0, 500, 90, 30] }),
        )
    };
    check(
        vec![
            customer("one"),
            customer("two"),
            image(
                "/search.svg",
                json!({ "g": "header", "label": "search", "href": "https://tea.test/search" }),
            ),
            image("/own.png", json!({ "g": "header", "href": HOME })),
            image("/photo-logo.jpg", json!({ "r": [0, 300, 1200, 600] })),
        ],
        Some("/own.png"),
    );
    check(
        vec![image("/en.png", json!({ "g": "nav", "href": "https://www.tea.test/en-us/" }))],
        Some("/en.png"),
    );
    check(vec![image("/alt.png", json!({ "alt": "Teahouse", "n": "site-logo" }))], Some("/alt.png"));
}

#[test]
fn images_of_others_are_no_logos() {
    check(vec![image("/a.png", json!({ "g": "header", "href": "https://partner.test/" }))], None);
    check(vec![image("/b.png", json!({ "g": "footer", "n": "logo", "r": [0, 1500, 100, 30] }))], None);
    check(
        vec![image(
            "/c.png",
            json!({ "n": "|partners", "alt": "Acme logo", "i": [4], "r": [0, 700, 100, 30] }),
        )],
        None,
    );
    check(vec![image("/d.png", json!({ "g": "header", "n": "flag", "r": [900, 20, 20, 14] }))], None);
    check(vec![image("/e.png", json!({ "g": "overlay", "n": "logo", "href": HOME }))], None);
}

#[test]
fn svg_of_the_page_is_a_data_uri_of_limited_size() {
    let svg =
        |text: &str| image("", json!({ "t": "svg", "url": "", "svg": text, "g": "header", "href": HOME }));
    check(vec![svg("<svg/>")], Some("data:image/svg+xml;base64,PHN2Zy8+"));
    check(vec![svg(&format!("<svg>{}</svg>", "x".repeat(64 << 10)))], None);
    check(vec![image("", json!({ "url": "javascript:alert(1)", "g": "header", "href": HOME }))], None);
}

#[test]
fn declared_logo_replaces_a_missing_one() {
    let with = |logo: Option<&str>, icon: Option<&str>| DeclaredBrand {
        logo: logo.map(str::to_owned),
        touch_icon: icon.map(str::to_owned),
        ..declared()
    };
    let footer = || vec![image("/f.png", json!({ "g": "footer", "r": [0, 1500, 100, 30] }))];
    assert_eq!(logo_of(footer(), &with(Some("ld"), Some("icon"))).as_deref(), Some("ld"));
    assert_eq!(logo_of(footer(), &with(None, Some("icon"))).as_deref(), Some("icon"));
    assert_eq!(logo_of(footer(), &with(None, None)), None);
    let own = vec![image("/own.png", json!({ "g": "header", "href": HOME }))];
    assert_eq!(logo_of(own, &with(Some("ld"), None)).as_deref(), Some("https://tea.test/own.png"));
}
