//! A web in memory, and models that follow a script.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::sleep;
use websvc_agent::{
    AgentEffort, AgentMode, AgentTask, Environment, Event, FoundPage, Link, ReadPage, RunReport, Stop,
    TaskLimits, ToolCall, ToolFailure, ToolKind, ToolOutput, run_task,
};
use websvc_model::{
    Completion, CompletionContent, CompletionRequest, Model, ModelError, ModelFuture, Ranking,
    ResponseFormat, Usage,
};
use websvc_transport::BoxFuture;

pub(crate) const ALL_TOOLS: &[ToolKind] =
    &[ToolKind::Search, ToolKind::Map, ToolKind::Scrape, ToolKind::Crawl, ToolKind::Interact];

/// A web of pages by their URLs. A search finds the pages whose titles have a word of the query.
pub(crate) struct FakeWeb {
    pub(crate) pages: HashMap<String, ReadPage>,
    pub(crate) tools: Vec<ToolKind>,
    /// The only URLs that may be read, if there are some.
    pub(crate) allowed: Vec<String>,
    pub(crate) call_time: Duration,
    /// The page whose reading does not end.
    pub(crate) hanging: Option<String>,
    /// The number of steps after which the run is stopped, with the reason.
    pub(crate) stop: Option<(u32, Stop)>,
    pub(crate) calls: Mutex<Vec<ToolCall>>,
    pub(crate) events: Mutex<Vec<Event>>,
    pub(crate) steps: Mutex<u32>,
}

impl FakeWeb {
    pub(crate) fn new<'a>(pages: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>) -> Self {
        let pages = pages.into_iter().map(|(url, title, markdown)| {
            let links = links_of(markdown);
            let page = ReadPage {
                url: url.to_owned(),
                title: title.to_owned(),
                markdown: markdown.to_owned(),
                links,
            };
            (url.to_owned(), page)
        });
        Self {
            pages: pages.collect(),
            tools: ALL_TOOLS.to_vec(),
            allowed: Vec::new(),
            call_time: Duration::from_millis(300),
            hanging: None,
            stop: None,
            calls: Mutex::default(),
            events: Mutex::default(),
            steps: Mutex::default(),
        }
    }

    pub(crate) fn calls(&self) -> Vec<ToolCall> {
        self.calls.lock().clone()
    }

    /// Returns the URLs that were read, in order.
    pub(crate) fn reads(&self) -> Vec<String> {
        let reads = self.calls().into_iter().filter_map(|call| match call {
            ToolCall::Scrape { url } => Some(url),
            _ => None,
        });
        reads.collect()
    }

    fn respond(&self, call: &ToolCall) -> Result<ToolOutput, ToolFailure> {
        let read = |url: &str| {
            if !self.allowed.is_empty() && !self.allowed.iter().any(|allowed| allowed == url) {
                return Err(ToolFailure::Refused("the URL is not one of the given ones".to_owned()));
            }
            let page = self.pages.get(url).cloned();
            page.ok_or_else(|| ToolFailure::Failed("the page has status 404".to_owned()))
        };
        let found = |mut found: Vec<FoundPage>| {
            found.sort_by(|a, b| a.url.cmp(&b.url));
            Ok(ToolOutput::Found(found))
        };
        let as_result = |page: &ReadPage| FoundPage {
            url: page.url.clone(),
            title: page.title.clone(),
            description: String::new(),
        };
        let output = |pages: Vec<ReadPage>, answer: &str| {
            Ok(ToolOutput::Read { pages, failures: Vec::new(), answer: answer.to_owned() })
        };
        match call {
            ToolCall::Search { query } => {
                let has_word = |page: &&ReadPage| query.split(' ').any(|word| page.title.contains(word));
                found(self.pages.values().filter(has_word).map(as_result).collect())
            }
            ToolCall::Map { url, query: _ } => {
                let on_site = |page: &&ReadPage| page.url.starts_with(url);
                found(self.pages.values().filter(on_site).map(as_result).collect())
            }
            ToolCall::Scrape { url } => output(vec![read(url)?], ""),
            ToolCall::Crawl { url, max_pages } => {
                let first = read(url)?;
                let next = first.links.iter().filter_map(|link| read(&link.url).ok()).collect::<Vec<_>>();
                let pages = [first].into_iter().chain(next).take(*max_pages as usize);
                output(pages.collect(), "")
            }
            ToolCall::Interact { url, task } => output(vec![read(url)?], &format!("did {task}")),
        }
    }
}

