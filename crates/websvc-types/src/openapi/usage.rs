//! Operations that return usage and limits of the team.

use serde_json::{Value, json};

use super::example::{Example, example};
use super::operation::{KEYED, Operation};
use super::response::Failure;
use crate::limits::{ACTIVITY_LIMIT_DEFAULT, ACTIVITY_LIMIT_MAX, ACTIVITY_LIMIT_MIN};

/// Failures of the operations that return usage by month.
const HISTORY: &[&[Failure]] = &[KEYED, &[Failure::InvalidParameter]];

pub(super) fn credit_usage() -> Operation {
    Operation {
        id: "creditUsage",
        tag: "usage",
        summary: "Get the remaining credits of the team",
        description: "Credits reserved by requests in flight count as remaining.",
        body: None,
        response: ("CreditUsage", balances("Credits")),
        failures: &[KEYED],
    }
}

pub(super) fn token_usage() -> Operation {
    Operation {
        id: "tokenUsage",
        tag: "usage",
        summary: "Get the remaining credits of the team, as tokens",
        description: "For clients that count tokens: one token is one credit.",
        body: None,
        response: ("TokenUsage", balances("Tokens")),
        failures: &[KEYED],
    }
}

pub(super) fn credit_history() -> Operation {
    Operation {
        id: "creditUsageHistory",
        tag: "usage",
        summary: "Get the usage of the team by month",
        description: "Months with usage, the oldest first.",
        body: None,
        response: ("CreditHistory", periods("creditsUsed")),
        failures: HISTORY,
    }
}

pub(super) fn token_history() -> Operation {
    Operation {
        id: "tokenUsageHistory",
        tag: "usage",
        summary: "Get the usage of the team by month, in tokens",
        description: "For clients that count tokens: one token is one credit.",
        body: None,
        response: ("TokenHistory", periods("tokensUsed")),
        failures: HISTORY,
    }
}

pub(super) fn queue_status() -> Operation {
    Operation {
        id: "queueStatus",
        tag: "usage",
        summary: "Get the requests and job pages of the team that are in flight or queued",
        description: "Counts the requests of this process, without this one, and the pages of crawls and batches.",
        body: None,
        response: (
            "QueueStatus",
            vec![example(
                "busy",
                "Three requests are in flight",
                json!({
                    "success": true,
                    "jobsInQueue": 3,
                    "activeJobsInQueue": 3,
                    "waitingJobsInQueue": 0,
                    "maxConcurrency": 256,
                    "mostRecentSuccess": "2026-11-21T12:30:00Z",
                }),
            )],
        ),
        failures: &[KEYED],
    }
}

pub(super) fn concurrency_check() -> Operation {
    let value = json!({ "success": true, "concurrency": 3, "maxConcurrency": 256 });
    Operation {
        id: "concurrencyCheck",
        tag: "usage",
        summary: "Get the number of requests of the team in flight",
        description: "Counts the requests of this process, without this one.",
        body: None,
        response: ("ConcurrencyCheck", vec![example("busy", "Three requests are in flight", value)]),
        failures: &[KEYED],
    }
}

pub(super) fn team_activity() -> Value {
    let item = json!({
        "id": super::example::REQUEST_ID,
        "endpoint": "search",
        "api_version": "v2",
        "created_at": "2026-11-21T12:30:00.250Z",
        "target": "asyncio event loop",
    });
    let page = json!({ "success": true, "data": [item], "cursor": "1207.4", "has_more": true });
    let operation = Operation {
        id: "teamActivity",
        tag: "usage",
        summary: "Get the requests and jobs of the team in the last 24 hours",
        description: "The newest first. Anonymous requests are not listed, and requests with zero data retention have no \
            `target`. Pages of jobs are not listed. A key sees only requests and jobs that it may start itself.",
        body: None,
        response: ("TeamActivity", vec![example("page", "A page of the list", page)]),
        failures: &[KEYED, &[Failure::InvalidParameter]],
    };
    let mut value = operation.to_value();
    let parameter = |name: &str, description: &str, schema: Value| json!({ "name": name, "in": "query", "required": false, "description": description, "schema": schema });
    let limit = json!({
        "type": "integer",
        "minimum": ACTIVITY_LIMIT_MIN,
        "maximum": ACTIVITY_LIMIT_MAX,
        "default": ACTIVITY_LIMIT_DEFAULT,
    });
    value["parameters"] = json!([
        parameter(
            "endpoint",
            "Lists only this operation. An llms.txt is listed as a crawl, sessions of scrapes as `browser`",
            json!({ "enum": ACTIVITY_ENDPOINTS }),
        ),
        parameter("limit", "Maximum number of items", limit),
        parameter(
            "cursor",
            "`cursor` of the page before",
            json!({ "type": "string", "pattern": r"^([1-9][0-9]{0,17})?\.([1-9][0-9]{0,17})?$" }),
        ),
    ]);
    value
}

