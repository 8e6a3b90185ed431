//! Converts the prompt of a crawl to options, by a language model or by rules.
//!
//! A prompt is untrusted. It can only result in options, which are validated like those of a request.

mod model;
mod section;
mod token;
mod words;

use std::time::Instant;

use url::Url;
use websvc_transport::BoxFuture;
use websvc_types::job::CrawlParams;
use websvc_validate::check_crawl_params;

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
pub struct PromptNotUnderstood(String);

/// The phrases that the rules understand.
const PHRASES: &str = "sections and paths (`only the blog and /docs`, `except /archive`), a number of pages (`up to 50 \
    pages`), a depth (`2 levels deep`), `the entire site`, `with subdomains`, `with external links`, `without sitemap`";

impl Engine {
    /// Converts the prompt of a crawl to options.
    ///
    /// # Errors
    /// [`PromptNotUnderstood`], whose text lists the phrases that the rules understand.
    pub fn crawl_params<'a>(
        &'a self,
        url: &'a Url,
        prompt: &'a str,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<PromptOptions, PromptNotUnderstood>> {
        Box::pin(async move {
            let Some(model) = self.model().filter(|model| model.can_complete()) else {
                return by_words(prompt, "no language model is configured ([llm])");
            };
            match model::read(&**model, self.stages(), url, prompt, model_deadline(deadline)).await {
                Ok(options) => Ok(options),
                Err(reason) => {
                    tracing::warn!(%reason, "the language model could not convert a prompt to options");
                    by_words(prompt, &format!("the language model returned no options: {reason}"))
                }
            }
        })
    }
}

/// Converts a prompt by rules.
fn by_words(prompt: &str, reason: &str) -> Result<PromptOptions, PromptNotUnderstood> {
    let params = words::read(prompt);
    let is_valid = check_crawl_params(&params).is_ok();
    if params == CrawlParams::default() || !is_valid {
        return Err(PromptNotUnderstood(format!(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompt_without_options_fails_with_the_understood_phrases() {
        let error = by_words("please be nice", "no language model is configured ([llm])").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("[llm]") && text.contains("up to 50 pages"), "{text}");
    }

    #[test]
    fn options_that_violate_a_rule_are_rejected() {
        assert!(by_words("up to 0 pages", "reason").is_err());
    }

    #[test]
    fn warning_names_the_options_that_were_read() {
        let options = by_words("only the blog, up to 5 pages", "reason").unwrap();
        assert_eq!(options.warnings, ["prompt: reason; simple rules read includePaths, limit from it"]);
    }
}
