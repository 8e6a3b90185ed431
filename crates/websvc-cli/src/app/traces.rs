//! The export of traces: `[traces]`, and the standard OpenTelemetry variables for keys that are not set.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use crate::otlp::{BatchConfig, ExporterConfig, Sampler};
use anyhow::{Context, Result, anyhow, bail, ensure};
use http::HeaderMap;
use percent_encoding::percent_decode_str;
use url::Url;

use super::headers::insert_secret;
use super::sources::client;
use crate::config::{Config, Traces};

/// Path of the OTLP endpoint for spans.
const PATH: &str = "/v1/traces";
/// Default endpoint of the OTLP standard.
const DEFAULT_ENDPOINT: &str = "http://localhost:4318";
/// Standard variables that websvc does not support.
const UNSUPPORTED: [&str; 4] = [
    "OTEL_EXPORTER_OTLP_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CLIENT_KEY",
    "OTEL_PROPAGATORS",
];

/// Settings of the export of traces.
#[derive(Debug)]
pub(crate) struct TraceSettings {
    pub(crate) url: Url,
    headers: HeaderMap,
    timeout: Duration,
    resource: Vec<(String, String)>,
    pub(crate) sampler: Sampler,
    pub(crate) batching: BatchConfig,
    /// Warnings about unsupported variables.
    pub(crate) warnings: Vec<String>,
}

impl TraceSettings {
    /// Reads the settings. Returns `None` if no traces are exported.
    pub(crate) fn read(traces: &Traces, variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>> {
        let variables = OtelEnv(&variable);
        if variables.text("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let Some(url) = url(traces, &variables)? else { return Ok(None) };
        ensure!(
            matches!(url.scheme(), "http" | "https") && url.has_host(),
            "the endpoint of traces is not an http or https URL"
        );
        let mut warnings = Vec::new();
        protocol(&variables, &mut warnings)?;
        for name in UNSUPPORTED {
            if variables.text(name).is_some() {
                warnings.push(format!("{name} has no effect in websvc"));
            }
        }
        let timeout_ms = match (traces.timeout_ms, variables.otlp_text("TIMEOUT")) {
            (Some(ms), _) => ms,
            (None, Some((name, text))) => number(&name, &text)?,
            (None, None) => 10_000,
        };
        ensure!(timeout_ms > 0, "traces.timeout_ms is 0: every export would time out");
        Ok(Some(Self {
            url,
            headers: headers(traces, &variables)?,
            timeout: Duration::from_millis(timeout_ms),
            resource: resource(traces, &variables)?,
            sampler: sampler(traces, &variables)?,
            batching: batching(traces, &variables)?,
            warnings,
        }))
    }

    /// Returns the configuration of the exporter.
    pub(crate) fn exporter_config(&self, config: &Config) -> Result<ExporterConfig> {
        Ok(ExporterConfig {
            client: client(config, &self.url).context("the endpoint of traces")?,
            url: self.url.clone(),
            headers: self.headers.clone(),
            timeout: self.timeout,
            resource: self.resource.clone(),
        })
    }
}

/// The standard variables. An empty one counts as unset.
struct OtelEnv<'a>(&'a dyn Fn(&str) -> Option<String>);

impl OtelEnv<'_> {
    fn text(&self, name: &str) -> Option<String> {
        (self.0)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// Returns the given number, or else that of a variable.
    fn or_number<T: FromStr>(&self, given: Option<T>, name: &str) -> Result<Option<T>> {
        match (given, self.text(name)) {
            (None, Some(text)) => Ok(Some(number(name, &text)?)),
            (given, _) => Ok(given),
        }
    }

    /// Returns a variable for traces, or else that for all signals, with its name.
    fn otlp_text(&self, name: &str) -> Option<(String, String)> {
        let names = [format!("OTEL_EXPORTER_OTLP_TRACES_{name}"), format!("OTEL_EXPORTER_OTLP_{name}")];
        names.into_iter().find_map(|name| self.text(&name).map(|text| (name, text)))
    }
}

fn number<T: FromStr>(name: &str, text: &str) -> Result<T> {
    text.parse().map_err(|_| anyhow!("{name} is {text:?}: not a number, or out of range"))
}

fn url(traces: &Traces, variables: &OtelEnv<'_>) -> Result<Option<Url>> {
    let with_path = |base: &str, name: &str| -> Result<Option<Url>> {
        let url = format!("{}{PATH}", base.trim_end_matches('/'));
        Ok(Some(url.parse().with_context(|| format!("{name} is not a URL"))?))
    };
    if let Some(base) = &traces.endpoint {
        return with_path(base, "traces.endpoint");
    }
    let exporter = variables.text("OTEL_TRACES_EXPORTER");
    match exporter.as_deref() {
        Some("none") => return Ok(None),
        None | Some("otlp") => {}
        Some(other) => bail!("OTEL_TRACES_EXPORTER is {other:?}: use otlp or none"),
    }
    let full = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
    if let Some(url) = variables.text(full) {
        return Ok(Some(url.parse().with_context(|| format!("{full} is not a URL"))?));
    }
    let base = "OTEL_EXPORTER_OTLP_ENDPOINT";
    match (variables.text(base), exporter) {
        (Some(url), _) => with_path(&url, base),
        (None, Some(_otlp)) => with_path(DEFAULT_ENDPOINT, base),
        (None, None) => Ok(None),
    }
}

fn protocol(variables: &OtelEnv<'_>, warnings: &mut Vec<String>) -> Result<()> {
    let setting = |name: &str| variables.otlp_text(name).map(|(_, text)| text);
    match setting("PROTOCOL").as_deref() {
        None | Some("http/json") => {}
        Some("http/protobuf") => warnings.push(
            "OTEL_EXPORTER_OTLP_PROTOCOL: traces are sent as http/json, which the same collectors accept"
                .to_owned(),
        ),
        Some(other) => {
            bail!(
                "OTEL_EXPORTER_OTLP_PROTOCOL is {other:?}: use http/json (collectors accept it on port 4318)"
            )
        }
    }
    if setting("COMPRESSION").is_some_and(|value| value != "none") {
        warnings.push("OTEL_EXPORTER_OTLP_COMPRESSION: traces are sent uncompressed".to_owned());
    }
    Ok(())
}

fn headers(traces: &Traces, variables: &OtelEnv<'_>) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for variable in ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"] {
        for (name, value) in pairs(&variables.text(variable).unwrap_or_default(), variable)? {
            insert_secret(&mut headers, &name, &value, variable)?;
        }
    }
    for (name, value) in &traces.headers {
        insert_secret(&mut headers, name, value, "traces.headers")?;
    }
    Ok(headers)
}

