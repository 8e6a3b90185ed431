//! Operations of the upstream API that this service does not offer. Their 404 names them.

/// Path prefixes of upstream operations, in whole segments. A segment in braces matches any segment.
const PREFIXES: &[(&str, &str)] = &[
    ("/v2/agent", "agent runs"),
    ("/v2/browser/{id}/replay", "recordings of browser sessions"),
    ("/v2/interact/{id}/replay", "recordings of browser sessions"),
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

/// Returns the upstream operation of a normalized path, if this service does not offer it.
pub(crate) fn operation(path: &str) -> Option<&'static str> {
    PREFIXES.iter().find(|(prefix, _)| is_below(path, prefix)).map(|&(_, operation)| operation)
}

/// Returns the explanation for the client.
pub(crate) fn explain(operation: &str) -> String {
    format!("this service does not offer {operation}; GET /openapi.json lists the operations that it has")
}

/// Returns whether `path` begins with all segments of `prefix`.
fn is_below(path: &str, prefix: &str) -> bool {
    let mut segments = path.split('/');
    prefix
        .split('/')
        .all(|expected| segments.next().is_some_and(|segment| expected == "{id}" || expected == segment))
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;
    use crate::route::{ROUTES, find};

    #[test]
    fn not_found_text_names_an_upstream_operation_that_is_not_offered() {
        let text = |method: &Method, path: &str| find(method, path).unwrap_err().as_text();
        let agent = text(&Method::POST, "/v2/agent");
        assert!(
            agent.starts_with("Not found: POST /v2/agent: this service does not offer agent runs"),
            "{agent}"
        );
        assert!(text(&Method::GET, "//v2/agent/7/").contains("agent runs"));
        assert_eq!(text(&Method::GET, "/v2/agents"), "Not found: GET /v2/agents");
        assert_eq!(text(&Method::GET, "/v2/nothing"), "Not found: GET /v2/nothing");
    }

    #[test]
    fn offered_operation_is_not_listed_as_missing() {
        for route in ROUTES {
            let is_listed = operation(route.path).is_some();
            assert!(!is_listed, "{} is offered", route.path);
        }
    }
}
