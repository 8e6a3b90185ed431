//! `websvc webhooks`: lists and retries undelivered events of jobs and monitors. Works while a server runs.

use anyhow::{Result, ensure};
use serde::Serialize;
use serde_json::json;
use websvc::types::job::WebhookDeadLetter;
use websvc_jobs::dead_letter;
use websvc_notify::webhook::redact_url;
use websvc_store::{DeadLetter, DeadLetterFilter};

use super::keys::time;
use crate::CommandContext;
use crate::app;
use crate::args::WebhooksCommand;
use crate::output::{self, Table};

/// Maximum number of events that are listed.
const MAX_EVENTS: u64 = 10_000;

/// Runs `websvc webhooks`.
pub(crate) fn webhooks(context: &CommandContext, command: WebhooksCommand) -> Result<()> {
    let store = app::open_store(&context.config, &context.data_dir)?;
    match command {
        WebhooksCommand::DeadLetters { team, json } => {
            let filter = DeadLetterFilter { team, ..DeadLetterFilter::default() };
            let found = store.dead_letters(&filter, 0, MAX_EVENTS)?;
            list(&found.letters, json)?;
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
            if json {
                return output::json(&json!({ "retried": count }));
            }
            output::line(&format!("{count} scheduled for retry"))
        }
    }
}

/// An event in the output of `--json`.
#[derive(Serialize)]
struct Row<'a> {
    team: &'a str,
    #[serde(flatten)]
    letter: WebhookDeadLetter,
}

fn list(letters: &[DeadLetter], as_json: bool) -> Result<()> {
    if as_json {
        let rows =
            letters.iter().map(|letter| Row { team: &letter.team, letter: dead_letter(letter.clone()) });
        return output::json(&rows.collect::<Vec<_>>());
    }
    let mut table = Table::new(["ID", "TEAM", "TYPE", "URL", "ATTEMPTS", "ERROR", "LAST ATTEMPT"]);
    for letter in letters {
        table.row([
            &letter.id,
            &letter.team,
            letter.event.wire_name(letter.source),
            &redact_url(&letter.url),
            &letter.attempts.to_string(),
            &letter.error,
            &time(Some(letter.last_attempt_at_ms)).unwrap_or_default(),
        ]);
    }
    table.print()
}
