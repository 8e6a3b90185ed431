//! Tests of the country of a page, its content rating, and the links of its content.

use crate::page::{full, parse};
use websvc_extract::MAX_CONTENT_LINKS;

fn country(html: &str) -> Option<String> {
    parse(html).metadata().country
}

#[test]
fn country_comes_from_the_metadata_of_the_page() {
    let cases = [
        ("<html lang=de-CH>", Some("CH")),
        ("<html lang=de>", None),
        ("<html lang=en-XX>", None),
        ("<meta name=geo.region content=DE-BY><html lang=en-US>", Some("DE")),
        ("<meta name=geo.country content=at>", Some("AT")),
        ("<meta name=geo.country content=Austria>", None),
        ("<meta property=og:locale content=pt_BR>", Some("BR")),
        ("<html lang=en><meta property=og:locale content=en_GB>", Some("GB")),
        ("<html lang=en-US><link rel=alternate hreflang=en-IE href=/dir/page>", Some("IE")),
        ("<html lang=en-US><link rel=alternate hreflang=fr-FR href=/fr>", Some("US")),
        ("<link rel=canonical href=/ca><link rel=alternate hreflang=fr-CA href=/ca>", Some("CA")),
        ("<p>Bern", None),
    ];
    for (html, expected) in cases {
        assert_eq!(country(html).as_deref(), expected, "{html}");
    }
}

#[test]
fn content_rating_labels_are_read() {
    let icra = |ratings: &str| {
        format!(
            "<meta http-equiv=PICS-Label content='(PICS-1.1 \"http://www.icra.org/ratingsv02.html\" l gen true for \
             \"http://example.com\" r ({ratings}))'>"
        )
    };
    let rsac = |ratings: &str| {
        format!(
            "<meta http-equiv='pics-label' content='(PICS-1.1 \"http://www.rsac.org/ratingsv01.html\" l by \"a@b.c\" \
             ratings ({ratings}))'>"
        )
    };
    let cases = [
        ("<meta name=rating content=adult>".to_owned(), true),
        ("<meta name=Rating content=' Mature '>".to_owned(), true),
        ("<meta name=RATING content=RTA-5042-1996-1400-1577-RTA>".to_owned(), true),
        ("<meta http-equiv=rating content=rta-5042-1996-1400-1577-rta>".to_owned(), true),
        ("<meta name=rating content=general><meta name=rating content=adult>".to_owned(), true),
        ("<meta name=rating content=general>".to_owned(), false),
        ("<meta name=rating content='for adult learners'>".to_owned(), false),
        ("<meta name=description content=adult>".to_owned(), false),
        (icra("nf 1 vz 1 lz 1"), true),
        (icra("nc 1 nt 1"), false),
        (icra("nz 1 vz 1 lz 1 oz 1 cz 1"), false),
        (rsac("n 4 s 0 v 0 l 0"), true),
        (rsac("n 1 s 1 v 4 l 4"), false),
        ("<meta http-equiv=pics-label content='(PICS-1.1 \"http://www.icra.org/ r ('>".to_owned(), false),
    ];
    for (html, expected) in cases {
        assert_eq!(parse(&html).metadata().explicit, expected, "{html}");
    }
}

#[test]
fn content_links_have_their_texts() {
    let page = "<nav><a href=/home>Home</a></nav><p><a href='a#top'>A <i>cup</i></a> <a href=#here>here</a> \
        <a href=/dir/page>self</a> <a href=mailto:x@y.z>mail</a> <a href=pic><img src=x.png alt='The pot'></a>\
        <a href=a>again</a><a href=//other.test/ rel='ugc nofollow'>other</a>";
    let page = parse(page);
    let links: Vec<(String, String, bool)> = page
        .content(&full())
        .anchors()
        .into_iter()
        .map(|anchor| (anchor.url.to_string(), anchor.text, anchor.nofollow))
        .collect();
    let link = |url: &str, text: &str, nofollow| (url.to_owned(), text.to_owned(), nofollow);
    let expected = [
        link("https://example.com/home", "Home", false),
        link("https://example.com/dir/a", "A cup", false),
        link("https://example.com/dir/pic", "The pot", false),
        link("https://other.test/", "other", true),
    ];
    assert_eq!(links, expected);
}

#[test]
fn feed_links_are_absolute() {
    let page = "<link rel=alternate type=application/rss+xml href=/rss><link rel='Alternate' type='application/atom+xml'
        href=atom.xml><link rel=alternate type=text/html href=/other><link rel=stylesheet type=application/rss+xml href=/x>
        <link rel=alternate type=application/rss+xml href='javascript:x'>";
    let feeds: Vec<String> = parse(page).feeds().into_iter().map(String::from).collect();
    assert_eq!(feeds, ["https://example.com/rss", "https://example.com/dir/atom.xml"]);
}

#[test]
fn content_links_are_limited() {
    let page: String =
        (0..MAX_CONTENT_LINKS * 2).map(|number| format!("<a href={number}>{number}</a> ")).collect();
    assert_eq!(parse(&page).content(&full()).anchors().len(), MAX_CONTENT_LINKS);
}
