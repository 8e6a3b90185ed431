//! The tasks: data files by class.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A class of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// One fact on a long page.
    Fact,
    /// A list that continues on other pages.
    List,
    /// Cells of tables.
    Table,
    /// The same facts of two sites, and which is larger or smaller.
    Comparison,
    /// A fact two or three links away.
    Hops,
    /// Facts of PDF documents.
    Pdf,
    /// Facts that a script writes into the page. Needs a browser.
    JavaScript,
    /// A question that the site does not answer.
    None,
    /// No URL is given: the page must be found by a search.
    Search,
    /// Only the given URLs may be read.
    Strict,
    /// Lists in lists.
    Nested,
    /// Pages and prompts that are not in English.
    Language,
    /// Pages with instructions to models, and with values that are wrong.
    Hostile,
}

impl Class {
    /// All classes with their names and files.
    const ALL: [(Self, &'static str, &'static str); 13] = [
        (Self::Fact, "fact", include_str!("../tasks/fact.json")),
        (Self::List, "list", include_str!("../tasks/list.json")),
        (Self::Table, "table", include_str!("../tasks/table.json")),
        (Self::Comparison, "comparison", include_str!("../tasks/comparison.json")),
        (Self::Hops, "hops", include_str!("../tasks/hops.json")),
        (Self::Pdf, "pdf", include_str!("../tasks/pdf.json")),
        (Self::JavaScript, "javascript", include_str!("../tasks/javascript.json")),
        (Self::None, "none", include_str!("../tasks/none.json")),
        (Self::Search, "search", include_str!("../tasks/search.json")),
        (Self::Strict, "strict", include_str!("../tasks/strict.json")),
        (Self::Nested, "nested", include_str!("../tasks/nested.json")),
        (Self::Language, "language", include_str!("../tasks/language.json")),
        (Self::Hostile, "hostile", include_str!("../tasks/hostile.json")),
    ];

    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(class, ..)| *class == self).map_or("", |(_, name, _)| name)
    }
}

/// A task.
#[derive(Debug, Clone)]
pub struct Task {
    /// The class.
    pub class: Class,
    /// The name, unique in its class.
    pub name: String,
    /// The prompt of the request.
    pub prompt: String,
    /// The URLs of the request; may be empty.
    pub urls: Vec<String>,
    /// True if only these URLs may be read.
    pub is_strict: bool,
    /// The JSON Schema of the request. Without one, the answer is a free object.
    pub schema: Option<Value>,
    /// The expected data. Null stands for a value that must not be given.
    pub expected: Value,
    pub(crate) plan: Plan,
}

impl Task {
    /// Returns class and name, such as `list/lamps`.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}", self.class.name(), self.name)
    }

    /// Returns true if a script writes the pages of the task.
    #[must_use]
    pub fn needs_browser(&self) -> bool {
        self.class == Class::JavaScript
    }

    /// Returns the body of the request that starts the task.
    #[must_use]
    pub fn request(&self) -> Value {
        let mut request = json!({ "prompt": self.prompt });
        if !self.urls.is_empty() {
            request["urls"] = json!(self.urls);
        }
        if let Some(schema) = &self.schema {
            request["schema"] = schema.clone();
        }
        if self.is_strict {
            request["strictConstrainToURLs"] = json!(true);
        }
        request
    }
}

/// The rules by which the oracle solves a task. They contain no value of the expected data.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Plan {
    /// Queries of searches, first.
    #[serde(default)]
    pub(crate) search: Queries,
    /// Parts of the texts or URLs of links and results to open, in this order.
    #[serde(default)]
    pub(crate) hops: Vec<String>,
    /// The text of the link to the next page of a list.
    pub(crate) next: Option<String>,
    /// Words that lead to the passage in a long page.
    pub(crate) find: Option<String>,
    pub(crate) rules: Vec<Rule>,
}

/// Queries, written as one string or a list.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "Value")]
pub(crate) struct Queries(pub(crate) Vec<String>);

impl From<Value> for Queries {
    fn from(value: Value) -> Self {
        let one = value.as_str().map(str::to_owned);
        let many =
            value.as_array().into_iter().flatten().filter_map(|query| query.as_str().map(str::to_owned));
        Self(one.into_iter().chain(many).collect())
    }
}

/// A rule for one field of the data: a pattern for the text of passages, or a comparison of other fields.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Rule {
    /// The field of a single value.
    pub(crate) field: Option<String>,
    /// The field of a list: each match is an item, an object if the pattern has named groups.
    pub(crate) list: Option<String>,
    /// The regular expression of a value.
    pub(crate) pattern: Option<String>,
    /// Matches of this expression are left out.
    pub(crate) skip: Option<String>,
    /// Only text after the first match of this expression counts.
    pub(crate) after: Option<String>,
    /// Only text before the next match of this expression counts.
    pub(crate) until: Option<String>,
    /// Only pages with this text in their URL count.
    pub(crate) page: Option<String>,
    /// Rules for the text from a match to the next one.
    #[serde(default)]
    pub(crate) inside: Vec<Rule>,
    /// The name of the smallest field, by name.
    pub(crate) smallest: Option<BTreeMap<String, String>>,
    /// The name of the largest field, by name.
    pub(crate) largest: Option<BTreeMap<String, String>>,
}

