//! The definitions of the tools for browser sessions, which language models read.

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};
use websvc_types::limits::{
    INTERACT_ACTIVITY_TTL_DEFAULT_S, INTERACT_ACTIVITY_TTL_MAX_S, INTERACT_ACTIVITY_TTL_MIN_S,
    INTERACT_CODE_MAX_CHARS, INTERACT_CODE_MIN_CHARS, INTERACT_PROMPT_MAX_CHARS, INTERACT_PROMPT_MIN_CHARS,
    INTERACT_TIMEOUT_DEFAULT_S, INTERACT_TIMEOUT_MAX_S, INTERACT_TIMEOUT_MIN_S, INTERACT_TTL_DEFAULT_S,
    INTERACT_TTL_MAX_S, INTERACT_TTL_MIN_S,
};

use super::definition::define;
use super::interact_request::InteractTool;

/// Returns the tools for browser sessions.
pub(super) fn all() -> Vec<Tool> {
    InteractTool::ALL.map(definition).into()
}

fn definition(tool: InteractTool) -> Tool {
    let title = title(tool);
    let hints = ToolAnnotations::with_title(title);
    let hints = match tool {
        // Code may send a form or delete something on a site.
        InteractTool::Interact | InteractTool::Execute => {
            hints.read_only(false).destructive(true).idempotent(false).open_world(true)
        }
        InteractTool::Create => hints.read_only(false).destructive(false).idempotent(false).open_world(true),
        InteractTool::List => hints.read_only(true).destructive(false).open_world(false),
        InteractTool::Stop | InteractTool::Delete => {
            hints.read_only(false).destructive(true).idempotent(true).open_world(false)
        }
    };
    define(tool.name(), description(tool), schema(tool), hints)
}

fn title(tool: InteractTool) -> &'static str {
    match tool {
        InteractTool::Interact => "Interact with a page",
        InteractTool::Stop => "End the session of a page",
        InteractTool::Create => "Start a browser",
        InteractTool::List => "List the browser sessions",
        InteractTool::Execute => "Run code in a browser",
        InteractTool::Delete => "End a browser session",
    }
}

fn description(tool: InteractTool) -> &'static str {
    match tool {
        InteractTool::Interact => {
            "Runs code, or a task in words, in the page of a scrape: clicks, fills in forms, reads what appears. Pass \
             scrapeId (metadata.scrapeId of a scrape), or url to scrape a page first. The page stays open between calls \
             with the same scrapeId. Code is JavaScript with Playwright's page (language node), or one agent-browser \
             command per line (language bash): open URL, snapshot -i, click @e1, fill @e2 \"text\", press Enter, get text \
             SELECTOR. This acts on the live site. Returns the outputs, exitCode, and URLs of a live view for people."
        }
        InteractTool::Stop => {
            "Ends the session that interact has opened for a scrape, and saves its profile. It cannot be opened again."
        }
        InteractTool::Create => {
            "Starts a browser session with an empty page, and returns its ID, the URLs of a live view for people, and a \
             URL for Playwright. It costs credits until it is deleted."
        }
        InteractTool::List => "Lists the browser sessions of the team, the newest first.",
        InteractTool::Execute => {
            "Runs code in a browser session: JavaScript with Playwright's page (language node), or one agent-browser \
             command per line (language bash), as in interact. Later calls find the page as this one leaves it. This \
             acts on live sites. If the code fails, exitCode is not 0, and error has the reason."
        }
        InteractTool::Delete => "Ends a browser session, and saves its profile. It cannot be started again.",
    }
}

fn schema(tool: InteractTool) -> Value {
    match tool {
        InteractTool::Interact => {
            let mut properties = code();
            properties["scrapeId"] = scrape_id();
            properties["url"] = json!({ "type": "string", "description": "The URL of a page to scrape first, instead of scrapeId." });
            properties["scrapeOptions"] = json!({ "type": "object", "description": "Options of the scrape of url, as in POST /v2/scrape." });
            properties["prompt"] = json!({
                "type": "string", "minLength": INTERACT_PROMPT_MIN_CHARS, "maxLength": INTERACT_PROMPT_MAX_CHARS,
                "description": "A task in words, instead of code. A language model of the service does it.",
            });
            object(&properties, &[])
        }
        InteractTool::Stop => object(&json!({ "scrapeId": scrape_id() }), &["scrapeId"]),
        InteractTool::Create => object(&settings(), &[]),
        InteractTool::List => {
            let status =
                json!({ "enum": ["active", "destroyed"], "description": "Only sessions with this status." });
            object(&json!({ "status": status }), &[])
        }
        InteractTool::Execute => {
            let mut properties = code();
            properties["sessionId"] = session_id();
            object(&properties, &["sessionId", "code"])
        }
        InteractTool::Delete => object(&json!({ "sessionId": session_id() }), &["sessionId"]),
    }
}

