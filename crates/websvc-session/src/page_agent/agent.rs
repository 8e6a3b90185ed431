//! The loop: outline, model, one action, and again.

mod view;

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use websvc_model::{
    Completion, CompletionRequest, Feature, Model, ModelError, ResponseFormat, Usage, cut, one_line,
};

use crate::page_agent::action::{Action, Direction};
use crate::page_agent::commands::PageCommands;
use crate::page_agent::decision::{Choice, Decision, Refusal, schema};
use crate::page_agent::memory::{Memory, StepRecord};
use crate::page_agent::observation::{COMMAND_TIMEOUT, Observation, observe, observe_after, observe_change};
use crate::page_agent::outline::Outline;
use crate::page_agent::repeats::Repeats;
use crate::page_agent::report::{TaskOutcome, TaskReport};

/// The instructions. A change of their meaning is a new file, so that versions can be compared.
const INSTRUCTIONS: &str = include_str!("instructions/v2.txt");

/// The maximum length of an answer, in tokens.
const STEP_TOKENS: u32 = 1_024;

/// The maximum number of tokens of a task: requests and answers.
const TASK_TOKENS: u64 = 200_000;

/// The number of unusable answers in a row that end a task.
const MAX_INVALID_ANSWERS: u32 = 3;

/// A task on a page.
#[derive(Debug, Clone, Copy)]
pub struct PageTask<'a> {
    /// The task in the words of the user.
    pub prompt: &'a str,
    /// The maximum number of steps.
    pub max_steps: u32,
    /// The end of the time.
    pub deadline: Instant,
}

/// Does a task on a page. It ends at its deadline at the latest.
///
/// # Errors
/// The failure of the page itself. A failure of the model is an outcome.
pub async fn run_task<P: PageCommands + ?Sized>(
    page: &P,
    model: &dyn Model,
    task: PageTask<'_>,
) -> Result<TaskReport, P::Error> {
    let mut run = Run::new(task);
    let outcome = match timeout_at(task.deadline, run.drive(page, model)).await {
        Ok(outcome) => outcome?,
        Err(_elapsed) => TaskOutcome::Timeout,
    };
    Ok(run.report(outcome))
}

/// A running task.
struct Run<'a> {
    task: PageTask<'a>,
    observation: Observation,
    outline: Outline,
    /// The part of the outline that the model sees.
    part: usize,
    memory: Memory,
    /// The choices since the page changed last.
    repeats: Repeats,
    /// The reason why the last answer was not used.
    refusal: Option<Refusal>,
    steps: u32,
    invalid_answers: u32,
    usage: Usage,
    /// The cost of the most expensive steps so far, to foresee the last one.
    longest_step: Duration,
    max_step_tokens: u64,
    answer: Option<String>,
}

impl<'a> Run<'a> {
    fn new(task: PageTask<'a>) -> Self {
        Self {
            task,
            observation: Observation::default(),
            outline: Outline::default(),
            part: 0,
            memory: Memory::default(),
            repeats: Repeats::default(),
            refusal: None,
            steps: 0,
            invalid_answers: 0,
            usage: Usage::default(),
            longest_step: Duration::ZERO,
            max_step_tokens: 0,
            answer: None,
        }
    }

    async fn drive<P: PageCommands + ?Sized>(
        &mut self,
        page: &P,
        model: &dyn Model,
    ) -> Result<TaskOutcome, P::Error> {
        match observe(page).await? {
            Ok(observation) => self.see(observation),
            Err(reason) => return Ok(TaskOutcome::Page(reason)),
        }
        while self.steps < self.task.max_steps {
            if self.used_tokens() >= TASK_TOKENS {
                return Ok(TaskOutcome::TokenLimit);
            }
            let started = Instant::now();
            let is_loop = self.repeats.is_loop();
            let is_last = is_loop || self.is_last();
            self.steps += 1;
            let decision = match self.decide(model, is_last).await {
                Ok(decision) => decision,
                Err(outcome) => return Ok(outcome),
            };
            if let Some(outcome) = self.carry_out(page, decision, is_last).await? {
                return Ok(outcome);
            }
            if is_loop {
                return Ok(TaskOutcome::Repeats);
            }
            self.longest_step = self.longest_step.max(started.elapsed());
        }
        Ok(TaskOutcome::StepLimit)
    }

    /// Returns whether the next step should be the last one: because of the number of steps, or because time or tokens
    /// will not suffice for another one. A model that knows this answers with what it has.
    fn is_last(&self) -> bool {
        let remaining = self.task.deadline.saturating_duration_since(Instant::now());
        self.steps + 1 >= self.task.max_steps
            || remaining < self.longest_step * 2
            || TASK_TOKENS - self.used_tokens().min(TASK_TOKENS) < self.max_step_tokens * 2
    }

    fn used_tokens(&self) -> u64 {
        self.usage.total()
    }

