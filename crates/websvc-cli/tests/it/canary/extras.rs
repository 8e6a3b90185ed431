//! Feedback, rerankings, agent runs, extractions, prompts of crawls, uploads, settings of teams and requests for an llms.txt
//! that might connect to an internal address.

use serde_json::{Value, json};

/// Returns feedback whose URLs and texts are `internal`.
pub(super) fn feedback_attacks(internal: &str) -> Vec<Value> {
    let source = json!({"url": internal, "reason": internal});
    let missing = json!([{"topic": internal, "description": internal}]);
    vec![
        json!({"rating": "good", "valuableSources": [source]}),
        json!({"endpoint": "scrape", "jobId": "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60", "rating": "bad",
            "url": internal, "note": internal, "missingContent": missing, "metadata": {"webhook": internal}}),
    ]
}

/// Returns requests for rerankings that might connect to `internal`.
pub(super) fn rerank_attacks(internal: &str) -> Vec<Value> {
    vec![
        json!({"query": "inside", "model": internal, "documents": [internal, {"text": internal}]}),
        json!({"query": internal, "documents": ["inside"], "base_url": internal, "endpoint": internal}),
    ]
}

/// Returns requests for agent runs or extractions that might connect to `internal`.
pub(super) fn run_attacks(operation: &str, internal: &str) -> Vec<Value> {
    if operation == "post /v2/agent" { agent_attacks(internal) } else { extract_attacks(internal) }
}

/// Returns requests for agent runs that might connect to `internal`. Runs with a model are tested with the agent.
fn agent_attacks(internal: &str) -> Vec<Value> {
    vec![
        json!({"prompt": internal, "urls": [internal]}),
        json!({"prompt": "x", "webhook": internal}),
        json!({"prompt": "x", "webhook": {"url": internal, "headers": {"host": "x"}}}),
        json!({"prompt": "x", "schema": {"$ref": internal}}),
        json!({"prompt": "x", "model": internal, "exchange": {"toolkits": [internal]}}),
    ]
}

/// Returns requests for extractions that might connect to `internal`. Those with a model are tested with extractions.
fn extract_attacks(internal: &str) -> Vec<Value> {
    vec![
        json!({"urls": [internal, format!("{internal}*")], "prompt": internal, "systemPrompt": internal}),
        json!({"prompt": "x", "enableWebSearch": true, "webhook": internal}),
        json!({"urls": ["http://bait.test/"], "webhook": {"url": internal, "headers": {"host": "x"}}}),
        json!({"urls": ["http://bait.test/"], "schema": {"$ref": internal}}),
        json!({"urls": ["http://bait.test/"], "scrapeOptions": {"headers": {"host": internal}}}),
        json!({"urls": ["http://bait.test/"], "agent": {"model": internal}}),
    ]
}

/// Returns requests whose crawl might connect to `internal`.
pub(super) fn llms_txt_attacks(internal: &str) -> Vec<Value> {
    vec![
        json!({"url": internal}),
        json!({"url": "http://bait.test/", "showFullText": true, "cache": false, "webhook": internal}),
        json!({"url": "http://bait.test/moved", "cache": false}),
        json!({"url": "http://bait.test/leads", "cache": false}),
    ]
}

/// Returns prompts of crawls whose preview might connect to `internal`.
pub(super) fn prompt_attacks(internal: &str) -> Vec<Value> {
    vec![json!({"url": internal, "prompt": "the docs", "base_url": internal})]
}

/// Returns whether an operation is on files, teams or keys.
pub(super) fn is_of_files_or_teams(operation: &str) -> bool {
    let posts = ["post /v2/parse/upload-url", "post /v2/team/siem/test", "post /v2/keys/redeem"];
    operation.starts_with("put ") || posts.contains(&operation)
}

/// Returns request bodies that might make an upload URL or the settings of a team refer to `internal`.
pub(super) fn file_and_team_attacks(operation: &str, internal: &str) -> Vec<Value> {
    match operation {
        "post /v2/parse/upload-url" => vec![
            json!({"filename": internal, "contentType": internal}),
            json!({"filename": "bait.html", "uploadUrl": internal, "webhook": internal, "url": internal}),
        ],
        // The body is the file. Without a signed reference, it is not read.
        "put /v2/parse/upload/{id}" => vec![json!(super::PAGE.replace("URL/", internal))],
        "put /v2/team/threat-protection" => {
            vec![json!({"mode": "normal", "url": internal, "blacklist": [internal]})]
        }
        "post /v2/keys/redeem" => {
            vec![json!({"invitation": format!("{internal}/#/redeem/fi-{}", "0".repeat(32))})]
        }
        "post /v2/team/siem/test" => vec![json!({"message": internal})],
        _ => vec![json!({"enabled": true, "destination": internal, "webhook": internal})],
    }
}
