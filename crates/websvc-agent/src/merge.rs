//! One object from the data of several pages: lists are joined, missing values are filled in.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::corrected::{Corrections, SourceUrls};
use crate::filled::{has_values, is_empty, is_same};
use crate::item_index::{ItemIndex, Match};

/// The maximum number of URLs that are listed for one field.
const MAX_URLS: usize = 10;

/// Decides whether a value replaces another one that contradicts it: the arguments are the current and the other value.
pub type Preference<'a> = &'a dyn Fn(&Value, &Value) -> bool;

/// Data that is collected from page after page.
///
/// ```
/// use serde_json::json;
/// use websvc_agent::Draft;
///
/// let mut draft = Draft::new();
/// draft.add("http://a.test/1", json!({ "shop": null, "teas": [{ "name": "Assam" }] }));
/// draft.add("http://a.test/2", json!({ "shop": "Leaf", "teas": [{ "name": "assam", "price": 5 }, { "name": "Sencha" }] }));
/// assert_eq!(
///     draft.data(),
///     &json!({ "shop": "Leaf", "teas": [{ "name": "Assam", "price": 5 }, { "name": "Sencha" }] })
/// );
/// assert_eq!(draft.sources()["shop"], ["http://a.test/2"]);
/// assert_eq!(draft.sources()["teas[0]"], ["http://a.test/1", "http://a.test/2"]);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    data: Value,
    sources: SourceUrls,
}

impl Draft {
    /// Creates a draft without data: its data is null.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the data of a page, as [`merge`] does. Returns whether the data has other values now.
    pub fn add(&mut self, url: &str, data: Value) -> bool {
        self.add_preferring(url, data, &|_, _| false)
    }

    /// Adds the data of a page. Of two values that contradict each other, the preference chooses.
    pub fn add_preferring(&mut self, url: &str, data: Value, prefers_other: Preference<'_>) -> bool {
        let record = Some(Record { url, sources: &mut self.sources });
        let mut merger = Merger { prefers_other, record, has_changed: false };
        merger.merge(&mut self.data, data, &mut String::new());
        merger.has_changed
    }

    /// Replaces the data with a correction of it. Values and items keep their sources. Returns the paths of lost values.
    pub fn replace(&mut self, data: Value) -> Vec<String> {
        if data == self.data {
            return Vec::new();
        }
        let Corrections { sources, lost } = Corrections::new(&self.data, &data, &self.sources);
        (self.data, self.sources) = (data, sources);
        lost
    }

    /// Returns whether the data has a value: anything but nulls, blank texts, and lists and objects without values.
    #[must_use]
    pub fn has_values(&self) -> bool {
        has_values(&self.data)
    }

    /// Returns the data.
    #[must_use]
    pub const fn data(&self) -> &Value {
        &self.data
    }

    /// Returns the URLs of the pages that stated the values, by the path of the field: `name`, `maker.city`, or `teas[0]`
    /// for all values of an item of a list. At most 10 URLs per path.
    #[must_use]
    pub const fn sources(&self) -> &BTreeMap<String, Vec<String>> {
        &self.sources
    }

    /// Returns data and sources.
    #[must_use]
    pub fn into_parts(self) -> (Value, BTreeMap<String, Vec<String>>) {
        let Self { data, sources } = self;
        (data, sources)
    }
}

/// Merges a value into another one.
///
/// - Null and empty texts are filled in.
/// - Objects are merged field by field.
/// - Lists are joined. An item that is in the list is not added again: texts are equal up to case and blanks, objects are
///   the same item if a field such as `id`, `url` or `name` is equal and no value contradicts, and are merged then.
/// - Of two other values, the current one stays.
///
/// Merging the same value again changes nothing. A value of the current data is never lost; one of the other data only if
/// it contradicts a value in the same field of the same object. For data without lists of objects, whose fields have the same
/// types, the result does not depend on the grouping of several merges.
pub fn merge(current: &mut Value, other: Value) {
    let mut merger = Merger { prefers_other: &|_, _| false, record: None, has_changed: false };
    merger.merge(current, other, &mut String::new());
}

