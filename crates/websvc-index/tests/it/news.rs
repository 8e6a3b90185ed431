//! Searches for news.

use websvc_index::{Document, HitImage, News, SearchOptions, Vertical};

use crate::support::{Fixture, exclude, include, page, tbs, time};

fn press() -> Fixture {
    let news = |address: &str, day: &str| Document {
        published: Some(time(&format!("{day}T08:30:00Z"))),
        news: Some(News { image_url: None }),
        ..page(address, "Comet over Lisbon", "The comet was seen over Lisbon by many people.")
    };
    let image_url = Some("https://img.daily.test/comet.jpg".to_owned());
    Fixture::new([
        Document { news: Some(News { image_url }), ..news("daily.test/comet", "2024-12-30") },
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
fn news_search_returns_only_news_with_date_and_image() {
    let hits = press().search("comet lisbon", &news(SearchOptions::default())).hits;
    assert_eq!(hits.len(), 5);
    assert!(hits.iter().all(|hit| !hit.url.contains("encyclopedia")));
    let hit = |host: &str| hits.iter().find(|hit| hit.url.contains(host)).expect("found");
    assert_eq!(hit("daily").date, Some(time("2024-12-30T08:30:00Z")));
    let image = HitImage { url: "https://img.daily.test/comet.jpg".to_owned(), width: None, height: None };
    assert_eq!(hit("daily").image, Some(image));
    assert_eq!(
        hit("late").date,
        Some(time("2024-12-29T00:00:00Z")),
        "without a publication date, the modification date"
    );
    assert_eq!(hit("late").published, None);
    assert_eq!(hit("late").image, None);
    assert_eq!(
        hit("undated").date,
        Some(time("2024-12-28T00:00:00Z")),
        "without dates, the time at which it was first seen"
    );
    assert!(hit("daily").description.contains("seen over Lisbon"));
}

#[test]
fn web_search_includes_news() {
    assert_eq!(press().search("comet lisbon", &SearchOptions::default()).hits.len(), 6);
}

#[test]
fn news_are_filtered_and_sorted_like_pages() {
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
fn news_search_without_news_returns_no_hits() {
    let fixture = Fixture::new([page("a.test/", "Comet", "A comet.")]);
    fixture.check_with("comet", &news(SearchOptions::default()), &[]);
}
