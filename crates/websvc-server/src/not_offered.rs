//! Operations of the upstream API that this service does not offer. Their 404 names them.

/// Path prefixes of upstream operations, in whole segments. A segment in braces matches any segment.
const PREFIXES: &[(&str, &str)] = &[
    ("/v2/browser/{id}/replay", "recordings of browser sessions"),
    ("/v2/interact/{id}/replay", "recordings of browser sessions"),
    ("/v1/deep-research", "deep research"),
    ("/v2/search/developer", "the developer index"),
    ("/v2/search/research", "the research index"),
    ("/v2/research", "the research index"),
    ("/v2/search/gov", "the government index"),
    ("/v2/support", "support questions"),
    ("/v2/slack", "the Slack application"),
    ("/v2/keyless", "access without a key"),
    ("/v2/mcp/action-logs", "logs of hosted MCP"),
    ("/v2/scrape/{id}/feedback", "feedback on scrapes under this path"),
    ("/v2/deep-research", "deep research"),
    ("/v2/llmstxt", "llms.txt generation in version 2"),
    ("/v2/x402", "paid requests without a key"),
    ("/v1/x402", "paid requests without a key"),
    ("/v2/team/threat-protection/zscaler", "Zscaler"),
];

/// Returns the upstream operation of a normalized path, if this service does not offer it.
pub(crate) fn operation(path: &str) -> Option<&'static str> {
    PREFIXES.iter().find(|(prefix, _)| is_below(path, prefix)).map(|&(_, operation)| operation)
}

/// Operations of this service that do similar work as operations that it does not offer.
const ALTERNATIVES: &[(&str, &str)] = &[
    ("deep research", "POST /v2/search with scrapeOptions, or POST /v2/agent"),
    ("feedback on scrapes under this path", "POST /v2/feedback"),
    ("llms.txt generation in version 2", "POST /v1/llmstxt"),
    ("the developer index", "POST /v2/search"),
    ("the research index", "POST /v2/search with the category research"),
    ("the government index", "POST /v2/search"),
];

/// Paths of version 0, each with the operation that does its work now. More specific paths come first.
const VERSION_0: &[(&str, &str)] = &[
    ("/v0/crawl/status", "GET /v2/crawl/{id}"),
    ("/v0/crawl/cancel", "DELETE /v2/crawl/{id}"),
    ("/v0/crawl", "POST /v2/crawl"),
    ("/v0/scrape", "POST /v2/scrape"),
    ("/v0/search", "POST /v2/search"),
    ("/v0/checkJobStatus", "GET /v2/crawl/{id}"),
    ("/v0/keyAuth", "GET /v2/team/credit-usage"),
];

/// Returns the explanation for the client.
pub(crate) fn explain(operation: &str) -> String {
    let text = format!("this service does not offer {operation}");
    match ALTERNATIVES.iter().find(|(other, _)| *other == operation) {
        Some((_, alternative)) => format!("{text}; use {alternative}"),
        None => format!("{text}; GET /openapi.json lists the operations that it has"),
    }
}

/// Returns the explanation for a request of version 0, which no longer exists.
pub(crate) fn version_0(path: &str) -> Option<String> {
    if !is_below(path, "/v0") {
        return None;
    }
    let successor = VERSION_0.iter().find(|(prefix, _)| is_below(path, prefix));
    Some(match successor {
        Some((_, successor)) => format!("Version 0 of the API no longer exists: use {successor}"),
        None => "Version 0 of the API no longer exists: GET /openapi.json lists the operations".to_owned(),
    })
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
    use crate::route::{endpoints, find};

    #[test]
    fn not_found_text_names_an_upstream_operation_that_is_not_offered() {
        let text = |method: &Method, path: &str| find(method, path).unwrap_err().as_text();
        let research = text(&Method::POST, "/v2/deep-research");
        assert!(
            research
                .starts_with("Not found: POST /v2/deep-research: this service does not offer deep research"),
            "{research}"
        );
        assert!(text(&Method::GET, "//v1/deep-research/7/").contains("does not offer deep research"));
        assert_eq!(text(&Method::GET, "/v2/agents"), "Not found: GET /v2/agents");
        assert_eq!(text(&Method::GET, "/v2/nothing"), "Not found: GET /v2/nothing");
        let research = text(&Method::POST, "/v1/deep-research");
        assert!(
            research.ends_with("; use POST /v2/search with scrapeOptions, or POST /v2/agent"),
            "{research}"
        );
        assert!(text(&Method::POST, "/v2/support/ask").ends_with("lists the operations that it has"));
    }

    #[test]
    fn alternatives_are_operations_of_this_service() {
        for (operation, _) in ALTERNATIVES {
            assert!(PREFIXES.iter().any(|(_, other)| other == operation), "{operation}");
        }
        for (_, alternative) in ALTERNATIVES.iter().chain(VERSION_0) {
            let (method, path) = alternative.split_once(' ').unwrap();
            let path = path.split(' ').next().unwrap();
            let is_offered = endpoints().any(|route| route.method == method && route.path == path);
            assert!(is_offered, "{alternative}");
        }
    }

    #[test]
    fn path_of_version_0_is_gone_and_names_its_successor() {
        let check = |path: &str, expected: &str| {
            let error = find(&Method::POST, path).unwrap_err();
            assert_eq!(error.status(), 410, "{path}");
            assert!(error.as_text().contains(expected), "{path}: {}", error.as_text());
        };
        check("/v0/scrape", "POST /v2/scrape");
        check("/v0/crawl/status/7", "GET /v2/crawl/{id}");
        check("/v0/crawl/cancel/7", "DELETE /v2/crawl/{id}");
        check("//v0/search/", "POST /v2/search");
        check("/v0/other", "GET /openapi.json");
        assert_eq!(find(&Method::POST, "/v00/scrape").unwrap_err().status(), 404);
    }

    #[test]
    fn offered_operation_is_not_listed_as_missing() {
        for route in endpoints() {
            let is_listed = operation(route.path).is_some();
            assert!(!is_listed, "{} is offered", route.path);
        }
    }
}
