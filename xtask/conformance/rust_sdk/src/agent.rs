//! Agent runs, with and without a language model.

use std::time::Duration;

use firecrawl::{AgentEffort, AgentModel, AgentOptions, AgentStatus, AgentStatusResponse, Client};
use serde_json::{Value, json};

use crate::{Outcome, PAGE, Service, ensure, ensure_failed};

/// Time between two requests for the state of a run.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "leaf": { "type": "string" }, "grams": { "type": "integer" } },
        "required": ["leaf", "grams"],
    })
}

/// Returns the options of a run for a task on the page.
fn options(prompt: &str) -> AgentOptions {
    AgentOptions { urls: Some(vec![PAGE.to_owned()]), prompt: prompt.to_owned(), ..AgentOptions::default() }
}

async fn wait(client: &Client, run: &str) -> Result<AgentStatusResponse, Box<dyn std::error::Error>> {
    loop {
        let status = client.get_agent_status(run).await?;
        if status.status != AgentStatus::Processing {
            return Ok(status);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Runs a task to its end, reads its list and trace, and cancels another run.
pub(crate) async fn check(service: &Service) -> Outcome {
    let client = service.client(service.key.as_deref())?;
    let run = AgentOptions {
        schema: Some(schema()),
        max_credits: Some(50),
        strict_constrain_to_urls: Some(true),
        model: Some(AgentModel::Spark2),
        effort: Some(AgentEffort::Low),
        poll_interval: Some(200),
        timeout: Some(100),
        ..options("How much sencha?")
    };
    let done = client.agent(run).await?;
    ensure(done.status == AgentStatus::Completed && done.error.is_none(), &done)?;
    ensure(done.data == Some(json!({ "leaf": "Sencha", "grams": 4 })), &done)?;
    // Two steps and a page.
    ensure(done.credits_used == Some(2), &done)?;
    let listed = client.list_agents(None).await?;
    let Some([first, ..]) = listed.agents.as_deref() else { return ensure(false, &listed) };
    ensure(first.status == AgentStatus::Completed && first.target_hint == PAGE, first)?;
    let trace = client.get_agent_trace(&first.id, false).await?;
    ensure(
        trace.credits_used == Some(2) && trace.events.as_ref().is_some_and(|list| list.len() > 5),
        &trace,
    )?;
    let waiting = client.start_agent(options("wait")).await?;
    ensure(client.cancel_agent(&waiting.id).await?, &waiting)?;
    let ended = wait(&client, &waiting.id).await?;
    ensure(ended.status == AgentStatus::Failed && ended.credits_used == Some(0), &ended)?;
    // The SDK returns a refused cancellation as false, without its reason.
    ensure(!client.cancel_agent(&waiting.id).await?, &"cancelled twice")
}

/// The service has no language model: its reason is shown, and an empty list can be read.
pub(crate) async fn check_without_model(service: &Service) -> Outcome {
    let client = service.client(service.key.as_deref())?;
    ensure_failed(client.start_agent(options("What does tea cost?")).await, "[llm]")?;
    let listed = client.list_agents(None).await?;
    ensure(listed.agents.as_deref().is_some_and(<[_]>::is_empty), &listed)
}
