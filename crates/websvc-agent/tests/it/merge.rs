//! Properties of merging.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use websvc_agent::{Draft, merge};

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_i64..9).prop_map(Value::from),
        "[a-cA-C ]{0,3}".prop_map(Value::from),
    ]
}

fn object_of(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec!["id", "name", "price", "tags"]).prop_map(str::to_owned);
    prop::collection::btree_map(names, value, 0..4)
        .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>()))
}

/// Returns objects of values and of lists of values, without lists of objects.
fn flat() -> impl Strategy<Value = Value> {
    let list = prop::collection::vec(scalar(), 0..4).prop_map(Value::from);
    let value = prop_oneof![3 => scalar(), 1 => list];
    let nested = prop_oneof![2 => value, 1 => object_of(scalar())];
    object_of(nested)
}

/// Returns objects with lists of objects.
fn deep() -> impl Strategy<Value = Value> {
    let list =
        prop::collection::vec(prop_oneof![scalar().boxed(), flat().boxed()], 0..5).prop_map(Value::from);
    object_of(prop_oneof![1 => scalar().boxed(), 1 => flat().boxed(), 2 => list.boxed()])
}

fn merged(a: &Value, b: &Value) -> Value {
    let mut merged = a.clone();
    merge(&mut merged, b.clone());
    merged
}

/// Returns the values in a value that are not empty, with case and blanks removed.
fn values(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) if text.trim().is_empty() => Vec::new(),
        Value::String(text) => vec![text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()],
        Value::Bool(_) | Value::Number(_) => vec![value.to_string()],
        Value::Array(items) => items.iter().flat_map(values).collect(),
        Value::Object(fields) => fields.values().flat_map(values).collect(),
    }
}

/// Returns objects whose fields have one type each, without lists of objects.
fn typed() -> impl Strategy<Value = Value> {
    let list = prop::collection::vec(scalar(), 0..4).prop_map(Value::from);
    let fields = (
        prop::option::of(scalar()),
        prop::option::of(scalar()),
        prop::option::of(list),
        prop::option::of(object_of(scalar())),
    );
    fields.prop_map(|(id, name, tags, maker)| {
        let fields = [("id", id), ("name", name), ("tags", tags), ("maker", maker)];
        Value::Object(
            fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect(),
        )
    })
}

proptest! {
    #[test]
    fn merging_the_same_again_changes_nothing(a in deep(), b in deep()) {
        let once = merged(&Value::Null, &a);
        prop_assert_eq!(&merged(&once, &a), &once);
        let both = merged(&once, &b);
        prop_assert_eq!(&merged(&both, &b), &both);
    }

    #[test]
    fn current_values_are_never_lost(a in deep(), b in deep()) {
        let a = merged(&Value::Null, &a);
        let all = values(&merged(&a, &b));
        for value in values(&a) {
            prop_assert!(all.contains(&value), "{} is lost", value);
        }
    }

    #[test]
    fn items_of_lists_are_never_lost(a in prop::collection::vec(flat(), 0..5), b in prop::collection::vec(flat(), 0..5)) {
        let both = merged(&json!({ "items": a }), &json!({ "items": b }));
        let all = values(&both);
        for value in a.iter().chain(&b).flat_map(values) {
            prop_assert!(all.contains(&value), "{} is lost in {}", value, both);
        }
    }

    #[test]
    fn typed_data_does_not_depend_on_grouping(a in typed(), b in typed(), c in typed()) {
        let left = merged(&merged(&a, &b), &c);
        let right = merged(&a, &merged(&b, &c));
        prop_assert_eq!(left, right);
    }
}

#[track_caller]
fn check(a: &Value, b: &Value, expected: &Value) {
    assert_eq!(&merged(a, b), expected);
}

