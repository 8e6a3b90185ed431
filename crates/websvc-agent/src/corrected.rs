//! The sources of data that was corrected, and the values that the correction lost.

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde_json::Value;
use websvc_types::counted;

use crate::filled::has_values;
use crate::item_index::identities;

/// The URLs of the pages that stated the values, by the path of the field.
pub(crate) type SourceUrls = BTreeMap<String, Vec<String>>;

/// The maximum number of paths of lost values.
const MAX_LOST: usize = 50;

/// The sources of corrected data, and the places of the values that it lacks.
#[derive(Debug, Default)]
pub(crate) struct Corrections {
    pub(crate) sources: SourceUrls,
    pub(crate) lost: Vec<String>,
}

impl Corrections {
    /// Compares data with its correction.
    pub(crate) fn new(before: &Value, after: &Value, sources: &SourceUrls) -> Self {
        let mut corrections = Self::default();
        corrections.visit(before, after, sources, &Place::default());
        corrections
    }

    fn visit(&mut self, before: &Value, after: &Value, sources: &SourceUrls, place: &Place) {
        if !has_values(after) {
            if has_values(before) {
                self.lose(place.name());
            }
            return;
        }
        if let Some(urls) = sources.get(&place.before) {
            let known = self.sources.entry(place.after.clone()).or_default();
            known.extend(urls.iter().filter(|url| !known.contains(url)).cloned().collect::<Vec<_>>());
        }
        match (before, after) {
            (Value::Object(before), Value::Object(after)) => {
                for (name, before) in before {
                    self.visit(before, after.get(name).unwrap_or(&Value::Null), sources, &place.field(name));
                }
            }
            (Value::Array(before), Value::Array(after)) => {
                if after.len() < before.len() {
                    let lost = before.len() - after.len();
                    let items = counted(before.len(), "item", "items");
                    self.lose(format!("{} ({lost} of {items})", place.name()));
                }
                for (index, (origin, after)) in origins(before, after).into_iter().zip(after).enumerate() {
                    if let Some(origin) = origin {
                        self.visit(&before[origin], after, sources, &place.item(origin, index));
                    }
                }
            }
            // The value is another one, or has another form.
            _ => {}
        }
    }

    fn lose(&mut self, what: String) {
        if self.lost.len() < MAX_LOST {
            self.lost.push(what);
        }
    }
}

/// The place of a value, with its paths among the sources before and after the correction.
#[derive(Debug, Default)]
struct Place {
    full: String,
    before: String,
    after: String,
}

impl Place {
    fn field(&self, name: &str) -> Self {
        let below = |path: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        // The paths of sources end at the items of a list.
        let source = |path: &str| if path.ends_with(']') { path.to_owned() } else { below(path) };
        Self { full: below(&self.full), before: source(&self.before), after: source(&self.after) }
    }

    fn item(&self, before: usize, after: usize) -> Self {
        let source = |path: &str, position: usize| {
            if path.ends_with(']') { path.to_owned() } else { format!("{path}[{position}]") }
        };
        let full = format!("{}[{after}]", self.full);
        Self { full, before: source(&self.before, before), after: source(&self.after, after) }
    }

    fn name(&self) -> String {
        if self.full.is_empty() { "the data".to_owned() } else { self.full.clone() }
    }
}

/// Returns for each item of a corrected list the position of the same item before: one with the same identity, or the one in
/// its place if there are as many items as before.
fn origins(before: &[Value], after: &[Value]) -> Vec<Option<usize>> {
    let mut by_identity: HashMap<String, VecDeque<usize>> = HashMap::new();
    for (position, item) in before.iter().enumerate() {
        for identity in identities(item) {
            by_identity.entry(identity).or_default().push_back(position);
        }
    }
    let mut is_used = vec![false; before.len()];
    let mut origins: Vec<Option<usize>> = Vec::with_capacity(after.len());
    for item in after {
        let origin = identities(item).iter().find_map(|identity| {
            let positions = by_identity.get_mut(identity)?;
            while let Some(position) = positions.pop_front() {
                if !is_used[position] {
                    return Some(position);
                }
            }
            None
        });
        if let Some(origin) = origin {
            is_used[origin] = true;
        }
        origins.push(origin);
    }
    if before.len() == after.len() {
        for (position, origin) in origins.iter_mut().enumerate() {
            if origin.is_none() && !is_used[position] {
                *origin = Some(position);
            }
        }
    }
    origins
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::merge::Draft;

    #[track_caller]
    fn check(corrected: &Value, sources: &Value, lost: &[&str]) {
        let mut draft = Draft::new();
        let tea = |name: &str, price: &str| json!({ "name": name, "price": price, "tags": ["x"] });
        draft.add("http://a.test/", json!({ "shop": { "name": "Leaf" }, "teas": [tea("Assam", "5 euros")] }));
        draft.add("http://b.test/", json!({ "note": null, "teas": [tea("Sencha", "6 euros")] }));
        assert_eq!(draft.replace(corrected.clone()), lost, "{corrected}");
        let (data, found) = draft.into_parts();
        assert_eq!((&data, &serde_json::to_value(found).unwrap()), (corrected, sources));
    }

    #[test]
    fn sources_follow_the_items_and_lost_values_are_named() {
        let (assam, sencha) =
            (json!({ "name": "Assam", "price": 5 }), json!({ "name": "sencha", "price": 6 }));
        let shop = json!({ "name": "Leaf" });
        check(
            &json!({ "shop": shop, "teas": [sencha, assam] }),
            &json!({ "shop.name": ["http://a.test/"], "teas[0]": ["http://b.test/"], "teas[1]": ["http://a.test/"] }),
            &["teas[0].tags", "teas[1].tags"],
        );
        check(
            &json!({ "shop": null, "teas": [sencha] }),
            &json!({ "teas[0]": ["http://b.test/"] }),
            &["shop", "teas (1 of 2 items)", "teas[0].tags"],
        );
        // Renamed items, in the place of the others.
        check(
            &json!({ "shop": { "name": "The Leaf" }, "teas": [{ "title": "A", "tags": [1] }, { "title": "B", "tags": [1] }] }),
            &json!({ "shop.name": ["http://a.test/"], "teas[0]": ["http://a.test/"], "teas[1]": ["http://b.test/"] }),
            &["teas[0].name", "teas[0].price", "teas[1].name", "teas[1].price"],
        );
        // Items of which none is known.
        check(
            &json!({ "shop": shop, "teas": ["x"] }),
            &json!({ "shop.name": ["http://a.test/"] }),
            &["teas (1 of 2 items)"],
        );
        check(&json!({ "shop": {}, "teas": [] }), &json!({}), &["the data"]);
        check(&json!({ "other": 1 }), &json!({}), &["shop", "teas"]);
    }
}
