//! `websvc teams`: creates, changes and shows teams. Works while a server runs.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use websvc_engine::{TeamIndexes, remove_ownerless};
use websvc_index::IndexConfig;
use websvc_notify::webhook::SigningSecret;
use websvc_store::{DEFAULT_TEAM, Team, TeamChange};

use super::keys::time;
use crate::CommandContext;
use crate::app;
use crate::args::{Limit, OnOff, SetTeam, TeamsCommand};
use crate::output::{self, Table};

/// Runs `websvc teams`.
pub(crate) fn teams(context: &CommandContext, teams: TeamsCommand) -> Result<()> {
    let store = app::open_store(&context.config, &context.data_dir)?;
    match teams {
        TeamsCommand::Set(arguments) => {
            let team = store.set_team(&arguments.name, &change(&arguments))?;
            show(&team, arguments.json)
        }
        TeamsCommand::List { json } => list(&store.list_teams()?, json),
        TeamsCommand::Show { name, json } => {
            let team = store.team(&name)?.with_context(|| format!("there is no team {name:?}"))?;
            show(&team, json)
        }
        TeamsCommand::WebhookSecret { name, rotate, json } => {
            ensure!(name == DEFAULT_TEAM || store.team(&name)?.is_some(), "there is no team {name:?}");
            let secret =
                if rotate { store.rotate_webhook_secret(&name)? } else { store.webhook_secret(&name)? };
            let secret = SigningSecret::encode(&secret);
            if json {
                output::json(&json!({ "team": name, "secret": secret }))
            } else {
                output::line(&secret)
            }
        }
        TeamsCommand::Delete { name, json } => {
            ensure!(store.delete_team(&name)?, "there is no team {name:?}");
            let indexes = TeamIndexes::new(&context.data_dir.index(), IndexConfig::default(), false);
            remove_ownerless(&indexes, &store)?;
            if json {
                return output::json(&json!({ "team": name, "deleted": true }));
            }
            output::line(&format!("deleted team {name}"))
        }
    }
}

fn change(arguments: &SetTeam) -> TeamChange {
    let SetTeam {
        name: _,
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
        json: _,
    } = arguments;
    TeamChange {
        zdr: *zdr,
        anon: *anon,
        threat_protection: *threat_protection,
        threat_override: *threat_override,
        credits: credits.map(Limit::number),
        requests_per_minute: requests_per_minute.map(Limit::number),
        concurrency: concurrency.map(Limit::number),
        audit: audit.map(OnOff::is_on),
        index: *index,
        robots_agent: *robots_agent,
    }
}

fn list(teams: &[Team], as_json: bool) -> Result<()> {
    if as_json {
        return output::json(&teams.iter().map(as_value).collect::<Vec<_>>());
    }
    let header = [
        "NAME",
        "ZDR",
        "ANON",
        "THREATS",
        "CREDITS",
        "PER MINUTE",
        "CONCURRENCY",
        "AUDIT",
        "INDEX",
        "CREATED",
    ];
    let mut table = Table::new(header);
    for team in teams {
        table.row([
            &team.name,
            team.zdr.as_str(),
            team.anon.as_str(),
            team.threat_protection.as_str(),
            &limit(team.credits, "unlimited"),
            &limit(team.requests_per_minute, "default"),
            &limit(team.concurrency, "default"),
            on_or_off(team.audit),
            team.index.as_str(),
            &time(Some(team.created_at_ms)).unwrap_or_default(),
        ]);
    }
    table.print()
}

fn show(team: &Team, as_json: bool) -> Result<()> {
    if as_json {
        return output::json(&as_value(team));
    }
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
    output::line(&format!("team                 {name}"))?;
    output::line(&format!("zdr                  {zdr}"))?;
    output::line(&format!("anon                 {anon}"))?;
    output::line(&format!("threat-protection    {threat_protection}"))?;
    output::line(&format!("threat-override      {threat_override}"))?;
    output::line(&format!("credits              {}", limit(*credits, "unlimited")))?;
    output::line(&format!("requests-per-minute  {}", limit(*requests_per_minute, "default")))?;
    output::line(&format!("concurrency          {}", limit(*concurrency, "default")))?;
    output::line(&format!("audit                {}", on_or_off(*audit)))?;
    output::line(&format!("index                {index}"))?;
    output::line(&format!("robots-agent         {robots_agent}"))?;
    output::line(&format!("created              {}", time(Some(*created_at_ms)).unwrap_or_default()))
}

fn as_value(team: &Team) -> Value {
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
        "createdAt": time(Some(*created_at_ms)),
    })
}

fn limit<T: ToString>(number: Option<T>, without: &str) -> String {
    number.map_or_else(|| without.to_owned(), |number| number.to_string())
}

fn on_or_off(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}
