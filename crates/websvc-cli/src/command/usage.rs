//! `websvc usage`: shows the usage and the remaining credits of teams. Works while a server runs.

use anyhow::Result;
use serde_json::{Value, json};
use websvc_store::{Budget, DailyUsage, UsageFilter};
use websvc_types::counted;

use crate::CommandContext;
use crate::app;
use crate::args::Usage;
use crate::output::{self, Column, Table, column, column_or, unix_time};

const COLUMNS: &[Column] = &[
    column("DAY", "day"),
    column("TEAM", "team"),
    column_or("KEY", "key", "-"),
    column("OPERATION", "operation"),
    column("REQUESTS", "requests"),
    column("FAILED", "failed"),
    column("CREDITS", "credits"),
];

/// Runs `websvc usage`.
pub(crate) fn run(context: &CommandContext, arguments: &Usage) -> Result<()> {
    let Usage { team, days, json } = arguments;
    let store = app::open_store(&context.config, &context.data_dir)?;
    let team = team.as_deref();
    let usage = store.usage_by_day(UsageFilter { team, days: Some(*days) })?;
    let usage: Vec<Value> = usage.iter().map(row).collect();
    let mut budgets = Vec::new();
    for record in store.list_teams()?.into_iter().filter(|record| team.is_none_or(|team| record.name == team))
    {
        if let Some(budget) = store.budget(&record.name)? {
            budgets.push((record.name, budget));
        }
    }
    if *json {
        let budgets = budgets.iter().map(|(team, Budget { granted, granted_at_ms, spent, remaining })| {
            json!({
                "team": team, "granted": granted, "grantedAt": unix_time(Some(*granted_at_ms)),
                "spent": spent, "remaining": remaining,
            })
        });
        return output::json(&json!({ "usage": usage, "budgets": budgets.collect::<Vec<_>>() }));
    }
    Table::of_objects(&usage, COLUMNS).print()?;
    for (team, Budget { granted, granted_at_ms, spent: _, remaining }) in budgets {
        let since = unix_time(Some(granted_at_ms)).unwrap_or_default();
        let granted = counted(granted, "credit", "credits");
        output::line(&format!("team {team}: {remaining} of {granted} remaining, granted at {since}"))?;
    }
    Ok(())
}

fn row(row: &DailyUsage) -> Value {
    let DailyUsage { day, team, key, operation, requests, failed, credits } = row;
    json!({
        "day": day, "team": team, "key": key, "operation": operation,
        "requests": requests, "failed": failed, "credits": credits,
    })
}
