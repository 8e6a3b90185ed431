//! `websvc teams`: creates, changes and shows teams. Works while a server runs.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use websvc_engine::{TeamIndexes, remove_ownerless};
use websvc_index::IndexConfig;
use websvc_notify::webhook::SigningSecret;
use websvc_store::{DEFAULT_TEAM, Team, TeamChange};

use crate::CommandContext;
use crate::app;
use crate::args::{Limit, SetTeam, TeamsCommand};
use crate::output::{self, Column, column, column_of, column_or, unix_time};

/// The columns of the list.
const LISTED: &[Column] = &[
    column("NAME", "name"),
    column("ZDR", "zdr"),
    column("ANON", "anon"),
    column("THREATS", "threatProtection"),
    column_or("CREDITS", "credits", "unlimited"),
    column_or("PER MINUTE", "requestsPerMinute", "default"),
    column_or("CONCURRENCY", "concurrency", "default"),
    column_of("AUDIT", audit),
    column("INDEX", "index"),
    column("CREATED", "createdAt"),
];

/// The lines of one team, which begin with the options of `teams set`.
const SHOWN: &[Column] = &[
    column("team", "name"),
    column("zdr", "zdr"),
    column("anon", "anon"),
    column("threat-protection", "threatProtection"),
    column("threat-override", "threatOverride"),
    column_or("credits", "credits", "unlimited"),
    column_or("requests-per-minute", "requestsPerMinute", "default"),
    column_or("concurrency", "concurrency", "default"),
    column_of("audit", audit),
    column("index", "index"),
    column("robots-agent", "robotsAgent"),
    column("created", "createdAt"),
];

fn audit(team: &Value) -> String {
    if team["audit"] == true { "on".to_owned() } else { "off".to_owned() }
}

/// Runs `websvc teams`.
pub(crate) fn run(context: &CommandContext, teams: TeamsCommand) -> Result<()> {
    let store = app::open_store(&context.config, &context.data_dir)?;
    match teams {
        TeamsCommand::Set(arguments) => {
            show(&store.set_team(&arguments.name, &change(&arguments))?, arguments.json)
        }
        TeamsCommand::List { json } => {
            let teams: Vec<Value> = store.list_teams()?.iter().map(as_value).collect();
            output::objects(json, &teams, LISTED)
        }
        TeamsCommand::Show { name, json } => {
            let team = store.team(&name)?.with_context(|| format!("there is no team {name:?}"))?;
            show(&team, json)
        }
        TeamsCommand::WebhookSecret { name, rotate, json } => {
            ensure!(name == DEFAULT_TEAM || store.team(&name)?.is_some(), "there is no team {name:?}");
            let secret =
                if rotate { store.rotate_webhook_secret(&name)? } else { store.webhook_secret(&name)? };
            let secret = SigningSecret::encode(&secret);
            output::json_or_line(json, &json!({ "team": name, "secret": secret }), || secret.clone())
        }
        TeamsCommand::Delete { name, json } => {
            ensure!(store.delete_team(&name)?, "there is no team {name:?}");
            let indexes = TeamIndexes::new(&context.data_dir.index(), IndexConfig::default(), false);
            remove_ownerless(&indexes, &store)?;
            let deleted = json!({ "team": name, "deleted": true });
            output::json_or_line(json, &deleted, || format!("deleted team {name}"))
        }
    }
}

fn change(arguments: &SetTeam) -> TeamChange {
    TeamChange {
        zdr: arguments.zdr,
        anon: arguments.anon,
        threat_protection: arguments.threat_protection,
        threat_override: arguments.threat_override,
        credits: arguments.credits.map(Limit::number),
        requests_per_minute: arguments.requests_per_minute.map(Limit::number),
        concurrency: arguments.concurrency.map(Limit::number),
        audit: arguments.audit,
        index: arguments.index,
        robots_agent: arguments.robots_agent,
    }
}

fn show(team: &Team, as_json: bool) -> Result<()> {
    let team = as_value(team);
    output::json_or_line(as_json, &team, || {
        let lines = SHOWN.iter().map(|field| format!("{:<21}{}", field.header(), field.text(&team)));
        lines.collect::<Vec<_>>().join("\n")
    })
}

fn as_value(team: &Team) -> Value {
    // Destructured, so that the compiler finds this place when a field is added.
    let Team {
        name,
        zdr,
        anon,
        threat_protection,
        threat_override,
        credits,
        requests_per_minute,
        concurrency,
        audit,
        index,
        robots_agent,
        page_owner: _,
        created_at_ms,
    } = team;
    json!({
        "name": name,
        "zdr": zdr.as_str(),
        "anon": anon.as_str(),
        "threatProtection": threat_protection.as_str(),
        "threatOverride": threat_override.as_str(),
        "credits": credits,
        "requestsPerMinute": requests_per_minute,
        "concurrency": concurrency,
        "audit": audit,
        "index": index.as_str(),
        "robotsAgent": robots_agent.as_str(),
        "createdAt": unix_time(Some(*created_at_ms)),
    })
}