#[test]
fn missing_values_are_filled_and_others_stay() {
    check(
        &json!({ "a": null, "b": "", "c": 1 }),
        &json!({ "a": 1, "b": "x", "c": 2, "d": 3 }),
        &json!({ "a": 1, "b": "x", "c": 1, "d": 3 }),
    );
    check(&json!({ "a": { "x": 1 } }), &json!({ "a": { "y": 2 } }), &json!({ "a": { "x": 1, "y": 2 } }));
    check(&json!({ "a": 1 }), &json!({ "a": [1] }), &json!({ "a": 1 }));
    check(&json!({ "a": 1 }), &Value::Null, &json!({ "a": 1 }));
}

#[test]
fn lists_are_joined_without_duplicates() {
    check(&json!(["Tea", "Cup"]), &json!(["tea ", "Pot", null, "pot"]), &json!(["Tea", "Cup", "Pot"]));
    check(&json!([1, "2"]), &json!([1.0, 2, 3]), &json!([1, "2", 3]));
    check(&json!([[1], [2]]), &json!([[2], [3]]), &json!([[1], [2], [3]]));
}

#[test]
fn items_with_the_same_name_are_one_unless_they_contradict() {
    check(
        &json!([{ "name": "Assam", "price": 5 }]),
        &json!([{ "name": "ASSAM", "origin": "India" }, { "name": "Assam", "price": 6 }]),
        &json!([{ "name": "Assam", "price": 5, "origin": "India" }, { "name": "Assam", "price": 6 }]),
    );
    check(
        &json!([{ "name": "A", "url": "http://a.test/" }]),
        &json!([{ "name": null, "url": "http://a.test/", "price": 1 }]),
        &json!([{ "name": "A", "url": "http://a.test/", "price": 1 }]),
    );
    check(
        &json!([{ "price": 1 }]),
        &json!([{ "price": 1 }, { "price": 2 }]),
        &json!([{ "price": 1 }, { "price": 2 }]),
    );
}

#[test]
fn sources_name_the_pages_of_each_field() {
    let mut draft = Draft::new();
    assert!(draft.add("http://a.test/", json!({ "name": "A", "maker": { "city": "X" }, "tags": ["t"] })));
    assert!(!draft.add("http://b.test/", json!({ "name": "a", "maker": { "city": "Y" }, "tags": ["T"] })));
    assert!(draft.add("http://c.test/", json!({ "tags": ["u"], "maker": { "zip": "1" } })));
    let (data, sources) = draft.into_parts();
    assert_eq!(data, json!({ "name": "A", "maker": { "city": "X", "zip": "1" }, "tags": ["t", "u"] }));
    let sources = serde_json::to_value(sources).unwrap();
    assert_eq!(
        sources,
        json!({
            "name": ["http://a.test/", "http://b.test/"],
            "maker.city": ["http://a.test/"],
            "maker.zip": ["http://c.test/"],
            "tags[0]": ["http://a.test/", "http://b.test/"],
            "tags[1]": ["http://c.test/"],
        })
    );
}

#[test]
fn data_without_values_is_no_change() {
    let mut draft = Draft::new();
    for empty in
        [json!({}), json!({ "teas": [], "shop": { "name": null } }), json!({ "teas": [{ "name": " " }] })]
    {
        assert!(!draft.add("http://a.test/", empty.clone()), "{empty}");
    }
    assert!(draft.add("http://b.test/", json!({ "teas": [{ "name": "Assam" }] })));
    assert!(
        !draft.add("http://c.test/", json!({ "teas": [{ "name": "Assam", "price": null }], "note": null }))
    );
    assert!(draft.add("http://c.test/", json!({ "teas": [{ "name": "Assam", "in_stock": false }] })));
}

#[test]
fn preference_replaces_a_value_and_its_source() {
    let mut draft = Draft::new();
    draft.add("http://a.test/", json!({ "price": 5 }));
    assert!(draft.add_preferring("http://b.test/", json!({ "price": 6 }), &|current, other| *current == 5
        && *other == 6));
    assert_eq!(
        (draft.data(), &draft.sources()["price"][..]),
        (&json!({ "price": 6 }), &["http://b.test/".to_owned()][..])
    );
}
