//! Pages that are news.

use websvc_index::{Document, HitImage, News, SearchOptions, Vertical};

use crate::support::{Fixture, exclude, include, page, tbs, time};

fn press() -> Fixture {
    let news = |address: &str, day: &str| Document {
        published: Some(time(&format!("{day}T08:30:00Z"))),
        news: Some(News { image_url: None }),
        ..page(address, "Comet over Lisbon", "The comet was seen over Lisbon by many people.")
    };
    let picture = Some("https://img.daily.test/comet.jpg".to_owned());
    Fixture::new([
        Document { news: Some(News { image_url: picture }), ..news("daily.test/comet", "2024-12-30") },
        news("www.weekly.test/comet", "2024-12-20"),
        news("monthly.test/comet", "2023-03-01"),
        Document {
            published: None,
            modified: Some(time("2024-12-29T00:00:00Z")),
            ..news("late.test/comet", "2024-01-01")
        },
        Document {
            published: None,
            seen: Some(time("2024-12-28T00:00:00Z")),
            ..news("undated.test/comet", "2024-01-01")
        },
        page("encyclopedia.test/comet", "Comet", "A comet over Lisbon is a small body of ice."),
    ])
}

fn news(options: SearchOptions) -> SearchOptions {
    SearchOptions { vertical: Vertical::News, ..options }
}

#[test]
fn only_news_are_news_and_their_date_and_picture_are_told() {
    let hits = press().search("comet lisbon", &news(SearchOptions::default())).hits;
    assert_eq!(hits.len(), 5);
    assert!(hits.iter().all(|hit| !hit.url.contains("encyclopedia")));
    let of = |host: &str| hits.iter().find(|hit| hit.url.contains(host)).expect("found");
    assert_eq!(of("daily").date, Some(time("2024-12-30T08:30:00Z")));
    let picture = HitImage { url: "https://img.daily.test/comet.jpg".to_owned(), width: None, height: None };
    assert_eq!(of("daily").image, Some(picture));
    assert_eq!(of("late").date, Some(time("2024-12-29T00:00:00Z")), "modified where it has no date");
    assert_eq!(of("late").published, None);
    assert_eq!(of("late").image, None);
    assert_eq!(of("undated").date, Some(time("2024-12-28T00:00:00Z")), "first seen where it has neither");
    assert!(of("daily").description.contains("seen over Lisbon"));
}

#[test]
fn news_are_pages_too() {
    assert_eq!(press().search("comet lisbon", &SearchOptions::default()).hits.len(), 6);
}

#[test]
fn time_order_and_domains_apply_to_news() {
    let press = press();
    let newest = ["daily.test/comet", "late.test/comet", "undated.test/comet"];
    press.check_with("comet", &news(tbs("qdr:w,sbd:1")), &newest);
    press.check_with("comet", &news(tbs("cdr:1,cd_max:12/31/2023")), &["monthly.test/comet"]);
    let weekly = SearchOptions { domains: include(&["weekly.test"]), ..SearchOptions::default() };
    press.check_with("comet", &news(weekly), &["www.weekly.test/comet"]);
    let others = SearchOptions { domains: exclude(&["weekly.test", "daily.test"]), ..tbs("qdr:m,sbd:1") };
    press.check_with("comet", &news(others), &["late.test/comet", "undated.test/comet"]);
    press.check_with("site:daily.test", &news(SearchOptions::default()), &["daily.test/comet"]);
    press.check_with("comet", &news(SearchOptions { limit: 1, ..tbs("sbd:1") }), &["daily.test/comet"]);
}

#[test]
fn an_index_without_news_answers_with_nothing() {
    let fixture = Fixture::new([page("a.test/", "Comet", "A comet.")]);
    fixture.check_with("comet", &news(SearchOptions::default()), &[]);
}
