//! Tests of page metadata in its many forms, and of the lists of links and images.

use crate::page::{full, parse};
use websvc_extract::{MetaValue, PageMetadata};

fn metadata(head: &str) -> PageMetadata {
    parse(&format!("<html><head>{head}</head><body><p>Text.</p></body></html>")).metadata()
}

fn json_ld(json: &str) -> String {
    format!("<script type='application/ld+json'>{json}</script>")
}

#[test]
fn publication_date_comes_from_meta_tags() {
    for (head, expected) in [
        ("<meta property=article:published_time content=2026-01-02>", Some("2026-01-02")),
        (
            "<meta property=article:published_time content=''><meta name=date content=2026-01-03>",
            Some("2026-01-03"),
        ),
        ("<meta name=DC.date.issued content=2026>", Some("2026")),
        ("<meta name=dcterms.created content=2026-02>", Some("2026-02")),
        ("<meta itemprop=datePublished content=2026-03-01T10:00:00Z>", Some("2026-03-01T10:00:00Z")),
        ("<meta name=citation_publication_date content=2020/05/01>", Some("2020/05/01")),
        (
            "<meta name=date content=2026-01-01><meta property=article:published_time content=2025-12-31>",
            Some("2025-12-31"),
        ),
        ("<meta name=viewport content=2026-01-01>", None),
    ] {
        assert_eq!(metadata(head).published_time.as_deref(), expected, "{head}");
    }
}

