//! Tests of news articles and their properties.

use crate::page::parse;
use websvc_extract::Article;

fn article(html: &str) -> Option<Article> {
    parse(html).metadata().article
}

fn json_ld(json: &str) -> String {
    format!("<script type=application/ld+json>{json}</script>")
}

#[test]
fn article_is_read_from_json_ld() {
    let page = json_ld(
        r#"{"@context": "https://schema.org", "@graph": [{"@type": "WebSite"}, {"@type": ["NewsArticle"], "headline": "Tea is  up",
        "datePublished": "2026-01-02T10:00:00Z", "dateModified": "2026-01-03", "image": [{"url": "/pot.jpg"}, "/cup.jpg"]}]}"#,
    );
    let expected = Article {
        headline: Some("Tea is up".to_owned()),
        published: Some("2026-01-02T10:00:00Z".to_owned()),
        modified: Some("2026-01-03".to_owned()),
        image_url: Some("https://example.com/pot.jpg".to_owned()),
    };
    assert_eq!(article(&page), Some(expected));
}

#[test]
fn article_is_read_from_microdata() {
    let page = "<article itemscope itemtype='http://schema.org/BlogPosting'><h1 itemprop=headline>Tea <b>again</b></h1>\
        <time itemprop=datePublished datetime=2026-02-01>1 Feb</time><meta itemprop=dateModified content=2026-02-02>\
        <img itemprop=image src=pot.jpg></article>";
    let expected = Article {
        headline: Some("Tea again".to_owned()),
        published: Some("2026-02-01".to_owned()),
        modified: Some("2026-02-02".to_owned()),
        image_url: Some("https://example.com/dir/pot.jpg".to_owned()),
    };
    assert_eq!(article(page), Some(expected));
}

#[test]
fn article_is_read_from_meta_tags() {
    let page = "<meta property=og:type content=Article><meta property=article:published_time content=2026-01-02>\
        <meta property=article:modified_time content=2026-01-04><meta property=og:title content=Tea>\
        <meta property=og:image content=data:image/png;base64,AA>";
    let found = article(page).unwrap();
    assert_eq!(found.published.as_deref(), Some("2026-01-02"));
    assert_eq!(found.modified.as_deref(), Some("2026-01-04"));
    assert_eq!(found.headline.as_deref(), Some("Tea"));
    assert_eq!(found.image_url, None);
}

#[test]
fn article_is_news_if_it_has_a_publication_date() {
    let og = "<meta property=og:type content=article>";
    let cases = [
        (json_ld(r#"{"@type": "NewsArticle"}"#), true),
        (json_ld(r#"{"@type": "https://schema.org/ReportageNewsArticle"}"#), true),
        (json_ld(r#"{"@type": "Article"}"#), false),
        (json_ld(r#"{"@type": "Article", "datePublished": "2026-01-02"}"#), true),
        (json_ld(r#"{"@type": "TechArticle", "datePublished": "2026-01-02"}"#), false),
        (json_ld(r#"{"@type": "WebPage", "datePublished": "2026-01-02"}"#), false),
        (og.to_owned(), false),
        // Documentation has the date of its last change, not of its publication.
        (format!("{og}<meta property=article:modified_time content=2026-01-02>"), false),
        (format!("{og}<article><time datetime=2026-01-02>in the text</time></article>"), false),
        (format!("{og}<time pubdate datetime=2026-01-02></time>"), true),
        (format!("{og}{}", json_ld(r#"{"@type": "TechArticle", "datePublished": "2026-01-02"}"#)), false),
        ("<p>Tea".to_owned(), false),
    ];
    for (page, expected) in cases {
        assert_eq!(article(&page).is_some(), expected, "{page}");
    }
}

#[test]
fn list_of_articles_is_not_an_article() {
    let post = "<div itemscope itemtype='https://schema.org/BlogPosting'><time itemprop=datePublished datetime=2026-01-02>\
        </time></div>";
    assert!(article(post).is_some());
    assert_eq!(article(&post.repeat(2)), None);
    let items = r#"{"@type": "NewsArticle", "headline": "a"}"#;
    assert_eq!(article(&json_ld(&format!("[{items}, {items}]"))), None);
}
