//! URL scanner, from the configuration.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use url::Url;
use websvc_threat::{Classifier, ClassifierConfig, Scanner, WEB_RISK_URL};

use super::sources;
use crate::config::{Config, ScannerKind, Threat};

/// Makes the classifier; without a scanner it has nobody to ask.
pub(crate) fn classifier(config: &Config) -> Result<Classifier> {
    let Threat { timeout_ms, concurrency, .. } = &config.threat;
    ensure!(*timeout_ms > 0, "threat.timeout_ms is 0: the scanner could never answer");
    ensure!(*concurrency > 0, "threat.concurrency is 0: the scanner could never be asked");
    match scanner(config)? {
        Some(scanner) => Ok(Classifier::new(scanner, bounds(&config.threat))),
        None => Ok(Classifier::none()),
    }
}

fn scanner(config: &Config) -> Result<Option<Scanner>> {
    let Threat { scanner, url, api_key, .. } = &config.threat;
    let key = api_key.as_deref().filter(|key| !key.is_empty());
    let scanner = match scanner {
        ScannerKind::None => return Ok(None),
        ScannerKind::Http => {
            let url = url.as_deref().context("threat.scanner is \"http\", and threat.url is missing")?;
            let url = address(url)?;
            let client = sources::client(config, &url).context("threat.url")?;
            Scanner::http(client, url, key)
        }
        ScannerKind::WebRisk => {
            let key = key.context("threat.scanner is \"web-risk\", and threat.api_key is missing")?;
            let url = address(url.as_deref().unwrap_or(WEB_RISK_URL))?;
            let client = sources::client(config, &url).context("threat.url")?;
            Scanner::web_risk(client, url, key)
        }
    };
    scanner.map(Some).context("threat.api_key")
}

fn address(url: &str) -> Result<Url> {
    url.parse().context("threat.url")
}

fn bounds(threat: &Threat) -> ClassifierConfig {
    ClassifierConfig {
        timeout: Duration::from_millis(threat.timeout_ms),
        concurrency: threat.concurrency,
        failures: threat.breaker_failures,
        pause: Duration::from_millis(threat.breaker_pause_ms),
        risky_ttl: Duration::from_secs(threat.remember_risky_s),
        clean_ttl: Duration::from_secs(threat.remember_clean_s),
    }
}