/// A task as its file has it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TaskEntry {
    name: String,
    prompt: String,
    #[serde(default)]
    urls: Vec<String>,
    #[serde(default)]
    strict: bool,
    schema: Option<Value>,
    expected: Value,
    plan: Plan,
}

/// Returns all tasks.
///
/// # Panics
/// If a file of tasks is invalid, which a test of this crate excludes.
#[must_use]
pub fn tasks() -> Vec<Task> {
    let mut tasks = Vec::new();
    for (class, name, text) in Class::ALL {
        let entries: Vec<TaskEntry> =
            serde_json::from_str(text).unwrap_or_else(|error| panic!("tasks/{name}.json: {error}"));
        tasks.extend(entries.into_iter().map(|entry| {
            let TaskEntry { name, prompt, urls, strict, schema, expected, plan } = entry;
            let schema = schema.map(|short| expand(&short));
            Task { class, name, prompt, urls, is_strict: strict, schema, expected, plan }
        }));
    }
    tasks
}

/// Returns the JSON Schema of a short notation: `"number"` is a number or null, `[x]` an array of `x`, and an object one
/// whose fields are all required.
pub(crate) fn expand(short: &Value) -> Value {
    match short {
        Value::String(kind) => json!({ "type": [kind, "null"] }),
        Value::Array(items) => {
            let item = items.first().map_or(Value::Bool(true), |item| match item {
                Value::String(kind) => json!({ "type": kind }),
                other => expand(other),
            });
            json!({ "type": "array", "items": item })
        }
        Value::Object(fields) => {
            let properties: Map<String, Value> =
                fields.iter().map(|(name, field)| (name.clone(), expand(field))).collect();
            let required: Vec<&String> = fields.keys().collect();
            json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::oracle::rule_text;
    use crate::score::leaves;
    use crate::sites::Sites;

    #[test]
    fn there_are_sixty_tasks_and_six_of_each_class() {
        let tasks = tasks();
        assert!(tasks.len() >= 60, "{}", tasks.len());
        for (class, name, _) in Class::ALL {
            assert!(tasks.iter().filter(|task| task.class == class).count() >= 6, "{name}");
        }
        let ids: BTreeSet<String> = tasks.iter().map(Task::id).collect();
        assert_eq!(ids.len(), tasks.len());
        // The oracle recognizes a task by its prompt.
        let prompts: BTreeSet<&String> = tasks.iter().map(|task| &task.prompt).collect();
        assert_eq!(prompts.len(), tasks.len());
    }

    #[test]
    fn every_expected_value_is_on_a_page() {
        let sites = Sites::new();
        let simplify = |text: &str| -> String {
            text.to_lowercase().replace("&amp;", "&").chars().filter(|c| c.is_alphanumeric()).collect()
        };
        let text: String = sites.sources().map(|source| simplify(&source.text)).collect();
        for task in tasks() {
            for leaf in leaves(&task.expected) {
                let leaf = leaf.as_str().map_or_else(|| leaf.to_string(), str::to_owned);
                assert!(text.contains(&simplify(&leaf)), "{}: {leaf}", task.id());
            }
        }
    }

    #[test]
    fn rules_of_the_oracle_do_not_contain_the_answer() {
        for task in tasks() {
            for rule in &task.plan.rules {
                let name = rule.field.as_ref().or(rule.list.as_ref()).unwrap();
                for leaf in leaves(&task.expected[name.as_str()]) {
                    let leaf = leaf.as_str().map_or_else(|| leaf.to_string(), str::to_owned);
                    // A number of one or two digits may be part of a quantifier.
                    let is_given = leaf.len() > 2 && rule_text(rule).contains(&leaf);
                    assert!(!is_given, "{}: {leaf}", task.id());
                }
            }
        }
    }

    #[test]
    fn urls_of_tasks_are_pages() {
        let sites = Sites::new();
        let pages: BTreeSet<String> = sites.sources().map(|source| source.url).collect();
        for task in tasks() {
            for url in &task.urls {
                // One task asks for a page that does not exist.
                assert!(
                    pages.contains(url) || url.starts_with("http://rowing.test/"),
                    "{}: {url}",
                    task.id()
                );
            }
        }
    }

    #[test]
    fn short_schemas_are_expanded() {
        let schema = expand(&json!({ "items": [{ "name": "string" }], "tags": ["string"] }));
        let item = &schema["properties"]["items"]["items"];
        assert_eq!(item["properties"]["name"]["type"], json!(["string", "null"]));
        assert_eq!(schema["properties"]["tags"]["items"]["type"], json!("string"));
        assert_eq!(schema["required"], json!(["items", "tags"]));
    }
}
