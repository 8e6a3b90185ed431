//! The items of a list by their identity, to find the item that another one describes, too.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

use crate::filled::{canonical, covers, is_compatible, is_empty, is_scalar};

/// The fields that name an item of a list. Two items with the same value in one of them, and without a contradiction, are
/// the same item.
const IDENTITY_FIELDS: &[&str] =
    &["id", "sku", "isbn", "url", "link", "email", "name", "title", "product", "company"];

/// The number of items with the same identity that are compared without an index of their fields.
const MAX_UNINDEXED: usize = 8;

/// The maximum number of fields by which the items with the same identity are found.
const MAX_INDEXED_FIELDS: usize = 16;

/// The items of a list by their identity.
#[derive(Debug, Default)]
pub(crate) struct ItemIndex {
    by_identity: HashMap<String, Group>,
}

/// The items with the same identity.
#[derive(Debug, Default)]
struct Group {
    /// Their positions, ascending.
    positions: Vec<usize>,
    /// The items by their fields, once there are many. Each pair of them contradicts in some field, so most items are
    /// excluded by one.
    fields: Option<HashMap<String, FieldIndex>>,
}

/// The items of a group by their value of one field.
#[derive(Debug, Default)]
struct FieldIndex {
    /// The positions by the canonical text of the value, ascending.
    by_value: HashMap<String, Vec<usize>>,
    /// The positions without a value.
    without_value: BTreeSet<usize>,
}

/// The relation of an item of a list to another one that is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Match {
    /// It has all values of the other one.
    Covers,
    /// It can take the values of the other one.
    Completes,
}

impl ItemIndex {
    pub(crate) fn new(items: &[Value]) -> Self {
        let mut index = Self::default();
        for (position, item) in items.iter().enumerate() {
            index.add(position, item);
        }
        index
    }

    /// Adds an item, or what it has in addition since it was added.
    pub(crate) fn add(&mut self, position: usize, item: &Value) {
        for identity in identities(item) {
            let group = self.by_identity.entry(identity).or_default();
            insert(&mut group.positions, position);
            if let (Some(fields), Value::Object(item)) = (&mut group.fields, item) {
                for (name, index) in fields {
                    index.add(position, item.get(name));
                }
            }
        }
    }

