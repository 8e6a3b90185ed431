//! `websvc webhooks`: lists and retries undelivered events of jobs and monitors. Works while a server runs.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use websvc_jobs::dead_letter;
use websvc_store::{DeadLetter, DeadLetterFilter};

use crate::CommandContext;
use crate::app;
use crate::args::WebhooksCommand;
use crate::output::{self, Column, column, column_of, time_of};

/// Maximum number of events that are listed.
const MAX_EVENTS: u64 = 10_000;

const COLUMNS: &[Column] = &[
    column("ID", "id"),
    column("TEAM", "team"),
    column("TYPE", "type"),
    column("URL", "url"),
    column("ATTEMPTS", "attempts"),
    column("ERROR", "lastError"),
    column_of("LAST ATTEMPT", |event| time_of(event["lastAttemptAt"].as_str().unwrap_or_default())),
];

/// Runs `websvc webhooks`.
pub(crate) fn run(context: &CommandContext, command: WebhooksCommand) -> Result<()> {
    let store = app::open_store(&context.config, &context.data_dir)?;
    match command {
        WebhooksCommand::DeadLetters { team, json } => {
            let filter = DeadLetterFilter { team, ..DeadLetterFilter::default() };
            let found = store.dead_letters(&filter, 0, MAX_EVENTS)?;
            let events = found.letters.into_iter().map(event).collect::<Result<Vec<_>>>()?;
            output::objects(json, &events, COLUMNS)?;
            if found.total > MAX_EVENTS {
                output::note(&format!("{} more are not shown", found.total - MAX_EVENTS));
            }
            Ok(())
        }
        WebhooksCommand::Retry { id, all: _, team, json } => {
            let filter = DeadLetterFilter { team, sources: None, id: id.clone() };
            let count = store.retry_dead_letters(&filter, store.now_ms())?;
            if let Some(id) = id {
                ensure!(count > 0, "there is no dead letter {id:?}");
            }
            output::json_or_line(json, &json!({ "retried": count }), || {
                format!("{count} scheduled for retry")
            })
        }
    }
}

/// Returns an event as the API does, with its team.
fn event(letter: DeadLetter) -> Result<Value> {
    let mut event = json!({ "team": letter.team });
    if let Value::Object(fields) = serde_json::to_value(dead_letter(letter))? {
        fields.into_iter().for_each(|(name, value)| event[name] = value);
    }
    Ok(event)
}
