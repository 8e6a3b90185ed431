//! The definitions of the tools, which language models read.

use std::sync::LazyLock;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::definition::define;
use super::task_tools::TaskTool;
use super::{interact_tools, monitor_tools, parse_tool, task_tools};

pub(super) const SEARCH: &str = "search";
pub(super) const SCRAPE: &str = "scrape";
pub(super) const MAP: &str = "map";

/// Tools of one kind in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listing {
    Listed,
    /// This service cannot run them.
    Hidden,
}

/// Kinds of tools that not every service can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ToolListings {
    /// Tools for browser sessions.
    pub(super) interact: Listing,
    /// Tools that work with a language model.
    pub(super) model: Listing,
}

/// Returns all tools that the service offers.
pub(super) fn all(listings: ToolListings) -> Vec<Tool> {
    let ToolListings { interact, model } = listings;
    let mut tools = TOOLS.clone();
    let is_listed = |tool: &&TaskTool| !tool.needs_model || model == Listing::Listed;
    tools.extend(task_tools::ALL.iter().filter(is_listed).map(TaskTool::definition));
    if interact == Listing::Listed {
        tools.extend(interact_tools::all());
    }
    tools
}

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let mut tools = vec![
        tool(
            SEARCH,
            "Search the web",
            "Searches the web and returns ranked results with URL, title and a snippet; with scrapeOptions.formats \
             also the content of every result. The query may contain operators: \"phrase\", -word, site:host, \
             intitle:word, filetype:pdf.",
            search(),
        ),
        tool(
            SCRAPE,
            "Read a page",
            "Scrapes one page and returns its content, as markdown unless other formats are requested. Also reads PDF \
             and office files, and renders pages that need a browser.",
            scrape(),
        ),
        tool(
            MAP,
            "List the URLs of a site",
            "Lists URLs of a site from its sitemaps, its feeds, the links of its start page and the index; with search, \
             the best matches come first. Use it to find the page to read.",
            map(),
        ),
    ];
    tools.push(parse_tool::definition());
    tools.extend(monitor_tools::all());
    tools
});

fn tool(name: &'static str, title: &str, description: &'static str, schema: Value) -> Tool {
    let hints = ToolAnnotations::with_title(title).read_only(true).destructive(false).open_world(true);
    define(name, description, schema, hints)
}

/// Returns the schema of a search. It contains the fields that are useful for models; all fields of `POST /v2/search` are
/// accepted.
fn search() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "maxLength": 500, "description": "The search query." },
            "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 10, "description": "Maximum number of results." },
            "sources": { "type": "array", "items": { "enum": ["web", "news", "images"] }, "description": "Kinds of results. Default: web." },
            "tbs": { "type": "string", "description": "Only results of the last hour, day, week, month or year: qdr:h, qdr:d, qdr:w, qdr:m, qdr:y." },
            "country": { "type": "string", "description": "ISO code of the searcher's country, such as DE." },
            "includeDomains": { "type": "array", "items": { "type": "string" }, "description": "Only results of these hosts." },
            "excludeDomains": { "type": "array", "items": { "type": "string" }, "description": "No results of these hosts." },
            "scrapeOptions": {
                "type": "object",
                "description": "With formats, each result contains its content.",
                "properties": page_options(),
            },
        },
        "required": ["query"],
    })
}

fn scrape() -> Value {
    let mut properties = page_options();
    properties["url"] = json!({ "type": "string", "description": "The URL of the page, http or https." });
    json!({ "type": "object", "properties": properties, "required": ["url"] })
}

/// Returns the schema of a map. It contains the fields that are useful for models; all fields of `POST /v2/map` are
/// accepted.
fn map() -> Value {
    json!({
        "type": "object",
        "properties": {
            "url": { "type": "string", "description": "The start URL of the site; with a path, only URLs below it are listed." },
            "search": { "type": "string", "maxLength": 500, "description": "Ranks the URLs by these words." },
            "limit": { "type": "integer", "minimum": 1, "maximum": 100000, "default": 5000, "description": "Maximum number of URLs." },
            "sitemap": { "enum": ["include", "only", "skip"], "description": "Use sitemaps in addition to other sources, only sitemaps, or no sitemaps. Default: include." },
            "includeSubdomains": { "type": "boolean", "default": true, "description": "Also list URLs of subdomains." },
        },
        "required": ["url"],
    })
}

pub(super) fn page_options() -> Value {
    json!({
        "formats": { "type": "array", "items": { "type": "string" }, "description": "markdown, html, rawHtml, links, images, screenshot." },
        "onlyMainContent": { "type": "boolean", "default": true, "description": "Omit navigation, headers and footers." },
        "includeTags": { "type": "array", "items": { "type": "string" }, "description": "Include only these elements: tag names or CSS selectors." },
        "excludeTags": { "type": "array", "items": { "type": "string" }, "description": "Omit these elements: tag names or CSS selectors." },
        "waitFor": { "type": "integer", "minimum": 0, "maximum": 60000, "description": "Milliseconds to wait in a browser before the content is read." },
        "mobile": { "type": "boolean", "description": "Use a mobile device." },
        "maxAge": { "type": "integer", "minimum": 0, "description": "Maximum age of a cached page in milliseconds; 0 always fetches the page." },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_tools_match_those_of_the_openapi_document() {
        let document = websvc_testkit::openapi_document();
        let properties = |schema: &str| {
            document["components"]["schemas"][schema]["properties"].as_object().unwrap().clone()
        };
        for (tool, request) in [(search(), properties("SearchRequest")), (map(), properties("MapRequest"))] {
            for (name, field) in tool["properties"].as_object().unwrap() {
                assert!(request.contains_key(name), "{name}");
                for keyword in ["maxLength", "maximum", "minimum", "default"] {
                    if let Some(value) = field.get(keyword) {
                        assert_eq!(Some(value), request[name].get(keyword), "{name} {keyword}");
                    }
                }
            }
        }
        let scrape_options = properties("ScrapeOptions");
        for name in page_options().as_object().unwrap().keys() {
            assert!(scrape_options.contains_key(name), "{name}");
        }
    }
}