/// Returns the settings of a new session.
fn settings() -> Value {
    json!({
        "ttl": {
            "type": "integer", "minimum": INTERACT_TTL_MIN_S, "maximum": INTERACT_TTL_MAX_S,
            "default": INTERACT_TTL_DEFAULT_S, "description": "Seconds until the session ends.",
        },
        "activityTtl": {
            "type": "integer", "minimum": INTERACT_ACTIVITY_TTL_MIN_S, "maximum": INTERACT_ACTIVITY_TTL_MAX_S,
            "default": INTERACT_ACTIVITY_TTL_DEFAULT_S,
            "description": "Seconds without use after which the session ends.",
        },
        "profile": {
            "type": "object",
            "description": "Cookies and storage that are kept for later sessions and scrapes.",
            "properties": {
                "name": { "type": "string" },
                "saveChanges": { "type": "boolean", "default": true },
            },
            "required": ["name"],
        },
        "location": {
            "type": "object",
            "description": "Country, languages and time zone of the browser.",
            "properties": {
                "country": { "type": "string", "description": "ISO code, such as DE." },
                "languages": { "type": "array", "items": { "type": "string" } },
            },
        },
        "blockAds": { "type": "boolean", "default": true, "description": "Block advertising and trackers." },
    })
}

/// Returns the arguments of code.
fn code() -> Value {
    json!({
        "code": {
            "type": "string", "minLength": INTERACT_CODE_MIN_CHARS, "maxLength": INTERACT_CODE_MAX_CHARS,
            "description": "The code to run. The value of its last expression is the result.",
        },
        "language": {
            "enum": ["node", "python", "bash"], "default": "node", "description": "The language of the code.",
        },
        "timeout": {
            "type": "number", "minimum": INTERACT_TIMEOUT_MIN_S, "maximum": INTERACT_TIMEOUT_MAX_S,
            "default": INTERACT_TIMEOUT_DEFAULT_S, "description": "Maximum duration in seconds.",
        },
    })
}

fn scrape_id() -> Value {
    json!({ "type": "string", "description": "The ID of a scrape: metadata.scrapeId of its result." })
}

fn session_id() -> Value {
    json!({ "type": "string", "description": "The ID of the session." })
}

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_run_code_or_end_sessions_are_destructive() {
        let names = |is_chosen: fn(&ToolAnnotations) -> Option<bool>| -> Vec<String> {
            let chosen = all().into_iter().filter(|tool| {
                is_chosen(tool.annotations.as_ref().expect("each tool has annotations")) == Some(true)
            });
            chosen.map(|tool| tool.name.into_owned()).collect()
        };
        assert_eq!(names(|hints| hints.read_only_hint), ["browser_list"]);
        let destructive = names(|hints| hints.destructive_hint);
        assert_eq!(destructive, ["interact", "interact_stop", "browser_execute", "browser_delete"]);
        let open_world = names(|hints| hints.open_world_hint);
        assert_eq!(open_world, ["interact", "browser_create", "browser_execute"]);
    }

    #[test]
    fn arguments_are_fields_of_the_requests() {
        let document = websvc_testkit::openapi_document();
        for (arguments, name) in [(code(), "ExecuteRequest"), (settings(), "CreateBrowserRequest")] {
            let fields = &document["components"]["schemas"][name]["properties"];
            for (argument, schema) in arguments.as_object().unwrap() {
                assert!(fields[argument].is_object(), "{name} {argument}");
                for keyword in ["minimum", "maximum", "minLength", "maxLength", "default"] {
                    if let Some(value) = schema.get(keyword) {
                        let expected = fields[argument].get(keyword).and_then(Value::as_f64);
                        let is_equal = fields[argument].get(keyword) == Some(value);
                        let is_same_number = expected.is_some() && value.as_f64() == expected;
                        assert!(is_equal || is_same_number, "{name} {argument} {keyword}");
                    }
                }
            }
        }
        let languages = &document["components"]["schemas"]["InteractLanguage"];
        for language in code()["language"]["enum"].as_array().unwrap() {
            assert!(
                languages.to_string().contains(&language.to_string()),
                "{language} is not in {languages}"
            );
        }
    }
}
