//! Converts the prompt of a crawl to options, by a language model or by rules.
//!
//! A prompt is untrusted. It can only result in options, which are validated like those of a request.

mod model;
mod narrow;
mod negation;
mod number;
mod pattern;
mod section;
#[cfg(test)]
mod tests;
mod token;
mod words;

use std::time::Instant;

use url::Url;
use websvc_model::Model;
use websvc_stage::StageTimes;
use websvc_transport::BoxFuture;
use websvc_types::job::CrawlParams;
use websvc_validate::check_request;

use crate::engine::Engine;
use crate::generated::model_deadline;

/// The options of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptOptions {
    /// The options; at least one is set.
    pub params: CrawlParams,
    /// Warnings: that rules were used instead of a model, and ignored parts.
    pub warnings: Vec<String>,
}

/// The prompt contains nothing that can be converted to options.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PromptError(String);

/// The phrases that the rules understand.
const PHRASES: &str = "sections and paths (`only the blog and /docs`, `except /archive`), a number of pages (`up to 50 \
    pages`), a depth (`2 levels deep`), `the entire site`, `with subdomains`, `with external links`, `without sitemap`";

impl Engine {
    /// Converts the prompt of a crawl to options.
    ///
    /// # Errors
    /// [`PromptError`], whose text lists the phrases that the rules understand.
    pub fn crawl_params<'a>(
        &'a self,
        url: &'a Url,
        prompt: &'a str,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<PromptOptions, PromptError>> {
        Box::pin(async move {
            let model = self.model().filter(|model| model.can_complete());
            convert(model.map(|model| &**model), self.stages(), url, prompt, model_deadline(deadline)).await
        })
    }
}

/// Converts a prompt with a model, and by rules if there is none or it fails.
async fn convert(
    model: Option<&dyn Model>,
    stages: &StageTimes,
    url: &Url,
    prompt: &str,
    deadline: Instant,
) -> Result<PromptOptions, PromptError> {
    let Some(model) = model else {
        return by_words(prompt, "no language model is configured ([llm])");
    };
    match model::read(model, stages, url, prompt, deadline).await {
        Ok(options) => Ok(options),
        Err(reason) => {
            tracing::warn!(%reason, "the language model could not convert a prompt to options");
            by_words(prompt, &format!("the language model returned no options: {reason}"))
        }
    }
}

/// Converts a prompt by rules.
fn by_words(prompt: &str, reason: &str) -> Result<PromptOptions, PromptError> {
    let params = words::read(prompt).params;
    let is_valid = check_request(&params, ()).is_ok();
    if params == CrawlParams::default() || !is_valid {
        return Err(PromptError(format!(
            "prompt could not be converted to options; {reason}, and simple rules understand only {PHRASES}"
        )));
    }
    let names = names(&params).join(", ");
    Ok(PromptOptions {
        params,
        warnings: vec![format!("prompt: {reason}; simple rules read {names} from it")],
    })
}

/// Returns the names of the options that are set.
fn names(params: &CrawlParams) -> Vec<&'static str> {
    let CrawlParams {
        include_paths,
        exclude_paths,
        max_discovery_depth,
        limit,
        crawl_entire_domain,
        allow_external_links,
        allow_subdomains,
        sitemap,
        ignore_query_parameters,
        delay,
    } = params;
    let all = [
        ("includePaths", include_paths.is_some()),
        ("excludePaths", exclude_paths.is_some()),
        ("maxDiscoveryDepth", max_discovery_depth.is_some()),
        ("limit", limit.is_some()),
        ("crawlEntireDomain", crawl_entire_domain.is_some()),
        ("allowExternalLinks", allow_external_links.is_some()),
        ("allowSubdomains", allow_subdomains.is_some()),
        ("sitemap", sitemap.is_some()),
        ("ignoreQueryParameters", ignore_query_parameters.is_some()),
        ("delay", delay.is_some()),
    ];
    all.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name).collect()
}
