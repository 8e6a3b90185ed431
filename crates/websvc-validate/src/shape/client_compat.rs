//! Fields and values of official clients that the specification does not have.
//!
//! A client of the original service must work here. Such fields are ignored without a warning, such values are ignored
//! with a warning.

use serde::Deserialize;
use websvc_types::compat::{self, JSON_OPTIONS};
use websvc_types::format::Json;

use super::Shape;
use super::tree::{BodyValue, Fields};
use crate::format;
use crate::json_schema::SchemaCompiler;
use crate::path::Path;
use crate::report::Report;

/// An operation that this service does not have.
#[derive(Debug, Clone, Copy)]
pub(super) struct OtherOperation {
    /// Field by which a request is recognized.
    pub(super) field: &'static str,
    /// Text about the field in the message, after its name.
    pub(super) text: &'static str,
}

/// Fields and values that are tolerated in an object.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClientCompat {
    /// Fields that are ignored without a warning.
    ignored_fields: &'static [&'static str],
    /// Other spellings of known fields: the spelling and the name of the field.
    aliases: &'static [(&'static str, &'static str)],
    /// Items of lists that are ignored with a warning: the field and the names of the items.
    ignored_items: &'static [(&'static str, &'static [&'static str])],
    /// Items of lists that are ignored with a warning if they are only a name.
    ignored_names: &'static [(&'static str, &'static [&'static str])],
    /// Other operations of the original service under the same path.
    other_operations: &'static [OtherOperation],
    /// Fields that are ignored with a warning.
    unsupported_fields: &'static [&'static str],
    /// Accepts the options of the format `json` in a field next to `formats`.
    accepts_json_options: bool,
}

const SEARCH: ClientCompat = ClientCompat {
    ignored_fields: &["asyncScraping", "domainTools", "filter", "lang", "toolDetail"],
    aliases: &[(compat::IGNORE_INVALID_URLS, "ignoreInvalidURLs")],
    ignored_items: &[("categories", compat::CATEGORIES), ("sources", compat::SOURCES)],
    ignored_names: &[],
    unsupported_fields: &[],
    accepts_json_options: false,
    other_operations: &[],
};

const SCRAPE: ClientCompat = ClientCompat {
    other_operations: &[],
    ignored_fields: &["domainTools", "fastMode", "toolDetail", "useMock"],
    aliases: &[],
    ignored_items: &[("parsers", compat::PARSERS)],
    ignored_names: &[("formats", compat::BARE_FORMATS)],
    // A caller that asks for this check must not take the page for checked.
    unsupported_fields: &[compat::CHECK_PROMPT_INJECTION],
    accepts_json_options: true,
};

/// The tool `find_tools` of the official MCP server sends the tools of providers instead of a URL.
const PAGE: ClientCompat = ClientCompat {
    other_operations: &[OtherOperation {
        field: compat::ALEXANDRIA,
        text: "is not offered here: this service has no tools of other providers; send url to scrape a page, or use POST \
               /v2/search to find pages",
    }],
    ..SCRAPE
};
const CRAWL: ClientCompat = ClientCompat {
    ignored_fields: SCRAPE.ignored_fields,
    unsupported_fields: SCRAPE.unsupported_fields,
    ..NOTHING
};
const BATCH: ClientCompat = ClientCompat { aliases: SEARCH.aliases, ..SCRAPE };
const MAP: ClientCompat = ClientCompat { ignored_fields: &["useMock"], ..NOTHING };
/// The Python client sends `__experimental_stream`.
const LLMS_TXT: ClientCompat =
    ClientCompat { ignored_fields: &["__experimental_stream", "stream"], ..NOTHING };
const PARSER: ClientCompat = ClientCompat { aliases: &[(compat::PAGE_MARKDOWN, "pages")], ..NOTHING };
// A caller that asks for this check must not take the page for checked.
const JSON: ClientCompat = ClientCompat { unsupported_fields: &[compat::CHECK_PROMPT_INJECTION], ..NOTHING };
/// The official Rust client has its own spelling.
const AGENT: ClientCompat =
    ClientCompat { aliases: &[(compat::STRICT_CONSTRAIN_TO_URLS, "strictConstrainToURLs")], ..NOTHING };
/// Fields with two leading underscores switch experiments of the hosted service.
const EXTRACT: ClientCompat = ClientCompat {
    ignored_fields: &["__experimental_stream", "__experimental_streamSteps"],
    aliases: SEARCH.aliases,
    ..NOTHING
};
const NOTHING: ClientCompat = ClientCompat {
    other_operations: &[],
    ignored_fields: &[],
    aliases: &[],
    ignored_items: &[],
    ignored_names: &[],
    unsupported_fields: &[],
    accepts_json_options: false,
};

/// Returns whether a value counts as not given: null, and an empty object in place of a list. The node of n8n sends one for
/// each list that its user has left empty.
pub(super) fn counts_as_absent(shape: &Shape, value: &BodyValue<'_>) -> bool {
    match value {
        BodyValue::Null => true,
        BodyValue::Object(fields) if fields.is_empty() => {
            shape.matches_type(&BodyValue::List(Vec::new())) && !shape.matches_type(value)
        }
        _ => false,
    }
}

