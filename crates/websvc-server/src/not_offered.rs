//! Operations of the upstream interface that this service does not offer, so that their 404 can say so.

/// Path prefixes of upstream operations, in whole segments; a segment in braces stands for any one.
const PREFIXES: &[(&str, &str)] = &[
    ("/v2/agent", "agent runs"),
    ("/v2/browser", "browser sessions"),
    ("/v2/interact", "browser sessions"),
    ("/v2/scrape/{id}/interact", "browser sessions"),
    ("/v2/monitor", "monitors"),
    ("/v2/extract", "extract"),
    ("/v1/extract", "extract"),
    ("/v1/deep-research", "deep research"),
    ("/v1/llmstxt", "llms.txt generation"),
    ("/v2/parse/upload-url", "uploads by reference"),
    ("/v2/parse/upload", "uploads by reference"),
    ("/v2/feedback", "feedback"),
    ("/v2/search/{id}/feedback", "feedback"),
    ("/v2/search/developer", "the developer index"),
    ("/v2/search/research", "the research index"),
    ("/v2/research", "the research index"),
    ("/v2/search/gov", "the government index"),
    ("/v2/support", "support questions"),
    ("/v2/slack", "the Slack application"),
    ("/v2/keyless", "access without a key"),
    ("/v2/mcp/action-logs", "logs of hosted MCP"),
    ("/v2/team/activity", "the activity list of a team"),
    ("/v2/team/siem", "SIEM settings over HTTP"),
    ("/v2/team/threat-protection", "threat protection settings over HTTP"),
];

/// Returns the upstream operation that a normalized path belongs to, if it is one that is not offered.
pub(crate) fn operation(path: &str) -> Option<&'static str> {
    PREFIXES.iter().find(|(prefix, _)| is_below(path, prefix)).map(|&(_, operation)| operation)
}

/// Returns the sentence for the caller.
pub(crate) fn explain(operation: &str) -> String {
    format!("this service does not offer {operation}; GET /openapi.json lists the operations that it has")
}

/// Reports whether `path` begins with all segments of `prefix`.
fn is_below(path: &str, prefix: &str) -> bool {
    let mut given = path.split('/');
    prefix.split('/').all(|segment| given.next().is_some_and(|given| segment == "{id}" || segment == given))
}
