//! Filters and ranking bonuses of the search options: explicit pages and countries.

use websvc_index::{Document, Image, Safe, SearchOptions, Vertical};

use crate::support::{Fixture, page};

#[test]
fn safe_search_excludes_explicit_pages_and_their_images() {
    let image = |name: &str| Image {
        url: format!("https://img.test/{name}"),
        alt: "a model".to_owned(),
        ..Image::default()
    };
    let fixture = Fixture::new([
        Document {
            explicit: true,
            images: vec![image("1.jpg")],
            ..page("label.test/", "Model", "A model that says what it is.")
        },
        Document {
            images: vec![image("2.jpg")],
            ..page("words.test/", "Porn model", "Xxx videos of a model, milf and slut.")
        },
        Document {
            images: vec![image("3.jpg")],
            ..page(
                "clinic.test/",
                "Model of the breast",
                "Sexual health: a model of the penis and the vagina.",
            )
        },
        page("court.test/", "Ruling", "The model law on porn was struck down."),
    ]);
    let safe = SearchOptions { safe: Safe::On, ..SearchOptions::default() };
    fixture.check_set("model", &["clinic.test/", "court.test/", "label.test/", "words.test/"]);
    let found = |options: &SearchOptions| fixture.search("model", options).hits.len();
    assert_eq!(found(&SearchOptions::default()), 4);
    assert_eq!(found(&safe), 2);
    fixture.check_with("site:words.test OR site:clinic.test", &safe, &["clinic.test/"]);
    fixture.check_images(
        "model",
        SearchOptions::default(),
        &["img.test/1.jpg", "img.test/2.jpg", "img.test/3.jpg"],
    );
    fixture.check_images("model", safe.clone(), &["img.test/3.jpg"]);
    let news = SearchOptions { vertical: Vertical::News, ..safe };
    fixture.check_with("model", &news, &[]);
}

#[test]
fn pages_of_the_searchers_country_rank_first_among_equals() {
    let shop = |address: &str| page(address, "Tea shop", "A shop that sells tea.");
    let fixture = Fixture::new([
        shop("tea.example.com/"),
        shop("tea.de/"),
        shop("tea.co.uk/"),
        Document { country: Some("FR".to_owned()), ..shop("tea.net/") },
        Document { language: Some("en-AU".to_owned()), ..shop("tea.org/") },
        shop("tea.io/"),
        page("everything.test/", "Tea", "Tea, a tea shop, a shop for tea: tea shop."),
    ]);
    let first = |country: &str| {
        let options = SearchOptions {
            country: Some(country.to_owned()),
            domains: crate::support::exclude(&["everything.test"]),
            ..SearchOptions::default()
        };
        let hits = fixture.search("tea shop", &options).hits;
        assert_eq!(hits.len(), 6, "a country does not filter");
        hits[0].url.trim_start_matches("https://").to_owned()
    };
    for (country, url) in [("DE", "tea.de/"), ("GB", "tea.co.uk/"), ("FR", "tea.net/"), ("AU", "tea.org/")] {
        assert_eq!(first(country), url, "{country}");
    }
    assert_eq!(first("IO"), first("ZW"), "a generic domain does not indicate a country");
}

#[test]
fn more_relevant_page_of_another_country_ranks_first() {
    let fixture = Fixture::new([
        page("a.test/", "Sourdough bread", "How sourdough bread is baked: flour, water, salt."),
        page(
            "b.de/",
            "Bread",
            "Bread is old. Some bread is sourdough of a kind, and so on, in a long text about other food.",
        ),
    ]);
    let options = SearchOptions { country: Some("DE".to_owned()), ..SearchOptions::default() };
    fixture.check_with("sourdough bread", &options, &["a.test/", "b.de/"]);
}