impl ClientCompat {
    /// Returns what is tolerated in the object with this schema name.
    pub(super) fn from_definition(definition: &str) -> Self {
        match definition {
            "SearchRequest" => SEARCH,
            "ScrapeOptions" | "ParseOptions" | "ParseUploadRequest" => SCRAPE,
            "ScrapeRequest" => PAGE,
            "MapRequest" | "MapRequestV1" => MAP,
            "BatchScrapeRequest" => BATCH,
            "CrawlRequest" => CRAWL,
            "LlmsTxtRequest" => LLMS_TXT,
            "AgentRequest" => AGENT,
            "ExtractRequest" => EXTRACT,
            "Parser" => PARSER,
            "Json" => JSON,
            _ => Self::default(),
        }
    }

    /// Returns whether an unknown field is ignored without a warning. Fields with two leading underscores are private
    /// to the clients.
    pub(super) fn ignores(&self, name: &str) -> bool {
        self.ignored_fields.contains(&name) || (!self.ignored_fields.is_empty() && name.starts_with("__"))
    }

    /// Returns the field of another operation that an object contains.
    pub(super) fn other_operation(&self, fields: &Fields<'_>) -> Option<OtherOperation> {
        self.other_operations.iter().find(|other| fields.iter().any(|(key, _)| key == other.field)).copied()
    }

    /// Returns whether a field is an option that is not available, with a warning unless it is turned off.
    pub(super) fn reports(
        &self,
        key: &str,
        value: &BodyValue<'_>,
        path: &Path<'_>,
        report: &mut Report,
    ) -> bool {
        let is_unsupported = self.unsupported_fields.contains(&key);
        if is_unsupported && *value != BodyValue::Bool(false) && !value.is_null() {
            report.warning(&path.key(key), |name| format!("{name} is not available and was ignored"));
        }
        is_unsupported
    }

    /// Returns the name of an item of the list in `field`, if the item is ignored.
    pub(super) fn ignored_item_name<'v>(&self, field: &str, item: &'v BodyValue<'_>) -> Option<&'v str> {
        let has = |lists: &[(&str, &[&str])], name: &str| {
            lists.iter().any(|(list, names)| *list == field && names.contains(&name))
        };
        match item.as_text() {
            Some(name) => (has(self.ignored_items, name) || has(self.ignored_names, name)).then_some(name),
            None => item.field("type")?.as_text().filter(|name| has(self.ignored_items, name)),
        }
    }

    /// Returns whether ignored items of a list get a warning. A source of the hosted service gets none if there are
    /// other sources, because official clients add it to every search.
    pub(super) fn warns_about_ignored_items(&self, field: &str, items: &[BodyValue<'_>]) -> bool {
        field != "sources" || items.iter().all(|item| self.ignored_item_name(field, item).is_some())
    }

    /// Rewrites items of a list that have a newer name.
    pub(super) fn rename_items(&self, field: &str, items: &mut [BodyValue<'_>]) {
        if self.accepts_json_options && field == "formats" {
            items.iter_mut().for_each(query_to_question);
        }
    }

    /// Renames fields with another spelling, unless the known spelling is present, and removes unsupported fields.
    pub(super) fn rewrite_fields(&self, fields: &mut Fields<'_>, path: &Path<'_>, report: &mut Report) {
        for (alias, name) in self.aliases {
            if let Some(index) = fields.iter().position(|(key, _)| key == alias) {
                let (_, value) = fields.swap_remove(index);
                if !fields.iter().any(|(key, _)| key == name) {
                    fields.push(((*name).into(), value));
                }
            }
        }
        fields.retain(|(key, value)| !self.reports(key, value, path, report));
        if self.accepts_json_options {
            merge_json_options(fields, path, report);
        }
    }
}

/// Rewrites the format `query` to `question`, of which it is the older name. Its `mode` is ignored.
fn query_to_question(format: &mut BodyValue<'_>) {
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

/// Moves the options of the official Rust client's `jsonOptions` into the bare format `json`. Without that format, the
/// options are checked and ignored with a warning.
fn merge_json_options(fields: &mut Fields<'_>, path: &Path<'_>, report: &mut Report) {
    let Some(index) = fields.iter().position(|(key, _)| key == JSON_OPTIONS) else { return };
    let (_, BodyValue::Object(mut options)) = fields.swap_remove(index) else { return };
    let formats = fields.iter_mut().find(|(key, _)| key == "formats");
    if let Some((_, BodyValue::List(formats))) = formats
        && let Some(bare) = formats.iter_mut().find(|format| format.as_text() == Some("json"))
    {
        options.push(("type".into(), BodyValue::Text("json".into())));
        *bare = BodyValue::Object(options);
        return;
    }
    let path = path.key(JSON_OPTIONS);
    // Values of the wrong shape were reported and removed before.
    if let Ok(options) = Json::deserialize(BodyValue::Object(options)) {
        // They are not used, so their schema is not compiled.
        format::json(report, &path, &options, SchemaCompiler::default());
    }
    report.warning(&path, |name| format!("{name} was ignored: formats does not have the bare name json"));
}
