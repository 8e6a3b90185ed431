//! Properties of every pair of texts.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::Value;
use websvc_diff::{DiffLimits, LineDiff, changed_fields, changed_paths, is_same_markdown};

use crate::patch::apply;

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(vec!["a\n", "b\n", "c\n", "\n", "a", " ", "-", "+x\n", "@@ -1,1 +1,1 @@\n", "\r\n",
            "\\ No newline at end of file\n", "é", "\u{200b}", "[iframe](x)", "[iframe]("]).prop_map(str::to_owned),
        1 => "\\PC{0,4}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i32..3).prop_map(Value::from),
        prop::sample::select(vec!["", "a", " a", "e\u{301}", "\u{e9}"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(prop::sample::select(vec!["a", "b", "c.d", ""]), inner, 0..4)
                .prop_map(|map| map.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

/// Returns a configuration with a fixed seed, so that a failure is caused by a change of the code.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 2_000,
        rng_seed: RngSeed::Fixed(3),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn diff_applied_to_the_previous_text_gives_the_current_one(previous in text(), current in text()) {
        let diff = LineDiff::new(&previous, &current, DiffLimits { max_lines: 1_000, max_bytes: 100_000 });
        prop_assert!(!diff.is_truncated);
        prop_assert_eq!(diff.hunks.is_empty(), previous == current);
        prop_assert_eq!(apply(&previous, &diff.unified_text("a", "b")), current);
    }

    #[test]
    fn limits_hold(previous in text(), current in text(), max_lines in 0_usize..20, max_bytes in 0_usize..40) {
        let diff = LineDiff::new(&previous, &current, DiffLimits { max_lines, max_bytes });
        let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines);
        let content: Vec<&str> = lines.map(|line| line.content.as_str()).filter(|line| !line.starts_with('\\')).collect();
        prop_assert!(content.len() <= max_lines);
        prop_assert!(content.iter().map(|line| line.len()).sum::<usize>() <= max_bytes);
        for hunk in &diff.hunks {
            let count = |signs: [char; 2]| hunk.lines.iter().filter(|line| line.content.starts_with(signs)).count();
            prop_assert_eq!(count([' ', '-']), hunk.old_lines);
            prop_assert_eq!(count([' ', '+']), hunk.new_lines);
        }
    }

    #[test]
    fn equality_is_reflexive_symmetric_and_ignores_added_blanks(a in text(), b in text()) {
        prop_assert!(is_same_markdown(&a, &a));
        prop_assert_eq!(is_same_markdown(&a, &b), is_same_markdown(&b, &a));
        let spaced: String = a.chars().flat_map(|character| [character, ' ']).collect();
        prop_assert!(is_same_markdown(&a, &spaced));
    }

    #[test]
    fn paths_and_fields_agree_on_changes(a in value(), b in value()) {
        prop_assert!(changed_paths(&a, &a).is_empty());
        prop_assert!(changed_fields(&a, &a).is_empty());
        let (forth, back) = (changed_paths(&a, &b), changed_paths(&b, &a));
        prop_assert!(forth.keys().eq(back.keys()));
        if a.is_object() && b.is_object() {
            prop_assert!(forth.is_empty() || !changed_fields(&a, &b).is_empty());
        }
    }
}