/// Returns a value whose lists have no duplicates.
fn normal(value: Value) -> Value {
    let mut normal = Value::Null;
    merge(&mut normal, value);
    normal
}

/// The page that a value comes from, and the list to record it in.
struct Record<'a> {
    url: &'a str,
    sources: &'a mut SourceUrls,
}

struct Merger<'a> {
    prefers_other: Preference<'a>,
    record: Option<Record<'a>>,
    /// A value was filled in or replaced.
    has_changed: bool,
}

impl Merger<'_> {
    fn merge(&mut self, current: &mut Value, other: Value, path: &mut String) {
        match (&mut *current, other) {
            (_, other) if is_empty(&other) => {}
            (Value::Object(current), Value::Object(other)) => self.merge_objects(current, other, path),
            (Value::Array(current), Value::Array(other)) => self.merge_lists(current, other, path),
            (empty, other) if is_empty(empty) => {
                // Into an empty value of its kind, so that its own lists are without duplicates.
                match other {
                    Value::Object(other) => {
                        let mut object = Map::new();
                        self.merge_objects(&mut object, other, path);
                        *current = Value::Object(object);
                    }
                    Value::Array(other) => {
                        let mut list = Vec::new();
                        self.merge_lists(&mut list, other, path);
                        *current = Value::Array(list);
                    }
                    scalar @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                        self.record(path);
                        self.has_changed = true;
                        *current = scalar;
                    }
                }
            }
            (same, other) if is_same(same, &other) => self.record(path),
            (different, other) => {
                if (self.prefers_other)(different, &other) {
                    self.forget(path);
                    self.record(path);
                    self.has_changed = true;
                    *current = other;
                }
            }
        }
    }

    fn merge_objects(
        &mut self,
        current: &mut Map<String, Value>,
        other: Map<String, Value>,
        path: &mut String,
    ) {
        for (key, value) in other {
            let length = path.len();
            // The paths of a list end at its items: a path per value of a long list is of no use.
            if !path.ends_with(']') {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&key);
            }
            match current.get_mut(&key) {
                Some(current) => self.merge(current, value, path),
                None => {
                    let mut merged = if is_empty(&value) { value.clone() } else { Value::Null };
                    self.merge(&mut merged, value, path);
                    current.insert(key, merged);
                }
            }
            path.truncate(length);
        }
    }

    fn merge_lists(&mut self, current: &mut Vec<Value>, other: Vec<Value>, path: &mut String) {
        let mut index = ItemIndex::new(current);
        for item in other {
            if is_empty(&item) {
                continue;
            }
            // An item in the list has no duplicates in its own lists, and must be found under the same identity.
            let item = normal(item);
            let found = index.find(current, &item);
            let position = found.map_or(current.len(), |(position, _)| position);
            let length = path.len();
            if !path.ends_with(']') {
                path.push_str(&format!("[{position}]"));
            }
            match found {
                Some((_, Match::Covers)) => self.record(path),
                Some((position, Match::Completes)) => self.merge(&mut current[position], item, path),
                None => {
                    let mut merged = Value::Null;
                    self.merge(&mut merged, item, path);
                    current.push(merged);
                }
            }
            path.truncate(length);
            index.add(position, &current[position]);
        }
    }

    fn record(&mut self, path: &str) {
        let Some(Record { url, sources }) = &mut self.record else { return };
        let urls = sources.entry(path.to_owned()).or_default();
        if urls.len() < MAX_URLS && !urls.iter().any(|known| known == url) {
            urls.push((*url).to_owned());
        }
    }

    fn forget(&mut self, path: &str) {
        // An item of a list has other values, which keep their pages.
        if let Some(Record { url: _, sources }) = &mut self.record
            && !path.ends_with(']')
        {
            sources.remove(path);
        }
    }
}