    /// Asks the model for a decision; `None` if its answer is not one, and not yet the last of several such answers.
    async fn decide(&mut self, model: &dyn Model, is_last: bool) -> Result<Option<Decision>, TaskOutcome> {
        let (prompt, content, schema) = (self.prompt(is_last), self.content(), schema(is_last));
        let request = CompletionRequest {
            feature: Feature::Interact,
            instructions: INSTRUCTIONS,
            user_prompt: &prompt,
            content: Some(&content),
            format: ResponseFormat::Schema(&schema),
            max_tokens: STEP_TOKENS,
            deadline: self.task.deadline.into_std(),
        };
        let request_bytes = INSTRUCTIONS.len() + prompt.len() + content.len();
        let decision = match model.complete(&request).await {
            Ok(Completion { content, usage, is_content_truncated: _, is_cut_by_server: _ }) => {
                let answer = content.into_json();
                self.count(request_bytes, &answer, usage);
                Decision::read(&answer)
            }
            Err(
                ModelError::InvalidResponse { reason: _, usage } | ModelError::Refused { text: _, usage },
            ) => {
                self.count(request_bytes, &Value::Null, usage);
                None
            }
            Err(error) if error.is_late() && Instant::now() >= self.task.deadline => {
                return Err(TaskOutcome::Timeout);
            }
            Err(error) => return Err(TaskOutcome::Model(error)),
        };
        self.invalid_answers = if decision.is_some() { 0 } else { self.invalid_answers + 1 };
        if self.invalid_answers >= MAX_INVALID_ANSWERS { Err(TaskOutcome::Answers) } else { Ok(decision) }
    }

    /// Counts the tokens of a step.
    fn count(&mut self, request_bytes: usize, answer: &Value, reported: Usage) {
        let step = reported.or_estimate(request_bytes, answer.to_string().len());
        self.usage.add(step);
        self.max_step_tokens = self.max_step_tokens.max(step.total());
    }

    /// Carries out a decision. Returns the outcome of the task if it has ended.
    async fn carry_out<P: PageCommands + ?Sized>(
        &mut self,
        page: &P,
        decision: Option<Decision>,
        is_last: bool,
    ) -> Result<Option<TaskOutcome>, P::Error> {
        let Some(Decision { note, choice, key }) = decision else {
            self.refuse("an unusable answer", "the answer must be JSON as described.", String::new());
            return Ok(None);
        };
        // A change of the page takes it back.
        self.repeats.add(&key);
        let action = match choice {
            Choice::Finish(answer) => {
                self.answer = Some(answer);
                return Ok(Some(TaskOutcome::Done));
            }
            Choice::Refused(reason) => {
                self.refuse("an action that is not available", reason, note);
                return Ok(None);
            }
            Choice::Act(_) if is_last => {
                self.refuse("an action in the last step", "only done was possible.", note);
                return Ok(None);
            }
            Choice::Act(action) => action,
        };
        if action.element().is_some_and(|element| self.outline.label(element).is_none()) {
            self.refuse("an action on a missing element", "ref is not in the current outline.", note);
            return Ok(None);
        }
        self.act(page, action, note).await
    }

    fn refuse(&mut self, action: &str, reason: Refusal, note: String) {
        self.refusal = Some(reason);
        let outcome = format!("refused, {reason}");
        self.memory.push(StepRecord { number: self.steps, action: action.to_owned(), outcome, note });
    }

    async fn act<P: PageCommands + ?Sized>(
        &mut self,
        page: &P,
        action: Action,
        note: String,
    ) -> Result<Option<TaskOutcome>, P::Error> {
        self.refusal = None;
        let description = self.describe(&action);
        let output = page.run(action.command(), COMMAND_TIMEOUT).await?;
        let failure = output.failure();
        let reading = if failure.is_none() && action.is_change() {
            observe_change(page, &self.observation).await?
        } else {
            observe_after(page).await?
        };
        let is_unchanged = reading.as_ref() == Ok(&self.observation);
        let outcome = match (failure, &action) {
            (Some(reason), _) => format!("failed, {}", cut(&one_line(&reason), 300)),
            (None, Action::Read(_)) => format!("the text is {}", one_line(&output.stdout)),
            (None, action) if action.is_change() && is_unchanged => {
                "done, but the page did not change".to_owned()
            }
            (None, _) => "done".to_owned(),
        };
        self.memory.push(StepRecord { number: self.steps, action: description, outcome, note });
        let observation = match reading {
            Ok(observation) => observation,
            Err(reason) => return Ok(Some(TaskOutcome::Page(reason))),
        };
        let part = self.part;
        match action {
            Action::Scroll(Direction::Down) => self.part += 1,
            Action::Scroll(Direction::Up) => self.part = self.part.saturating_sub(1),
            _ if observation.url != self.observation.url => self.part = 0,
            _ => {}
        }
        self.see(observation);
        if !is_unchanged || self.part != part {
            self.repeats.clear();
        }
        Ok(None)
    }

    /// Takes a page as the current one.
    fn see(&mut self, observation: Observation) {
        self.outline = Outline::read(&observation.snapshot);
        self.observation = observation;
        self.part = self.part.min(self.outline.part_count() - 1);
    }

    fn report(self, outcome: TaskOutcome) -> TaskReport {
        let Self { observation, memory, steps, usage, answer, .. } = self;
        TaskReport {
            outcome,
            output: answer.unwrap_or_else(|| memory.last_note().unwrap_or_default().to_owned()),
            snapshot: observation.snapshot,
            log: memory.log(),
            steps,
            usage,
        }
    }
}
