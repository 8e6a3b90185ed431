//! `websvc eval`: measures the ranking of searches over the own pages by relevance judgments.

mod collection;
pub(crate) mod measure;

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use websvc::types::{SearchRequest, SearchResponse};
use websvc_scrape::FilePublisher;
use websvc_store::DEFAULT_TEAM;
use websvc_types::limits::QUERY_MAX_CHARS;
use websvc_validate::{Checked, Policy, check_request};

use self::collection::{JudgedQuery, check_count, normalized, read_judgments, read_queries};
use self::measure::{Measures, TABLE_HEAD};
use super::search::{client, rejection_error};
use crate::CommandContext;
use crate::app::App;
use crate::args::{EvalCommand, EvalSearch};
use crate::output;

/// Number of results of each search.
const DEPTH: u32 = 100;

/// The place that is searched.
enum Searcher {
    Server(websvc::Client),
    Local(Box<App>),
}

/// Runs `websvc eval`.
pub(crate) async fn run(context: CommandContext, command: EvalCommand) -> Result<()> {
    let EvalCommand::Search(EvalSearch { queries, qrels, json: as_json, remote }) = command;
    let (mut queries, judgments) = (read_queries(&queries)?, read_judgments(&qrels)?);
    let all = queries.len();
    queries.retain(|query| judgments.contains_key(&query.id));
    ensure!(
        !queries.is_empty(),
        "no query has a judgment with a grade above 0: the IDs of the queries and of the judgments must be equal"
    );
    check_count(&queries)?;
    let searcher = match remote.server {
        Some(_) => Searcher::Server(client(&remote)?),
        None => Searcher::Local(Box::new(context.open()?)),
    };
    let (mut total, mut rows) = (Measures::default(), Vec::new());
    for query in &queries {
        let response = searcher.search(query).await.with_context(|| format!("query {:?}", query.id))?;
        let grades = &judgments[&query.id];
        let results = response.data.web.unwrap_or_default();
        let urls = results.iter().map(|result| normalized(&result.url));
        let gains: Vec<f64> =
            urls.map(|url| url.and_then(|url| grades.get(&url).copied()).unwrap_or_default()).collect();
        let measures = Measures::from_gains(&gains, &grades.values().copied().collect::<Vec<_>>());
        rows.push(row(query, measures));
        total.add(measures);
    }
    if let Searcher::Local(app) = searcher {
        app.close().await?;
    }
    print(as_json, total, &rows, all - queries.len())
}

impl Searcher {
    async fn search(&self, query: &JudgedQuery) -> Result<SearchResponse> {
        let request = SearchRequest {
            query: shortened(&query.text).to_owned(),
            limit: Some(DEPTH),
            ..SearchRequest::default()
        };
        match self {
            Self::Server(client) => Ok(client.execute_search(&request).await?),
            Self::Local(app) => {
                let Checked { plan, .. } =
                    check_request(&request, &Policy::default()).map_err(rejection_error)?;
                let files = FilePublisher::inline();
                let outcome = app.engine.search(&plan, DEFAULT_TEAM, &files, Instant::now()).await?;
                let credits = outcome.bill.total();
                Ok(outcome.into_response(String::new(), credits))
            }
        }
    }
}

/// Returns the start of a query, in whole words, up to the maximum length.
fn shortened(query: &str) -> &str {
    let Some((limit, _)) = query.char_indices().nth(QUERY_MAX_CHARS as usize) else { return query };
    let head = &query[..limit];
    head.rsplit_once(' ').map_or(head, |(head, _)| head)
}

fn row(query: &JudgedQuery, Measures { ndcg, recall, .. }: Measures) -> Value {
    json!({ "id": query.id, "query": query.text, "ndcg10": ndcg, "recall100": recall })
}

fn print(as_json: bool, total: Measures, rows: &[Value], unjudged: usize) -> Result<()> {
    if as_json {
        let Measures { queries, ndcg, recall } = total.means();
        return output::json(&json!({
            "queries": queries,
            "unjudged": unjudged,
            "ndcg10": ndcg,
            "recall100": recall,
            "byQuery": rows,
        }));
    }
    if unjudged > 0 {
        output::note(&format!("{unjudged} queries without judgments were left out"));
    }
    output::line(TABLE_HEAD)?;
    output::line(&total.row("index", "-", "-"))
}
