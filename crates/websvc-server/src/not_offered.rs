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

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;
    use crate::route::{ROUTES, find};

    #[test]
    fn operation_of_upstream_that_is_not_offered_is_named_in_the_404() {
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
    fn operation_that_is_offered_is_not_listed_as_missing() {
        for route in ROUTES {
            let is_listed = operation(route.path).is_some();
            assert!(!is_listed, "{} is offered", route.path);
        }
    }
}
