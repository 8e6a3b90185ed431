//! The operators and filters, one by one.

use websvc_index::{Document, SearchOptions};
use websvc_query::parse_tbs;

use crate::support::{Fixture, exclude, include, page, time};
use crate::tables;

fn web() -> Fixture {
    Fixture::new(tables::operator_pages())
}

#[track_caller]
fn check_table(fixture: &Fixture, table: tables::Table) {
    for (query, expected) in table {
        fixture.check_set(query, expected);
    }
}

#[test]
fn operators_filter_pages() {
    check_table(&web(), tables::OPERATORS);
}

#[test]
fn phrases_match_exactly_and_words_by_their_stem() {
    check_table(&web(), tables::PHRASES);
    check_table(&web(), tables::STEMS);
}

#[test]
fn negation_and_alternatives_can_be_combined() {
    check_table(&web(), tables::COMBINATIONS);
}

#[test]
fn image_operators_are_ignored_with_a_warning_in_web_search() {
    let outcome = web().search("viper larger:10x10 imagesize:3x4", &SearchOptions::default());
    assert_eq!(outcome.hits.len(), 1);
    assert_eq!(outcome.warnings.len(), 2);
    assert!(
        outcome.warnings[0].contains("\"larger:10x10\" applies to images only"),
        "{:?}",
        outcome.warnings
    );
}

#[test]
fn domain_filters_include_subdomains() {
    let web = web();
    for (query, filter, expected) in tables::DOMAINS {
        let domains = match filter {
            tables::Domains::Include(hosts) => include(hosts),
            tables::Domains::Exclude(hosts) => exclude(hosts),
        };
        web.check_with(query, &SearchOptions { domains, ..SearchOptions::default() }, expected);
    }
}

#[test]
fn time_ranges_filter_and_date_order_sorts() {
    let web = web();
    for (query, tbs, expected) in tables::TIMES {
        let tbs = parse_tbs(tbs).expect(tbs).expect(tbs);
        let now = time(tables::NOW);
        let options = SearchOptions { time: tbs.range, sort: tbs.sort, now, ..SearchOptions::default() };
        web.check_with(query, &options, expected);
    }
}

#[test]
fn empty_query_returns_no_hits() {
    web().check("", &[]);
    web().check("\"\" - ()", &[]);
    web().check("???", &[]);
}

#[test]
fn phrases_of_frequent_words_match_exactly() {
    // Enough documents that words are searched before phrases.
    const DOCUMENTS: usize = 2_100;
    let common = (0..DOCUMENTS).map(|number| {
        let sentence =
            if number % 2 == 0 { "a red fox may die hard" } else { "hard foxes die, a fox is red" };
        let body = format!("{sentence} {}", "word ".repeat(number % 50));
        Document { language: Some("en".to_owned()), ..page(&format!("h{number}.test/"), "Foxes", &body) }
    });
    let rare = page("rare.test/", "Foxes", "A fox red and hard may die.");
    // `die` is a stop word in German, so this page has it only in the field `exact`.
    let foreign = Document {
        language: Some("de".to_owned()),
        ..page(
            "foreign.test/",
            "Hard",
            "Sie sagt hard die und meint etwas anderes damit, was niemand versteht.",
        )
    };
    let web = Fixture::new(common.chain([rare, foreign]));

    let hits =
        |query: &str| web.search(query, &SearchOptions { limit: 100, ..SearchOptions::default() }).hits;
    let even = |url: &str| {
        url.trim_start_matches("https://h").split('.').next().unwrap().parse::<usize>().unwrap() % 2 == 0
    };
    let found = hits("\"red fox\"");
    assert_eq!(found.len(), 100);
    assert!(found.iter().all(|hit| even(&hit.url)), "{found:?}");
    assert!(hits("\"red fox\" -site:h0.test").iter().all(|hit| hit.url != "https://h0.test/"));
    web.check("\"fox red\"", &["rare.test/"]);
    web.check("\"hard die\"", &["foreign.test/"]);
    web.check("\"red hard\"", &[]);
    web.check("\"fox red\" \"may die\"", &["rare.test/"]);
}
