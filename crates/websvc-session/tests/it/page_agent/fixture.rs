//! A page in memory, and models that follow a script.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::sleep;
use websvc_model::{
    Completion, CompletionContent, CompletionRequest, Model, ModelError, ModelFuture, Ranking,
    ResponseFormat, Usage,
};
use websvc_session::page_agent::{CommandOutput, PageCommands, PageTask, TaskReport, run_task};
use websvc_transport::BoxFuture;

/// The state of a page.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageState {
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) snapshot: String,
    /// The actions so far.
    pub(crate) commands: Vec<String>,
    /// The number of times that the page was read.
    pub(crate) readings: usize,
}

type React = dyn Fn(&mut PageState, &str) -> Result<CommandOutput, Gone> + Send + Sync;

/// The end of the browser.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gone;

/// A page whose reactions are a function.
pub(crate) struct FakePage {
    pub(crate) state: Mutex<PageState>,
    react: Box<React>,
    command_time: Duration,
}

impl FakePage {
    /// Creates a page with an outline.
    pub(crate) fn new(
        snapshot: &str,
        react: impl Fn(&mut PageState, &str) -> Result<CommandOutput, Gone> + Send + Sync + 'static,
    ) -> Self {
        let url = "http://shop.test/".to_owned();
        let state = PageState {
            url,
            title: "Shop".to_owned(),
            snapshot: snapshot.to_owned(),
            ..PageState::default()
        };
        Self { state: Mutex::new(state), react: Box::new(react), command_time: Duration::from_millis(100) }
    }

    /// Creates a page that no action changes.
    pub(crate) fn fixed(snapshot: &str) -> Self {
        Self::new(snapshot, |_, _| Ok(printed("✓ Done\n")))
    }

    /// Creates a page whose outline changes with every action.
    pub(crate) fn counting(snapshot: &str) -> Self {
        let first = snapshot.to_owned();
        Self::new(snapshot, move |page, _| {
            page.snapshot = format!("{first}\n- text: {} actions", page.commands.len());
            Ok(printed("✓ Done\n"))
        })
    }

    pub(crate) fn commands(&self) -> Vec<String> {
        self.state.lock().commands.clone()
    }
}

impl PageCommands for FakePage {
    type Error = Gone;

    fn run(&self, commands: String, timeout: Duration) -> BoxFuture<'_, Result<CommandOutput, Gone>> {
        Box::pin(async move {
            sleep(self.command_time.min(timeout)).await;
            let mut state = self.state.lock();
            match commands.as_str() {
                "get url\nget title\nsnapshot -c" => {
                    state.readings += 1;
                    // A page that cannot be read has no address.
                    if state.url.is_empty() {
                        return Ok(failed("✗ line 3: the page does not respond\n"));
                    }
                    Ok(printed(&format!("{}\n{}\n{}\n", state.url, state.title, state.snapshot)))
                }
                wait if wait.contains("--load") => Ok(printed("✓ Done\n✓ Done\n")),
                command => {
                    state.commands.push(command.to_owned());
                    (self.react)(&mut state, command)
                }
            }
        })
    }
}

pub(crate) fn printed(text: &str) -> CommandOutput {
    CommandOutput { stdout: text.to_owned(), ..CommandOutput::default() }
}

pub(crate) fn failed(text: &str) -> CommandOutput {
    CommandOutput { stderr: text.to_owned(), exit_code: 1, ..CommandOutput::default() }
}

/// A request that the model received.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) instructions: String,
    pub(crate) prompt: String,
    pub(crate) content: String,
    pub(crate) schema: Value,
    pub(crate) max_tokens: u32,
}

type Respond = dyn Fn(usize, &Received) -> Result<Value, ModelError> + Send + Sync;

/// A model whose answers are a function of the number of the request, from 0, and of the request.
#[derive(Clone)]
pub(crate) struct ScriptedModel {
    pub(crate) respond: Arc<Respond>,
    pub(crate) received: Arc<Mutex<Vec<Received>>>,
    /// The time of an answer; `None` for a model that never answers.
    pub(crate) time: Option<Duration>,
    pub(crate) usage: Usage,
}

impl std::fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ScriptedModel")
    }
}

impl ScriptedModel {
    pub(crate) fn new(
        respond: impl Fn(usize, &Received) -> Result<Value, ModelError> + Send + Sync + 'static,
    ) -> Self {
        let time = Some(Duration::from_secs(1));
        Self { respond: Arc::new(respond), received: Arc::default(), time, usage: Usage::default() }
    }

    /// Creates a model that gives these answers, and ends the task after them.
    pub(crate) fn answering(answers: impl IntoIterator<Item = Value>) -> Self {
        let answers = Mutex::new(answers.into_iter().collect::<VecDeque<_>>());
        Self::new(move |_, _| Ok(answers.lock().pop_front().unwrap_or_else(|| done("the script ended"))))
    }

    pub(crate) fn requests(&self) -> Vec<Received> {
        self.received.lock().clone()
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
        usize::MAX
    }

    fn complete<'a>(&'a self, request: &'a CompletionRequest<'a>) -> ModelFuture<'a, Completion> {
        let ResponseFormat::Schema(schema) = request.format else { panic!("a step has a schema") };
        let received = Received {
            instructions: request.instructions.to_owned(),
            prompt: request.user_prompt.to_owned(),
            content: request.content.unwrap_or_default().to_owned(),
            schema: schema.clone(),
            max_tokens: request.max_tokens,
        };
        let mut all = self.received.lock();
        let response = (self.respond)(all.len(), &received);
        all.push(received);
        Box::pin(async move {
            match self.time {
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

pub(crate) fn answer(action: &str, reference: &str, text: &str) -> Value {
    json!({ "note": "", "action": action, "ref": reference, "text": text })
}

pub(crate) fn done(text: &str) -> Value {
    answer("done", "", text)
}

/// Runs a task with the limits of the API.
pub(crate) async fn run(page: &FakePage, model: &ScriptedModel, prompt: &str) -> Result<TaskReport, Gone> {
    run_within(page, model, prompt, Duration::from_secs(280)).await
}

pub(crate) async fn run_within(
    page: &FakePage,
    model: &ScriptedModel,
    prompt: &str,
    time: Duration,
) -> Result<TaskReport, Gone> {
    let deadline = tokio::time::Instant::now() + time;
    run_task(page, model, PageTask { prompt, max_steps: 25, deadline }).await
}
