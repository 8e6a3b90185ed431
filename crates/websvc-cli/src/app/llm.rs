//! The configured language models.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use http::HeaderMap;
use serde_json::{Map, Value};
use url::Url;
use websvc_model::{EndpointConfig, FailoverError, FailoverModel, Feature, OpenAiConfig};
use websvc_transport::Client;

use super::headers::insert_secret;
use super::sources;
use crate::config::{Config, Llm};

/// Minimum length of a prompt. A shorter one could not hold the instructions and a page.
const MIN_INPUT_CHARS: usize = 4_000;

/// Minimum context, in tokens. A shorter one has no space for the instructions, a part of a page and a response.
const MIN_CONTEXT_TOKENS: u32 = 2_048;

/// Minimum upper bound for the length of responses, in tokens. Shorter ones would be cut off.
const MIN_OUTPUT_TOKENS: u32 = 256;

/// Returns the models without contacting them. Returns `None` if none is configured.
pub(crate) fn model(config: &Config) -> Result<Option<FailoverModel>> {
    let fallbacks = &config.llm.fallback;
    let Some(first) = endpoint(config, &section(0), &config.llm)? else {
        ensure!(fallbacks.is_empty(), "llm.fallback is set, but llm.base_url is missing");
        return Ok(None);
    };
    let max = FailoverModel::MAX_ENDPOINTS - 1;
    ensure!(fallbacks.len() <= max, "llm.fallback has {} endpoints: the maximum is {max}", fallbacks.len());
    let mut endpoints = vec![first];
    for (at, fallback) in fallbacks.iter().enumerate() {
        let section = section(at + 1);
        ensure!(
            !fallback.combine,
            "{section}.combine is set: requests are combined before it is known which endpoint \
            answers them; set llm.combine in its place"
        );
        let found = endpoint(config, &section, fallback)?;
        endpoints.push(found.with_context(|| format!("{section}.base_url is missing"))?);
    }
    let model = FailoverModel::new(endpoints).map_err(|error| match error {
        FailoverError::Endpoint { index, source } => {
            let key = format!("{}.{}", section(index), source.field());
            anyhow::Error::from(source).context(key)
        }
        FailoverError::Count => anyhow::Error::from(error).context("llm.fallback"),
    })?;
    Ok(Some(model))
}

/// Returns the name of the section of the endpoint at an index.
pub(crate) fn section(index: usize) -> String {
    index.checked_sub(1).map_or_else(|| "llm".to_owned(), |at| format!("llm.fallback[{at}]"))
}

/// Returns the base URLs of the endpoints whose host names have to be resolved.
pub(crate) fn endpoint_urls(config: &Config) -> Vec<Url> {
    let sections = std::iter::once(&config.llm).chain(&config.llm.fallback);
    let urls = sections.filter_map(|llm| llm.base_url.as_deref()?.parse().ok());
    urls.filter(|url| !sources::is_mapped(config, url)).collect()
}

/// Returns the endpoint of a section; `None` if it has none.
fn endpoint(config: &Config, section: &str, llm: &Llm) -> Result<Option<EndpointConfig>> {
    let Llm { base_url, models, .. } = llm;
    check_limits(section, llm)?;
    let (model, rerank_model) = (non_empty(llm.model.as_ref()), non_empty(llm.rerank_model.as_ref()));
    let Some(base_url) = base_url.as_deref().filter(|url| !url.is_empty()) else {
        if model.is_some() || rerank_model.is_some() {
            bail!("{section}.model is set, but {section}.base_url is missing");
        }
        return Ok(None);
    };
    ensure!(
        model.is_some() || rerank_model.is_some(),
        "{section}.base_url is set, but {section}.model is missing (or {section}.rerank_model)"
    );
    ensure!(model.is_some() || models.is_empty(), "{section}.models is set, but {section}.model is missing");
    let base_url: Url = base_url.parse().with_context(|| format!("{section}.base_url"))?;
    let endpoint = OpenAiConfig {
        client: client(config, &base_url).with_context(|| format!("{section}.base_url"))?,
        base_url,
        api_key: llm.api_key.clone(),
        headers: headers(section, &llm.headers)?,
        model,
        rerank_model,
        reasoning_effort: non_empty(llm.reasoning_effort.as_ref()),
        temperature: llm.temperature,
        seed: llm.seed,
        extra_body: json_object(&llm.extra_body).with_context(|| format!("{section}.extra_body"))?,
        timeout: Duration::from_millis(llm.timeout_ms),
        concurrency: llm.concurrency,
        max_input_chars: llm.max_input_chars,
        context_tokens: llm.context_tokens,
        max_output_tokens: llm.max_output_tokens,
        combine: llm.combine,
    };
    Ok(Some(EndpointConfig { endpoint, models: models_of_features(section, llm)? }))
}