/// Returns the links of markdown.
fn links_of(markdown: &str) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    for part in markdown.split('[').skip(1) {
        let Some((text, rest)) = part.split_once("](") else { continue };
        let Some((url, _)) = rest.split_once(')') else { continue };
        links.push(Link { url: url.to_owned(), text: text.to_owned() });
    }
    links
}

impl Environment for FakeWeb {
    fn tools(&self) -> &[ToolKind] {
        &self.tools
    }

    fn can_open(&self, url: &str) -> bool {
        self.allowed.is_empty() || self.allowed.iter().any(|allowed| allowed == url)
    }

    fn begin_step(&self) -> BoxFuture<'_, Result<(), Stop>> {
        let mut steps = self.steps.lock();
        *steps += 1;
        let outcome = match self.stop {
            Some((max_steps, stop)) if *steps > max_steps => Err(stop),
            Some(_) | None => Ok(()),
        };
        Box::pin(async move { outcome })
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move {
            sleep(self.call_time).await;
            self.calls.lock().push(call.clone());
            if let (ToolCall::Scrape { url }, Some(hanging)) = (call, &self.hanging)
                && url == hanging
            {
                std::future::pending::<()>().await;
            }
            self.respond(call)
        })
    }

    fn rank<'a>(&'a self, query: &'a str, texts: &'a [&'a str]) -> BoxFuture<'a, Vec<usize>> {
        let query = query.to_lowercase();
        let words: Vec<&str> =
            query.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2).collect();
        let score = |text: &&str| {
            let text = text.to_lowercase();
            words.iter().filter(|word| text.contains(**word)).count()
        };
        let mut scored: Vec<(usize, usize)> =
            texts.iter().map(score).enumerate().filter(|(_, score)| *score > 0).collect();
        scored.sort_by_key(|(index, score)| (usize::MAX - score, *index));
        Box::pin(async move { scored.into_iter().map(|(index, _)| index).collect() })
    }

    fn violation<'a>(&'a self, schema: &'a Value, value: &'a Value) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move { violation(schema, value) })
    }

    fn record(&self, event: Event) {
        self.events.lock().push(event);
    }
}

/// Checks types and required properties.
fn violation(schema: &Value, value: &Value) -> Option<String> {
    let is_of = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("number") => value.is_number(),
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        _ => true,
    };
    let is_type = match &schema["type"] {
        Value::Array(names) => names.iter().any(is_of),
        name => is_of(name),
    };
    if !is_type {
        return Some(format!("the type must be {}", schema["type"]));
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.get(name).is_none() {
            return Some(format!("{name} is required"));
        }
    }
    let properties = schema["properties"].as_object().into_iter().flatten();
    let of_properties = properties.filter_map(|(name, schema)| violation(schema, value.get(name)?));
    let of_items =
        value.as_array().into_iter().flatten().filter_map(|item| violation(&schema["items"], item));
    of_properties.chain(of_items).next()
}

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Step,
    Collect,
    Answer,
}

/// A request that the model received.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) kind: Kind,
    pub(crate) instructions: String,
    pub(crate) prompt: String,
    pub(crate) content: String,
    pub(crate) schema: Value,
    pub(crate) max_tokens: u32,
}

impl Received {
    pub(crate) fn is_last_step(&self) -> bool {
        self.prompt.contains("This is the last step")
    }

    /// Returns the reference of the link with this text.
    pub(crate) fn link(&self, text: &str) -> String {
        let start = self.content.find(&format!("[{text}](")).unwrap() + text.len() + 3;
        self.content[start..].split(')').next().unwrap().to_owned()
    }

    /// Returns the text after a text, up to the end of the line.
    pub(crate) fn after(&self, text: &str) -> Option<String> {
        let start = self.content.find(text)? + text.len();
        self.content[start..].lines().next().map(ToOwned::to_owned)
    }
}

type Respond = dyn Fn(&Received) -> Result<Value, ModelError> + Send + Sync;

/// A model whose answers are a function of the request.
#[derive(Clone)]
pub(crate) struct ScriptedModel {
    pub(crate) respond: Arc<Respond>,
    pub(crate) received: Arc<Mutex<Vec<Received>>>,
    /// The time of an answer; `None` for a model that never answers.
    pub(crate) time: Option<Duration>,
    /// The kind of the requests that get no answer.
    pub(crate) hanging: Option<Kind>,
    pub(crate) usage: Usage,
    pub(crate) max_input_chars: usize,
}

impl std::fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ScriptedModel")
    }
}

