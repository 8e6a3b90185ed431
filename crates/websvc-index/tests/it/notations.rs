//! Versions, addresses, dates, signs and names with punctuation mean what they say.

use websvc_index::{Document, SearchOptions};

use crate::support::{Fixture, page};

/// Asserts that the pages of `expected` come first, in any order, before those that have only the same parts.
#[track_caller]
fn check_first(fixture: &Fixture, query: &str, expected: &[&str]) {
    let hits = fixture.search(query, &SearchOptions::default()).hits;
    let mut found: Vec<_> = hits.iter().map(|hit| hit.url.trim_start_matches("https://")).collect();
    found.truncate(expected.len());
    found.sort_unstable();
    assert_eq!(found, expected, "{query}");
}

/// Returns pages with a text in other spellings, which occurs more often there, and more of them than are ranked.
fn distractors(texts: &[&str]) -> Vec<Document> {
    let host = |number: usize, text: usize| format!("other{text}.test/{number}");
    let body = |number: usize, text: &str| format!("{text} in the report, {text} again. {number}");
    let pages = texts.iter().enumerate().flat_map(|(at, text)| {
        (0..40).map(move |number| page(&host(number, at), &format!("Report {text}"), &body(number, text)))
    });
    pages.collect()
}

#[test]
fn versions_addresses_and_dates_are_found_in_their_order() {
    let long = "words that fill the page of the report so that it is longer than the others, and ranks below them \
                by its words alone";
    let text = |token: &str| format!("{long} {long} the release {token} fixes a leak {long}");
    let pages = [
        page("version.test/", "Notes", &text("1.2.3")),
        page("address.test/", "Hosts", &text("10.0.7.1")),
        page("date.test/", "Diary", &text("2024-03-05")),
        page("product.test/", "Shop", &text("WH-1000")),
        page("name.test/", "Guide", &text("Node.js")),
    ];
    let others = distractors(&["1.3.2", "7.10.1.0", "2024-05-03", "1000 WH", "js node"]);
    let fixture = Fixture::new(pages.into_iter().chain(others));
    for (query, expected) in [
        ("1.2.3", "version.test/"),
        ("release 1.2.3", "version.test/"),
        ("what does the release 1.2.3 fix in the report again", "version.test/"),
        ("10.0.7.1", "address.test/"),
        ("2024-03-05 report", "date.test/"),
        ("WH-1000", "product.test/"),
        ("Node.js", "name.test/"),
        ("\"1.2.3\"", "version.test/"),
    ] {
        check_first(&fixture, query, &[expected]);
    }
    let hits = fixture.search("1.2.3", &SearchOptions { limit: 50, ..SearchOptions::default() }).hits;
    assert!(hits.len() > 30, "pages with the parts in another order follow");
}

#[test]
fn run_that_no_page_has_does_not_hide_pages_with_its_words() {
    let fixture =
        Fixture::new([page("a.test/", "A", "version 1.3.2"), page("b.test/", "B", "version 3 and 1 and 2")]);
    fixture.check_set("version 1.2.3", &["a.test/", "b.test/"]);
}

#[test]
fn sign_before_a_name_or_number_is_part_of_it() {
    let fixture = Fixture::new([
        page("dotnet.test/", "Runtime", "One program of many is written for the .NET runtime."),
        page("fishing.test/", "Net", "A net, a net and a net: the fishing net of the year."),
        page("asp.test/", "Net", "ASP.NET net net"),
        page("cold.test/", "Freezers", "Vaccines are stored in the hall at \u{2212}80 \u{b0}C for a year."),
        page("warm.test/", "80", "80 \u{b0}C, 80 \u{b0}C and 80 \u{b0}C: brewing tea at 80 \u{b0}C."),
        page("go.test/", "Programs", "Written in Go, with channels."),
        page("going.test/", "Going", "Going, going and going: they are going to go through channels."),
    ]);
    check_first(&fixture, ".NET", &["dotnet.test/"]);
    check_first(&fixture, "net", &["fishing.test/"]);
    check_first(&fixture, "-80 \u{b0}C", &["cold.test/"]);
    check_first(&fixture, "80 \u{b0}C", &["warm.test/"]);
    check_first(&fixture, "Go channels", &["go.test/"]);
    fixture.check_set("Go", &["go.test/", "going.test/"]);
    fixture.check_set("intitle:.NET", &["asp.test/", "fishing.test/"]);
}

#[test]
fn letters_with_signs_after_them_are_names() {
    let fixture = Fixture::new([
        page("cpp.test/", "Manual", "The C++ language and its library."),
        page("csharp.test/", "Manual", "The C# language and its library."),
        page("c.test/", "Manual", "The C language and its library."),
    ]);
    for (query, expected) in [("C++", "cpp.test/"), ("C#", "csharp.test/"), ("C", "c.test/")] {
        fixture.check(query, &[expected]);
    }
}
