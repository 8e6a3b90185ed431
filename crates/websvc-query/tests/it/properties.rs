//! Properties of every text and every tree.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use websvc_query::{Sort, Tbs, TbsRange, TbsUnit, parse, parse_tbs};

use crate::corpus::{query, tbs};
use crate::tree;

/// Generates texts that consist of pieces of the grammar, in any order.
fn grammar_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zé東OR]{1,3}",
        6 => prop::sample::select(vec![
            "(", ")", "-", "--", "\"", "\"\"", " ", " ", " ", "OR", " OR ", "|", "a b", "\"a b\"", "()", "-(",
            "allintitle:", "allinurl:", "intitle:", "inurl:", "site:", "site:a.org/x", "filetype:pdf", "ext:",
            "imagesize:1x2", "imagesize:", "larger:q", "related:x.org", "\u{201c}", ":", "/", "*", ".", "\u{130}",
            "A", " B ", " -8", "-8x", "-9\u{b0}", "\u{2212}1", "\u{ff08}", "\u{ff09}", "\u{ff1a}", "\u{ff0d}", "\u{ad}", "\u{200b}", "\0",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Generates such texts after about as many open parentheses as groups may nest.
fn deep_text() -> impl Strategy<Value = String> {
    (14_usize..19, grammar_text()).prop_map(|(depth, text)| "(".repeat(depth) + &text)
}

/// Generates all time filters.
fn filter() -> impl Strategy<Value = Tbs> {
    let units = vec![TbsUnit::Hour, TbsUnit::Day, TbsUnit::Week, TbsUnit::Month, TbsUnit::Year];
    let last = (prop::sample::select(units), prop_oneof![Just(1), 1_u16..10_000])
        .prop_map(|(unit, count)| TbsRange::Last { unit, count });
    let day = || {
        (1_i16..10_000, 1_i8..13, 1_i8..32)
            .prop_filter_map("the day must exist", |(y, m, d)| jiff::civil::Date::new(y, m, d).ok())
    };
    let between = prop_oneof![
        day().prop_map(|min| TbsRange::Between { min: Some(min), max: None }),
        day().prop_map(|max| TbsRange::Between { min: None, max: Some(max) }),
        (day(), day()).prop_map(|(a, b)| TbsRange::Between { min: Some(a.min(b)), max: Some(a.max(b)) }),
    ];
    let range = prop_oneof![Just(None), last.prop_map(Some), between.prop_map(Some)];
    (range, any::<bool>()).prop_map(|(range, by_date)| {
        // A filter without a range sets the order.
        let sort = if by_date || range.is_none() { Sort::Date } else { Sort::Relevance };
        Tbs { range, sort }
    })
}

/// Returns a configuration with a fixed seed, so that a failure is caused by a change of the code.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 4_000,
        rng_seed: RngSeed::Fixed(3),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_text_has_a_tree_with_one_printed_form(
        text in prop_oneof![4 => grammar_text(), 2 => deep_text(), 1 => ".*"]
    ) {
        query::check(text.as_bytes());
    }

    #[test]
    fn every_normal_tree_is_equal_after_printing_and_parsing(root in tree::node()) {
        let printed = root.to_string();
        let parsed = parse(&printed);
        prop_assert_eq!(parsed.query.root(), Some(&root), "printed as {:?}", &printed);
        prop_assert_eq!(parsed.query.to_string(), printed);
    }

    #[test]
    fn every_time_filter_is_equal_after_printing_and_parsing(filter in filter()) {
        let printed = filter.to_string();
        prop_assert_eq!(parse_tbs(&printed), Ok(Some(filter)), "printed as {:?}", printed);
    }

    #[test]
    fn every_text_is_a_time_filter_or_an_error(
        text in "((qdr:[hdwmyn]?[0-9]{0,3}|cdr:1|cd_m(in|ax):[0-9]{0,2}/?[0-3]?[0-9]/(20[0-9]{2})?|sbd:[01]),? ?){0,4}|.*"
    ) {
        tbs::check(text.as_bytes());
    }
}

/// Parses a megabyte of each piece, which would take too long, or overflow the stack, if the time were not linear or
/// the depth not bounded.
#[test]
fn deep_and_long_texts_take_linear_time() {
    for piece in [
        "(",
        "-(",
        "\"",
        "a\"",
        "allintitle:",
        "site:",
        "OR ",
        "(a OR ",
        "a ",
        "-",
        ")",
        "-\"\" ",
        "()",
        "-() ",
        "site: ",
        "site:? ",
        "site:\"? \" ",
        "intitle:(",
        "allintitle:a OR ",
        "\u{ad}",
        "x\u{201c}",
    ] {
        let text = piece.repeat(1_000_000 / piece.len());
        let query = parse(&text).query;
        assert!(query.to_string().len() <= 2 * text.len() + 16, "{piece:?}");
    }
    let host = format!("site:{}", "\u{fc}".repeat(500_000));
    assert_eq!(parse(&host).warnings.len(), 1, "the host is too long");
}