/// Reads `name=value,name=value`, the values percent-encoded.
fn pairs(text: &str, variable: &str) -> Result<Vec<(String, String)>> {
    let entries = text.split(',').filter(|pair| !pair.trim().is_empty());
    entries
        .map(|pair| {
            let (name, value) =
                pair.split_once('=').with_context(|| format!("{variable}: an entry has no ="))?;
            let value = percent_decode_str(value.trim())
                .decode_utf8()
                .with_context(|| format!("{variable}: a value is not valid UTF-8"))?;
            Ok((name.trim().to_owned(), value.into_owned()))
        })
        .collect()
}

fn resource(traces: &Traces, variables: &OtelEnv<'_>) -> Result<Vec<(String, String)>> {
    let variable = "OTEL_RESOURCE_ATTRIBUTES";
    let entries = pairs(&variables.text(variable).unwrap_or_default(), variable)?;
    let mut attributes: BTreeMap<String, String> = entries.into_iter().collect();
    let name = traces.service_name.clone().or_else(|| variables.text("OTEL_SERVICE_NAME"));
    if let Some(name) = name {
        attributes.insert("service.name".to_owned(), name);
    }
    attributes.entry("service.name".to_owned()).or_insert_with(|| "websvc".to_owned());
    attributes.entry("service.version".to_owned()).or_insert_with(|| env!("CARGO_PKG_VERSION").to_owned());
    Ok(attributes.into_iter().collect())
}

fn sampler(traces: &Traces, variables: &OtelEnv<'_>) -> Result<Sampler> {
    let name = traces.sampler.clone().or_else(|| variables.text("OTEL_TRACES_SAMPLER"));
    let ratio = variables.or_number(traces.ratio, "OTEL_TRACES_SAMPLER_ARG")?.unwrap_or(1.0);
    ensure!((0.0..=1.0).contains(&ratio), "traces.ratio is {ratio}: use 0 to 1");
    let default = if traces.ratio.is_some() { "parentbased_traceidratio" } else { "parentbased_always_on" };
    let (share, follows_parent) = match name.as_deref().unwrap_or(default) {
        "always_on" => (1.0, false),
        "always_off" => (0.0, false),
        "traceidratio" => (ratio, false),
        "parentbased_always_on" => (1.0, true),
        "parentbased_always_off" => (0.0, true),
        "parentbased_traceidratio" => (ratio, true),
        other => bail!(
            "traces.sampler is {other:?}: use always_on, always_off, traceidratio, or one of these after parentbased_"
        ),
    };
    Ok(Sampler { ratio: share, follows_parent })
}

