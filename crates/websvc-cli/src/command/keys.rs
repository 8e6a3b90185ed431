//! `websvc keys`: the API keys, beside a running server too.

use anyhow::Result;
use jiff::Timestamp;
use serde_json::json;
use websvc_store::{KeyRecord, Store};

use crate::Setting;
use crate::args::Keys;
use crate::show::{self, Table};

/// Runs `websvc keys`.
pub(crate) fn keys(setting: &Setting, keys: Keys) -> Result<()> {
    let store = Store::open(setting.data_dir.path())?;
    match keys {
        Keys::Create { team, label } => {
            let key = store.create_key(&team, &label)?;
            show::line(key.secret.expose())
        }
        Keys::List { json } => list(&store.list_keys()?, json),
        Keys::Revoke { id } => {
            let key = store.revoke_key(&id)?;
            show::line(&format!("revoked {} of team {}", key.id, key.team))
        }
    }
}

fn list(keys: &[KeyRecord], as_json: bool) -> Result<()> {
    if as_json {
        let rows = keys.iter().map(|key| {
            json!({
                "id": key.id.as_str(),
                "team": key.team,
                "name": key.label,
                "createdAt": time(Some(key.created_at_ms)),
                "lastUsedAt": time(key.last_used_at_ms),
                "revokedAt": time(key.revoked_at_ms),
            })
        });
        return show::json(&rows.collect::<Vec<_>>());
    }
    let mut table = Table::new(["ID", "TEAM", "NAME", "CREATED", "LAST USED", "STATE"]);
    for key in keys {
        let state = if key.revoked_at_ms.is_some() { "revoked" } else { "valid" };
        table.row([
            key.id.as_str(),
            &key.team,
            &key.label,
            &time(Some(key.created_at_ms)).unwrap_or_default(),
            &time(key.last_used_at_ms).unwrap_or_else(|| "never".to_owned()),
            state,
        ]);
    }
    table.print()
}

/// Returns a time as lists show it.
pub(super) fn time(unix_ms: Option<u64>) -> Option<String> {
    let at = Timestamp::from_millisecond(i64::try_from(unix_ms?).ok()?).ok()?;
    Some(at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
