//! Tests of the rules of monitors.

mod create;
mod notification;
mod page_rules;
mod plan;
mod update;

use std::sync::LazyLock;
use std::time::Duration;

use jsonschema::Validator;
use serde_json::{Value, json};
use websvc_types::monitor::{CreateMonitorRequest, MonitorSchedule, RunMonitorRequest, UpdateMonitorRequest};
use websvc_types::{ViolationCode, schema};
use websvc_validate::{
    Checked, FeaturePolicy, MonitorContext, MonitorDefinition, MonitorUpdate, Policy, Rejection,
    check_monitor_retention, check_monitor_schedule, parse_monitor_schedule, read_request,
};

use crate::support::Expected;

const ID: &str = "01990000-0000-7000-8000-000000000001";

static CREATE: LazyLock<Validator> =
    LazyLock::new(|| validator(schema::request::<CreateMonitorRequest>().as_value()));
static UPDATE: LazyLock<Validator> =
    LazyLock::new(|| validator(schema::request::<UpdateMonitorRequest>().as_value()));

fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).expect("the published schema is valid")
}

/// Calls `read` with a context whose new IDs are numbered.
fn with_context<T>(policy: &Policy, read: impl FnOnce(MonitorContext<'_>) -> T) -> T {
    let mut count = 0;
    let mut new_id = || {
        count += 1;
        format!("00000000-0000-7000-8000-{count:012}")
    };
    read(MonitorContext {
        policy,
        now: "2026-11-25T12:00:00Z".parse().expect("a time"),
        min_interval: Duration::from_secs(300),
        new_id: &mut new_id,
    })
}

fn create(body: &Value) -> Result<Checked<MonitorDefinition>, Rejection> {
    with_context(&Policy::default(), |context| {
        read_request::<CreateMonitorRequest>(body.to_string().as_bytes(), context)
    })
}

fn update(current: &MonitorDefinition, body: &Value) -> Result<Checked<MonitorUpdate>, Rejection> {
    with_context(&Policy::default(), |context| {
        read_request::<UpdateMonitorRequest>(body.to_string().as_bytes(), (current.clone(), context))
    })
}

/// Returns the smallest body with some fields replaced; null removes a field.
fn body(changes: &Value) -> Value {
    let mut body = json!({
        "name": "Tea",
        "schedule": { "cron": "0 9 * * *" },
        "targets": [{ "type": "scrape", "urls": ["https://tea.test/"] }],
    });
    let fields = body.as_object_mut().expect("an object");
    for (name, value) in changes.as_object().expect("an object") {
        match value {
            Value::Null => fields.shift_remove(name),
            value => fields.insert(name.clone(), value.clone()),
        };
    }
    body
}

/// Returns the smallest body with this target.
fn with_target(target: &Value) -> Value {
    body(&json!({ "targets": [target] }))
}

/// Returns the definition of an accepted body, which the published schema accepts, too.
#[track_caller]
fn accepted(body: &Value) -> MonitorDefinition {
    assert!(CREATE.is_valid(body), "the schema rejects {body}");
    accepted_beyond_the_schema(body)
}

#[track_caller]
fn accepted_beyond_the_schema(body: &Value) -> MonitorDefinition {
    match create(body) {
        Ok(Checked { plan, warnings }) => {
            assert_eq!(warnings, Vec::<String>::new(), "{body}");
            plan
        }
        Err(error) => panic!("{body} is rejected: {error}"),
    }
}

/// Checks that a result has exactly these violations, and returns their messages.
#[track_caller]
fn rejected<T: std::fmt::Debug>(result: Result<T, Rejection>, expected: Expected<'_>) -> Vec<String> {
    let Err(Rejection::Invalid(violations)) = result else { panic!("{result:?}") };
    let found: Vec<(&str, ViolationCode)> = violations.iter().map(|v| (v.path.as_str(), v.code)).collect();
    assert_eq!(found, expected, "{violations:?}");
    violations.into_iter().map(|violation| violation.message).collect()
}

#[test]
fn forced_zero_data_retention_is_rejected() {
    let zero = Policy { zdr: FeaturePolicy::Forced, ..Policy::default() };
    let anonymous = Policy { anon: FeaturePolicy::Forced, ..Policy::default() };
    let definition = accepted(&body(&json!({})));
    for policy in [zero, anonymous] {
        let bytes = body(&json!({})).to_string();
        let expected: Expected<'_> = &[("", ViolationCode::NotSupported)];
        rejected(
            with_context(&policy, |context| read_request::<CreateMonitorRequest>(bytes.as_bytes(), context)),
            expected,
        );
        rejected(
            with_context(&policy, |context| {
                read_request::<UpdateMonitorRequest>(b"{\"name\": \"x\"}", (definition.clone(), context))
            }),
            expected,
        );
        rejected(read_request::<RunMonitorRequest>(b"", &policy), expected);
        rejected(check_monitor_retention(&policy), expected);
        rejected(definition.plan(&policy), expected);
    }
    let allowed = Policy { zdr: FeaturePolicy::Allowed, anon: FeaturePolicy::Allowed, ..Policy::default() };
    assert_eq!(check_monitor_retention(&allowed), Ok(()));
}

#[test]
fn run_accepts_an_empty_body_and_the_name_of_the_client() {
    for body in ["", " \n", "{}", "{\"origin\": \"js-sdk@4.42.0\", \"integration\": \"x\"}"] {
        assert!(read_request::<RunMonitorRequest>(body.as_bytes(), &Policy::default()).is_ok(), "{body}");
    }
    rejected(
        read_request::<RunMonitorRequest>(b"{\"force\": true}", &Policy::default()),
        &[("/force", ViolationCode::UnknownField)],
    );
}

#[test]
fn schedule_alone_is_checked_like_that_of_a_monitor() {
    let check = |schedule: Value| {
        let schedule = serde_json::from_value(schedule).expect("a schedule");
        with_context(&Policy::default(), |context| check_monitor_schedule(schedule, &context))
    };
    let schedule =
        check(json!({ "text": "every day at 9:00", "timezone": "Europe/Berlin" })).expect("a schedule");
    assert_eq!(schedule.to_string(), "Every day at 09:00 (Europe/Berlin)");
    rejected(check(json!({ "text": "sometimes" })), &[("/schedule/text", ViolationCode::InvalidFormat)]);
    for (too_frequent, path, code) in [
        (json!({ "cron": "* * * * *" }), "/schedule", ViolationCode::TooSmall),
        (json!({ "text": "every minute" }), "/schedule", ViolationCode::TooSmall),
        (json!({ "text": "every 30 seconds" }), "/schedule/text", ViolationCode::InvalidFormat),
        (json!({ "cron": "*/30 * * * * *" }), "/schedule/cron", ViolationCode::InvalidFormat),
    ] {
        let messages = rejected(check(too_frequent), &[(path, code)]);
        assert!(messages[0].contains("at least 5 minutes apart"), "{messages:?}");
    }
    rejected(check(json!({})), &[("/schedule", ViolationCode::Missing)]);
    let stored = |cron: &str| MonitorSchedule { cron: cron.to_owned(), timezone: "UTC".to_owned() };
    // A stored schedule may be more frequent than new ones.
    assert!(parse_monitor_schedule(&stored("* * * * *")).is_ok());
    assert!(parse_monitor_schedule(&stored("@daily")).is_err());
}

#[test]
fn format_of_another_version_of_the_api_names_the_one_to_use() {
    for name in ["deterministicJson", "extract"] {
        let format = json!({ "type": name, "prompt": "The title.", "schema": { "type": "object" } });
        let options = json!({ "formats": ["markdown", format] });
        let target = json!({ "type": "scrape", "urls": ["https://tea.test/"], "scrapeOptions": options });
        let path = "/targets/0/scrapeOptions/formats/1/type";
        let messages = rejected(create(&with_target(&target)), &[(path, ViolationCode::UnknownValue)]);
        let expected = format!("not \"{name}\"; use json, with the same prompt and schema");
        assert!(messages[0].ends_with(&expected), "{}", messages[0]);
    }
}