fn batching(traces: &Traces, variables: &OtelEnv<'_>) -> Result<BatchConfig> {
    let default = BatchConfig::default();
    let delay = variables.or_number(traces.delay_ms, "OTEL_BSP_SCHEDULE_DELAY")?;
    let delay = delay.map_or(default.delay, Duration::from_millis);
    let queue = variables.or_number(traces.queue, "OTEL_BSP_MAX_QUEUE_SIZE")?.unwrap_or(default.queue);
    let batch = variables.or_number(traces.batch, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE")?.unwrap_or(default.batch);
    ensure!(queue > 0 && batch > 0, "traces.queue and traces.batch must be at least 1");
    ensure!(queue <= MAX_QUEUE, "traces.queue is {queue}: use at most {MAX_QUEUE}");
    Ok(BatchConfig { queue, batch, delay })
}

/// Maximum length of the queue. This many spans take some hundred megabytes.
const MAX_QUEUE: usize = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(toml: &str, variables: &[(&str, &str)]) -> Result<Option<TraceSettings>> {
        let value = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        TraceSettings::read(&toml::from_str(toml).unwrap(), value)
    }

    fn url_of(toml: &str, variables: &[(&str, &str)]) -> Option<String> {
        read(toml, variables).unwrap().map(|settings| settings.url.to_string())
    }

    #[test]
    fn traces_are_exported_only_with_an_endpoint() {
        assert_eq!(url_of("", &[]), None);
        assert_eq!(url_of("", &[("OTEL_SERVICE_NAME", "a")]), None);
        let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c.test:4318/");
        assert_eq!(url_of("", &[base]).as_deref(), Some("http://c.test:4318/v1/traces"));
        let full = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://d.test/x");
        assert_eq!(url_of("", &[base, full]).as_deref(), Some("http://d.test/x"));
        let endpoint = "endpoint = 'http://e.test/otlp'";
        assert_eq!(url_of(endpoint, &[base, full]).as_deref(), Some("http://e.test/otlp/v1/traces"));
        assert_eq!(url_of("", &[base, ("OTEL_TRACES_EXPORTER", "none")]), None);
        assert_eq!(url_of("", &[base, ("OTEL_SDK_DISABLED", "true")]), None);
        assert_eq!(
            url_of("", &[("OTEL_TRACES_EXPORTER", "otlp")]).as_deref(),
            Some("http://localhost:4318/v1/traces")
        );
    }

    #[test]
    fn unsupported_and_invalid_values_are_errors_or_warnings() {
        let on = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c.test");
        for (name, value) in [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "no-equals-sign"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "host=a"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
            ("OTEL_TRACES_SAMPLER", "sometimes"),
            ("OTEL_TRACES_SAMPLER_ARG", "2"),
            ("OTEL_TRACES_EXPORTER", "zipkin"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "0"),
        ] {
            assert!(read("", &[on, (name, value)]).is_err(), "{name}={value}");
        }
        assert!(read("", &[("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://c.test")]).is_err());
        let warned = |name, value| read("", &[on, (name, value)]).unwrap().unwrap().warnings.len();
        assert_eq!(warned("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"), 1);
        assert_eq!(warned("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"), 1);
        assert_eq!(warned("OTEL_EXPORTER_OTLP_CERTIFICATE", "/a.pem"), 1);
        assert_eq!(warned("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"), 0);
    }

    #[test]
    fn configuration_overrides_the_variables() {
        let variables = [
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20a,x-team=b"),
            ("OTEL_SERVICE_NAME", "other"),
            ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test,service.name=third"),
            ("OTEL_TRACES_SAMPLER", "always_off"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "250"),
            ("OTEL_BSP_SCHEDULE_DELAY", "7"),
        ];
        let toml = "endpoint = 'http://c.test'\nservice_name = 'mine'\nsampler = 'traceidratio'\nratio = 0.25\n\
                    headers = { 'x-team' = 'c' }";
        let settings = read(toml, &variables).unwrap().unwrap();
        assert_eq!(settings.headers["authorization"], "Bearer a");
        assert_eq!(settings.headers["x-team"], "c");
        assert!(settings.headers["authorization"].is_sensitive());
        assert_eq!(settings.sampler, Sampler { ratio: 0.25, follows_parent: false });
        assert_eq!(settings.timeout, Duration::from_millis(250));
        assert_eq!(settings.batching.delay, Duration::from_millis(7));
        let attribute = |name: &str| {
            settings.resource.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
        };
        assert_eq!(
            (attribute("service.name"), attribute("deployment.environment")),
            (Some("mine"), Some("test"))
        );
    }

    #[test]
    fn values_are_percent_decoded() {
        let read = |text: &str| pairs(text, "NAME").map(|pairs| pairs[0].1.clone());
        for (text, expected) in [("a=b%20c", "b c"), ("a=%C3%A4", "ä"), ("a=100%", "100%"), ("a=%+f", "%+f")]
        {
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
        assert!(read("a=%ff").unwrap_err().to_string().contains("not valid UTF-8"));
    }
}
