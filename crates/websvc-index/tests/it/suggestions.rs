//! "Did you mean" when nothing was found.

use websvc_index::SearchOptions;

use crate::support::{Fixture, page};

fn world() -> Fixture {
    let common =
        (0..3).map(|at| page(&format!("p{at}.test/"), "Python", "The python language and its generators"));
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
        expected.iter().map(|words| format!("nothing was found; did you mean \"{words}\"?")).collect();
    assert_eq!(outcome.warnings, expected, "{query}");
}

#[test]
fn the_nearest_and_most_frequent_word_is_proposed() {
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
fn known_words_stay_and_filters_are_left_out() {
    check("the pyhton generatros site:p1.test", Some("the python generators"));
}

#[test]
fn far_and_short_words_get_no_proposal() {
    check("zyzzyva", None);
    check("pyt", None);
    check("python site:nowhere.test", None);
    check("intitle:generators coroutines", None);
}

#[test]
fn hits_leave_no_room_for_proposals() {
    let outcome = world().search("pyhton generators", &SearchOptions::default());
    assert_eq!(outcome.hits.len(), 3);
    assert_eq!(outcome.warnings, Vec::<String>::new());
}
