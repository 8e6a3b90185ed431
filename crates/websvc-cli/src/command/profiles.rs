//! `websvc profiles`: lists and deletes browser profiles. Works while a server runs.

use anyhow::{Result, ensure};
use serde_json::json;
use websvc_store::ProfileRecord;

use super::keys::time;
use crate::CommandContext;
use crate::app;
use crate::args::ProfilesCommand;
use crate::human_bytes::HumanBytes;
use crate::output::{self, Table};

/// Runs `websvc profiles`.
pub(crate) fn profiles(context: &CommandContext, profiles: ProfilesCommand) -> Result<()> {
    let store = app::open_store(&context.config, &context.data_dir)?;
    match profiles {
        ProfilesCommand::List { team, json } => list(&store.list_profiles(team.as_deref())?, json),
        ProfilesCommand::Delete { name, team, json } => {
            ensure!(store.delete_profile(&team, &name)?, "team {team} has no profile {name:?}");
            if json {
                return output::json(&json!({ "team": team, "name": name, "deleted": true }));
            }
            output::line(&format!("deleted {name} of team {team}"))
        }
    }
}

fn list(profiles: &[ProfileRecord], as_json: bool) -> Result<()> {
    if as_json {
        let rows = profiles.iter().map(|profile| {
            let ProfileRecord { team, name, bytes, saved_at_ms, leased_until_ms } = profile;
            json!({
                "team": team,
                "name": name,
                "bytes": bytes,
                "savedAt": time(*saved_at_ms),
                "leasedUntil": time(*leased_until_ms),
            })
        });
        return output::json(&rows.collect::<Vec<_>>());
    }
    let mut table = Table::new(["TEAM", "NAME", "SIZE", "SAVED", "IN USE UNTIL"]);
    for profile in profiles {
        table.row([
            &profile.team,
            &profile.name,
            &HumanBytes(profile.bytes).to_string(),
            &time(profile.saved_at_ms).unwrap_or_else(|| "never".to_owned()),
            &time(profile.leased_until_ms).unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    table.print()
}
