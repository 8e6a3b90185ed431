//! Runs the tasks of a feature on a service, with its HTTP API.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};

use super::feature::Feature;
use super::meter::{Meter, Record};
use super::page::{CrawlPrompt, DataTask, FormatPage};
use super::report::{CaseResult, Outcome};
use super::verdict::{self, Check};
use crate::error::EvaluationError;
use crate::oracle::RequestKind;
use crate::service::Service;

/// The interval between two reads of a status.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The maximum number of agent runs, which take most of the time.
const AGENT_RUNS: usize = 6;

/// The longest time that a scrape may ask for, in milliseconds.
const SCRAPE_TIMEOUT_MS: u64 = 300_000;

/// The goal of the monitor.
const GOAL: &str = "Tell me when a price, a date, a deadline or a requirement changes. Other wording, counters and notices do \
    not matter.";

/// A service with the pages.
pub(crate) struct Runner<'a> {
    pub(crate) service: &'a Service,
    /// Counts the requests to the model; `None` without a model.
    pub(crate) meter: Option<&'a Meter>,
    pub(crate) pages: &'a [FormatPage],
    pub(crate) prompts: &'a [CrawlPrompt],
    /// True if the pages are served after their change.
    pub(crate) is_changed: &'a Arc<AtomicBool>,
    /// The maximum time of a run or an extraction.
    pub(crate) timeout: Duration,
}

