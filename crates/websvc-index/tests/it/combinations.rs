//! Combinations of operators, filters and verticals in one small set of pages.

use websvc_index::{Document, Image, Link, News, Safe, SearchOptions, Vertical};

use crate::support::{Fixture, exclude, include, page, tbs, time};

fn dated(day: &str, page: Document) -> Document {
    Document { published: Some(time(&format!("{day}T12:00:00Z"))), ..page }
}

fn news(day: &str, page: Document) -> Document {
    Document { news: Some(News { image_url: None }), ..dated(day, page) }
}

fn image(address: &str, alt: &str, width: u32, height: u32) -> Image {
    Image {
        url: format!("https://{address}"),
        alt: alt.to_owned(),
        width: Some(width),
        height: Some(height),
        ..Image::default()
    }
}

fn link(address: &str) -> Link {
    Link { url: format!("https://{address}"), text: String::new() }
}

fn web() -> Fixture {
    let pdf = Some("application/pdf; charset=binary".to_owned());
    Fixture::new([
        dated(
            "2024-12-30",
            page(
                "docs.rocket.test/guide/fuel.html",
                "Fuel guide",
                "The liquid oxygen tank feeds the engine.",
            ),
        ),
        dated(
            "2024-06-01",
            page("docs.rocket.test/guide/fuel.pdf", "Fuel guide", "The liquid oxygen tank, as a file."),
        ),
        Document {
            links: vec![link("agency.test/")],
            ..page("www.rocket.test/", "Rockets", "A rocket burns liquid oxygen.")
        },
        Document {
            content_type: pdf,
            ..page("papers.test/42", "On tanks", "Sloshing in a liquid oxygen tank.")
        },
        page("papers.test/abs/42", "On tanks: abstract", "Sloshing in an oxygen tank that is liquid."),
        Document {
            images: vec![
                image("img.agency.test/engine.jpg", "Rocket engine test", 1920, 1080),
                image("img.agency.test/tank.png", "Oxygen tank", 640, 480),
            ],
            ..page("agency.test/launch", "Launch", "The launch of a rocket with a liquid oxygen tank.")
        },
        news(
            "2024-12-29",
            page("daily.test/rocket", "Rocket lands", "The rocket landed with an empty oxygen tank."),
        ),
        news(
            "2024-11-05",
            page("weekly.test/rocket", "Rocket waits", "The rocket waits; the oxygen tank leaks."),
        ),
        news("2022-01-05", page("archive.test/rocket", "Rocket fails", "The rocket failed: oxygen tank.")),
        page("aquarium.test/", "Fish tank", "How much oxygen a fish tank needs."),
        page("medic.test/", "Oxygen therapy", "A portable oxygen tank for patients."),
        page("music.test/", "Rocket", "A song named rocket, on the radio."),
        Document { explicit: true, ..page("adult.test/", "Rocket show", "A rocket of another kind.") },
        dated("2024-12-01", page("garden.test/rocket", "Rocket salad", "Sow rocket in spring.")),
        page("forum.test/t/7?topic=oxygen", "Question", "Which tank is best for divers?"),
        page("wiki.test/Liquid_oxygen", "Liquid oxygen", "Liquid oxygen is a pale blue liquid."),
        page("shop.test/tank-top", "Tank top", "Cotton, blue."),
        page("blog.test/", "My week", "Nothing of note."),
    ])
}

struct Row {
    query: &'static str,
    options: SearchOptions,
    expected: &'static [&'static str],
}

