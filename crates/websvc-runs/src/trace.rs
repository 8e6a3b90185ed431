//! The trace of a run that works: its events in the form of clients, kept until the store has them.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{Mutex as AsyncMutex, Notify};
use uuid::Uuid;
use websvc_agent::{Event, ToolCall, ValueSource};
use websvc_jobs::timestamp;
use websvc_store::{Clock, JobEvent, NewRunEvent, NewRunSnapshot, RunWebhookEvent};
use websvc_types::agent::{
    AgentActionEvent, AgentArtifact, AgentArtifactChange, AgentArtifactKind, AgentEvent, AgentEventDetail,
    AgentIdentity, AgentPhase, AgentRole,
};
use websvc_types::limits::AGENT_EVENTS_MAX;

/// Maximum of events that wait for the store. The store has a limit of its own.
const MAX_PENDING: usize = AGENT_EVENTS_MAX as usize;

/// ID of the artifact with the collected data.
pub(crate) const DATA: &str = "data";

/// ID of the artifact with the sources of the values.
const SOURCES: &str = "sources";

/// The trace of a run.
#[derive(Debug)]
pub(crate) struct Trace {
    run: String,
    clock: Clock,
    state: Mutex<State>,
    /// Wakes the writer when there is a new event.
    pub(crate) wakeup: Notify,
    /// Held while events are written, so that they are stored in their order.
    pub(crate) writer: Arc<AsyncMutex<()>>,
}

#[derive(Debug, Default)]
struct State {
    /// Number of the events so far.
    sequence: u64,
    pending: Pending,
    /// The last data.
    data: Option<Value>,
    /// The names of the tools of the calls in progress.
    tools: HashMap<u32, &'static str>,
}

/// The events that the store does not have yet.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(crate) events: Vec<NewRunEvent>,
    /// The tools that were called, with their parameters.
    pub(crate) actions: Vec<(&'static str, Value)>,
}

impl Trace {
    /// Creates the trace of a run that has this number of events.
    pub(crate) fn new(run: &str, events: u64, clock: &Clock) -> Self {
        let state = State { sequence: events, ..State::default() };
        Self {
            run: run.to_owned(),
            clock: clock.clone(),
            state: Mutex::new(state),
            wakeup: Notify::new(),
            writer: Arc::default(),
        }
    }

    /// Sets the data of events that are stored already.
    pub(crate) fn set_data(&self, data: Option<Value>) {
        self.state.lock().data = data;
    }

    /// Adds an event of the loop.
    pub(crate) fn record(&self, event: Event) {
        {
            let mut state = self.state.lock();
            let (detail, snapshot) = state.detail(event);
            self.push(&mut state, detail, snapshot);
        }
        self.wakeup.notify_one();
    }

    /// Adds an event of the service.
    pub(crate) fn add(&self, detail: AgentEventDetail) {
        self.push(&mut self.state.lock(), detail, None);
    }

    /// Adds the last data.
    pub(crate) fn add_data(&self, data: &Value) {
        let mut state = self.state.lock();
        let (detail, snapshot) = state.data_changed(data.clone(), None, AgentArtifactChange::Update);
        self.push(&mut state, detail, snapshot);
    }

    /// Adds the sources of the values.
    pub(crate) fn add_sources(&self, sources: &[ValueSource]) {
        let list: Vec<Value> = sources
            .iter()
            .map(|ValueSource { pointer, url, passage }| {
                json!({ "pointer": pointer, "url": url, "passage": passage })
            })
            .collect();
        let mut state = self.state.lock();
        let artifact = AgentArtifact {
            item_count: Some(list.len() as u64),
            ..state.artifact(SOURCES, AgentArtifactChange::Update)
        };
        let content = Value::Array(list).to_string();
        let snapshot = NewRunSnapshot { id: artifact.snapshot_id.clone(), content };
        self.push(&mut state, AgentEventDetail::ArtifactUpdated { artifact }, Some(snapshot));
    }

    /// Returns the last data.
    pub(crate) fn data(&self) -> Option<Value> {
        self.state.lock().data.clone()
    }

    /// Takes what the store does not have yet.
    pub(crate) fn take(&self) -> Pending {
        std::mem::take(&mut self.state.lock().pending)
    }

    fn push(&self, state: &mut State, detail: AgentEventDetail, snapshot: Option<NewRunSnapshot>) {
        if state.pending.events.len() >= MAX_PENDING {
            return;
        }
        state.sequence += 1;
        let event = AgentEvent {
            schema_version: 1,
            event_id: Uuid::now_v7().to_string(),
            run_id: self.run.clone(),
            occurred_at: timestamp(self.clock.now_ms()),
            producer_sequence: state.sequence,
            agent: AgentIdentity {
                id: self.run.clone(),
                role: AgentRole::Orchestrator,
                name: "agent".to_owned(),
                parent_id: None,
            },
            detail,
        };
        let content = serde_json::to_string(&event).expect("an event is JSON");
        state.pending.events.push(NewRunEvent { content, snapshot });
    }
}

