//! Keys of official clients that the specification does not have.
//!
//! A client that works with the original must work here: such keys are ignored without a word, and such names are
//! left out with one.

use serde::Deserialize;
use websvc_types::compat::{self, JSON_OPTIONS};
use websvc_types::format::Json;

use super::tree::{BodyValue, Fields};
use crate::format;
use crate::path::Path;
use crate::report::Report;

/// Tolerated keys of one object.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClientCompat {
    /// Keys that are ignored.
    keys: &'static [&'static str],
    /// Other spellings of known keys.
    spellings: &'static [(&'static str, &'static str)],
    /// For a field with a list: names that are left out of it.
    names: &'static [(&'static str, &'static [&'static str])],
    /// Known keys that are ignored with a word.
    named_keys: &'static [&'static str],
    /// Allows the options of the format json beside the formats.
    takes_json_options: bool,
}

const SEARCH: ClientCompat = ClientCompat {
    keys: &["asyncScraping", "domainTools", "filter", "lang", "toolDetail"],
    spellings: &[(compat::IGNORE_INVALID_URLS, "ignoreInvalidURLs")],
    names: &[("categories", compat::CATEGORIES), ("sources", compat::SOURCES)],
    named_keys: &[],
    takes_json_options: false,
};

const SCRAPE: ClientCompat = ClientCompat {
    keys: &["checkPromptInjection", "domainTools", "fastMode", "toolDetail", "useMock"],
    spellings: &[],
    names: &[("formats", compat::FORMATS)],
    named_keys: &[],
    takes_json_options: true,
};

const CRAWL: ClientCompat = ClientCompat { keys: SCRAPE.keys, ..NOTHING };
const BATCH: ClientCompat = ClientCompat { spellings: SEARCH.spellings, ..SCRAPE };
const MAP: ClientCompat = ClientCompat { keys: &["useMock"], ..NOTHING };
const PARSER: ClientCompat = ClientCompat { named_keys: compat::PARSER_OPTIONS, ..NOTHING };
const NOTHING: ClientCompat =
    ClientCompat { keys: &[], spellings: &[], names: &[], named_keys: &[], takes_json_options: false };

impl ClientCompat {
    /// Returns what is tolerated in the object with this definition.
    pub(super) fn of(definition: &str) -> Self {
        match definition {
            "SearchRequest" => SEARCH,
            "ScrapeOptions" | "ScrapeRequest" | "ParseOptions" => SCRAPE,
            "MapRequest" | "MapRequestV1" => MAP,
            "BatchScrapeRequest" => BATCH,
            "CrawlRequest" => CRAWL,
            "Parser" => PARSER,
            _ => Self::default(),
        }
    }

    /// Tells whether a key is ignored without a word. Keys in double underscores are private to the clients.
    pub(super) fn ignores(&self, key: &str) -> bool {
        self.keys.contains(&key) || (!self.keys.is_empty() && key.starts_with("__"))
    }

    /// Returns whether an item of the list in `field` is left out, and by which name.
    pub(super) fn ignored_item_name<'v>(&self, field: &str, item: &'v BodyValue<'_>) -> Option<&'v str> {
        let (_, names) = self.names.iter().find(|(list, _)| *list == field)?;
        let name = item.as_text().or_else(|| item.field("type")?.as_text())?;
        names.contains(&name).then_some(name)
    }

    /// Tells whether the items that are left out of a list are named. The hosted service's source is not, where others
    /// stand beside it: clients ask for it in every search.
    pub(super) fn names_left_out(&self, field: &str, items: &[BodyValue<'_>]) -> bool {
        field != "sources" || items.iter().all(|item| self.ignored_item_name(field, item).is_some())
    }

    /// Rewrites the items of a list that have a newer name.
    pub(super) fn respell_items(&self, field: &str, items: &mut [BodyValue<'_>]) {
        if self.takes_json_options && field == "formats" {
            items.iter_mut().for_each(respell_query);
        }
    }

    /// Rewrites what some clients spell their own way, where the known spelling is not given too.
    pub(super) fn rename_alias(&self, fields: &mut Fields<'_>, path: &Path<'_>, report: &mut Report) {
        for (other, known) in self.spellings {
            if let Some(position) = fields.iter().position(|(key, _)| key == other) {
                let (_, value) = fields.swap_remove(position);
                if !fields.iter().any(|(key, _)| key == known) {
                    fields.push(((*known).into(), value));
                }
            }
        }
        fields.retain(|(key, value)| {
            let is_named = self.named_keys.contains(&key.as_ref());
            // What is switched off is not missed.
            if is_named && *value != BodyValue::Bool(false) {
                report
                    .warning(&path.key(key), |name| format!("{name} is not available here and was ignored"));
            }
            !is_named
        });
        if self.takes_json_options {
            fold_json_options(fields, path, report);
        }
    }
}

/// Makes the format `query` the format `question`, whose older name it is. How its answer is worded is left to the
/// model.
fn respell_query(format: &mut BodyValue<'_>) {
    let BodyValue::Object(fields) = format else { return };
    let is_query =
        |(key, value): &(_, BodyValue<'_>)| key == "type" && value.as_text() == Some(compat::QUERY);
    if !fields.iter().any(is_query) {
        return;
    }
    fields.retain(|(key, _)| key != "mode");
    for (key, value) in fields {
        if key == "type" {
            *value = BodyValue::Text("question".into());
        } else if key == "prompt" {
            *key = "question".into();
        }
    }
}

/// Gives the options of the Rust client's `jsonOptions` to the bare format `json` that it stands beside. Without one
/// they have no effect, which is said; they are checked all the same.
fn fold_json_options(fields: &mut Fields<'_>, path: &Path<'_>, report: &mut Report) {
    let Some(position) = fields.iter().position(|(key, _)| key == JSON_OPTIONS) else { return };
    let (_, BodyValue::Object(mut options)) = fields.swap_remove(position) else { return };
    let formats = fields.iter_mut().find(|(key, _)| key == "formats");
    if let Some((_, BodyValue::List(formats))) = formats
        && let Some(bare) = formats.iter_mut().find(|format| format.as_text() == Some("json"))
    {
        options.push(("type".into(), BodyValue::Text("json".into())));
        *bare = BodyValue::Object(options);
        return;
    }
    let path = path.key(JSON_OPTIONS);
    // What has not its shape was reported and taken out before.
    if let Ok(options) = Json::deserialize(BodyValue::Object(options)) {
        format::json(report, &path, &options);
    }
    report.warning(&path, |name| format!("{name} was ignored: formats does not have the bare name json"));
}
