//! The configured search by meaning.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::runtime::Handle;
use url::Url;
use websvc_engine::{EncoderPrefixes, LocalEncoder, RemoteEncoder};
use websvc_index::{PassageEncoder, SemanticConfig};
use websvc_model::{Embeddings, OpenAiConfig};

use super::llm::{client, headers, non_empty};
use super::sources;
use crate::config::{Config, Semantic};

/// Passages of a page that may be encoded.
const PASSAGES: RangeInclusive<usize> = 1..=64;

/// Vectors that a search may be compared with. A million take about 100 ms.
const MAX_COMPARED: usize = 1_000_000;

/// Returns the search by meaning without reading the model or contacting the endpoint. Returns `None` if none is configured.
pub(crate) fn semantic(config: &Config) -> Result<Option<SemanticConfig>> {
    let semantic = &config.semantic;
    check_limits(semantic)?;
    let Some(encoder) = encoder(config)? else { return Ok(None) };
    let Semantic { passages, max_compared, min_similarity, cpu_percent, .. } = *semantic;
    Ok(Some(SemanticConfig {
        max_passages: passages,
        max_compared,
        min_similarity,
        cpu_percent,
        ..SemanticConfig::new(encoder)
    }))
}

/// Returns the base URL of the endpoint if its host name has to be resolved.
pub(crate) fn embeddings_url(config: &Config) -> Option<Url> {
    let url = config.semantic.url.as_deref()?.parse().ok()?;
    (!sources::is_mapped(config, &url)).then_some(url)
}

fn encoder(config: &Config) -> Result<Option<Arc<dyn PassageEncoder>>> {
    let Semantic { model, url, url_model, query_prefix, passage_prefix, .. } = &config.semantic;
    let prefixes = EncoderPrefixes { query: query_prefix.clone(), passage: passage_prefix.clone() };
    let model = model.as_ref().filter(|dir| !dir.as_os_str().is_empty());
    let url = url.as_deref().filter(|url| !url.is_empty());
    let Some(url) = url else {
        ensure!(
            non_empty(url_model.as_ref()).is_none(),
            "semantic.url_model is set, but semantic.url is missing"
        );
        return Ok(model
            .map(|dir| -> Arc<dyn PassageEncoder> { Arc::new(LocalEncoder::new(dir.clone(), prefixes)) }));
    };
    ensure!(model.is_none(), "semantic.model and semantic.url are set: only one of them can be used");
    let endpoint = endpoint(config, url)?;
    let runtime = Handle::try_current().context("semantic.url")?;
    let Semantic { query_timeout_ms, timeout_ms, .. } = config.semantic;
    let timeouts = (Duration::from_millis(query_timeout_ms.get()), Duration::from_millis(timeout_ms.get()));
    Ok(Some(Arc::new(RemoteEncoder::new(endpoint, prefixes, runtime, timeouts))))
}

fn endpoint(config: &Config, url: &str) -> Result<Embeddings> {
    let Semantic { url_model, api_key, headers: configured, timeout_ms, concurrency, .. } = &config.semantic;
    let base_url: Url = url.parse().context("semantic.url")?;
    let model = non_empty(url_model.as_ref());
    ensure!(model.is_some(), "semantic.url is set, but semantic.url_model is missing");
    let client = client(config, &base_url).context("semantic.url")?;
    let endpoint = OpenAiConfig {
        api_key: api_key.clone(),
        headers: headers("semantic", configured)?,
        model,
        timeout: Duration::from_millis(timeout_ms.get()),
        concurrency: *concurrency,
        ..OpenAiConfig::new(client, base_url)
    };
    Embeddings::new(endpoint).map_err(|error| {
        let field = if error.field() == "base_url" { "url" } else { error.field() };
        anyhow::Error::from(error).context(format!("semantic.{field}"))
    })
}

fn check_limits(semantic: &Semantic) -> Result<()> {
    let Semantic { passages, max_compared, min_similarity, cpu_percent, concurrency, .. } = semantic;
    let (first, last) = (PASSAGES.start(), PASSAGES.end());
    ensure!(
        PASSAGES.contains(passages),
        "semantic.passages is {passages}: it must be from {first} to {last}"
    );
    ensure!(
        *max_compared <= MAX_COMPARED,
        "semantic.max_compared is {max_compared}: the maximum is {MAX_COMPARED}"
    );
    ensure!(
        (-1.0..=1.0).contains(min_similarity),
        "semantic.min_similarity is {min_similarity}: it must be from -1 to 1"
    );
    ensure!(
        (1..=100).contains(cpu_percent),
        "semantic.cpu_percent is {cpu_percent}: it must be from 1 to 100"
    );
    ensure!(*concurrency > 0, "semantic.concurrency is 0: no request could be sent to the endpoint");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::semantic;
    use crate::config::Config;

    fn check(text: &str) -> Result<bool, String> {
        let config: Config = toml::from_str(&format!("[semantic]\n{text}")).unwrap();
        semantic(&config).map(|found| found.is_some()).map_err(|error| format!("{error:#}"))
    }

    #[tokio::test]
    async fn model_or_endpoint_turns_the_search_by_meaning_on() {
        assert_eq!(check(""), Ok(false));
        assert_eq!(check("model = ''"), Ok(false));
        assert_eq!(check("model = 'minilm'"), Ok(true));
        assert_eq!(check("url = 'http://127.0.0.1:1/v1'\nurl_model = 'm'\napi_key = 'k'"), Ok(true));
    }

    #[tokio::test]
    async fn invalid_values_are_errors_with_their_key_and_without_secrets() {
        for (text, expected) in [
            (
                "model = 'a'\nurl = 'http://x.test/'\nurl_model = 'm'",
                "semantic.model and semantic.url are set",
            ),
            ("url = 'http://x.test/'", "semantic.url_model is missing"),
            ("url_model = 'm'", "semantic.url is missing"),
            ("url = 'ftp://x.test/'\nurl_model = 'm'", "semantic.url: the URL is neither http nor https"),
            ("url = 'http://u:p@x.test/'\nurl_model = 'm'", "semantic.url: the URL must be"),
            (
                "url = 'http://x.test/'\nurl_model = 'm'\napi_key = \"a\\n\"",
                "semantic.api_key: the key contains",
            ),
            ("model = 'a'\npassages = 0", "semantic.passages is 0: it must be from 1 to 64"),
            ("max_compared = 2000000", "semantic.max_compared is 2000000: the maximum is 1000000"),
            ("min_similarity = 1.5", "semantic.min_similarity is 1.5: it must be from -1 to 1"),
            ("cpu_percent = 0", "semantic.cpu_percent is 0: it must be from 1 to 100"),
            ("concurrency = 0", "semantic.concurrency is 0"),
        ] {
            let error = check(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