#[test]
fn json_ld_is_read_in_each_form() {
    for (json, published, author) in [
        (
            r#"{"@type":"Article","datePublished":"2026-01-01","author":"Ann"}"#,
            Some("2026-01-01"),
            Some("Ann"),
        ),
        (
            r#"[{"@type":"WebSite"},{"@type":["Article","BlogPosting"],"datePublished":"2026-01-02"}]"#,
            Some("2026-01-02"),
            None,
        ),
        (
            r##"{"@graph":[{"@type":"Article","author":{"@id":"#ann"},"datePublished":"2026-01-03"},{"@type":"Person","@id":"#ann","name":"Ann"}]}"##,
            Some("2026-01-03"),
            Some("Ann"),
        ),
        (r#"{"@type":"Article","author":[{"name":"Ann"},{"name":"Bo"},"Cy"]}"#, None, Some("Ann, Bo, Cy")),
        (
            r#"{"@type":"VideoObject","uploadDate":"2026-01-04","creator":{"name":"Dee"}}"#,
            Some("2026-01-04"),
            Some("Dee"),
        ),
        (
            r#"{"@type":"Article","dateCreated":"2026-01-05","author":"https://example.com/ann"}"#,
            Some("2026-01-05"),
            None,
        ),
        ("<!-- {\"@type\":\"Article\",\"datePublished\":\"2026-01-06\",} -->", Some("2026-01-06"), None),
        (
            "{\"@type\":\"Article\",\"headline\":\"two\nlines\",\"datePublished\":\"2026-01-07\"};",
            Some("2026-01-07"),
            None,
        ),
        (
            "{&quot;@type&quot;:&quot;Article&quot;,&quot;datePublished&quot;:&quot;2026-01-08&quot;}",
            Some("2026-01-08"),
            None,
        ),
        (r#"{"@type":"Thing"} {"@type":"Article","datePublished":"2026-01-09"}"#, Some("2026-01-09"), None),
        (
            r#"//<![CDATA[
            {"@type":"Article","datePublished":"2026-01-10"}
            //]]>"#,
            Some("2026-01-10"),
            None,
        ),
        (r#"{"@type":"Article","datePublished":"2026-01-11"} rubbish"#, Some("2026-01-11"), None),
        (r#"{"@type":"Article","datePublished":}"#, None, None),
        ("", None, None),
    ] {
        let found = metadata(&json_ld(json));
        assert_eq!(found.published_time.as_deref(), published, "{json}");
        assert_eq!(found.author.as_deref(), author, "{json}");
    }
}

#[test]
fn invalid_json_ld_block_does_not_hide_others() {
    let head = json_ld("{oops") + &json_ld(r#"{"@type":"Article","dateModified":"2026-05-05"}"#);
    assert_eq!(metadata(&head).modified_time.as_deref(), Some("2026-05-05"));
}

#[test]
fn favicon_is_absolute_and_not_a_data_url() {
    for (head, expected) in [
        ("<link rel=icon href=/i.png>", Some("https://example.com/i.png")),
        ("<link rel='SHORTCUT ICON' href=i.ico>", Some("https://example.com/dir/i.ico")),
        (
            "<link rel=icon href='data:image/png;base64,AA'><link rel=icon href=//cdn.test/i.svg>",
            Some("https://cdn.test/i.svg"),
        ),
        (
            "<link rel=apple-touch-icon href=/t.png><link rel=icon href=/i.png>",
            Some("https://example.com/i.png"),
        ),
        ("<link rel=apple-touch-icon-precomposed href=/t.png>", Some("https://example.com/t.png")),
        ("<base href=https://other.test/x/><link rel=icon href=i.png>", Some("https://other.test/x/i.png")),
        ("<link rel=icon href='javascript:x'>", None),
        ("<link rel=icon>", None),
        ("", None),
    ] {
        assert_eq!(metadata(head).favicon.as_deref(), expected, "{head}");
    }
}

#[test]
fn language_of_html_element_precedes_meta_tags() {
    for (html, expected) in [
        ("<html lang=' de-AT '>", Some("de-AT")),
        ("<html xml:lang=fr>", Some("fr")),
        ("<html><meta http-equiv=Content-Language content=it>", Some("it")),
        ("<html><meta property=og:locale content=pt_BR>", Some("pt_BR")),
        ("<html lang=en><meta property=og:locale content=pt_BR>", Some("en")),
        ("<html lang=''><meta property=og:locale content=pt_BR>", Some("pt_BR")),
        ("<p lang=es>hola", None),
    ] {
        assert_eq!(parse(html).metadata().language.as_deref(), expected, "{html}");
    }
}

#[test]
fn meta_tags_have_own_names_and_client_names() {
    let one = |text: &str| Some(MetaValue::One(text.to_owned()));
    let many = |texts: &[&str]| Some(MetaValue::Many(texts.iter().map(|&text| text.to_owned()).collect()));
    let found = metadata(
        "<meta property=og:title content=T><meta name=og:image content=/a.png><meta name=og:image content=/b.png>
         <meta property=og:locale:alternate content=fr_FR><meta property=article:tag content=a><meta
         property=article:tag content=b><meta name=DC.Subject content=tea><meta name=twitter:card content=summary>
         <meta name=THEME-color content=red><meta name=empty content=''><meta charset=utf-8><meta itemprop=name content=N>",
    );
    for (name, expected) in [
        ("og:title", one("T")),
        ("ogTitle", one("T")),
        ("og:image", many(&["/a.png", "/b.png"])),
        ("ogImage", one("/a.png")),
        ("ogLocaleAlternate", many(&["fr_FR"])),
        ("article:tag", many(&["a", "b"])),
        ("articleTag", one("a")),
        ("dc.subject", one("tea")),
        ("dcSubject", one("tea")),
        ("twitter:card", one("summary")),
        ("theme-color", one("red")),
        ("name", one("N")),
        ("empty", None),
        ("charset", None),
    ] {
        assert_eq!(found.meta.get(name).cloned(), expected, "{name}");
    }
}

#[test]
fn author_is_a_name_and_not_a_url() {
    for (head, expected) in [
        ("<meta name=author content=Ann>", Some("Ann")),
        ("<meta name=author content=Ann><meta name=author content=Bo>", Some("Ann, Bo")),
        ("<meta property=article:author content=https://facebook.com/ann>", None),
        (
            "<meta name=citation_author content='Doe, A.'><meta name=citation_author content='Roe, B.'>",
            Some("Doe, A., Roe, B."),
        ),
        ("<meta name=dc.creator content=Cy>", Some("Cy")),
    ] {
        assert_eq!(metadata(head).author.as_deref(), expected, "{head}");
    }
}

#[test]
fn links_are_absolute_and_unique_without_fragments() {
    let page = "<base href=https://other.test/a/><a href=b>1</a><a href='b#x'>2</a><a href='#y'>3</a>
        <a href=' mailto:m@x.org '>4</a><a href='javascript:f()'>5</a><a href=tel:+1>6</a><a href=data:text/plain,x>7</a>
        <a href=//third.test/?q=a b>8</a><a href='/c d'>9</a><a>10</a><a href=''>11</a><a href='http://[bad'>12</a>
        <a hidden href=/hidden>13</a><area href=/area>";
    assert_eq!(
        parse(page).content(&full()).links(),
        [
            "https://other.test/a/b",
            "mailto:m@x.org",
            "tel:+1",
            "https://third.test/?q=a",
            "https://other.test/c%20d",
        ]
    );
}

#[test]
fn images_come_from_elements_meta_tags_icons_and_styles_once() {
    let page = "<head><meta property=og:image content=/og.png><meta name=twitter:image content=/tw.png><meta
        itemprop=image content=/item.png><link rel='shortcut icon' href=/icon.ico></head><body><img src=a.png><img
        src=a.png><img src='data:image/gif;base64,R0' data-src=lazy.png><img srcset='s1.png 1x, s2.png 2x'><picture><source
        srcset='p1.webp 100w, p2.webp 200w'><img src=p.png></picture><div style=\"background:url(bg.png)\"></div><video
        poster=poster.jpg></video></body>";
    let mut found = parse(page).images();
    found.iter_mut().for_each(|url| *url = url.replace("https://example.com/", ""));
    assert_eq!(
        found,
        [
            "og.png",
            "tw.png",
            "item.png",
            "icon.ico",
            "dir/a.png",
            "dir/lazy.png",
            "dir/s2.png",
            "dir/p2.webp",
            "dir/p.png",
            "dir/bg.png",
            "dir/poster.jpg",
        ]
    );
}
