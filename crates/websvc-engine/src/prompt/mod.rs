//! The prompt of a crawl: words to options, by a language model or, without one, by rules.
//!
//! A prompt is untrusted: all that it can become are options, which are checked as those of requests are.

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

/// What a prompt became.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptOptions {
    /// The options; at least one.
    pub params: CrawlParams,
    /// How it was read, when that was not by a model, and what was left out.
    pub warnings: Vec<String>,
}

/// A prompt that says nothing of which options could be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PromptNotUnderstood(String);

/// What can be said without a model.
const FORMS: &str = "sections and paths (`only the blog and /docs`, `except /archive`), a number of pages (`up to 50 \
    pages`), a depth (`2 levels deep`), `the entire site`, `with subdomains`, `with external links`, `without sitemap`";

impl Engine {
    /// Returns the options that the prompt of a crawl becomes.
    ///
    /// # Errors
    /// [`PromptNotUnderstood`], with what to write instead.
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
            match model::read(&**model, self.stages(), url, prompt, deadline).await {
                Ok(prompted) => Ok(prompted),
                Err(reason) => {
                    tracing::warn!(%reason, "the language model made no options of a prompt");
                    by_words(prompt, &format!("the language model gave no options: {reason}"))
                }
            }
        })
    }
}

/// Reads a prompt by rules.
fn by_words(prompt: &str, why: &str) -> Result<PromptOptions, PromptNotUnderstood> {
    let params = words::read(prompt);
    let is_legal = check_crawl_params(&params).is_ok();
    if params == CrawlParams::default() || !is_legal {
        return Err(PromptNotUnderstood(format!(
            "prompt could not be turned into options; {why}, and simple rules understand only {FORMS}"
        )));
    }
    let names = names(&params).join(", ");
    Ok(PromptOptions { params, warnings: vec![format!("prompt: {why}; simple rules read {names} from it")] })
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
    fn a_prompt_that_says_nothing_is_told_what_to_say() {
        let error = by_words("please be nice", "no language model is configured ([llm])").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("[llm]") && text.contains("up to 50 pages"), "{text}");
    }

    #[test]
    fn options_that_break_rules_are_none() {
        assert!(by_words("up to 0 pages", "why").is_err());
    }

    #[test]
    fn what_was_read_is_named() {
        let prompted = by_words("only the blog, up to 5 pages", "why").unwrap();
        assert_eq!(prompted.warnings, ["prompt: why; simple rules read includePaths, limit from it"]);
    }
}
