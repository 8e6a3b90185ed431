//! The loop: a decision of the model, an action, and again.

mod act;
mod answer;
mod call;
mod check;
mod finish;
mod losses;
mod offer;
mod retrieve;
mod text;
mod unread;
mod view;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use websvc_model::{Model, ResponseFormat};

use crate::decision::{Choice, Decision, Refusal, offered};
use crate::environment::{Environment, Event};
use crate::evidence::Evidence;
use crate::instructions::DECIDE;
use crate::merge::Draft;
use crate::pages::Pages;
use crate::report::{RunOutcome, RunReport};
use crate::requests::{Request, Requests, content_chars};
use crate::steps::Steps;
use crate::targets::Targets;
use crate::task::AgentTask;
use crate::tool::ToolCall;

use answer::Answer;
use offer::{Offer, STATE_CHARS};
use retrieve::{Focus, Rankings};
use unread::UnreadUrl;

/// The maximum length of a decision, in tokens.
const STEP_TOKENS: u32 = 600;

/// The number of unusable answers in a row that end a run.
const MAX_INVALID_ANSWERS: u32 = 3;

/// The number of steps in a row that repeat earlier ones, after which the model must end the task.
const MAX_REPEATED_STEPS: u32 = 5;

/// The number of requests to the model after the decision to end: the answer, and its correction. One more for the decision
/// itself.
const LAST_REQUESTS: u32 = 3;

/// The number of requests for which tokens and time must suffice, so that the model is asked for a decision before its answer.
const DECISION_AND_ANSWER: u32 = 2;

/// Collects the data of a task. It ends at the deadline of the task at the latest, apart from the checks of the data.
pub async fn run_task(environment: &dyn Environment, model: &dyn Model, task: AgentTask<'_>) -> RunReport {
    let mut run = Run::new(environment, model, task);
    let end = timeout_at(task.deadline, run.work()).await.unwrap_or(Err(RunOutcome::Timeout));
    let outcome = run.finish(end).await;
    run.report(outcome).await
}

/// A running task.
struct Run<'a> {
    environment: &'a dyn Environment,
    task: AgentTask<'a>,
    requests: Requests<'a>,
    pages: Pages,
    targets: Targets,
    shown: Shown,
    draft: Draft,
    evidence: Evidence,
    history: Steps,
    focus: Focus,
    rankings: Rankings,
    /// The calls so far with their outcomes, which are not repeated.
    calls: Vec<(ToolCall, String)>,
    /// The URLs that could not be read.
    unread: Vec<UnreadUrl>,
    /// The number of steps in a row that opened a page again of which nothing was left to collect.
    reopened: u32,
    call_count: u32,
    steps: u32,
    invalid_answers: u32,
    /// The reason why the last answer was not used.
    refusal: Option<Refusal>,
    answer: Option<Answer>,
}

/// The passages and the references that the content of the last step shows.
#[derive(Debug, Default)]
struct Shown {
    /// The number of passages.
    passages: usize,
    /// The listed results and links, and the links in passages, by their indexes.
    targets: Vec<usize>,
}

impl<'a> Run<'a> {
    fn new(environment: &'a dyn Environment, model: &'a dyn Model, task: AgentTask<'a>) -> Self {
        Self {
            environment,
            task,
            requests: Requests::new(model, task.deadline, task.limits.max_tokens),
            pages: Pages::default(),
            targets: Targets::default(),
            shown: Shown::default(),
            draft: Draft::new(),
            evidence: Evidence::default(),
            history: Steps::default(),
            focus: Focus::Task,
            rankings: Rankings::default(),
            calls: Vec::new(),
            unread: Vec::new(),
            reopened: 0,
            call_count: 0,
            steps: 0,
            invalid_answers: 0,
            refusal: None,
            answer: None,
        }
    }

    /// Works on the task until the model ends it.
    ///
    /// # Errors
    /// Another end of the work.
    async fn work(&mut self) -> Result<(), RunOutcome> {
        self.progress("planning", "The run has started.");
        self.read_given_urls().await?;
        loop {
            if self.can_answer()
                && let Some(end) = self.requests.scarcity(DECISION_AND_ANSWER)
            {
                return Err(end);
            }
            if self.steps > 0 && self.is_everything_collected() {
                return Ok(());
            }
            self.environment.begin_step().await.map_err(RunOutcome::Stopped)?;
            self.steps += 1;
            let end = self.end_after_step();
            let decision = self.decide(end.is_some()).await?;
            if self.carry_out(decision, end.is_some()).await? {
                return Ok(());
            }
            if let Some(end) = end {
                return Err(end);
            }
        }
    }

