//! The schemas of the arguments. Those of starts contain the fields that are useful for models; all fields of the
//! operations are accepted.

use serde_json::{Value, json};
use websvc_types::limits::{
    AGENT_CREDITS_DEFAULT, AGENT_CREDITS_MAX, AGENT_CREDITS_MIN, AGENT_PROMPT_MAX_CHARS,
    AGENT_PROMPT_MIN_CHARS, AGENT_URLS_MAX, JOB_PAGE_DOCUMENTS,
};

use super::super::tools::page_options;

/// Number of documents of a part, so that a part fits into the context of a model.
pub(super) const DOCUMENTS_DEFAULT: u64 = 10;

pub(super) fn crawl() -> Value {
    let paths = |description: &str| json!({ "type": "array", "items": { "type": "string" }, "description": description });
    let properties = json!({
        "url": { "type": "string", "description": "The page to start with." },
        "limit": { "type": "integer", "minimum": 1, "description": "Maximum number of pages. Default: 10000." },
        "maxDiscoveryDepth": { "type": "integer", "minimum": 0, "description": "Maximum number of links between the start and a page." },
        "includePaths": paths("Only URLs whose path matches one of these regular expressions."),
        "excludePaths": paths("No URLs whose path matches one of these regular expressions."),
        "crawlEntireDomain": { "type": "boolean", "default": false, "description": "Also pages that are not below the start URL." },
        "allowSubdomains": { "type": "boolean", "default": false, "description": "Also pages of subdomains." },
        "allowExternalLinks": { "type": "boolean", "default": false, "description": "Also pages of other sites." },
        "sitemap": { "enum": ["include", "skip", "only"], "description": "Use sitemaps in addition to links, only sitemaps, or no sitemaps. Default: include." },
        "prompt": { "type": "string", "description": "The pages that are wanted, in words; a language model chooses the options." },
        "scrapeOptions": { "type": "object", "description": "Formats and options of each page.", "properties": page_options() },
    });
    json!({ "type": "object", "properties": properties, "required": ["url"] })
}

pub(super) fn batch() -> Value {
    let mut properties = page_options();
    properties["urls"] =
        json!({ "type": "array", "items": { "type": "string" }, "description": "The URLs of the pages." });
    json!({ "type": "object", "properties": properties, "required": ["urls"] })
}

pub(super) fn extract() -> Value {
    let properties = json!({
        "urls": { "type": "array", "items": { "type": "string" }, "description": "The pages; a URL that ends with /* stands for the pages below it." },
        "prompt": { "type": "string", "description": "The data that are wanted, in words." },
        "schema": { "type": "object", "description": "JSON Schema of the data." },
        "enableWebSearch": { "type": "boolean", "default": false, "description": "Also search for other pages." },
    });
    json!({ "type": "object", "properties": properties })
}

pub(super) fn agent() -> Value {
    let properties = json!({
        "prompt": {
            "type": "string", "minLength": AGENT_PROMPT_MIN_CHARS, "maxLength": AGENT_PROMPT_MAX_CHARS,
            "description": "The task in words. Name the fields that you need.",
        },
        "urls": {
            "type": "array", "maxItems": AGENT_URLS_MAX, "items": { "type": "string" },
            "description": "URLs to start with.",
        },
        "schema": { "type": "object", "description": "JSON Schema of the data." },
        "strictConstrainToURLs": {
            "type": "boolean", "default": false, "description": "Read only the pages in urls.",
        },
        "maxCredits": {
            "type": "integer", "minimum": AGENT_CREDITS_MIN, "maximum": AGENT_CREDITS_MAX, "default": AGENT_CREDITS_DEFAULT,
            "description": "Maximum of credits. A run that would need more fails and costs nothing.",
        },
        "effort": { "enum": ["low", "medium", "high"], "description": "Bound on the work. Default: medium." },
        "mode": {
            "enum": ["extract", "chat"], "default": "extract", "description": "chat also answers with a text in message.",
        },
        "threadId": {
            "type": "string",
            "description": "The thread to continue. The run knows its earlier turns, and inherits mode, urls and schema.",
        },
    });
    json!({ "type": "object", "properties": properties, "required": ["prompt"] })
}

pub(super) fn by_id() -> Value {
    json!({ "type": "object", "properties": { "id": id() }, "required": ["id"], "additionalProperties": false })
}

pub(super) fn documents() -> Value {
    let properties = json!({
        "id": id(),
        "skip": { "type": "integer", "minimum": 0, "default": 0, "description": "Number of documents to skip." },
        "limit": {
            "type": "integer", "minimum": 1, "maximum": JOB_PAGE_DOCUMENTS, "default": DOCUMENTS_DEFAULT,
            "description": "Maximum number of documents.",
        },
    });
    json!({ "type": "object", "properties": properties, "required": ["id"], "additionalProperties": false })
}

fn id() -> Value {
    json!({ "type": "string", "description": "The ID that the start has returned." })
}
