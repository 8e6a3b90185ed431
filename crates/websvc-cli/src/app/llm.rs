//! The configured language model.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use url::Url;
use websvc_model::{OpenAi, OpenAiConfig};

use super::sources;
use crate::config::{Config, Llm};

/// Minimum length of a prompt. A shorter one could not hold the instructions and a page.
const MIN_INPUT_CHARS: usize = 4_000;

/// Returns the model without contacting it. Returns `None` if none is configured.
pub(crate) fn model(config: &Config) -> Result<Option<OpenAi>> {
    let Llm {
        base_url,
        api_key,
        model,
        rerank_model,
        reasoning_effort,
        timeout_ms,
        concurrency,
        max_input_chars,
        combine,
    } = &config.llm;
    ensure!(*timeout_ms > 0, "llm.timeout_ms is 0: every request to the model would time out");
    ensure!(*concurrency > 0, "llm.concurrency is 0: no request could be sent to the model");
    ensure!(
        *max_input_chars >= MIN_INPUT_CHARS,
        "llm.max_input_chars is {max_input_chars}: the minimum is {MIN_INPUT_CHARS}"
    );
    let non_empty = |name: &Option<String>| name.clone().filter(|name| !name.trim().is_empty());
    let (model, rerank_model) = (non_empty(model), non_empty(rerank_model));
    let Some(base_url) = base_url.as_deref().filter(|url| !url.is_empty()) else {
        if model.is_some() || rerank_model.is_some() {
            bail!("llm.model is set, but llm.base_url is missing");
        }
        return Ok(None);
    };
    ensure!(
        model.is_some() || rerank_model.is_some(),
        "llm.base_url is set, but llm.model is missing (or llm.rerank_model)"
    );
    let base_url: Url = base_url.parse().context("llm.base_url")?;
    // The errors do not contain the URL, which may contain a secret.
    let client = sources::client(config, &base_url).context("llm.base_url")?;
    let endpoint = OpenAiConfig {
        client,
        base_url,
        api_key: api_key.clone(),
        model,
        rerank_model,
        reasoning_effort: non_empty(reasoning_effort),
        timeout: Duration::from_millis(*timeout_ms),
        concurrency: *concurrency,
        max_input_chars: *max_input_chars,
        combine: *combine,
    };
    OpenAi::new(endpoint).map(Some).context("llm")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output;

    #[track_caller]
    fn check(text: &str, expected: Result<bool, &str>) {
        let config: Config = toml::from_str(text).unwrap();
        match (model(&config), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found.is_some(), expected, "{text}"),
            (Err(error), Err(expected)) => {
                let shown = output::causes(error.as_ref());
                assert!(shown.contains(expected), "{shown}");
                assert!(!shown.contains("s3cret"), "{shown}");
            }
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn model_rejects_invalid_values() {
        check("", Ok(false));
        check("[llm]\nbase_url = 'http://127.0.0.1:8000/v1'\nmodel = 'm'", Ok(true));
        check("[llm]\nbase_url = 'http://127.0.0.1:8000/v1'\nrerank_model = 'm'", Ok(true));
        check("[llm]\nbase_url = 'http://127.0.0.1:8000/v1'", Err("llm.model is missing"));
        check("[llm]\nmodel = 'm'", Err("llm.base_url is missing"));
        check("[llm]\nbase_url = 'not a url'\nmodel = 'm'", Err("llm.base_url"));
        check("[llm]\nbase_url = 'http://u:s3cret@a.test/v1'\nmodel = 'm'", Err("without user"));
        check("[llm]\nbase_url = 'http://a.test/v1?key=s3cret'\nmodel = 'm'", Err("query and fragment"));
        check(
            "[llm]\nbase_url = 'http://a.test/v1'\nmodel = 'm'\napi_key = \"s3cret\\n\"",
            Err("the key contains characters"),
        );
        for key in ["timeout_ms", "concurrency", "max_input_chars"] {
            check(&format!("[llm]\n{key} = 0"), Err(key));
        }
    }
}
