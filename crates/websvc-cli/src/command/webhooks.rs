//! `websvc webhooks`: events of jobs that could not be delivered, beside a running server too.

use anyhow::{Result, ensure};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;
use websvc::types::job::WebhookDeadLetter;
use websvc_jobs::dead_letter;
use websvc_store::{DeadLetter, DeadLetterFilter, Store};
use websvc_webhook::redact_url;

use super::keys::time;
use crate::CommandContext;
use crate::args::Webhooks;
use crate::output::{self, Table};

/// More of them are not read at one time.
const MOST: u64 = 10_000;

/// Runs `websvc webhooks`.
pub(crate) fn webhooks(setting: &CommandContext, webhooks: Webhooks) -> Result<()> {
    let store = Store::open(setting.data_dir.path())?;
    match webhooks {
        Webhooks::DeadLetters { team, json } => {
            let which = DeadLetterFilter { team, ..DeadLetterFilter::default() };
            let found = store.dead_letters(&which, 0, MOST)?;
            list(&found.letters, json)?;
            if found.total > MOST {
                output::note(&format!("{} more are not shown", found.total - MOST));
            }
            Ok(())
        }
        Webhooks::Retry { id, all: _, team, json } => {
            let which = DeadLetterFilter { team, kind: None, id: id.clone() };
            let now_ms = u64::try_from(Timestamp::now().as_millisecond()).unwrap_or_default();
            let count = store.retry_dead_letters(&which, now_ms)?;
            if let Some(id) = id {
                ensure!(count > 0, "there is no dead letter {id:?}");
            }
            if json {
                return output::json(&json!({ "retried": count }));
            }
            output::line(&format!("{count} tried anew"))
        }
    }
}

/// A line of `--json`.
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
    let mut table = Table::new(["ID", "TEAM", "TYPE", "URL", "TRIES", "ERROR", "LAST TRY"]);
    for letter in letters {
        table.row([
            &letter.id,
            &letter.team,
            letter.event.wire_name(letter.kind),
            &redact_url(&letter.url),
            &letter.attempts.to_string(),
            &letter.error,
            &time(Some(letter.last_attempt_at_ms)).unwrap_or_default(),
        ]);
    }
    table.print()
}
