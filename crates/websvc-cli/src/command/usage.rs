//! `websvc usage`: shows the usage and the remaining credits of teams. Works while a server runs.

use anyhow::Result;
use serde_json::json;
use websvc_store::{Budget, DailyUsage, UsageFilter};
use websvc_types::counted;

use super::keys::time;
use crate::CommandContext;
use crate::app;
use crate::args::Usage;
use crate::output::{self, Table};

/// Runs `websvc usage`.
pub(crate) fn usage(context: &CommandContext, arguments: &Usage) -> Result<()> {
    let Usage { team, days, json } = arguments;
    let store = app::open_store(&context.config, &context.data_dir)?;
    let team = team.as_deref();
    let usage_rows = store.usage_by_day(UsageFilter { team, days: Some(*days) })?;
    let mut budgets = Vec::new();
    for record in store.list_teams()?.into_iter().filter(|record| team.is_none_or(|team| record.name == team))
    {
        if let Some(budget) = store.budget(&record.name)? {
            budgets.push((record.name, budget));
        }
    }
    if *json { print_json(&usage_rows, &budgets) } else { print(&usage_rows, &budgets) }
}

fn print_json(usage_rows: &[DailyUsage], budgets: &[(String, Budget)]) -> Result<()> {
    let usage_rows = usage_rows.iter().map(|row| {
        let DailyUsage { day, team, key, operation, requests, failed, credits } = row;
        json!({
            "day": day, "team": team, "key": key, "operation": operation,
            "requests": requests, "failed": failed, "credits": credits,
        })
    });
    let budgets = budgets.iter().map(|(team, budget)| {
        let Budget { granted, granted_at_ms, spent, remaining } = budget;
        json!({
            "team": team, "granted": granted, "grantedAt": time(Some(*granted_at_ms)),
            "spent": spent, "remaining": remaining,
        })
    });
    output::json(&json!({ "usage": usage_rows.collect::<Vec<_>>(), "budgets": budgets.collect::<Vec<_>>() }))
}

fn print(usage_rows: &[DailyUsage], budgets: &[(String, Budget)]) -> Result<()> {
    let mut table = Table::new(["DAY", "TEAM", "KEY", "OPERATION", "REQUESTS", "FAILED", "CREDITS"]);
    for row in usage_rows {
        let DailyUsage { day, team, key, operation, requests, failed, credits } = row;
        table.row([
            day,
            team,
            key.as_deref().unwrap_or("-"),
            operation,
            &requests.to_string(),
            &failed.to_string(),
            &credits.to_string(),
        ]);
    }
    table.print()?;
    for (team, Budget { granted, granted_at_ms, spent: _, remaining }) in budgets {
        let since = time(Some(*granted_at_ms)).unwrap_or_default();
        output::line(&format!(
            "team {team}: {remaining} of {} remaining, granted at {since}",
            counted(*granted, "credit", "credits")
        ))?;
    }
    Ok(())
}
