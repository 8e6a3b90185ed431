//! The browser of an installation: one that is started here, or one that somebody else runs.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use url::Host;
use websvc_browser::{Browser, BrowserConfig, Remote};
use websvc_transport::{AddressGuard, Client};

use super::client_with;
use crate::config::{self, Config};

/// Returns the browser, which is started when a page first needs it; `None` when no page may be open in one.
pub(crate) fn browser(config: &Config, client: &Client) -> Result<Option<Browser>> {
    let remote = remote(config)?;
    let config::Browser {
        path,
        cdp_url: _,
        egress_listen: _,
        egress_host: _,
        egress_from: _,
        concurrency,
        pages_per_process,
        memory_bytes,
        page_memory_bytes,
        max_memory_bytes,
        idle_shutdown_s,
        lists: _of_the_blocklist,
    } = &config.browser;
    if *concurrency == 0 {
        return Ok(None);
    }
    let how = BrowserConfig {
        path: path.clone(),
        remote,
        ca_file: config.fetch.ca_file.clone(),
        concurrency: *concurrency,
        pages_per_process: *pages_per_process,
        memory_bytes: *memory_bytes,
        page_memory_bytes: *page_memory_bytes,
        max_memory_bytes: max_memory_bytes.unwrap_or(memory_bytes / 2 * 3),
        idle_shutdown: Duration::from_secs(*idle_shutdown_s),
        ..BrowserConfig::default()
    };
    Ok(Some(Browser::new(how, client.clone())))
}

/// Returns the Chromium that somebody else runs, if one is named.
fn remote(config: &Config) -> Result<Option<Remote>> {
    let config::Browser { path, cdp_url, egress_listen, egress_host, egress_from, .. } = &config.browser;
    let Some(cdp_url) = cdp_url else {
        let is_alone = egress_listen.is_none() && egress_host.is_none() && egress_from.is_empty();
        ensure!(is_alone, "browser.egress_listen, egress_host and egress_from go with browser.cdp_url only");
        return Ok(None);
    };
    ensure!(
        path.is_none(),
        "browser.path and browser.cdp_url are both given: a browser is started here, or elsewhere"
    );
    // The operator has named it, so it may be wherever it is; pages keep the guard.
    let client = client_with(config, AddressGuard::open())?;
    let mut remote = Remote::new(cdp_url.parse().context("browser.cdp_url")?, client);
    if let Some(listen) = egress_listen {
        remote.egress_listen = listen
            .parse()
            .with_context(|| format!("browser.egress_listen: {listen:?} is no address without port"))?;
    }
    if let Some(host) = egress_host {
        let parsed = Host::parse(host);
        remote.egress_host =
            Some(parsed.with_context(|| format!("browser.egress_host: {host:?} is no host without port"))?);
    }
    let networks = egress_from.iter().map(|network| network.parse().context("browser.egress_from"));
    remote.egress_from = networks.collect::<Result<_>>()?;
    Ok(Some(remote))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output;

    fn check(text: &str) -> Result<(), String> {
        let browser: config::Browser = toml::from_str(text).unwrap();
        let config = Config { browser, ..Config::default() };
        let client = super::super::client(&config).unwrap();
        browser_of(&config, &client).map_err(|error| output::causes(error.as_ref()))
    }

    fn browser_of(config: &Config, client: &Client) -> Result<()> {
        browser(config, client).map(drop)
    }

    #[test]
    fn a_remote_browser_is_configured_or_refused_with_the_key() {
        for text in [
            "",
            "cdp_url = 'http://127.0.0.1:9222'",
            "cdp_url = 'wss://chromium.test/devtools/browser/1'\negress_listen = '0.0.0.0'\n\
             egress_host = 'websvc.test'\negress_from = ['172.16.0.0/12']",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
        let remote = "cdp_url = 'http://127.0.0.1:9222'";
        for (text, said) in [
            (
                "path = '/x'\ncdp_url = 'http://127.0.0.1:9222'".to_owned(),
                "browser.path and browser.cdp_url are both given",
            ),
            ("cdp_url = '127.0.0.1:9222'".to_owned(), "browser.cdp_url: not the address of a remote browser"),
            ("cdp_url = 'ftp://a.test'".to_owned(), "must be ws, wss, http or https"),
            ("egress_listen = '0.0.0.0'".to_owned(), "go with browser.cdp_url only"),
            (format!("{remote}\negress_listen = '0.0.0.0:1'"), "browser.egress_listen: \"0.0.0.0:1\""),
            (format!("{remote}\negress_host = 'a b'"), "browser.egress_host: \"a b\""),
            (format!("{remote}\negress_from = ['x']"), "browser.egress_from: \"x\" is not a network"),
        ] {
            let refused = check(&text).unwrap_err();
            assert!(refused.contains(said), "{text}: {refused}");
        }
    }
}