impl State {
    /// Returns an event of the loop in the form of clients, with the snapshot that it refers to.
    fn detail(&mut self, event: Event) -> (AgentEventDetail, Option<NewRunSnapshot>) {
        let detail = match event {
            Event::Progress { phase, message } => {
                AgentEventDetail::ProgressReported { phase: agent_phase(phase), message }
            }
            Event::Reasoning(text) => AgentEventDetail::ReasoningSummary { text },
            Event::ToolStarted { number, call } => {
                let (name, parameters) = described(&call);
                self.tools.insert(number, name);
                if self.pending.actions.len() < MAX_PENDING {
                    self.pending.actions.push((name, parameters.clone()));
                }
                AgentEventDetail::ToolCallStarted {
                    tool_call_id: call_id(number),
                    tool_name: name.to_owned(),
                    parameters,
                }
            }
            Event::ToolFinished { number, summary, is_success } => AgentEventDetail::ToolCallFinished {
                tool_call_id: call_id(number),
                tool_name: self.tools.remove(&number).unwrap_or("tool").to_owned(),
                result: json!({ "success": is_success, "summary": summary }),
            },
            Event::SessionStarted { id } => AgentEventDetail::BrowserSessionStarted { session_id: id },
            Event::SessionFinished { id, duration } => AgentEventDetail::BrowserSessionFinished {
                session_id: id,
                duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            },
            Event::DataChanged { data, number } => {
                let change =
                    if self.data.is_none() { AgentArtifactChange::Init } else { AgentArtifactChange::Modify };
                return self.data_changed(data, number, change);
            }
        };
        (detail, None)
    }

    fn data_changed(
        &mut self,
        data: Value,
        number: Option<u32>,
        change: AgentArtifactChange,
    ) -> (AgentEventDetail, Option<NewRunSnapshot>) {
        let artifact = AgentArtifact {
            changed_fields: Some(changed_fields(self.data.as_ref(), &data)),
            source_tool_call_id: number.map(call_id),
            ..self.artifact(DATA, change)
        };
        let snapshot = NewRunSnapshot { id: artifact.snapshot_id.clone(), content: data.to_string() };
        self.data = Some(data);
        (AgentEventDetail::ArtifactUpdated { artifact }, Some(snapshot))
    }

    fn artifact(&self, id: &str, change: AgentArtifactChange) -> AgentArtifact {
        AgentArtifact {
            kind: AgentArtifactKind::Json,
            artifact_id: id.to_owned(),
            path: Some(format!("{id}.json")),
            // The number of its event, so that a run that another process ends has no ID twice.
            snapshot_id: format!("{id}-{}", self.sequence + 1),
            change,
            changed_fields: None,
            item_count: None,
            source_tool_call_id: None,
        }
    }
}

/// Returns the event for the webhook about a call of a tool.
pub(crate) fn action_event(action: &str, input: Value, credits_used: u64) -> RunWebhookEvent {
    let data = AgentActionEvent { credits_used, action: action.to_owned(), input };
    let data = serde_json::to_string(&data).expect("an action is JSON");
    RunWebhookEvent { event: JobEvent::RunAction, data }
}

/// Returns the IDs of the browser sessions that have started and not ended, in the order of their start.
#[must_use]
pub fn open_sessions(events: &[AgentEvent]) -> Vec<&str> {
    let mut open: Vec<&str> = Vec::new();
    for event in events {
        match &event.detail {
            AgentEventDetail::BrowserSessionStarted { session_id } => open.push(session_id),
            AgentEventDetail::BrowserSessionFinished { session_id, duration_ms: _ } => {
                open.retain(|id| id != session_id);
            }
            AgentEventDetail::RunStarted {}
            | AgentEventDetail::RunCancelRequested { .. }
            | AgentEventDetail::RunFinished { .. }
            | AgentEventDetail::AgentStarted {}
            | AgentEventDetail::AgentFinished { .. }
            | AgentEventDetail::ProgressReported { .. }
            | AgentEventDetail::ReasoningSummary { .. }
            | AgentEventDetail::ToolCallStarted { .. }
            | AgentEventDetail::ToolCallFinished { .. }
            | AgentEventDetail::ArtifactUpdated { .. }
            | AgentEventDetail::ErrorOccurred { .. } => {}
        }
    }
    open
}

fn call_id(number: u32) -> String {
    format!("call-{number}")
}

fn agent_phase(phase: &str) -> AgentPhase {
    match phase {
        "planning" => AgentPhase::Planning,
        "finalizing" => AgentPhase::Finalizing,
        _ => AgentPhase::Working,
    }
}

