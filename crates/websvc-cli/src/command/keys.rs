//! `websvc keys`: creates, lists and revokes API keys. Works while a server runs.

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::{Value, json};
use websvc_store::{KeyRecord, KeyRights};

use crate::CommandContext;
use crate::app;
use crate::args::{CreateKey, KeysCommand};
use crate::output::{self, Table};

/// Runs `websvc keys`.
pub(crate) fn keys(context: &CommandContext, keys: KeysCommand) -> Result<()> {
    let store = app::open_store(&context.config, &context.data_dir)?;
    match keys {
        KeysCommand::Create(arguments) => {
            let (team, label, json) = (arguments.team.clone(), arguments.label.clone(), arguments.json);
            let now = store.clock().now();
            let key = store.create_key_with(&team, &label, &rights(arguments, now)?)?;
            if !json {
                return output::line(key.secret.expose());
            }
            let record = store.list_keys()?.into_iter().find(|record| record.id == key.id);
            let mut row = row(&record.context("the new key is not in the list")?, unix_ms(now)?);
            row["key"] = key.secret.expose().into();
            output::json(&row)
        }
        KeysCommand::List { json } => list(&store.list_keys()?, store.clock().now(), json),
        KeysCommand::Revoke { id, json } => {
            let key = store.revoke_key(&id)?;
            if json {
                return output::json(&row(&key, unix_ms(store.clock().now())?));
            }
            output::line(&format!("revoked {} of team {}", key.id, key.team))
        }
    }
}

fn rights(arguments: CreateKey, now: Timestamp) -> Result<KeyRights> {
    let CreateKey {
        team: _,
        label: _,
        admin,
        scopes,
        formats,
        expires,
        allow_ip,
        requests_per_minute,
        concurrency,
        json: _,
    } = arguments;
    Ok(KeyRights {
        admin,
        scopes: (!scopes.is_empty()).then(|| scopes.into_iter().collect()),
        formats: (!formats.is_empty()).then(|| formats.into_iter().collect()),
        networks: allow_ip.iter().map(ToString::to_string).collect(),
        expires_at_ms: expires.map(|expires| expires.unix_ms(now)).transpose()?,
        requests_per_minute,
        concurrency,
    })
}

fn list(keys: &[KeyRecord], now: Timestamp, as_json: bool) -> Result<()> {
    let now_ms = unix_ms(now)?;
    if as_json {
        return output::json(&keys.iter().map(|key| row(key, now_ms)).collect::<Vec<_>>());
    }
    let mut table = Table::new(["ID", "TEAM", "NAME", "RIGHTS", "CREATED", "LAST USED", "EXPIRES", "STATE"]);
    for key in keys {
        table.row([
            key.id.as_str(),
            &key.team,
            &key.label,
            &summary(&key.rights),
            &time(Some(key.created_at_ms)).unwrap_or_default(),
            &time(key.last_used_at_ms).unwrap_or_else(|| "never".to_owned()),
            &time(key.rights.expires_at_ms).unwrap_or_else(|| "never".to_owned()),
            state(key, now_ms),
        ]);
    }
    table.print()
}

/// Returns a key as JSON.
fn row(key: &KeyRecord, now_ms: u64) -> Value {
    // Destructured, so that the compiler finds this place when a right is added.
    let KeyRights { admin, scopes, formats, networks, expires_at_ms, requests_per_minute, concurrency } =
        &key.rights;
    let scopes = scopes.as_ref().map(|scopes| scopes.iter().map(|scope| scope.as_str()));
    json!({
        "id": key.id.as_str(),
        "team": key.team,
        "name": key.label,
        "state": state(key, now_ms),
        "admin": admin,
        "scopes": scopes.map(Iterator::collect::<Vec<_>>),
        "formats": formats,
        "allowIp": networks,
        "requestsPerMinute": requests_per_minute,
        "concurrency": concurrency,
        "createdAt": time(Some(key.created_at_ms)),
        "lastUsedAt": time(key.last_used_at_ms),
        "expiresAt": time(*expires_at_ms),
        "revokedAt": time(key.revoked_at_ms),
    })
}

fn unix_ms(now: Timestamp) -> Result<u64> {
    Ok(u64::try_from(now.as_millisecond())?)
}

fn state(key: &KeyRecord, now_ms: u64) -> &'static str {
    match key.revoked_at_ms {
        Some(_) => "revoked",
        None if key.rights.has_expired(now_ms) => "expired",
        None => "valid",
    }
}

/// Returns a short summary of the rights of a key. `keys list --json` has all details.
fn summary(rights: &KeyRights) -> String {
    let mut words: Vec<&str> = Vec::new();
    if rights.admin {
        words.push("admin");
    }
    match &rights.scopes {
        None => words.push("all"),
        Some(scopes) => words.extend(scopes.iter().map(|scope| scope.as_str())),
    }
    let restrictions = [
        (rights.formats.is_some(), "formats"),
        (!rights.networks.is_empty(), "addresses"),
        (rights.requests_per_minute.or(rights.concurrency).is_some(), "rate"),
    ];
    let restrictions: Vec<&str> =
        restrictions.into_iter().filter_map(|(is_set, word)| is_set.then_some(word)).collect();
    let scopes = words.join("+");
    if restrictions.is_empty() {
        scopes
    } else {
        format!("{scopes} (restricted: {})", restrictions.join(", "))
    }
}

/// Formats a time for output.
pub(super) fn time(unix_ms: Option<u64>) -> Option<String> {
    let at = Timestamp::from_millisecond(i64::try_from(unix_ms?).ok()?).ok()?;
    Some(at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
