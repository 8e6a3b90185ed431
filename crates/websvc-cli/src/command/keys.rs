//! `websvc keys`: creates, lists and revokes API keys and invitations to them. Works while a server runs.

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::{Value, json};
use websvc_server::invitation_link;
use websvc_store::{KeyId, KeyRecord, KeyRights, Store};

use crate::CommandContext;
use crate::app;
use crate::args::{CreateKey, InviteKey, KeyOptions, KeysCommand};
use crate::output::{self, Column, column, column_of, column_or, unix_time};

const COLUMNS: &[Column] = &[
    column("ID", "id"),
    column("TEAM", "team"),
    column("NAME", "name"),
    column_of("RIGHTS", summary),
    column("CREATED", "createdAt"),
    column_or("LAST USED", "lastUsedAt", "never"),
    column_or("EXPIRES", "expiresAt", "never"),
    column("STATE", "state"),
];

/// Runs `websvc keys`.
pub(crate) fn run(context: &CommandContext, keys: KeysCommand) -> Result<()> {
    let store = app::open_store(&context.config, &context.data_dir)?;
    match keys {
        KeysCommand::Create(arguments) => {
            let CreateKey { options, admin, json } = arguments;
            let (team, label) = (options.team.clone(), options.label.clone());
            let now = store.clock().now();
            let key = store.create_key_with(&team, &label, &KeyRights { admin, ..rights(options, now)? })?;
            if !json {
                return output::line(key.secret.expose());
            }
            let mut row = row_of(&store, &key.id)?;
            row["key"] = key.secret.expose().into();
            output::json(&row)
        }
        KeysCommand::Invite(arguments) => {
            let InviteKey { options, redeem_within, json } = arguments;
            let (team, label) = (options.team.clone(), options.label.clone());
            let now = store.clock().now();
            let until_ms = redeem_within.unix_ms(now, "--redeem-within")?;
            let invitation = store.create_invitation(&team, &label, &rights(options, now)?, until_ms)?;
            let text = invitation.secret.expose();
            let link = context.config.server.public_url.as_deref().map(|url| invitation_link(url, text));
            if !json {
                return output::line(link.as_deref().unwrap_or(text));
            }
            let mut row = row_of(&store, &invitation.id)?;
            row["invitation"] = text.into();
            row["link"] = link.into();
            output::json(&row)
        }
        KeysCommand::List { json } => {
            let now_ms = unix_ms(store.clock().now())?;
            let keys: Vec<Value> = store.list_keys()?.iter().map(|key| row(key, now_ms)).collect();
            output::objects(json, &keys, COLUMNS)
        }
        KeysCommand::Revoke { id, json } => {
            let key = store.revoke_key(&id)?;
            let row = row(&key, unix_ms(store.clock().now())?);
            output::json_or_line(json, &row, || format!("revoked {} of team {}", key.id, key.team))
        }
    }
}

/// Returns the rights of a key that does not administer.
fn rights(options: KeyOptions, now: Timestamp) -> Result<KeyRights> {
    let KeyOptions {
        team: _,
        label: _,
        scopes,
        formats,
        expires,
        allow_ip,
        requests_per_minute,
        concurrency,
    } = options;
    Ok(KeyRights {
        admin: false,
        scopes: (!scopes.is_empty()).then(|| scopes.into_iter().collect()),
        formats: (!formats.is_empty()).then(|| formats.into_iter().collect()),
        networks: allow_ip.iter().map(ToString::to_string).collect(),
        expires_at_ms: expires.map(|expires| expires.unix_ms(now, "--expires")).transpose()?,
        requests_per_minute,
        concurrency,
    })
}

/// Returns a new key or invitation as JSON.
fn row_of(store: &Store, id: &KeyId) -> Result<Value> {
    let record = store.list_keys()?.into_iter().find(|record| record.id == *id);
    Ok(row(&record.context("the new key is not in the list")?, unix_ms(store.clock().now())?))
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
        "createdAt": unix_time(Some(key.created_at_ms)),
        "lastUsedAt": unix_time(key.last_used_at_ms),
        "expiresAt": unix_time(*expires_at_ms),
        "revokedAt": unix_time(key.revoked_at_ms),
        "redeemUntil": unix_time(key.redeem_until_ms),
    })
}

fn unix_ms(now: Timestamp) -> Result<u64> {
    Ok(u64::try_from(now.as_millisecond())?)
}

fn state(key: &KeyRecord, now_ms: u64) -> &'static str {
    match key.revoked_at_ms {
        Some(_) => "revoked",
        None if key.rights.has_expired(now_ms) => "expired",
        None if key.redeem_until_ms.is_some_and(|until_ms| until_ms <= now_ms) => "expired",
        None if key.redeem_until_ms.is_some() => "invited",
        None => "valid",
    }
}

/// Returns a short summary of the rights of a key. `keys list --json` has all details.
fn summary(key: &Value) -> String {
    let admin = (key["admin"] == true).then_some("admin").into_iter();
    let scopes: Vec<&str> = match key["scopes"].as_array() {
        None => admin.chain(["all"]).collect(),
        Some(scopes) => admin.chain(scopes.iter().filter_map(Value::as_str)).collect(),
    };
    let scopes = scopes.join("+");
    let is_set = |name: &str| !key[name].is_null();
    let restrictions = [
        (is_set("formats"), "formats"),
        (key["allowIp"].as_array().is_some_and(|networks| !networks.is_empty()), "addresses"),
        (is_set("requestsPerMinute") || is_set("concurrency"), "rate"),
    ];
    let restrictions = restrictions.into_iter().filter_map(|(is_set, word)| is_set.then_some(word));
    let restrictions: Vec<&str> = restrictions.collect();
    if restrictions.is_empty() {
        scopes
    } else {
        format!("{scopes} (restricted: {})", restrictions.join(", "))
    }
}