impl ScriptedModel {
    pub(crate) fn new(
        respond: impl Fn(&Received) -> Result<Value, ModelError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            respond: Arc::new(respond),
            received: Arc::default(),
            time: Some(Duration::from_secs(1)),
            hanging: None,
            usage: Usage::default(),
            max_input_chars: 48_000,
        }
    }

    /// Creates a model that makes these decisions and then ends the task, with functions for the data of a page and for the
    /// answer.
    pub(crate) fn deciding(
        decisions: impl IntoIterator<Item = Value>,
        collect: impl Fn(&Received) -> Value + Send + Sync + 'static,
        answer: impl Fn(&Received) -> Value + Send + Sync + 'static,
    ) -> Self {
        let decisions = Mutex::new(decisions.into_iter().collect::<VecDeque<_>>());
        Self::new(move |request| {
            Ok(match request.kind {
                Kind::Step => decisions.lock().pop_front().unwrap_or_else(done),
                Kind::Collect => collect(request),
                Kind::Answer => answer(request),
            })
        })
    }

    pub(crate) fn requests(&self) -> Vec<Received> {
        self.received.lock().clone()
    }

    pub(crate) fn count(&self, kind: Kind) -> usize {
        self.requests().iter().filter(|request| request.kind == kind).count()
    }
}

impl Model for ScriptedModel {
    fn can_complete(&self) -> bool {
        true
    }

    fn can_rerank(&self) -> bool {
        false
    }

    fn concurrency(&self) -> usize {
        1
    }

    fn max_input_chars(&self) -> usize {
        self.max_input_chars
    }

    fn complete<'a>(&'a self, request: &'a CompletionRequest<'a>) -> ModelFuture<'a, Completion> {
        let schema = match request.format {
            ResponseFormat::Schema(schema) | ResponseFormat::SchemaOrText(schema) => schema.clone(),
            ResponseFormat::Json => Value::Null,
            ResponseFormat::Text => json!("text"),
        };
        let kind = match request.user_prompt {
            prompt if prompt.contains("\n## Step\n") => Kind::Step,
            prompt if prompt.contains("\n## Collect\n") => Kind::Collect,
            prompt if prompt.contains("\n## Answer\n") => Kind::Answer,
            prompt => panic!("{prompt}"),
        };
        let received = Received {
            kind,
            instructions: request.instructions.to_owned(),
            prompt: request.user_prompt.to_owned(),
            content: request.content.unwrap_or_default().to_owned(),
            schema,
            max_tokens: request.max_tokens,
        };
        self.received.lock().push(received.clone());
        let response = (self.respond)(&received);
        let time = self.time.filter(|_| self.hanging != Some(kind));
        Box::pin(async move {
            match time {
                Some(time) => sleep(time).await,
                None => std::future::pending().await,
            }
            let content = CompletionContent::Json(response?);
            Ok(Completion {
                content,
                usage: self.usage,
                is_content_truncated: false,
                is_cut_by_server: false,
            })
        })
    }

    fn rerank<'a>(&'a self, _: &'a str, _: &'a [&'a str], _: usize, _: Instant) -> ModelFuture<'a, Ranking> {
        Box::pin(async { Err(ModelError::NotConfigured) })
    }
}

pub(crate) fn decide(action: &str, reference: &str, text: &str) -> Value {
    json!({ "why": "It helps.", "action": action, "ref": reference, "text": text })
}

pub(crate) fn done() -> Value {
    decide("done", "", "")
}

/// A task without URLs, schema and earlier turns.
pub(crate) fn task(prompt: &str) -> AgentTask<'_> {
    AgentTask {
        prompt,
        schema: None,
        urls: &[],
        mode: AgentMode::Extract,
        turns: &[],
        today: "2026-11-26",
        limits: TaskLimits::for_effort(AgentEffort::Medium),
        deadline: tokio::time::Instant::now() + Duration::from_secs(600),
    }
}

/// Runs a task with a schema, which starts at URLs.
pub(crate) async fn run(
    web: &FakeWeb,
    model: &ScriptedModel,
    prompt: &str,
    schema: &Value,
    urls: &[&str],
) -> RunReport {
    let urls: Vec<String> = urls.iter().map(|url| (*url).to_owned()).collect();
    run_task(web, model, AgentTask { schema: Some(schema), urls: &urls, ..task(prompt) }).await
}

/// Returns a schema with these properties, which are required.
pub(crate) fn object(properties: &Value) -> Value {
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    json!({ "type": "object", "required": required, "properties": properties })
}

/// Proves at compile time that a run can be a task of a runtime with several threads.
const fn assert_send<T: Send>(_: &T) {}

#[tokio::test]
async fn run_can_move_between_threads() {
    let (web, model) = (FakeWeb::new([]), ScriptedModel::deciding([], |_| Value::Null, |_| Value::Null));
    let run = run_task(&web, &model, task("x"));
    assert_send(&run);
}
