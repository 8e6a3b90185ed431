//! Tests of page metadata.

use crate::page::parse;
use websvc_extract::{Anchor, MetaValue, Robots};

const PAGE: &str = r#"<html lang="en-GB"><head><title> The
 title </title><meta name="Description" content="About it"><meta property="og:title" content="OG"><meta property="article:tag"
 content="a"><meta property="article:tag" content="b"><meta name="robots" content="noindex, nofollow"><link rel="shortcut icon"
 href="/icon.png"><link rel=canonical href="/canonical"><meta http-equiv=refresh content="5; url='/next'">
 <script type="application/ld+json">{"@graph":[{"@type":"WebPage","datePublished":"2001-01-01"},{"@type":"NewsArticle",
 "datePublished":"2026-01-02","dateModified":"2026-01-03","author":[{"name":"Ann"},{"name":"Bob"}]}]}</script></head>
 <body><a href="/x#part" rel="nofollow"> X <b>y</b></a><a href="mailto:m@example.com">m</a><a href="?q=1">q</a>
 <div style="background-image: url('/bg.jpg')"></div><img src="a.png" srcset="b.png 2x"></body></html>"#;

#[test]
fn metadata_fields_are_found_in_each_source() {
    let metadata = parse(PAGE).metadata();
    assert_eq!(metadata.title.as_deref(), Some("The title"));
    assert_eq!(metadata.description.as_deref(), Some("About it"));
    assert_eq!(metadata.language.as_deref(), Some("en-GB"));
    assert_eq!(metadata.favicon.as_deref(), Some("https://example.com/icon.png"));
    assert_eq!(metadata.canonical.as_deref(), Some("https://example.com/canonical"));
    assert_eq!(metadata.published_time.as_deref(), Some("2026-01-02"));
    assert_eq!(metadata.modified_time.as_deref(), Some("2026-01-03"));
    assert_eq!(metadata.author.as_deref(), Some("Ann, Bob"));
    assert_eq!(metadata.content_type.as_deref(), Some("text/html; charset=utf-8"));
}

#[test]
fn all_meta_tags_are_listed_and_repeated_ones_are_lists() {
    let meta = parse(PAGE).metadata().meta;
    assert_eq!(meta["og:title"], MetaValue::One("OG".to_owned()));
    assert_eq!(meta["article:tag"], MetaValue::Many(vec!["a".to_owned(), "b".to_owned()]));
}

#[test]
fn robots_and_refresh_are_parsed() {
    let page = parse(PAGE);
    assert_eq!(page.robots(), Robots { index: false, follow: false });
    let (seconds, url) = page.refresh().unwrap();
    assert_eq!((seconds, url.as_str()), (5, "https://example.com/next"));
    assert_eq!(parse("<p>x").robots(), Robots { index: true, follow: true });
}

#[test]
fn links_in_templates_and_addresses_of_mailboxes_are_not_followed() {
    let page = parse(
        "<a href=/a>a</a><template><a href=/t>t</a></template><a href=info@shop.test>mail</a>\
         <a href=/b@2x.html>b</a><a href='@user'>c</a><a href='v1@latest'>d</a>",
    );
    let paths: Vec<String> = page.followed_links().iter().map(|url| url.path().to_owned()).collect();
    assert_eq!(paths, ["/a", "/b@2x.html", "/dir/@user", "/dir/v1@latest"]);
    let markdown = page.content(&crate::page::full()).markdown();
    assert!(markdown.contains("[mail](mailto:info@shop.test)"), "{markdown}");
}

#[test]
fn anchors_are_http_links_without_fragments() {
    let anchor = |url: &str, text: &str, nofollow| Anchor {
        url: url.parse().unwrap(),
        text: text.to_owned(),
        nofollow,
    };
    let expected = [
        anchor("https://example.com/x", "X y", true),
        anchor("https://example.com/dir/page?q=1", "q", false),
    ];
    assert_eq!(parse(PAGE).anchors(), expected);
}

#[test]
fn images_come_from_icons_styles_and_srcsets() {
    let expected =
        ["icon.png", "bg.jpg", "dir/a.png", "dir/b.png"].map(|path| format!("https://example.com/{path}"));
    assert_eq!(parse(PAGE).images(), expected);
}

#[test]
fn published_time_is_that_of_the_article_not_of_a_card() {
    let card = "<article class=card><a href=/o><time datetime=2019-05-05 itemprop=datePublished>5 May</time><h3>Old</h3></a></article>";
    for article in [
        format!(
            "<section>{card}</section><main><article><header><time datetime=2026-02-03>3 Feb</time><h1>Pump</h1></header></article></main>"
        ),
        format!(
            "<header><h1><a href=/>Site</a></h1></header>{card}<article><h1>Pump</h1><time datetime=2026-02-03>3 Feb</time></article>{card}"
        ),
        format!(
            "<main>{card}<article><h1>Pump</h1><p>Text</p><footer><time datetime=2026-02-03>3 Feb</time></footer></article></main>"
        ),
    ] {
        let page = parse(&article);
        assert_eq!(page.metadata().published_time.as_deref(), Some("2026-02-03"), "{article}");
    }
}