/// The values of `endpoint` of the activity list.
const ACTIVITY_ENDPOINTS: [&str; 12] = [
    "scrape",
    "search",
    "map",
    "parse",
    "browser",
    "interact",
    "crawl",
    "llmstxt",
    "batch_scrape",
    "extract",
    "deep_research",
    "agent",
];

/// Adds the operations of version 1.
pub(super) fn add_v1(paths: &mut Value) {
    let names = |id: &'static str, operation: Operation| {
        let summary = operation.summary;
        let mut value = operation.to_value();
        value["operationId"] = json!(id);
        value["tags"] = json!(["adapters"]);
        value["summary"] = json!(format!("{summary}, for clients of version 1"));
        value
    };
    let mut credits = names("creditUsageV1", credit_usage());
    let mut tokens = names("tokenUsageV1", token_usage());
    for (operation, unit) in [(&mut credits, "credits"), (&mut tokens, "tokens")] {
        operation["responses"]["200"]["content"] = balance_v1(unit);
    }
    paths["/v1/team/credit-usage"] = json!({ "get": credits });
    paths["/v1/team/token-usage"] = json!({ "get": tokens });
    let credits = by_key(names("creditUsageHistoryV1", credit_history()));
    paths["/v1/team/credit-usage/historical"] = json!({ "get": credits });
    let tokens = by_key(names("tokenUsageHistoryV1", token_history()));
    paths["/v1/team/token-usage/historical"] = json!({ "get": tokens });
    paths["/v1/team/queue-status"] = json!({ "get": names("queueStatusV1", queue_status()) });
    paths["/v1/concurrency-check"] = json!({ "get": names("concurrencyCheckV1", concurrency_check()) });
}

/// Returns the body of a balance in version 1, whose names are in snake case.
fn balance_v1(unit: &str) -> Value {
    let (remaining, plan) = (format!("remaining_{unit}"), format!("plan_{unit}"));
    let text = json!({ "type": ["string", "null"] });
    json!({ "application/json": { "schema": {
        "type": "object",
        "required": ["success", "data"],
        "properties": {
            "success": { "const": true },
            "data": {
                "type": "object",
                "required": [remaining, plan, "billing_period_start", "billing_period_end"],
                "properties": {
                    remaining: { "type": "integer", "minimum": 0 },
                    plan: { "type": ["integer", "null"], "minimum": 0 },
                    "billing_period_start": text,
                    "billing_period_end": text,
                },
            },
        },
    } } })
}

/// Adds the parameter for usage by key.
pub(super) fn by_key(mut operation: Value) -> Value {
    operation["parameters"] = json!([{
        "name": "byApiKey",
        "in": "query",
        "required": false,
        "description": "True returns the usage by API key",
        "schema": { "type": "boolean", "default": false },
    }]);
    operation
}

fn balances(unit: &str) -> Vec<Example> {
    let balance = |remaining: u64, plan: Option<u64>, start: Option<&str>| {
        let mut data = json!({ "billingPeriodStart": start, "billingPeriodEnd": null });
        data[format!("remaining{unit}")] = json!(remaining);
        data[format!("plan{unit}")] = json!(plan);
        json!({ "success": true, "data": data })
    };
    vec![
        example("budget", "A team with a budget", balance(940, Some(1000), Some("2026-11-01T09:00:00Z"))),
        example("unlimited", "A team without a budget", balance(2_147_483_647, None, None)),
    ]
}

fn periods(used: &str) -> Vec<Example> {
    let period = |start: &str, end: Option<&str>, key: Option<&str>, credits: u64| {
        let mut period = json!({ "startDate": start, "endDate": end });
        period[used] = json!(credits);
        if let Some(key) = key {
            period["apiKey"] = json!(key);
        }
        period
    };
    let (october, november) = ("2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z");
    vec![
        example(
            "months",
            "Two months",
            json!({
                "success": true,
                "periods": [period(october, Some(november), None, 812), period(november, None, None, 60)],
            }),
        ),
        example(
            "keys",
            "A month by key",
            json!({ "success": true, "periods": [period(november, None, Some("1f0a3c5e7b92"), 60)] }),
        ),
    ]
}
