//! The videos that a page contains.

use websvc_extract::{Document, Source};
use websvc_types::limits::{VIDEO_TITLE_MAX_CHARS, VIDEOS_MAX};
use websvc_types::video::PageVideo;

fn videos(html: &str) -> Vec<PageVideo> {
    let url = "https://tea.test/page#top".parse().unwrap();
    let source = Source { bytes: html.as_bytes(), content_type: Some("text/html"), url: &url };
    Document::parse(source).unwrap().videos()
}

#[track_caller]
fn check(html: &str, expected: &str) {
    let found = serde_json::to_value(videos(html)).unwrap();
    let mut expected: serde_json::Value = serde_json::from_str(expected).unwrap();
    for video in expected.as_array_mut().unwrap() {
        video["sourceURL"] = "https://tea.test/page".into();
    }
    assert_eq!(found, expected, "{html}");
}

#[test]
fn records_of_one_video_are_combined() {
    check(
        r#"<video src="/brew.mp4#t=3" width="640px" height="0"></video>
        <meta property="og:video" content="https://tea.test/brew.mp4"><meta property="og:title" content="Tea page">
        <meta property="og:video:height" content="360">
        <script type="application/ld+json">{"@type":"WebPage","video":{"@type":"VideoObject","name":"Brewing",
        "description":"By <b>hand</b>","contentUrl":"brew.mp4","thumbnailUrl":["a.jpg"],"duration":"PT1M30S"}}</script>"#,
        r#"[{"url": "https://tea.test/brew.mp4", "source": "video", "kind": "file", "title": "Brewing",
             "thumbnail": "https://tea.test/a.jpg", "description": "By hand", "duration": "PT1M30S", "width": 640,
             "height": 360}]"#,
    );
}

#[test]
fn every_source_is_read() {
    check(
        r#"<video><source src="a.m3u8" type="application/x-mpegURL"><source src="a.mp4"></video>
        <iframe src="//player.vimeo.com/video/7?x=1" title="Seven"></iframe><iframe src="https://ads.test/x"></iframe>
        <div itemscope itemtype="https://schema.org/VideoObject"><meta itemprop="embedUrl"
        content="https://www.youtube.com/embed/z"><span itemprop="name">Z</span></div>
        <meta property="og:video:secure_url" content="https://cdn.test/player"><meta property="og:video:type"
        content="text/html">"#,
        r#"[{"url": "https://tea.test/a.m3u8", "source": "video", "kind": "stream", "mimeType": "application/x-mpegURL"},
            {"url": "https://vimeo.com/7", "source": "iframe", "kind": "player", "provider": "vimeo", "title": "Seven"},
            {"url": "https://www.youtube.com/embed/z", "source": "structured-data", "kind": "player",
             "provider": "youtube", "title": "Z"},
            {"url": "https://cdn.test/player", "source": "og:video", "kind": "player", "mimeType": "text/html"}]"#,
    );
}

#[test]
fn urls_that_are_not_public_web_addresses_are_left_out() {
    for source in [
        "",
        "blob:https://tea.test/1",
        "data:video/mp4;base64,AA",
        "javascript:x",
        "file:///a.mp4",
        "http://u:p@a.test/x",
    ] {
        check(&format!("<video src=\"{source}\"></video>"), "[]");
    }
    check(&format!("<video src=\"/{}.mp4\"></video>", "x".repeat(3000)), "[]");
}

#[test]
fn hostile_pages_have_few_and_short_values() {
    let many: String =
        (0..500).map(|n| format!("<video src=\"{n}.mp4\" title=\"{}\"></video>", "é".repeat(1000))).collect();
    let found = videos(&many);
    assert_eq!(found.len(), VIDEOS_MAX);
    assert_eq!(found[0].title.as_ref().unwrap().chars().count(), VIDEO_TITLE_MAX_CHARS);
}
