//! The order of hits.

use crate::support::{Fixture, page};

#[test]
fn pages_with_all_words_come_first() {
    let fixture = Fixture::new([
        page("some.test/", "Asyncio", &"asyncio ".repeat(30)),
        page(
            "all.test/",
            "Reference",
            "A long page that mentions asyncio once and much later, after other things, gather.",
        ),
        page("none.test/", "Nothing", "Unrelated words."),
    ]);
    fixture.check("asyncio gather", &["all.test/", "some.test/"]);
}

#[test]
fn a_missing_word_of_a_question_does_not_hide_the_answer() {
    let fixture = Fixture::new([
        page("answer.test/", "Parsing arguments", "Parse command line arguments of a program."),
        page("other.test/", "Other", "Completely different text about gardens."),
    ]);
    fixture.check("how do I conveniently parse the command line arguments in zyzzyva", &["answer.test/"]);
}

#[test]
fn titles_and_neighbours_count() {
    let filler = "words that fill the page so that both pages are of the same length";
    let fixture = Fixture::new([
        page("body.test/", "Miscellany", &format!("{filler} garden {filler}")),
        page("title.test/", "Garden", &format!("{filler} garden {filler}")),
    ]);
    fixture.check("garden", &["title.test/", "body.test/"]);

    let fixture = Fixture::new([
        page("apart.test/", "A", &format!("context {filler} manager")),
        page("together.test/", "B", &format!("context manager {filler}")),
    ]);
    fixture.check("context manager", &["together.test/", "apart.test/"]);
}

#[test]
fn words_of_the_url_count() {
    let fixture = Fixture::new([
        page("a.test/docs/pathlib.html", "Module", "About files."),
        page("b.test/", "B", "About files."),
    ]);
    fixture.check("pathlib files", &["a.test/docs/pathlib.html", "b.test/"]);
}

#[test]
fn quotes_are_a_condition_in_a_long_question_too() {
    let fixture = Fixture::new([page(
        "a.test/",
        "Filters",
        "Linguistic methods that filter queries in large systems.",
    )]);
    fixture.check("filters \"linguistic filter\"", &[]);
    let long =
        "which methods exist today for filtering queries in large systems with a \"linguistic filter\"";
    fixture.check(long, &[]);
}

#[test]
fn words_that_the_query_repeats_count_more() {
    let fixture = Fixture::new([
        page("a.test/", "A", "one page about alpha particles"),
        page("b.test/", "B", "one page about beta particles"),
    ]);
    fixture.check("alpha beta beta", &["b.test/", "a.test/"]);
    fixture.check("alpha alpha beta", &["a.test/", "b.test/"]);
}
