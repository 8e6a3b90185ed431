//! The tools that there are, as models read of them.

use std::sync::{Arc, LazyLock};

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

pub(super) const SEARCH: &str = "search";
pub(super) const SCRAPE: &str = "scrape";
pub(super) const MAP: &str = "map";

/// Returns all tools.
pub(super) fn all() -> Vec<Tool> {
    TOOLS.clone()
}

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    vec![
        tool(
            SEARCH,
            "Search the web",
            "Searches the web and returns ranked results with URL, title and the passage about the query; with \
             scrapeOptions.formats also the content of every result. The query may have operators: \"phrase\", \
             -word, site:host, intitle:word, filetype:pdf.",
            search(),
        ),
        tool(
            SCRAPE,
            "Read a page",
            "Gets one page and returns its content, as markdown unless other formats are asked for. Reads PDF and \
             office files, too, and draws pages that need a browser.",
            scrape(),
        ),
        tool(
            MAP,
            "List the URLs of a site",
            "Lists URLs of a site from its sitemaps, its feeds, the links of its start page and the index; with search the \
             best for some words come first. Use it to find the page to read.",
            map(),
        ),
    ]
});

fn tool(name: &'static str, title: &str, description: &'static str, schema: Value) -> Tool {
    let schema: JsonObject = match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    let hints = ToolAnnotations::with_title(title).read_only(true).destructive(false).open_world(true);
    Tool::new(name, description, Arc::new(schema)).with_annotations(hints)
}

/// Returns the fields that models have use for; all others of `POST /v2/search` may be given, too.
fn search() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "maxLength": 500, "description": "What is searched for." },
            "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 10, "description": "How many results at most." },
            "sources": { "type": "array", "items": { "enum": ["web", "news", "images"] }, "description": "What is searched. Default: web." },
            "tbs": { "type": "string", "description": "Only results of a time: qdr:h, qdr:d, qdr:w, qdr:m, qdr:y." },
            "country": { "type": "string", "description": "ISO code of the searcher's country, such as DE." },
            "includeDomains": { "type": "array", "items": { "type": "string" }, "description": "Only results of these hosts." },
            "excludeDomains": { "type": "array", "items": { "type": "string" }, "description": "No results of these hosts." },
            "scrapeOptions": {
                "type": "object",
                "description": "With formats, each result carries its content.",
                "properties": page_options(),
            },
        },
        "required": ["query"],
    })
}

fn scrape() -> Value {
    let mut properties = page_options();
    properties["url"] = json!({ "type": "string", "description": "The address of the page, http or https." });
    json!({ "type": "object", "properties": properties, "required": ["url"] })
}

/// Returns the fields that models have use for; all others of `POST /v2/map` may be given, too.
fn map() -> Value {
    json!({
        "type": "object",
        "properties": {
            "url": { "type": "string", "description": "Where the site begins; with a path, only URLs below it are listed." },
            "search": { "type": "string", "maxLength": 500, "description": "Ranks the URLs by these words." },
            "limit": { "type": "integer", "minimum": 1, "maximum": 100000, "default": 5000, "description": "How many URLs at most." },
            "sitemap": { "enum": ["include", "only", "skip"], "description": "Lists URLs of sitemaps beside others, alone, or not. Default: include." },
            "includeSubdomains": { "type": "boolean", "default": true, "description": "Lists URLs of subdomains, too." },
        },
        "required": ["url"],
    })
}

fn page_options() -> Value {
    json!({
        "formats": { "type": "array", "items": { "type": "string" }, "description": "markdown, html, rawHtml, links, images, screenshot." },
        "onlyMainContent": { "type": "boolean", "default": true, "description": "Leaves out navigation, headers and footers." },
        "includeTags": { "type": "array", "items": { "type": "string" }, "description": "Keeps only these: tag names or CSS selectors." },
        "excludeTags": { "type": "array", "items": { "type": "string" }, "description": "Leaves these out: tag names or CSS selectors." },
        "waitFor": { "type": "integer", "minimum": 0, "maximum": 60000, "description": "Milliseconds to wait in a browser before the content is taken." },
        "mobile": { "type": "boolean", "description": "Visits as a mobile device." },
        "maxAge": { "type": "integer", "minimum": 0, "description": "Milliseconds: a cached page up to this age will do; 0 fetches anew." },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_a_tool_is_one_of_the_interface() {
        let document = websvc_types::openapi::document();
        let known = |schema: &str| {
            document["components"]["schemas"][schema]["properties"].as_object().unwrap().clone()
        };
        let (searching, scraping) = (known("SearchRequest"), known("ScrapeOptions"));
        for (tool, known) in [(search(), searching), (map(), known("MapRequest"))] {
            for (name, field) in tool["properties"].as_object().unwrap() {
                assert!(known.contains_key(name), "{name}");
                for bound in ["maxLength", "maximum", "minimum", "default"] {
                    if let Some(value) = field.get(bound) {
                        assert_eq!(Some(value), known[name].get(bound), "{name} {bound}");
                    }
                }
            }
        }
        for name in page_options().as_object().unwrap().keys() {
            assert!(scraping.contains_key(name), "{name}");
        }
    }
}
