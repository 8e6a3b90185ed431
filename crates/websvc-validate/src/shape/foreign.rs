//! What official clients send that the specification does not have.
//!
//! A client that works with the original must work here: such keys are ignored without a word, and such names are
//! left out with one.

use serde_json::{Map, Value};

/// What is tolerated in one object.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Foreign {
    /// Keys that are ignored.
    keys: &'static [&'static str],
    /// Other spellings of known keys.
    spellings: &'static [(&'static str, &'static str)],
    /// For a field with a list: names that are left out of it.
    names: &'static [(&'static str, &'static [&'static str])],
}

const SEARCH: Foreign = Foreign {
    keys: &["asyncScraping", "domainTools", "filter", "lang", "toolDetail"],
    spellings: &[("ignoreInvalidUrls", "ignoreInvalidURLs")],
    names: &[("categories", &["developer", "gov"]), ("sources", &["alexandria"])],
};

const SCRAPE: Foreign = Foreign {
    keys: &["checkPromptInjection", "domainTools", "fastMode", "jsonOptions", "toolDetail", "useMock"],
    spellings: &[],
    names: &[],
};

impl Foreign {
    /// Returns what is tolerated in the object with this definition.
    pub(super) fn of(definition: &str) -> Self {
        match definition {
            "SearchRequest" => SEARCH,
            "ScrapeOptions" => SCRAPE,
            _ => Self::default(),
        }
    }

    /// Tells whether a key is ignored without a word. Keys in double underscores are private to the clients.
    pub(super) fn ignores(&self, key: &str) -> bool {
        self.keys.contains(&key) || (!self.keys.is_empty() && key.starts_with("__"))
    }

    /// Returns whether an item of the list in `field` is left out, and by which name.
    pub(super) fn leaves_out<'v>(&self, field: &str, item: &'v Value) -> Option<&'v str> {
        let (_, names) = self.names.iter().find(|(list, _)| *list == field)?;
        let name = item.as_str().or_else(|| item.get("type")?.as_str())?;
        names.contains(&name).then_some(name)
    }

    /// Rewrites what some clients spell their own way, where the known spelling is not given too.
    pub(super) fn respell(&self, object: &mut Map<String, Value>) {
        for (other, known) in self.spellings {
            if !object.contains_key(*known)
                && let Some(value) = object.remove(*other)
            {
                object.insert((*known).to_owned(), value);
            }
        }
        if self.keys.contains(&"jsonOptions") {
            fold_json_options(object);
        }
    }
}

/// Gives the options of the Rust client's `jsonOptions` to the bare format `json` that it stands beside.
fn fold_json_options(options: &mut Map<String, Value>) {
    let Some(Value::Object(json)) = options.remove("jsonOptions") else { return };
    let Some(Value::Array(formats)) = options.get_mut("formats") else { return };
    if let Some(bare) = formats.iter_mut().find(|format| *format == "json") {
        let mut format = json;
        format.insert("type".to_owned(), "json".into());
        *bare = Value::Object(format);
    }
}
