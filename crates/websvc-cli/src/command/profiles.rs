//! `websvc profiles`: lists and deletes browser profiles. Works while a server runs.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use websvc_store::ProfileRecord;

use crate::CommandContext;
use crate::app;
use crate::args::ProfilesCommand;
use crate::human_bytes::HumanBytes;
use crate::output::{self, Column, column, column_of, column_or, unix_time};

const COLUMNS: &[Column] = &[
    column("TEAM", "team"),
    column("NAME", "name"),
    column_of("SIZE", |profile| HumanBytes(profile["bytes"].as_u64().unwrap_or_default()).to_string()),
    column_or("SAVED", "savedAt", "never"),
    column_or("IN USE UNTIL", "leasedUntil", "-"),
];

/// Runs `websvc profiles`.
pub(crate) fn run(context: &CommandContext, profiles: ProfilesCommand) -> Result<()> {
    let store = app::open_store(&context.config, &context.data_dir)?;
    match profiles {
        ProfilesCommand::List { team, json } => {
            let profiles: Vec<Value> = store.list_profiles(team.as_deref())?.iter().map(row).collect();
            output::objects(json, &profiles, COLUMNS)
        }
        ProfilesCommand::Delete { name, team, json } => {
            ensure!(store.delete_profile(&team, &name)?, "team {team} has no profile {name:?}");
            let deleted = json!({ "team": team, "name": name, "deleted": true });
            output::json_or_line(json, &deleted, || format!("deleted {name} of team {team}"))
        }
    }
}

fn row(profile: &ProfileRecord) -> Value {
    let ProfileRecord { team, name, bytes, saved_at_ms, leased_until_ms } = profile;
    json!({
        "team": team, "name": name, "bytes": bytes, "savedAt": unix_time(*saved_at_ms),
        "leasedUntil": unix_time(*leased_until_ms),
    })
}
