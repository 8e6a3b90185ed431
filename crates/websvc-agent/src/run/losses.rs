//! Notes about the losses of an answer: collected items, and parts of pages.

use serde_json::Value;
use websvc_model::{cut, one_line};
use websvc_transport::text_without_credentials;
use websvc_types::counted;

use super::Run;
use crate::pages::PageEntry;

/// The maximum number of lists, and of pages, that are named.
const MAX_NAMED: usize = 5;

/// The maximum length of the path of a list, and of a URL.
const MAX_PATH_CHARS: usize = 100;
const MAX_URL_CHARS: usize = 200;

/// A list of the draft of which the answer has fewer items.
#[derive(Debug, PartialEq, Eq)]
struct ShorterList {
    path: String,
    /// The number of items of the answer.
    count: usize,
    /// The number of items that were collected.
    collected: usize,
}

impl Run<'_> {
    /// Returns notes about collected items that the data does not have, and about parts of pages that were not collected.
    /// `is_list` says that the data has a list, or lacks values: other data does not become more by further parts.
    pub(super) fn loss_notes(&self, data: &Value, is_list: bool) -> Vec<String> {
        let mut shorter = Vec::new();
        find_shorter(data, self.draft.data(), "", &mut shorter);
        let mut notes: Vec<String> = shorter
            .iter()
            .take(MAX_NAMED)
            .map(|ShorterList { path, count, collected }| {
                let path = cut(&one_line(path), MAX_PATH_CHARS);
                format!("The data has {count} of {collected} collected items of {path}.")
            })
            .collect();
        if is_list {
            let parts: Vec<String> = self.pages.entries().iter().filter_map(uncollected).collect();
            notes.extend(parts.iter().take(MAX_NAMED).cloned());
            if parts.len() > MAX_NAMED {
                let more = counted(parts.len() - MAX_NAMED, "more page", "more pages");
                notes.push(format!("The same holds for {more}."));
            }
        }
        notes
    }
}

/// Returns a note about a page of which a part was collected.
fn uncollected(entry: &PageEntry) -> Option<String> {
    let PageEntry { url, title: _, page, call: _, read_at: _, seen: _, collected } = entry;
    let count = collected.iter().filter(|is_collected| **is_collected).count();
    let is_cut = page.as_ref().is_some_and(|page| page.is_cut);
    let url = cut(&one_line(&text_without_credentials(url)), MAX_URL_CHARS);
    match collected.len() - count {
        _ if count == 0 => None,
        0 if is_cut => Some(format!("The end of {url} was not read, because the page is too long.")),
        0 => None,
        left => Some(format!("{left} of {} passages of {url} were not collected.", collected.len())),
    }
}

/// Returns whether there is a list in the data.
pub(super) fn has_list(data: &Value) -> bool {
    match data {
        Value::Array(_) => true,
        Value::Object(fields) => fields.values().any(has_list),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Finds the lists of the draft that are shorter in the data or missing, apart from those in lists.
fn find_shorter(data: &Value, draft: &Value, path: &str, shorter: &mut Vec<ShorterList>) {
    match draft {
        Value::Array(items) => {
            let (count, collected) = (data.as_array().map_or(0, Vec::len), items.len());
            if count < collected {
                let path = if path.is_empty() { "the list" } else { path };
                shorter.push(ShorterList { path: path.to_owned(), count, collected });
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                find_shorter(&data[name.as_str()], value, &path, shorter);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn shorter_and_missing_lists_are_found() {
        let draft = json!({ "shop": { "teas": [1, 2, 3] }, "cups": [1], "tags": [], "name": "Leaf" });
        let find = |data: Value| {
            let mut shorter = Vec::new();
            find_shorter(&data, &draft, "", &mut shorter);
            shorter.into_iter().map(|list| (list.path, list.count, list.collected)).collect::<Vec<_>>()
        };
        assert_eq!(find(draft.clone()), []);
        assert_eq!(
            find(json!({ "shop": { "teas": [1] }, "cups": [1, 2] })),
            [("shop.teas".to_owned(), 1, 3)]
        );
        assert_eq!(find(json!(5)), [("shop.teas".to_owned(), 0, 3), ("cups".to_owned(), 0, 1)]);
    }
}