impl Runner<'_> {
    /// Runs the tasks of a feature one after another, and calls `on_result` after each of them.
    ///
    /// # Errors
    /// The service cannot be reached. A task that fails is a result.
    pub(crate) async fn run(
        &self,
        feature: Feature,
        on_result: &mut impl FnMut(CaseResult),
    ) -> Result<(), EvaluationError> {
        match feature {
            Feature::Judge => self.judge(on_result).await,
            Feature::CrawlPrompt => {
                for task in self.prompts {
                    let none = verdict::none(feature, None);
                    on_result(self.case(feature, &task.prompt, none, self.crawl_prompt(task)).await);
                }
                Ok(())
            }
            other => {
                let with_agent = matches!(other, Feature::Agent | Feature::AgentStep);
                let pages = self.pages.iter().filter(|page| !with_agent || page.tasks.agent.is_some());
                let count = if other == Feature::Agent { AGENT_RUNS } else { usize::MAX };
                for page in pages.take(count) {
                    let none = verdict::none(other, Some(page));
                    on_result(self.case(other, page.name, none, self.page_task(other, page)).await);
                }
                Ok(())
            }
        }
    }

    /// Runs a task, and adds its time and its requests to the model. `none` are the checks if there is no result.
    async fn case(
        &self,
        feature: Feature,
        name: &str,
        none: Vec<Check>,
        task: impl Future<Output = Result<Outcome, EvaluationError>>,
    ) -> CaseResult {
        self.take();
        let started = Instant::now();
        let outcome = match task.await {
            Ok(outcome) => outcome,
            Err(error) => Outcome::failed(none, error.to_string()),
        };
        self.result(feature, name, outcome, started.elapsed())
    }

    fn take(&self) -> Record {
        self.meter.map(Meter::take).unwrap_or_default()
    }

    fn result(&self, feature: Feature, name: &str, outcome: Outcome, duration: Duration) -> CaseResult {
        let with_model = self.meter.is_some();
        CaseResult { feature, name: name.to_owned(), with_model, outcome, record: self.take(), duration }
    }

    /// Runs a task about a page.
    async fn page_task(&self, feature: Feature, page: &FormatPage) -> Result<Outcome, EvaluationError> {
        let tasks = &page.tasks;
        match (feature, &tasks.agent) {
            (Feature::Json, _) => {
                let DataTask { prompt, schema, expected: _ } = &tasks.json;
                let format = json!({ "type": "json", "prompt": prompt, "schema": schema });
                let (data, warning) = self.scrape(page, json!({ "formats": [format] })).await?;
                Ok(Outcome::new(verdict::data(&tasks.json, &data["json"]), data["json"].clone(), warning))
            }
            (Feature::Question, _) => {
                let format = json!({ "type": "question", "question": tasks.question.question });
                let (data, warning) = self.scrape(page, json!({ "formats": [format] })).await?;
                let checks = verdict::answer(&tasks.question, text(&data["answer"]));
                Ok(Outcome::new(checks, data["answer"].clone(), warning))
            }
            (Feature::Summary, _) => {
                let (data, warning) = self.scrape(page, json!({ "formats": ["summary"] })).await?;
                let checks = verdict::summary(page, text(&data["summary"]));
                Ok(Outcome::new(checks, data["summary"].clone(), warning))
            }
            (Feature::Highlights, _) => {
                let highlight = &tasks.highlights;
                let format = json!({ "type": "highlights", "query": highlight.query });
                let (data, warning) = self.scrape(page, json!({ "formats": [format, "markdown"] })).await?;
                let (found, markdown) = (text(&data["highlights"]), text(&data["markdown"]));
                let checks = verdict::highlights(&highlight.expected, found, markdown);
                Ok(Outcome::new(checks, data["highlights"].clone(), warning))
            }
            (Feature::Clean, _) => {
                let body = json!({ "formats": ["markdown"], "onlyCleanContent": true });
                let (data, warning) = self.scrape(page, body).await?;
                let checks = verdict::cleaned(page, text(&data["markdown"]), warning.is_some());
                Ok(Outcome::new(checks, data["markdown"].clone(), warning))
            }
            (Feature::RedactAccurate, _) => self.redact(page, "accurate").await,
            (Feature::RedactFast, _) => self.redact(page, "fast").await,
            (Feature::Extract, _) => self.extract(page).await,
            (Feature::Agent, Some(task)) => self.agent(page, task).await,
            (Feature::AgentStep, Some(task)) => self.agent_step(page, task).await,
            (Feature::Agent | Feature::AgentStep | Feature::Judge | Feature::CrawlPrompt, _) => {
                Ok(Outcome::default())
            }
        }
    }

    /// Scrapes a page, and returns its data and the warning.
    async fn scrape(
        &self,
        page: &FormatPage,
        mut body: Value,
    ) -> Result<(Value, Option<String>), EvaluationError> {
        (body["url"], body["timeout"]) = (json!(page.url()), json!(SCRAPE_TIMEOUT_MS));
        let response = self.service.json(Method::POST, "/v2/scrape", Some(&body)).await?;
        let warning = response["warning"].as_str().or(response["data"]["warning"].as_str());
        Ok((response["data"].clone(), warning.map(str::to_owned)))
    }

    async fn redact(&self, page: &FormatPage, mode: &str) -> Result<Outcome, EvaluationError> {
        let body = json!({ "formats": ["markdown"], "redactPII": { "mode": mode } });
        let (data, warning) = self.scrape(page, body).await?;
        let checks = verdict::redacted(page, text(&data["markdown"]));
        Ok(Outcome::new(checks, data["markdown"].clone(), warning))
    }

    async fn extract(&self, page: &FormatPage) -> Result<Outcome, EvaluationError> {
        let task = &page.tasks.extract;
        let body = json!({ "urls": [page.url()], "prompt": task.prompt, "schema": task.schema });
        let started = self.service.json(Method::POST, "/v2/extract", Some(&body)).await?;
        let status = self.wait(&format!("/v2/extract/{}", text(&started["id"]))).await?;
        Ok(end_of_run(task, &status))
    }

    async fn start_agent(&self, page: &FormatPage, task: &DataTask) -> Result<String, EvaluationError> {
        let DataTask { prompt, schema, expected: _ } = task;
        let body = json!({ "urls": [page.url()], "prompt": prompt, "schema": schema, "effort": "low" });
        let started = self.service.json(Method::POST, "/v2/agent", Some(&body)).await?;
        Ok(format!("/v2/agent/{}", text(&started["id"])))
    }

    async fn agent(&self, page: &FormatPage, task: &DataTask) -> Result<Outcome, EvaluationError> {
        let path = self.start_agent(page, task).await?;
        Ok(end_of_run(task, &self.wait(&path).await?))
    }

    /// Starts a run whose page is read before its first step. The step is useful if values are collected, or the answer is
    /// written, next. Then the run is cancelled.
    async fn agent_step(&self, page: &FormatPage, task: &DataTask) -> Result<Outcome, EvaluationError> {
        let path = self.start_agent(page, task).await?;
        let started = Instant::now();
        let (mut kinds, mut status) = (Vec::new(), Value::Null);
        while kinds.len() < 2 && started.elapsed() < self.timeout {
            tokio::time::sleep(POLL_INTERVAL).await;
            kinds = self.meter.map(|meter| meter.record().of_agent).unwrap_or_default();
            status = self.service.json(Method::GET, &path, None).await?;
            if status["status"] != "processing" {
                break;
            }
        }
        if status["status"] == "processing" {
            // A run that has ended in between cannot be cancelled.
            let _ = self.service.json(Method::DELETE, &path, None).await;
            status = self.wait(&path).await?;
        }
        let kinds: Vec<&RequestKind> = kinds.iter().take(2).collect();
        let is_useful = kinds.iter().any(|kind| **kind != RequestKind::Step);
        let requests = format!("{kinds:?}");
        let failure = kinds.is_empty().then(|| text(&status["error"]).to_owned());
        Ok(Outcome { checks: verdict::right(is_useful), failure, warning: None, result: json!(requests) })
    }

    /// Waits for the end of a run or an extraction, which is cancelled after its time.
    async fn wait(&self, path: &str) -> Result<Value, EvaluationError> {
        let started = Instant::now();
        let mut is_cancelled = false;
        loop {
            let status = self.service.json(Method::GET, path, None).await?;
            if status["status"] != "processing" {
                return Ok(status);
            }
            if started.elapsed() > self.timeout && !is_cancelled {
                is_cancelled = true;
                if let Err(error) = self.service.json(Method::DELETE, path, None).await {
                    return Ok(
                        json!({ "status": "failed", "error": format!("not done in time, and {error}") }),
                    );
                }
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Checks all pages with a monitor before and after their changes, which are judged at the same time.
    async fn judge(&self, on_result: &mut impl FnMut(CaseResult)) -> Result<(), EvaluationError> {
        let urls: Vec<String> = self.pages.iter().map(FormatPage::url).collect();
        let body = json!({
            "name": "Ten pages", "goal": GOAL, "schedule": { "cron": "0 0 1 1 *" },
            "targets": [{ "type": "scrape", "urls": urls }],
        });
        let created = self.service.json(Method::POST, "/v2/monitor", Some(&body)).await?;
        let path = format!("/v2/monitor/{}", text(&created["data"]["id"]));
        self.is_changed.store(false, Ordering::Relaxed);
        self.check(&path).await?;
        self.is_changed.store(true, Ordering::Relaxed);
        self.take();
        let started = Instant::now();
        let check = self.check(&path).await?;
        self.is_changed.store(false, Ordering::Relaxed);
        let mut duration = started.elapsed();
        for page in self.pages {
            let results = check["pages"].as_array().into_iter().flatten();
            let found = results.into_iter().find(|result| result["url"] == page.url());
            let judgment = found.map_or(Value::Null, |result| result["judgment"].clone());
            let outcome = Outcome::new(verdict::judgment(page, &judgment), judgment, None);
            // The first result has the time and the requests of all.
            on_result(self.result(Feature::Judge, page.name, outcome, std::mem::take(&mut duration)));
        }
        Ok(())
    }

    /// Runs a check of a monitor, and returns it with its pages.
    async fn check(&self, monitor: &str) -> Result<Value, EvaluationError> {
        let started = self.service.json(Method::POST, &format!("{monitor}/run"), Some(&json!({}))).await?;
        let path = format!("{monitor}/checks/{}", text(&started["id"]));
        let begin = Instant::now();
        loop {
            let check = self.service.json(Method::GET, &path, None).await?["data"].clone();
            let is_running = ["queued", "running"].contains(&text(&check["status"]));
            if !is_running || begin.elapsed() > self.timeout {
                return Ok(check);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    async fn crawl_prompt(&self, task: &CrawlPrompt) -> Result<Outcome, EvaluationError> {
        let body = json!({ "url": "http://ten.test/", "prompt": task.prompt });
        let response = self.service.json(Method::POST, "/v2/crawl/params-preview", Some(&body)).await?;
        let options = &response["data"];
        let warning = response["warning"].as_str().map(str::to_owned);
        Ok(Outcome::new(verdict::crawl_options(task, options), options.clone(), warning))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Judges the end of an agent run or an extraction.
fn end_of_run(task: &DataTask, status: &Value) -> Outcome {
    let (data, error) = (&status["data"], text(&status["error"]));
    if status["status"] == "completed" {
        let message = status["message"].as_str().map(str::to_owned);
        return Outcome::new(verdict::data(task, data), data.clone(), message);
    }
    Outcome::failed(verdict::right(false), format!("{}: {error}", text(&status["status"])))
}