fn check_limits(section: &str, llm: &Llm) -> Result<()> {
    let Llm { timeout_ms, concurrency, max_input_chars, context_tokens, max_output_tokens, .. } = llm;
    ensure!(*timeout_ms > 0, "{section}.timeout_ms is 0: every request to the model would time out");
    ensure!(*concurrency > 0, "{section}.concurrency is 0: no request could be sent to the model");
    ensure!(
        *max_input_chars >= MIN_INPUT_CHARS,
        "{section}.max_input_chars is {max_input_chars}: the minimum is {MIN_INPUT_CHARS}"
    );
    for (key, tokens, minimum) in [
        ("context_tokens", context_tokens, MIN_CONTEXT_TOKENS),
        ("max_output_tokens", max_output_tokens, MIN_OUTPUT_TOKENS),
    ] {
        if let Some(tokens) = tokens {
            ensure!(*tokens >= minimum, "{section}.{key} is {tokens}: the minimum is {minimum}");
        }
    }
    Ok(())
}

pub(super) fn non_empty(name: Option<&String>) -> Option<String> {
    name.filter(|name| !name.trim().is_empty()).cloned()
}

/// Returns a client that may reach the host of a URL. The errors do not contain the rest of it, which may be secret.
pub(super) fn client(config: &Config, base_url: &Url) -> Result<Client> {
    ensure!(matches!(base_url.scheme(), "http" | "https"), "the URL is neither http nor https");
    let host = base_url.host_str().context("the URL has no host")?;
    let port = base_url.port_or_known_default().context("the URL has no port")?;
    sources::client_to(config, host, port)
}

pub(super) fn headers(section: &str, configured: &BTreeMap<String, String>) -> Result<HeaderMap> {
    let (mut headers, from) = (HeaderMap::new(), format!("{section}.headers"));
    for (name, value) in configured {
        let is_second = insert_secret(&mut headers, name, value, &from)?;
        ensure!(!is_second, "{from}: the header {name} is set twice, in upper and lower case");
    }
    Ok(headers)
}

fn models_of_features(section: &str, llm: &Llm) -> Result<Vec<(Feature, String)>> {
    let mut models: Vec<(Feature, String)> = Vec::new();
    for (name, model) in &llm.models {
        let key = format!("{section}.models.{name}");
        let feature = Feature::of_name(name).with_context(|| {
            let known: Vec<&str> = Feature::completions().map(Feature::name).collect();
            format!("{key}: there is no such feature; the features are {}", known.join(", "))
        })?;
        ensure!(!model.trim().is_empty(), "{key} is empty");
        ensure!(
            models.iter().all(|(known, _)| *known != feature),
            "{key} is set twice, in upper and lower case"
        );
        models.push((feature, model.clone()));
    }
    Ok(models)
}

/// Converts a table.
fn json_object(table: &toml::Table) -> Result<Map<String, Value>> {
    table.iter().map(|(name, value)| Ok((name.clone(), json_value(name, value)?))).collect()
}

fn json_value(name: &str, value: &toml::Value) -> Result<Value> {
    Ok(match value {
        toml::Value::String(text) => Value::from(text.as_str()),
        toml::Value::Integer(number) => Value::from(*number),
        toml::Value::Float(number) if number.is_finite() => Value::from(*number),
        toml::Value::Boolean(flag) => Value::from(*flag),
        toml::Value::Array(items) => {
            items.iter().map(|item| json_value(name, item)).collect::<Result<Vec<_>>>()?.into()
        }
        toml::Value::Table(table) => json_object(table)?.into(),
        toml::Value::Float(_) | toml::Value::Datetime(_) => {
            bail!("{name} has a value that does not exist in JSON: a time, `inf` or `nan`")
        }
    })
}
