//! The flat format of Nuxt 3 (`devalue`): a list of values that refer to each other by index.

use serde_json::{Map, Value};

/// Maximum depth of a value, and maximum number of values, including repeated ones.
const MAX_DEPTH: usize = 60;
const MAX_VALUES: usize = 100_000;

/// Returns the value that a list of indexed values stands for. `None` if the list is not in this format.
pub(super) fn hydrate(list: &Value) -> Option<Value> {
    let values = list.as_array().filter(|values| values.len() > 1)?;
    let mut budget = MAX_VALUES;
    resolve(values, 0, 0, &mut budget)
}

fn resolve(values: &[Value], index: usize, depth: usize, budget: &mut usize) -> Option<Value> {
    *budget = budget.checked_sub(1)?;
    if depth > MAX_DEPTH {
        return Some(Value::Null);
    }
    let follow = |reference: &Value, budget: &mut usize| match reference.as_u64() {
        Some(index) => resolve(values, usize::try_from(index).ok()?, depth + 1, budget),
        // Negative indexes are `undefined` and special numbers.
        None => Some(Value::Null),
    };
    Some(match values.get(index)? {
        Value::Object(object) => {
            let mut out = Map::new();
            for (key, reference) in object {
                out.insert(key.clone(), follow(reference, budget)?);
            }
            Value::Object(out)
        }
        Value::Array(items) => match items.as_slice() {
            // A reactive wrapper around one value, or a date.
            [Value::String(name), inner] if name == "Date" => inner.clone(),
            [Value::String(_), inner, ..] => follow(inner, budget)?,
            items => Value::Array(items.iter().map(|item| follow(item, budget)).collect::<Option<_>>()?),
        },
        literal @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => literal.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn indexes_are_replaced_by_values() {
        let list =
            json!([["ShallowReactive", 1], {"product": 2}, {"name": 3, "price": 4, "none": -1}, "Tea", 12.5]);
        let expected = json!({"product": {"name": "Tea", "price": 12.5, "none": null}});
        assert_eq!(hydrate(&list), Some(expected));
    }

    #[test]
    fn cycles_end() {
        assert!(hydrate(&json!([[1], [0, 0]])).is_none());
        assert!(hydrate(&json!([{"a": 9}, 1])).is_none());
    }
}
