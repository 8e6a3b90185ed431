//! The flat format of Nuxt 3 (`devalue`): a list of values that refer to each other by index.

use super::js_literal::weight;
use serde_json::{Map, Value};

/// Maximum depth of a value.
const MAX_DEPTH: usize = 60;

/// Maximum number of values of a page, and of the bytes of their texts and keys. A value counts each time that it is
/// referred to, because each reference becomes a copy.
const MAX_VALUES: usize = 100_000;
const MAX_BYTES: usize = 8 << 20;

/// The values that may still be copied.
pub(super) struct CopyBudget {
    values: usize,
    bytes: usize,
}

impl CopyBudget {
    /// Returns the budget of a page.
    pub(super) fn new() -> CopyBudget {
        CopyBudget { values: MAX_VALUES, bytes: MAX_BYTES }
    }

    fn take_bytes(&mut self, bytes: usize) -> Option<()> {
        self.bytes = self.bytes.checked_sub(bytes)?;
        Some(())
    }

    fn copy(&mut self, value: &Value) -> Option<Value> {
        self.take_bytes(weight(value))?;
        Some(value.clone())
    }
}

/// Returns the value that a list of indexed values stands for. `None` if the list is not in this format, or if its copies
/// are larger than the budget.
pub(super) fn hydrate(list: &Value, budget: &mut CopyBudget) -> Option<Value> {
    let values = list.as_array().filter(|values| values.len() > 1)?;
    resolve(values, 0, 0, budget)
}

fn resolve(values: &[Value], index: usize, depth: usize, budget: &mut CopyBudget) -> Option<Value> {
    budget.values = budget.values.checked_sub(1)?;
    if depth > MAX_DEPTH {
        return Some(Value::Null);
    }
    let follow = |reference: &Value, budget: &mut CopyBudget| match reference.as_u64() {
        Some(index) => resolve(values, usize::try_from(index).ok()?, depth + 1, budget),
        // Negative indexes are `undefined` and special numbers.
        None => budget.copy(&Value::Null),
    };
    Some(match values.get(index)? {
        Value::Object(object) => {
            let mut out = Map::new();
            for (key, reference) in object {
                budget.take_bytes(key.len())?;
                out.insert(key.clone(), follow(reference, budget)?);
            }
            Value::Object(out)
        }
        Value::Array(items) => match items.as_slice() {
            // A reactive wrapper around one value, or a date.
            [Value::String(name), inner] if name == "Date" => budget.copy(inner)?,
            [Value::String(_), inner, ..] => follow(inner, budget)?,
            items => Value::Array(items.iter().map(|item| follow(item, budget)).collect::<Option<_>>()?),
        },
        literal @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            budget.copy(literal)?
        }
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
        assert_eq!(hydrate(&list, &mut CopyBudget::new()), Some(expected));
    }

    #[test]
    fn cycles_end() {
        assert!(hydrate(&json!([[1], [0, 0]]), &mut CopyBudget::new()).is_none());
        assert!(hydrate(&json!([{"a": 9}, 1]), &mut CopyBudget::new()).is_none());
    }

    /// Each list copies far more than the limit through references to one value.
    #[test]
    fn copies_are_limited_by_their_bytes() {
        let text = "x".repeat(1 << 20);
        let references = vec![1; 50_000];
        let inner = vec![1; 100_000];
        for list in [
            json!([references, text]),
            json!([references, { &*text: -1 }]),
            json!([references, ["Date", text]]),
            json!([references, ["Date", inner]]),
            json!([vec![-1; MAX_BYTES + 1], 0]),
        ] {
            assert_eq!(hydrate(&list, &mut CopyBudget::new()), None);
        }
        let mut budget = CopyBudget::new();
        let list = json!([vec![1; 5], text]);
        assert!(hydrate(&list, &mut budget).is_some());
        assert!(hydrate(&list, &mut budget).is_none(), "the scripts of a page share the budget");
    }
}
