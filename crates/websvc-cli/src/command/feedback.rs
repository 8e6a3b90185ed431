//! `websvc feedback`: lists the ratings of clients, and exports those of searches as relevance judgments. Works while a
//! server runs.

mod judgments;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use websvc_store::{FeedbackRecord, Store};
use websvc_types::counted;

use self::judgments::Judgments;
use super::keys::time;
use crate::CommandContext;
use crate::app;
use crate::args::FeedbackCommand;
use crate::output::{self, Table, printable};

/// Number of records that are read at a time.
const BATCH: u32 = 500;

/// Number of characters of a note that the table shows.
const NOTE_CHARS: usize = 80;

/// Runs `websvc feedback`.
pub(crate) fn feedback(context: &CommandContext, command: FeedbackCommand) -> Result<()> {
    let store = app::open_store(&context.config, &context.data_dir)?;
    match command {
        FeedbackCommand::List { team, limit, json } => {
            let records = store.feedback(team.as_deref(), None, limit)?;
            if json {
                output::json(&records.iter().map(to_json).collect::<Vec<_>>())
            } else {
                print(&records)
            }
        }
        FeedbackCommand::Export { directory, team, json } => {
            export(&store, team.as_deref(), &directory, json)
        }
    }
}

fn to_json(record: &FeedbackRecord) -> Value {
    let FeedbackRecord { number: _, id, team, key, operation, target, rating, content, created_at_ms } =
        record;
    json!({
        "id": id,
        "createdAt": time(Some(*created_at_ms)),
        "team": team,
        "key": key,
        "endpoint": operation,
        "request": target,
        "rating": rating.as_str(),
        "content": serde_json::from_str::<Value>(content).unwrap_or_default(),
    })
}

fn print(records: &[FeedbackRecord]) -> Result<()> {
    let mut table = Table::new(["TIME", "TEAM", "ENDPOINT", "RATING", "REQUEST", "NOTE"]);
    for record in records {
        let content: Value = serde_json::from_str(&record.content).unwrap_or_default();
        let note: String =
            one_line(content["note"].as_str().unwrap_or("-")).chars().take(NOTE_CHARS).collect();
        table.row([
            &time(Some(record.created_at_ms)).unwrap_or_default(),
            &record.team,
            &record.operation,
            record.rating.as_str(),
            &one_line(record.target.as_deref().unwrap_or("-")),
            &note,
        ]);
    }
    table.print()
}

/// Returns a text of a client as a single line that cannot control a terminal.
fn one_line(text: &str) -> String {
    printable(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn export(store: &Store, team: Option<&str>, directory: &Path, as_json: bool) -> Result<()> {
    let mut judgments = Judgments::default();
    let mut before = None;
    loop {
        let records = store.feedback(team, before, BATCH)?;
        records.iter().for_each(|record| judgments.add(record));
        match records.last() {
            Some(last) => before = Some(last.number),
            None => break,
        }
    }
    fs::create_dir_all(directory).with_context(|| format!("{} could not be created", directory.display()))?;
    for (name, text) in [("qrels.txt", judgments.qrels()), ("queries.jsonl", judgments.queries())] {
        let path = directory.join(name);
        fs::write(&path, text).with_context(|| format!("{} could not be written", path.display()))?;
    }
    let (queries, count) = judgments.counts();
    if as_json {
        return output::json(&json!({ "queries": queries, "judgments": count }));
    }
    let (count, queries) = (counted(count, "judgment", "judgments"), counted(queries, "query", "queries"));
    output::line(&format!("{count} of {queries} written to {}", directory.display()))
}
