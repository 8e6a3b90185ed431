//! The definitions of the tools for monitors, which language models read.

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};
use websvc_types::limits::{
    MONITOR_DOMAINS_MAX, MONITOR_GOAL_MAX_CHARS, MONITOR_LIST_LIMIT_DEFAULT, MONITOR_LIST_LIMIT_MAX,
    MONITOR_LIST_LIMIT_MIN, MONITOR_NAME_MAX_CHARS, MONITOR_QUERIES_MAX, MONITOR_QUERY_MAX_CHARS,
    MONITOR_RESULTS_DEFAULT, MONITOR_RESULTS_MAX, MONITOR_RESULTS_MIN, SCHEDULE_MAX_CHARS,
};

use super::definition::define;
use super::monitor_request::{DEFAULT_SCHEDULE, MonitorTool};

/// Returns the tools for monitors.
pub(super) fn all() -> Vec<Tool> {
    MonitorTool::ALL.map(definition).into()
}

fn definition(tool: MonitorTool) -> Tool {
    let title = title(tool);
    let hints = ToolAnnotations::with_title(title);
    let hints = match tool {
        MonitorTool::List | MonitorTool::Get | MonitorTool::Checks | MonitorTool::Check => {
            hints.read_only(true).destructive(false).open_world(false)
        }
        // These fetch pages of others, now or later.
        MonitorTool::Create | MonitorTool::Run => {
            hints.read_only(false).destructive(false).idempotent(false).open_world(true)
        }
        MonitorTool::Update => hints.read_only(false).destructive(true).idempotent(true).open_world(true),
        MonitorTool::Delete => hints.read_only(false).destructive(true).idempotent(true).open_world(false),
    };
    define(tool.name(), description(tool), schema(tool), hints)
}

fn title(tool: MonitorTool) -> &'static str {
    match tool {
        MonitorTool::Create => "Watch pages or searches",
        MonitorTool::List => "List the monitors",
        MonitorTool::Get => "Get a monitor",
        MonitorTool::Update => "Change a monitor",
        MonitorTool::Delete => "Delete a monitor",
        MonitorTool::Run => "Run a monitor now",
        MonitorTool::Checks => "List the checks of a monitor",
        MonitorTool::Check => "Get a check of a monitor",
    }
}

fn description(tool: MonitorTool) -> &'static str {
    match tool {
        MonitorTool::Create => {
            "Creates a monitor, which checks pages or searches on a schedule and reports changes. Pass page, pages or \
             queries, or the whole request as body, which can also watch a site (target type crawl). A goal says in \
             words which changes matter. Returns the monitor with its ID and the time of its next check."
        }
        MonitorTool::List => "Lists the monitors of the team, the newest first.",
        MonitorTool::Get => {
            "Returns a monitor: its targets, schedule, state and the summary of its last check."
        }
        MonitorTool::Update => {
            "Changes a monitor. The body has the fields to change: name, status (active or paused), schedule, targets, \
             goal, judgeEnabled, webhook, notification, retentionDays. Others stay. Targets are replaced as a whole; \
             send their IDs back to keep their history."
        }
        MonitorTool::Delete => "Deletes a monitor with its checks and its history. This cannot be undone.",
        MonitorTool::Run => {
            "Starts a check of a monitor outside of its schedule. Returns the check; its pages are available with \
             monitor_check. Fails if a check is running or the monitor is paused."
        }
        MonitorTool::Checks => {
            "Lists the checks of a monitor with their status and summary, the newest first."
        }
        MonitorTool::Check => {
            "Returns a check with its pages. Each page is same, new, changed, removed or error; a changed page has a \
             diff, and with a goal also a judgment. If the check is queued or running, call again later. If there is \
             a next, call again with skip for further pages."
        }
    }
}

fn schema(tool: MonitorTool) -> Value {
    match tool {
        MonitorTool::Create => create(),
        MonitorTool::List => object(&json!({ "limit": limit(), "offset": offset() }), &[]),
        MonitorTool::Get | MonitorTool::Delete | MonitorTool::Run => object(&json!({ "id": id() }), &["id"]),
        MonitorTool::Update => {
            let body = json!({ "type": "object", "description": "The fields to change, as in PATCH /v2/monitor/{id}." });
            object(&json!({ "id": id(), "body": body }), &["id", "body"])
        }
        MonitorTool::Checks => {
            let status = json!({
                "enum": ["queued", "running", "completed", "failed", "partial", "skipped_overlap", "skipped_no_credits"],
                "description": "Only checks with this status.",
            });
            let properties = json!({ "id": id(), "limit": limit(), "offset": offset(), "status": status });
            object(&properties, &["id"])
        }
        MonitorTool::Check => {
            let check = json!({ "type": "string", "description": "The ID of the check." });
            let status = json!({
                "enum": ["same", "new", "changed", "removed", "error"],
                "description": "Only pages with this status.",
            });
            let properties = json!({
                "id": id(), "checkId": check, "limit": limit(), "skip": offset(), "pageStatus": status,
            });
            object(&properties, &["id", "checkId"])
        }
    }
}