    /// Returns the end of the work if the model does not end the task in this step; `None` if other steps may follow.
    fn end_after_step(&self) -> Option<RunOutcome> {
        if self.history.repeated() >= MAX_REPEATED_STEPS {
            return Some(RunOutcome::Repeats);
        }
        if self.steps >= self.task.limits.max_steps {
            return Some(RunOutcome::StepLimit);
        }
        self.requests.scarcity(LAST_REQUESTS + 1)
    }

    /// Returns the end of a call or a decision that begins now. Once there is something to answer from, time for the answer
    /// remains after it.
    fn work_deadline(&self) -> Instant {
        if self.can_answer() { self.requests.work_deadline() } else { self.task.deadline }
    }

    /// Asks the model for a decision; `None` if its answer is not one, and not yet the last of several such answers.
    async fn decide(&mut self, is_last: bool) -> Result<Option<Decision>, RunOutcome> {
        let tools = self.environment.tools();
        let mut prompt = self.step_prompt(is_last);
        // What is offered depends on the content, whose length depends on it.
        let largest = Offer::largest(self.requests.model.max_input_chars()).schema();
        let format = ResponseFormat::Schema(&largest);
        let max_chars = content_chars(self.requests.model, DECIDE, &prompt, format);
        let content = self.step_content(max_chars.saturating_sub(STATE_CHARS)).await;
        let offer = self.offer(is_last);
        prompt.push_str(&self.state_lines(&offer));
        let (instructions, schema) = (offered(DECIDE, &offer.actions), offer.schema());
        let request = Request {
            instructions: &instructions,
            prompt: &prompt,
            content: &content,
            format: ResponseFormat::Schema(&schema),
            max_tokens: STEP_TOKENS,
        };
        let deadline = self.work_deadline();
        let answer = self.requests.ask_until(request, deadline).await?;
        match answer.and_then(|answer| Decision::read(&answer, tools).ok_or("its JSON has no action")) {
            Ok(decision) => {
                self.invalid_answers = 0;
                Ok(Some(decision))
            }
            Err(reason) => {
                self.invalid_answers += 1;
                let is_end = self.invalid_answers >= MAX_INVALID_ANSWERS;
                if is_end { Err(RunOutcome::Answers(reason)) } else { Ok(None) }
            }
        }
    }

    /// Carries out a decision. Returns whether it ends the task, so that the answer is written.
    async fn carry_out(&mut self, decision: Option<Decision>, is_last: bool) -> Result<bool, RunOutcome> {
        self.refusal = None;
        let Some(Decision { why, choice }) = decision else {
            self.refuse("an unusable answer", "it must be JSON with why, action, ref and text.");
            return Ok(false);
        };
        if !why.is_empty() {
            self.environment.record(Event::Reasoning(why.clone()));
        }
        match choice {
            Choice::Done if self.can_answer() => return Ok(true),
            Choice::Done if is_last => {
                return Err(RunOutcome::Refused("There is no page to answer the task from.".to_owned()));
            }
            Choice::Done => self.refuse("done", "no page has been read yet. Search or open a page first."),
            Choice::Impossible(reason) => {
                return Err(RunOutcome::Refused(if reason.is_empty() { why } else { reason }));
            }
            Choice::Refused(reason) => self.refuse("an action that is not available", reason),
            // Small models go on when they have all that they need. The answer is written from what there is.
            Choice::Act(_) if is_last => {}
            Choice::Act(action) => return self.act(action).await,
        }
        Ok(false)
    }

    /// Returns whether there is anything that an answer can be written from.
    fn can_answer(&self) -> bool {
        !self.pages.is_empty() || !self.task.turns.is_empty()
    }

    fn refuse(&mut self, action: &str, reason: Refusal) {
        self.refusal = Some(reason);
        self.history.push(self.steps, action, &format!("refused, {reason}"));
    }

    fn progress(&self, phase: &'static str, message: &str) {
        self.environment.record(Event::Progress { phase, message: message.to_owned() });
    }

    async fn report(self, outcome: RunOutcome) -> RunReport {
        let (steps, usage) = (self.steps, self.requests.usage);
        let nothing_read = self.why_nothing_was_read();
        let Answer { data, is_schema_valid, is_supported: _, message, sources } = match self.answer {
            Some(answer) => answer,
            None => self.partial_answer().await,
        };
        let data = Some(data).filter(|data| *data != Value::Null);
        RunReport { outcome, nothing_read, data, is_schema_valid, message, sources, steps, usage }
    }
}
