//! Properties that hold for every text.

use proptest::prelude::*;
use websvc_query::{parse, parse_tbs};

/// Texts made of the pieces the grammar knows, in any order.
fn grammar_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zé東OR]{1,3}",
        6 => prop::sample::select(vec![
            "(", ")", "-", "--", "\"", "\"\"", " ", " ", " ", "OR", " OR ", "|", "a b", "\"a b\"", "()",
            "allintitle:", "allinurl:", "intitle:", "inurl:", "site:", "site:a.org/x", "filetype:pdf",
            "imagesize:1x2", "imagesize:", "larger:q", "related:x.org", "\u{201c}", ":", "/", "\u{130}",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn printing_then_parsing_gives_the_same_tree(text in prop_oneof![grammar_text(), ".*"]) {
        let query = parse(&text).query;
        let printed = query.to_string();
        let again = parse(&printed);
        prop_assert_eq!(&again.query, &query, "printed as {:?}", printed);
        prop_assert_eq!(again.query.to_string(), printed);
    }

    #[test]
    fn words_never_hold_what_only_the_grammar_writes(text in grammar_text()) {
        for word in parse(&text).query.words() {
            prop_assert!(!word.is_empty());
            prop_assert!(!word.contains('"'));
        }
    }

    #[test]
    fn tbs_never_panics(text in "[qcsdrbhwmyn_ax:,/ 0-9]{0,40}|.*") {
        let _ = parse_tbs(&text);
    }
}

#[test]
fn deep_and_long_texts_take_linear_time() {
    for piece in ["(", "-(", "\"", "a\"", "allintitle:", "site:", "OR ", "(a OR ", "a ", "-", ")"] {
        let text = piece.repeat(1_000_000 / piece.len());
        let query = parse(&text).query;
        assert!(query.to_string().len() <= 2 * text.len() + 16, "{piece:?}");
    }
}
