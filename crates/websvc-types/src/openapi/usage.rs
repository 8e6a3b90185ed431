//! Operations that return usage and limits of the team.

use serde_json::{Value, json};

use super::example::{Example, example};
use super::operation::{KEYED, Operation};
use super::response::Failure;

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