/// Returns the name and the parameters of a call.
fn described(call: &ToolCall) -> (&'static str, Value) {
    match call {
        ToolCall::Search { query } => ("search", json!({ "query": query })),
        ToolCall::Map { url, query } => ("map", json!({ "url": url, "search": query })),
        ToolCall::Scrape { url } => ("scrape", json!({ "url": url })),
        ToolCall::Crawl { url, max_pages } => ("crawl", json!({ "url": url, "limit": max_pages })),
        ToolCall::Interact { url, task } => ("interact", json!({ "url": url, "prompt": task })),
    }
}

/// Returns the names of the fields that differ. Data other than an object has none.
fn changed_fields(before: Option<&Value>, after: &Value) -> Vec<String> {
    let Value::Object(after) = after else { return Vec::new() };
    let before = before.and_then(Value::as_object);
    let is_changed = |name: &String, value: &Value| before.and_then(|before| before.get(name)) != Some(value);
    after.iter().filter(|(name, value)| is_changed(name, value)).map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(trace: &Trace) -> Vec<Value> {
        let pending = trace.take();
        pending.events.iter().map(|event| serde_json::from_str(&event.content).unwrap()).collect()
    }

    #[test]
    fn events_have_the_documented_form() {
        let trace = Trace::new("run-1", 2, &Clock::default());
        trace.add(AgentEventDetail::RunStarted {});
        trace.record(Event::ToolStarted {
            number: 1,
            call: ToolCall::Scrape { url: "http://a.test/".to_owned() },
        });
        trace.record(Event::ToolFinished { number: 1, summary: "a page".to_owned(), is_success: true });
        let events = events(&trace);
        let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
        assert_eq!(types, ["run.started", "tool_call.started", "tool_call.finished"]);
        let sequence: Vec<u64> =
            events.iter().map(|event| event["producerSequence"].as_u64().unwrap()).collect();
        assert_eq!(sequence, [3, 4, 5], "they continue after the stored ones");
        assert_eq!(events[1]["parameters"], json!({ "url": "http://a.test/" }));
        assert_eq!(
            (&events[2]["toolName"], &events[2]["result"]["success"]),
            (&json!("scrape"), &json!(true))
        );
        assert_eq!((&events[0]["runId"], &events[0]["schemaVersion"]), (&json!("run-1"), &json!(1)));
    }

    #[test]
    fn open_sessions_are_those_without_an_end() {
        let trace = Trace::new("run-1", 0, &Clock::default());
        for id in ["one", "two", "three"] {
            trace.record(Event::SessionStarted { id: id.to_owned() });
        }
        trace.record(Event::SessionFinished { id: "two".to_owned(), duration: std::time::Duration::ZERO });
        let events: Vec<AgentEvent> =
            events(&trace).into_iter().map(|event| serde_json::from_value(event).unwrap()).collect();
        assert_eq!(open_sessions(&events), ["one", "three"]);
    }

    #[test]
    fn data_has_a_snapshot_and_the_names_of_its_changed_fields() {
        let trace = Trace::new("run-1", 0, &Clock::default());
        trace.record(Event::DataChanged { data: json!({ "a": 1, "b": 2 }), number: Some(3) });
        trace.record(Event::DataChanged { data: json!({ "a": 1, "b": 3 }), number: None });
        let pending = trace.take();
        let artifact = |at: usize| -> Value {
            serde_json::from_str::<Value>(&pending.events[at].content).unwrap()["artifact"].clone()
        };
        assert_eq!(
            (&artifact(0)["change"], &artifact(0)["sourceToolCallId"], &artifact(1)["changedFields"]),
            (&json!("init"), &json!("call-3"), &json!(["b"]))
        );
        let snapshot = pending.events[1].snapshot.as_ref().unwrap();
        assert_eq!(Value::String(snapshot.id.clone()), artifact(1)["snapshotId"]);
        assert_eq!(snapshot.content, r#"{"a":1,"b":3}"#);
        assert_eq!(trace.data(), Some(json!({ "a": 1, "b": 3 })));
    }

    #[test]
    fn snapshots_of_a_run_that_another_process_ends_have_new_ids() {
        let trace = Trace::new("run-1", 7, &Clock::default());
        trace.set_data(Some(json!({ "a": 1 })));
        assert_eq!(trace.data(), Some(json!({ "a": 1 })));
        trace.add_data(&json!({ "a": 2 }));
        let pending = trace.take();
        assert_eq!(pending.events[0].snapshot.as_ref().map(|snapshot| snapshot.id.as_str()), Some("data-8"));
    }

    #[test]
    fn pending_events_are_bounded() {
        let trace = Trace::new("run-1", 0, &Clock::default());
        for _ in 0..MAX_PENDING + 5 {
            trace.record(Event::Reasoning("because".to_owned()));
        }
        assert_eq!(trace.take().events.len(), MAX_PENDING);
    }
}
