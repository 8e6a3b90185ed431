//! The brand that a page declares in its structured data, meta tags and links.

use serde_json::{Value, json};
use url::Url;
use websvc_extract::{DeclaredBrand, Document, Source};

fn declared(html: &str) -> DeclaredBrand {
    let url = Url::parse("https://tea.test/a/").unwrap();
    let source = Source { bytes: html.as_bytes(), content_type: Some("text/html"), url: &url };
    Document::parse(source).unwrap().declared_brand()
}

#[track_caller]
fn check_logo(data: &Value, expected: Option<&str>) {
    let html = format!("<title>Tea</title><script type='application/ld+json'>{data}</script>");
    assert_eq!(declared(&html).logo.as_deref(), expected, "{data}");
}

#[test]
fn logo_is_that_of_the_organization_of_the_site() {
    check_logo(&json!({ "@type": "Organization", "logo": "/l.png" }), Some("https://tea.test/l.png"));
    check_logo(
        &json!({ "@type": ["Store", "LocalBusiness"], "logo": { "@type": "ImageObject", "contentUrl": "l.png" } }),
        Some("https://tea.test/a/l.png"),
    );
    check_logo(
        &json!({ "@type": "NewsArticle", "publisher": { "@type": "Organization", "logo": { "url": "/p.png" } } }),
        Some("https://tea.test/p.png"),
    );
    // Of several organizations, the one with the address of the site.
    check_logo(
        &json!([
            { "@type": "Organization", "url": "https://other.test/", "logo": "/other.png" },
            { "@type": "Corporation", "url": "https://tea.test", "logo": "/own.png" },
        ]),
        Some("https://tea.test/own.png"),
    );
}

#[test]
fn logos_of_products_brands_people_and_reviews_are_ignored() {
    let other = json!({ "@type": "Organization", "logo": "/other.png" });
    for data in [
        json!({ "@type": "Product", "logo": "/p.png", "brand": other }),
        json!({ "@type": "Brand", "logo": "/b.png" }),
        json!({ "@type": "Person", "worksFor": other, "logo": "/me.png" }),
        json!({ "@type": "Review", "author": other, "itemReviewed": other }),
        json!({ "@graph": [
            { "@type": "Product", "brand": { "@id": "#b" } },
            { "@type": "Organization", "@id": "#b", "logo": "/other.png" },
        ] }),
        json!({ "@type": "Organization", "logo": "javascript:alert(1)" }),
    ] {
        check_logo(&data, None);
    }
}

#[test]
fn icons_and_texts_are_those_of_the_head() {
    let brand = declared(
        "<title>Tea &amp; more</title><meta property=og:site_name content=Teahouse>\
         <meta name=twitter:image content=/t.png><meta name=generator content='WordPress 6.6'>\
         <meta name=theme-color content='#c00'><link rel='shortcut icon' href=/f.ico>\
         <link rel=apple-touch-icon sizes=120x120 href=/120.png><link rel=apple-touch-icon-precomposed \
         sizes=152x152 href=/152.png><link rel=stylesheet href=/b.css><script src=/a.js></script><h1>Hello</h1>",
    );
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        brand,
        DeclaredBrand {
            logo: None,
            touch_icon: text("https://tea.test/152.png"),
            favicon: text("https://tea.test/f.ico"),
            og_image: text("https://tea.test/t.png"),
            site_name: text("Teahouse"),
            title: text("Tea & more"),
            heading: text("Hello"),
            generator: text("WordPress 6.6"),
            theme_color: text("#c00"),
            resources: ["/f.ico", "/120.png", "/152.png", "/b.css", "/a.js"].map(str::to_owned).to_vec(),
        }
    );
    let unsized_icon =
        "<link rel=apple-touch-icon sizes=57x57 href=/57.png><link rel=apple-touch-icon href=/d.png>";
    assert_eq!(declared(unsized_icon).touch_icon, text("https://tea.test/d.png"));
    assert_eq!(declared("<p>A text</p>"), DeclaredBrand::default());
}

#[test]
fn long_titles_and_headings_are_cut() {
    let text = "Tea ".repeat(10_000);
    let brand = declared(&format!("<title>{text}</title><h1>{text}</h1>"));
    let is_cut =
        |text: Option<String>| text.is_some_and(|text| text.starts_with("Tea Tea") && text.len() <= 4 << 10);
    assert!(is_cut(brand.title) && is_cut(brand.heading));
}

/// Each of the articles has the same publisher, whose logos are not images.
#[test]
fn publisher_of_many_articles_is_a_candidate_once() {
    let logos = vec![json!("javascript:alert(1)"); 5_000];
    let mut graph = vec![json!({ "@type": "Organization", "@id": "#p", "logo": logos })];
    graph.extend((0..150).map(|_| json!({ "@type": "Article", "publisher": { "@id": "#p" } })));
    graph.push(json!({ "@type": "Article", "publisher": { "@type": "Organization", "logo": "/own.png" } }));
    check_logo(&json!({ "@graph": graph }), Some("https://tea.test/own.png"));
}