fn row(query: &'static str, expected: &'static [&'static str]) -> Row {
    Row { query, options: SearchOptions::default(), expected }
}

impl Row {
    fn with(self, options: SearchOptions) -> Self {
        Self { options, ..self }
    }
}

fn vertical(vertical: Vertical) -> SearchOptions {
    SearchOptions { vertical, ..SearchOptions::default() }
}

fn within(hosts: &[&str]) -> SearchOptions {
    SearchOptions { domains: include(hosts), ..SearchOptions::default() }
}

/// The only page of `rocket.test` and `papers.test` that has the phrase and is not a PDF file.
const NO_PDF: &[&str] = &["docs.rocket.test/guide/fuel.html"];

fn check(rows: impl IntoIterator<Item = Row>) {
    let web = web();
    for Row { query, options, expected } in rows {
        let hits = web.search(query, &options).hits;
        let mut found: Vec<_> = hits.iter().map(|hit| hit.url.trim_start_matches("https://")).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{query} with {options:?}");
    }
}

#[test]
fn operators_can_be_combined() {
    check([
        row("site:rocket.test OR site:papers.test -filetype:pdf \"liquid oxygen tank\"", NO_PDF),
        row(
            "(site:rocket.test OR site:papers.test) filetype:pdf \"oxygen tank\"",
            &["docs.rocket.test/guide/fuel.pdf", "papers.test/42"],
        ),
        row("\"oxygen tank\" intitle:tanks -filetype:pdf", &["papers.test/abs/42"]),
        row(
            "\"liquid oxygen\" -site:rocket.test -filetype:pdf",
            &["agency.test/launch", "wiki.test/Liquid_oxygen"],
        ),
        row("site:docs.rocket.test/guide -\"as a file\"", NO_PDF),
        row(
            "inurl:oxygen OR intitle:\"fish tank\"",
            &["aquarium.test/", "forum.test/t/7?topic=oxygen", "wiki.test/Liquid_oxygen"],
        ),
        row("allintitle: rocket lands", &["daily.test/rocket"]),
        row("allinurl: guide fuel -ext:pdf", NO_PDF),
        row("oxygen (fish OR patients) -intitle:therapy", &["aquarium.test/"]),
        row("related:agency.test", &["www.rocket.test/"]),
        row("related:agency.test OR site:blog.test -rocket", &["blog.test/"]),
    ]);
}

#[test]
fn filters_can_be_combined_with_operators() {
    let exclude_two =
        SearchOptions { domains: exclude(&["rocket.test", "test.example"]), ..SearchOptions::default() };
    let safe = SearchOptions { safe: Safe::On, ..SearchOptions::default() };
    check([
        row("\"oxygen tank\"", &["medic.test/"]).with(within(&["medic.test", "music.test"])),
        row("\"oxygen tank\" site:papers.test", &[]).with(within(&["medic.test"])),
        row("filetype:pdf tank", &["papers.test/42"]).with(exclude_two),
        row(
            "intitle:rocket -site:daily.test -site:weekly.test",
            &["archive.test/rocket", "garden.test/rocket", "music.test/", "www.rocket.test/"],
        )
        .with(safe.clone()),
        row("site:adult.test", &["adult.test/"]),
        row("site:adult.test", &[]).with(safe),
        row("tank -filetype:pdf", &["daily.test/rocket", "docs.rocket.test/guide/fuel.html"])
            .with(tbs("qdr:w")),
        row("rocket OR tank", &["docs.rocket.test/guide/fuel.pdf"])
            .with(tbs("cdr:1,cd_min:05/01/2024,cd_max:06/30/2024")),
        row("rocket", &["garden.test/rocket"])
            .with(SearchOptions { domains: exclude(&["daily.test", "docs.rocket.test"]), ..tbs("qdr:m") }),
    ]);
}

#[test]
fn verticals_can_be_combined_with_operators_and_filters() {
    let newest = SearchOptions { limit: 2, vertical: Vertical::News, ..tbs("sbd:1") };
    let month = SearchOptions { vertical: Vertical::News, ..tbs("qdr:m") };
    let other_host = SearchOptions { vertical: Vertical::News, ..within(&["rocket.test"]) };
    check([
        row("rocket", &["archive.test/rocket", "daily.test/rocket", "weekly.test/rocket"])
            .with(vertical(Vertical::News)),
        row("rocket -leaks -intitle:fails", &["daily.test/rocket"]).with(vertical(Vertical::News)),
        row("rocket", &["daily.test/rocket", "weekly.test/rocket"]).with(newest),
        row("\"oxygen tank\"", &["daily.test/rocket"]).with(month),
        row("rocket", &[]).with(other_host),
        row("larger:1000x1000 rocket", &["agency.test/launch"]).with(vertical(Vertical::Images)),
        row("imagesize:640x480 filetype:png site:agency.test", &["agency.test/launch"])
            .with(vertical(Vertical::Images)),
        row("imagesize:640x480 filetype:jpg", &[]).with(vertical(Vertical::Images)),
        row("\"oxygen tank\" -site:agency.test", &[]).with(vertical(Vertical::Images)),
        row("related:rocket.test larger:640x480", &["agency.test/launch"]).with(vertical(Vertical::Images)),
    ]);
}

#[test]
fn sorting_by_date_keeps_the_filters() {
    let by_date = |vertical| SearchOptions { vertical, ..tbs("sbd:1") };
    let web = web();
    web.check_with(
        "rocket -site:garden.test",
        &SearchOptions { limit: 3, domains: exclude(&["rocket.test"]), ..by_date(Vertical::Web) },
        &["daily.test/rocket", "weekly.test/rocket", "archive.test/rocket"],
    );
    web.check_with(
        "rocket",
        &by_date(Vertical::News),
        &["daily.test/rocket", "weekly.test/rocket", "archive.test/rocket"],
    );
}
