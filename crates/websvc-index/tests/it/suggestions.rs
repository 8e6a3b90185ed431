//! The spelling suggestions of searches without hits.

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

#[track_caller]
fn check(query: &str, expected: Option<&str>) {
    let outcome = world().search(query, &SearchOptions::default());
    assert!(outcome.hits.is_empty(), "{query}: {:?}", outcome.hits);
    let expected: Vec<_> =
        expected.iter().map(|words| format!("no results were found; did you mean \"{words}\"?")).collect();
    assert_eq!(outcome.warnings, expected, "{query}");
}

#[test]
fn most_similar_and_most_frequent_word_is_suggested() {
    check("pyhton", Some("python"));
    check("Pythom", Some("python"));
    check("ypthon", Some("python"));
    check("generatros", Some("generators"));
    check("korutines", Some("coroutines"));
    check("strassenban", Some("strassenbahn"));
    check("плонету", Some("планету"));
    check("pyhton korutines", Some("python coroutines"));
}

#[test]
fn suggestion_keeps_known_words_and_omits_filters() {
    check("the pyhton generatros site:p1.test", Some("the python generators"));
}

#[test]
fn dissimilar_and_short_words_get_no_suggestion() {
    check("zyzzyva", None);
    check("pyt", None);
    check("python site:nowhere.test", None);
    check("intitle:generators coroutines", None);
}

#[test]
fn query_with_hits_gets_no_suggestion() {
    let outcome = world().search("pyhton generators", &SearchOptions::default());
    assert_eq!(outcome.hits.len(), 3);
    assert_eq!(outcome.warnings, Vec::<String>::new());
}
