//! Corrections of words that the index does not have.

use websvc_index::SearchOptions;

use crate::support::{Fixture, page};

fn world() -> Fixture {
    let common = (0..3)
        .map(|number| page(&format!("p{number}.test/"), "Python", "The python language and its generators"));
    Fixture::new(common.chain([
        page("pythons.test/", "Pythos", "A pythos is nothing. Coroutines gather."),
        page(
            "de.test/",
            "Straßen",
            "Die Straßenbahn in der Stadt ist alt und wird nicht mehr von der Stadt bezahlt.",
        ),
        page(
            "ru.test/",
            "Планеты",
            "Учёные открыли новую планету, и она похожа на Землю, но больше, чем она.",
        ),
    ]))
}

/// Asserts the notice of a search that finds pages with other words than typed.
#[track_caller]
fn check_corrected(query: &str, words: &str, unknown: &str) {
    let outcome = world().search(query, &SearchOptions::default());
    assert!(!outcome.hits.is_empty(), "{query}");
    let notice = format!("showing results for \"{words}\", because no page has {unknown}");
    assert_eq!(outcome.warnings, [notice], "{query}");
}

/// Asserts the suggestion of a search that finds nothing.
#[track_caller]
fn check_suggestion(query: &str, expected: Option<&str>) {
    let outcome = world().search(query, &SearchOptions::default());
    assert!(outcome.hits.is_empty(), "{query}: {:?}", outcome.hits);
    let expected: Vec<_> =
        expected.iter().map(|words| format!("no results were found; did you mean \"{words}\"?")).collect();
    assert_eq!(outcome.warnings, expected, "{query}");
}

#[test]
fn most_similar_and_most_frequent_word_is_searched() {
    check_corrected("pyhton", "python", "\"pyhton\"");
    check_corrected("Pythom", "python", "\"pythom\"");
    check_corrected("ypthon", "python", "\"ypthon\"");
    check_corrected("generatros", "generators", "\"generatros\"");
    check_corrected("strassenban", "strassenbahn", "\"strassenban\"");
    check_corrected("плонету", "планету", "\"плонету\"");
    check_corrected("the pyhton generatros", "the python generators", "\"pyhton\" or \"generatros\"");
    check_corrected("pyhton site:p1.test", "python", "\"pyhton\"");
}

#[test]
fn pages_with_the_corrected_word_are_found() {
    let outcome = world().search("pyhton coroutines", &SearchOptions::default());
    let urls: Vec<_> = outcome.hits.iter().map(|hit| hit.url.as_str()).collect();
    assert!(urls.contains(&"https://p0.test/") && urls.contains(&"https://pythons.test/"), "{urls:?}");
}

#[test]
fn word_with_two_edits_is_only_suggested() {
    check_suggestion("korutines", Some("coroutines"));
    check_suggestion("pyhton korutines site:nowhere.test", Some("python coroutines"));
}

#[test]
fn suggestion_keeps_known_words_and_omits_filters() {
    check_suggestion("the korutines site:p1.test", Some("the coroutines"));
}

#[test]
fn dissimilar_short_and_quoted_words_are_not_corrected() {
    check_suggestion("zyzzyva", None);
    check_suggestion("pyt", None);
    check_suggestion("python site:nowhere.test", None);
    check_suggestion("pyhton site:nowhere.test", None);
    check_suggestion("intitle:generators coroutines", None);
    check_suggestion("\"pyhton\"", Some("python"));
}

#[test]
fn known_words_get_no_notice() {
    let outcome = world().search("python generators", &SearchOptions::default());
    assert_eq!(outcome.warnings, Vec::<String>::new());
}
