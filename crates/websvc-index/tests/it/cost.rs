//! Which searches may be made where others wait.

use websvc_index::{Index, IndexConfig, SearchOptions, Vertical};

#[test]
fn only_short_questions_for_few_pages_are_quick() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::open(dir.path(), IndexConfig::default()).unwrap();
    let limited = |limit| SearchOptions { limit, ..SearchOptions::default() };
    let images = SearchOptions { vertical: Vertical::Images, ..SearchOptions::default() };
    for (text, options, expected) in [
        ("one two three four", limited(20), true),
        ("one two three four five", limited(20), false),
        ("one two", limited(21), false),
        ("site:a.test one", limited(10), true),
        ("one -(two OR related:a.test)", limited(10), false),
        ("one", images, false),
    ] {
        let query = websvc_query::parse(text).query;
        assert_eq!(index.is_quick(&query, &options), expected, "{text}, {options:?}");
    }
}
