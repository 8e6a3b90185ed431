//! The configured URL scanner.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use url::Url;
use websvc_scrape::threat::{Classifier, ClassifierConfig, Scanner, WEB_RISK_URL};

use super::sources;
use crate::config::{Config, ScannerKind, Threat};

/// Returns the classifier, which has no scanner if none is configured.
pub(crate) fn classifier(config: &Config) -> Result<Classifier> {
    let Threat { timeout_ms, concurrency, .. } = &config.threat;
    ensure!(*timeout_ms > 0, "threat.timeout_ms is 0: every request to the scanner would time out");
    ensure!(*concurrency > 0, "threat.concurrency is 0: no request could be sent to the scanner");
    match scanner(config)? {
        Some(scanner) => Ok(Classifier::new(scanner, classifier_config(&config.threat))),
        None => Ok(Classifier::none()),
    }
}

fn scanner(config: &Config) -> Result<Option<Scanner>> {
    let Threat { scanner, url, api_key, .. } = &config.threat;
    let key = api_key.as_deref().filter(|key| !key.is_empty());
    let scanner = match scanner {
        ScannerKind::None => return Ok(None),
        ScannerKind::Http => {
            let url = url.as_deref().context("threat.scanner is \"http\", but threat.url is missing")?;
            let url = parse_url(url)?;
            let client = sources::client(config, &url).context("threat.url")?;
            Scanner::http(client, url, key)
        }
        ScannerKind::WebRisk => {
            let key = key.context("threat.scanner is \"web-risk\", but threat.api_key is missing")?;
            let url = parse_url(url.as_deref().unwrap_or(WEB_RISK_URL))?;
            let client = sources::client(config, &url).context("threat.url")?;
            Scanner::web_risk(client, url, key)
        }
    };
    scanner.map(Some).context("threat.api_key")
}

fn parse_url(url: &str) -> Result<Url> {
    url.parse().context("threat.url")
}

fn classifier_config(threat: &Threat) -> ClassifierConfig {
    ClassifierConfig {
        timeout: Duration::from_millis(threat.timeout_ms),
        concurrency: threat.concurrency,
        failures: threat.breaker_failures,
        pause: Duration::from_millis(threat.breaker_open_ms),
        risky_ttl: Duration::from_secs(threat.cache_risky_s),
        clean_ttl: Duration::from_secs(threat.cache_clean_s),
    }
}
