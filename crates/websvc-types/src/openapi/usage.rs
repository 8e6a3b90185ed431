//! The operations that tell a team what it may use and has used.

use serde_json::{Value, json};

use super::example::{Example, example};
use super::operation::{KEYED, Operation};
use super::response::Failure;

const HISTORY: &[&[Failure]] = &[KEYED, &[Failure::InvalidParameter]];

pub(super) fn credit_usage() -> Operation {
    Operation {
        id: "creditUsage",
        tag: "usage",
        summary: "Returns what the team can still spend",
        description: "What requests in work hold counts as unspent.",
        body: None,
        answer: ("CreditUsage", balances("Credits")),
        failures: &[KEYED],
    }
}

pub(super) fn token_usage() -> Operation {
    Operation {
        id: "tokenUsage",
        tag: "usage",
        summary: "Returns what the team can still spend, in tokens",
        description: "For clients that count tokens: one token is one credit here.",
        body: None,
        answer: ("TokenUsage", balances("Tokens")),
        failures: &[KEYED],
    }
}

pub(super) fn credit_history() -> Operation {
    Operation {
        id: "creditUsageHistory",
        tag: "usage",
        summary: "Returns what the team has used by month",
        description: "The months in which something was used, the oldest first.",
        body: None,
        answer: ("CreditHistory", periods("creditsUsed")),
        failures: HISTORY,
    }
}

pub(super) fn token_history() -> Operation {
    Operation {
        id: "tokenUsageHistory",
        tag: "usage",
        summary: "Returns what the team has used by month, in tokens",
        description: "For clients that count tokens: one token is one credit here.",
        body: None,
        answer: ("TokenHistory", periods("tokensUsed")),
        failures: HISTORY,
    }
}

pub(super) fn queue_status() -> Operation {
    Operation {
        id: "queueStatus",
        tag: "usage",
        summary: "Returns the requests and the pages of jobs of the team that are in work",
        description: "Requests of this process, asking not among them, and pages of crawls and batches that are worked on or \
            wait.",
        body: None,
        answer: (
            "QueueStatus",
            vec![example(
                "busy",
                "Three requests are worked on",
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
        summary: "Returns how many requests of the team are in work",
        description: "Of this process; asking is not counted.",
        body: None,
        answer: ("ConcurrencyCheck", vec![example("busy", "Three requests are worked on", value)]),
        failures: &[KEYED],
    }
}

/// Adds the parameter that tells the keys apart.
pub(super) fn by_key(mut operation: Value) -> Value {
    operation["parameters"] = json!([{
        "name": "byApiKey",
        "in": "query",
        "required": false,
        "description": "Whether to tell the keys of the team apart",
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
        example("unlimited", "A team without one", balance(2_147_483_647, None, None)),
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