/// Returns the schema of the short form, and of a whole request as `body`.
fn create() -> Value {
    let texts = |description: &str| json!({ "type": "array", "items": { "type": "string" }, "description": description });
    let mut domains = texts("Only results of these hosts, for queries.");
    domains["maxItems"] = json!(MONITOR_DOMAINS_MAX);
    let mut excluded =
        texts("No results of these hosts, for queries. Cannot be combined with includeDomains.");
    excluded["maxItems"] = json!(MONITOR_DOMAINS_MAX);
    let properties = json!({
        "body": { "type": "object", "description": "The whole request, as in POST /v2/monitor, instead of all other arguments." },
        "page": { "type": "string", "description": "The URL of a page to watch." },
        "pages": texts("The URLs of pages to watch."),
        "queries": {
            "type": "array", "maxItems": MONITOR_QUERIES_MAX,
            "items": { "type": "string", "maxLength": MONITOR_QUERY_MAX_CHARS },
            "description": "Searches whose new results are reported. They need a goal.",
        },
        "searchWindow": {
            "enum": ["5m", "15m", "1h", "6h", "24h", "7d"], "default": "24h",
            "description": "Maximum age of the results of queries.",
        },
        "maxResults": {
            "type": "integer", "minimum": MONITOR_RESULTS_MIN, "maximum": MONITOR_RESULTS_MAX,
            "default": MONITOR_RESULTS_DEFAULT, "description": "Maximum number of results of all queries.",
        },
        "includeDomains": domains,
        "excludeDomains": excluded,
        "goal": {
            "type": "string", "maxLength": MONITOR_GOAL_MAX_CHARS,
            "description": "The changes that matter, in words. A language model judges each change.",
        },
        "name": {
            "type": "string", "maxLength": MONITOR_NAME_MAX_CHARS,
            "description": "Name of the monitor. Default: made from the page or query.",
        },
        "scheduleText": {
            "type": "string", "maxLength": SCHEDULE_MAX_CHARS, "default": DEFAULT_SCHEDULE,
            "description": "Times of the checks: every 30 minutes, hourly, every day at 9:00, every monday at 9:00, monthly.",
        },
        "timezone": { "type": "string", "default": "UTC", "description": "IANA time zone, such as Europe/Berlin." },
        "email": { "type": "string", "description": "Address that gets an email about changes, once it has confirmed." },
        "includeDiffs": { "type": "boolean", "default": false, "description": "Emails contain the changed lines." },
        "webhookUrl": { "type": "string", "description": "URL that gets the events of the monitor." },
    });
    object(&properties, &[])
}

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn id() -> Value {
    json!({ "type": "string", "description": "The ID of the monitor." })
}

fn limit() -> Value {
    json!({
        "type": "integer", "minimum": MONITOR_LIST_LIMIT_MIN, "maximum": MONITOR_LIST_LIMIT_MAX,
        "default": MONITOR_LIST_LIMIT_DEFAULT, "description": "Maximum number of entries.",
    })
}

fn offset() -> Value {
    json!({ "type": "integer", "minimum": 0, "default": 0, "description": "Number of entries to skip." })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tools_that_read_are_read_only_and_only_lasting_ones_are_destructive() {
        let names = |is_chosen: fn(&ToolAnnotations) -> Option<bool>| -> Vec<String> {
            let chosen = all().into_iter().filter(|tool| {
                is_chosen(tool.annotations.as_ref().expect("each tool has annotations")) == Some(true)
            });
            chosen.map(|tool| tool.name.into_owned()).collect()
        };
        let read_only = names(|hints| hints.read_only_hint);
        assert_eq!(read_only, ["monitor_list", "monitor_get", "monitor_checks", "monitor_check"]);
        assert_eq!(names(|hints| hints.destructive_hint), ["monitor_update", "monitor_delete"]);
        let open_world = names(|hints| hints.open_world_hint);
        assert_eq!(open_world, ["monitor_create", "monitor_update", "monitor_run"]);
    }

    #[test]
    fn statuses_of_schemas_are_those_of_the_responses() {
        let document = websvc_testkit::openapi_document();
        for (tool, argument, name) in [
            (MonitorTool::Checks, "status", "MonitorCheckStatus"),
            (MonitorTool::Check, "pageStatus", "MonitorPageStatus"),
            (MonitorTool::Create, "searchWindow", "SearchWindow"),
        ] {
            let mut expected = Vec::new();
            collect_constants(&document["components"]["schemas"][name], &mut expected);
            let mut values = schema(tool)["properties"][argument]["enum"].as_array().unwrap().clone();
            values.sort_by_key(ToString::to_string);
            expected.sort_by_key(ToString::to_string);
            assert_eq!(values, expected, "{argument}");
        }
    }

    /// Collects the values that a schema of an enum allows.
    fn collect_constants(schema: &Value, values: &mut Vec<Value>) {
        values.extend(schema.get("const").cloned());
        values.extend(schema["enum"].as_array().into_iter().flatten().cloned());
        for variant in schema["oneOf"].as_array().into_iter().flatten() {
            collect_constants(variant, values);
        }
    }
}
