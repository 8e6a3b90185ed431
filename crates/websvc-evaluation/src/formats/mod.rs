//! Measures the features that use a language model on ten small pages with known answers, over the HTTP API of a service: with
//! a model, and without one where the feature works without it.

mod feature;
mod meter;
mod oracle;
mod page;
mod report;
mod run;
mod verdict;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use websvc_testkit::{Page, TestWeb, TestWebBuilder};
use websvc_transport::{AddressGuard, Client, ClientConfig};

pub use feature::Feature;
pub use report::{CaseResult, FormatsReport};
pub use verdict::Check;

use self::meter::Meter;
use self::oracle::FormatsOracle;
use self::page::{CrawlPrompt, FormatPage, crawl_prompts, pages};
use self::run::Runner;
use crate::endpoint::ModelEndpoint;
use crate::error::EvaluationError;
use crate::service::{ORACLE_URL, Program};

/// The options of an evaluation of the formats.
#[derive(Debug)]
pub struct FormatsOptions {
    /// The program `websvc`.
    pub program: PathBuf,
    /// The model. `None` measures only what works without one.
    pub model: Option<ModelEndpoint>,
    /// Only features with this text in their name run.
    pub only: Option<String>,
    /// The maximum time of a task.
    pub task_timeout: Duration,
    /// The maximum number of requests to the model at the same time, `llm.concurrency` of the service.
    pub concurrency: u32,
}

/// The pages, the prompts and the web that serves them.
struct World {
    pages: Vec<FormatPage>,
    prompts: Vec<CrawlPrompt>,
    is_changed: Arc<AtomicBool>,
    web: TestWeb,
}

/// Starts services without and with the model, runs the tasks one after another, and calls `on_result` after each of them.
///
/// # Errors
/// A service cannot be started or does not respond. A task that fails is a result.
pub async fn evaluate_formats(
    options: &FormatsOptions,
    mut on_result: impl FnMut(&CaseResult),
) -> Result<FormatsReport, EvaluationError> {
    let features = chosen_features(options.only.as_deref())?;
    let world = World::start().await;
    let mut results = Vec::new();
    let mut add = |result: CaseResult| {
        on_result(&result);
        results.push(result);
    };
    let without: Vec<Feature> = features.iter().copied().filter(|feature| !feature.needs_model()).collect();
    world.evaluate(options, None, &without, &mut add).await?;
    if let Some(model) = &options.model {
        let asking: Vec<Feature> = features.into_iter().filter(|feature| feature.asks_model()).collect();
        world.evaluate(options, Some(model), &asking, &mut add).await?;
    }
    let model = options.model.as_ref().map(|model| model.name().to_owned());
    Ok(FormatsReport { model, results })
}

fn chosen_features(only: Option<&str>) -> Result<Vec<Feature>, EvaluationError> {
    let is_chosen = |feature: &Feature| {
        only.is_none_or(|only| feature.name().to_lowercase().contains(&only.to_lowercase()))
    };
    let features: Vec<Feature> = Feature::ALL.into_iter().filter(is_chosen).collect();
    match only {
        Some(only) if features.is_empty() => Err(EvaluationError::NoTasks(only.to_owned())),
        _ => Ok(features),
    }
}

impl World {
    async fn start() -> Self {
        let (pages, prompts, is_changed) = (pages(), crawl_prompts(), Arc::new(AtomicBool::new(false)));
        let web = pages.iter().fold(TestWeb::builder(), |web, page| serve(web, page, &is_changed));
        let oracle = FormatsOracle { pages: pages.clone(), prompts: prompts.clone() };
        let web = oracle.endpoint().serve(web, ORACLE_URL).start().await;
        Self { pages, prompts, is_changed, web }
    }

    /// Runs the tasks of features on a new service.
    async fn evaluate(
        &self,
        options: &FormatsOptions,
        model: Option<&ModelEndpoint>,
        features: &[Feature],
        on_result: &mut impl FnMut(CaseResult),
    ) -> Result<(), EvaluationError> {
        let FormatsOptions { program, model: _, only: _, task_timeout, concurrency } = options;
        let mut settings = model.map(ModelEndpoint::settings).unwrap_or_default();
        let meter = match model {
            Some(model) => Some(self.meter(model).await?),
            None => None,
        };
        if let Some(meter) = &meter {
            settings.push(("WEBSVC__LLM__BASE_URL", meter.url()));
            settings.push(("WEBSVC__LLM__CONCURRENCY", concurrency.to_string()));
        }
        let service = Program { path: program, chromium: None, settings }.serve(&self.web, &[]).await?;
        let runner = Runner {
            service: &service,
            meter: meter.as_ref(),
            pages: &self.pages,
            prompts: &self.prompts,
            is_changed: &self.is_changed,
            timeout: *task_timeout,
        };
        for feature in features {
            runner.run(*feature, on_result).await?;
        }
        Ok(())
    }

    /// Starts the endpoint between the service and a model.
    async fn meter(&self, model: &ModelEndpoint) -> Result<Meter, EvaluationError> {
        /// The time of a request; the service ends it earlier.
        const TIMEOUT: Duration = Duration::from_secs(600);
        let client =
            match model {
                ModelEndpoint::Oracle => self.web.client(),
                ModelEndpoint::Remote { .. } => Client::new(ClientConfig::new(AddressGuard::open()))
                    .map_err(|error| EvaluationError::Command {
                        action: "the client of the model".to_owned(),
                        output: error.to_string(),
                    })?,
            };
        Meter::start(client, model.url(), TIMEOUT).await
    }
}

/// Serves a page, before or after its change.
fn serve(web: TestWebBuilder, page: &FormatPage, is_changed: &Arc<AtomicBool>) -> TestWebBuilder {
    let (html, changed, is_changed) = (page.html, page.changed_html(), Arc::clone(is_changed));
    web.page_with(&page.url(), move |_| {
        Page::html(if is_changed.load(Ordering::Relaxed) { changed.clone() } else { html.to_owned() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_chosen_by_a_part_of_their_name() {
        let names = |only: &str| -> Vec<&str> {
            chosen_features(Some(only)).unwrap().into_iter().map(Feature::name).collect()
        };
        assert_eq!(names("redactpii"), ["redactPII-accurate", "redactPII-fast"]);
        assert_eq!(chosen_features(None).unwrap().len(), Feature::ALL.len());
        assert!(matches!(chosen_features(Some("poem")), Err(EvaluationError::NoTasks(_))));
    }
}