    /// Returns the position of the item that has all values of this one, or else of the first one that does not contradict
    /// it. An item that was merged before is in the list, so merging it again must find it and not complete another one.
    pub(crate) fn find(&mut self, items: &[Value], item: &Value) -> Option<(usize, Match)> {
        let mut candidates: Vec<usize> = Vec::new();
        for identity in identities(item) {
            if let Some(group) = self.by_identity.get_mut(&identity) {
                group.add_candidates(items, item, &mut candidates);
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        let find = |is_match: fn(&Value, &Value) -> bool| {
            candidates.iter().copied().find(|position| is_match(&items[*position], item))
        };
        let covering = find(covers).map(|position| (position, Match::Covers));
        covering.or_else(|| find(is_compatible).map(|position| (position, Match::Completes)))
    }
}

impl Group {
    /// Adds the positions of all items of the group that can be the same as this one, and of some others.
    fn add_candidates(&mut self, items: &[Value], item: &Value, candidates: &mut Vec<usize>) {
        let Value::Object(item) = item else { return candidates.extend(&self.positions) };
        if self.positions.len() <= MAX_UNINDEXED {
            return candidates.extend(&self.positions);
        }
        let positions = &self.positions;
        let fields = self.fields.get_or_insert_default();
        for name in values(item).map(|(name, _)| name) {
            if fields.len() < MAX_INDEXED_FIELDS && !fields.contains_key(name) {
                fields.insert(name.clone(), FieldIndex::new(items, positions, name));
            }
        }
        let indexed = values(item).filter_map(|(name, value)| Some((fields.get(name)?, canonical(value))));
        match indexed.min_by_key(|(index, value)| index.count(value)) {
            Some((index, value)) => {
                candidates.extend(index.by_value.get(&value).into_iter().flatten());
                candidates.extend(&index.without_value);
            }
            None => candidates.extend(positions),
        }
    }
}

impl FieldIndex {
    fn new(items: &[Value], positions: &[usize], name: &str) -> Self {
        let mut index = Self::default();
        for position in positions {
            index.add(*position, items[*position].get(name));
        }
        index
    }

    fn add(&mut self, position: usize, value: Option<&Value>) {
        match value.filter(|value| is_value(value)) {
            Some(value) => {
                insert(self.by_value.entry(canonical(value)).or_default(), position);
                self.without_value.remove(&position);
            }
            None => _ = self.without_value.insert(position),
        }
    }

    /// Returns the number of items that have this value or none.
    fn count(&self, value: &str) -> usize {
        self.by_value.get(value).map_or(0, Vec::len) + self.without_value.len()
    }
}

/// Returns the fields of an item whose values contradict any other value of another item.
fn values(item: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    item.iter().filter(|(_, value)| is_value(value))
}

fn is_value(value: &Value) -> bool {
    is_scalar(value) && !is_empty(value)
}

/// Inserts a position into ascending ones. Most are inserted at the end.
fn insert(positions: &mut Vec<usize>, position: usize) {
    if let Err(at) = positions.binary_search(&position) {
        positions.insert(at, position);
    }
}

/// Returns the keys under which an item is found: its naming fields, or all of it.
pub(crate) fn identities(item: &Value) -> Vec<String> {
    let Value::Object(fields) = item else { return vec![canonical(item)] };
    let named = IDENTITY_FIELDS.iter().filter_map(|name| {
        let value = fields.get(*name).filter(|value| is_scalar(value) && !is_empty(value))?;
        Some(format!("{name}={}", canonical(value)))
    });
    let named: Vec<String> = named.collect();
    if named.is_empty() { vec![canonical(item)] } else { named }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::merge::merge;

    /// The index without those of the fields: it compares all items with the same identity.
    #[derive(Default)]
    struct PlainIndex {
        by_identity: HashMap<String, BTreeSet<usize>>,
    }

    impl PlainIndex {
        fn add(&mut self, position: usize, item: &Value) {
            for identity in identities(item) {
                self.by_identity.entry(identity).or_default().insert(position);
            }
        }

        fn find(&self, items: &[Value], item: &Value) -> Option<(usize, Match)> {
            let groups = identities(item).into_iter().filter_map(|identity| self.by_identity.get(&identity));
            let candidates: BTreeSet<usize> = groups.flatten().copied().collect();
            let find = |is_match: fn(&Value, &Value) -> bool| {
                candidates.iter().copied().find(|position| is_match(&items[*position], item))
            };
            let covering = find(covers).map(|position| (position, Match::Covers));
            covering.or_else(|| find(is_compatible).map(|position| (position, Match::Completes)))
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            4 => (0_i64..6).prop_map(Value::from),
            2 => "[a-bA ]{0,2}".prop_map(Value::from),
            1 => Just(Value::Null),
            1 => Just(json!([1])),
            1 => (0_i64..3).prop_map(|n| json!({ "n": n })),
        ]
    }

    fn item() -> impl Strategy<Value = Value> {
        let names = prop::sample::select(vec!["id", "url", "price", "size", "color"]).prop_map(str::to_owned);
        let fields = prop::collection::btree_map(names, value(), 0..5);
        (fields, prop::sample::select(vec!["Tea", "tea ", "Coffee"])).prop_map(|(fields, name)| {
            let mut item: Map<String, Value> = fields.into_iter().collect();
            item.insert("name".to_owned(), name.into());
            Value::Object(item)
        })
    }

    proptest! {
        #[test]
        fn index_of_fields_finds_what_a_comparison_of_all_finds(
            found in prop::collection::vec(item(), 0..120),
        ) {
            let (mut items, mut index, mut plain) = (Vec::new(), ItemIndex::default(), PlainIndex::default());
            for item in found {
                let at = index.find(&items, &item);
                prop_assert_eq!(at, plain.find(&items, &item));
                let position = at.map_or(items.len(), |(position, _)| position);
                match at {
                    None => items.push(item),
                    Some(_) => merge(&mut items[position], item),
                }
                index.add(position, &items[position]);
                plain.add(position, &items[position]);
            }
        }
    }

    #[test]
    fn items_with_the_same_name_are_compared_with_few_others() {
        let items: Vec<Value> = (0..5_000).map(|number| json!({ "name": "tea", "price": number })).collect();
        let mut index = ItemIndex::new(&items);
        let known = json!({ "name": "tea", "price": 4_321, "size": null });
        assert_eq!(index.find(&items, &known), Some((4_321, Match::Covers)));
        let group = index.by_identity.get_mut("name=tea").unwrap();
        let mut candidates = Vec::new();
        group.add_candidates(&items, &json!({ "name": "tea", "price": -1 }), &mut candidates);
        assert_eq!(candidates, [] as [usize; 0]);
    }
}
