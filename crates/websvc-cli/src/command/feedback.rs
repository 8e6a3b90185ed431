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
use crate::CommandContext;
use crate::app;
use crate::args::FeedbackCommand;
use crate::output::{self, Column, column, column_of, one_line, unix_time};

/// Number of records that are read at a time.
const BATCH: u32 = 500;

/// Number of characters of a note that the table shows.
const NOTE_CHARS: usize = 80;

const COLUMNS: &[Column] = &[
    column("TIME", "createdAt"),
    column("TEAM", "team"),
    column("ENDPOINT", "endpoint"),
    column("RATING", "rating"),
    column_of("REQUEST", |feedback| one_line(feedback["request"].as_str().unwrap_or("-"), usize::MAX)),
    column_of("NOTE", |feedback| {
        let note = one_line(feedback["content"]["note"].as_str().unwrap_or("-"), usize::MAX);
        note.chars().take(NOTE_CHARS).collect()
    }),
];

/// Runs `websvc feedback`.
pub(crate) fn run(context: &CommandContext, command: FeedbackCommand) -> Result<()> {
    let store = app::open_store(&context.config, &context.data_dir)?;
    match command {
        FeedbackCommand::List { team, limit, json } => {
            let records = store.feedback(team.as_deref(), None, limit)?;
            output::objects(json, &records.iter().map(to_json).collect::<Vec<_>>(), COLUMNS)
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
        "createdAt": unix_time(Some(*created_at_ms)),
        "team": team,
        "key": key,
        "endpoint": operation,
        "request": target,
        "rating": rating.as_str(),
        "content": serde_json::from_str::<Value>(content).unwrap_or_default(),
    })
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
    output::json_or_line(as_json, &json!({ "queries": queries, "judgments": count }), || {
        let (count, queries) =
            (counted(count, "judgment", "judgments"), counted(queries, "query", "queries"));
        format!("{count} of {queries} written to {}", directory.display())
    })
}
