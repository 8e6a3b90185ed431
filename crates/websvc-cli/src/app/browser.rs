//! The browser: a local Chromium process, or a remote Chromium.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use url::Host;
use websvc_browser::{Browser, BrowserConfig, BubblewrapMode, Remote};
use websvc_transport::{AddressGuard, Client};

use super::{client_with, user_agent};
use crate::config::{self, Config};

/// Returns the browser, which starts when a page first needs it. Returns `None` if `browser.concurrency` is 0.
pub(crate) fn browser(config: &Config, client: &Client) -> Result<Option<Browser>> {
    let remote = remote(config)?;
    let settings = &config.browser;
    if settings.concurrency == 0 {
        return Ok(None);
    }
    let browser = BrowserConfig {
        path: settings.path.clone(),
        bubblewrap: bubblewrap_mode(settings.bubblewrap.as_deref()),
        remote,
        ca_file: config.fetch.ca_file.clone(),
        concurrency: settings.concurrency,
        pages_per_process: settings.pages_per_process,
        memory_bytes: settings.memory_bytes,
        page_memory_bytes: settings.page_memory_bytes,
        max_memory_bytes: settings.max_memory_bytes.unwrap_or(settings.memory_bytes / 2 * 3),
        idle_shutdown: Duration::from_secs(settings.idle_shutdown_s),
        ..BrowserConfig::default()
    };
    Ok(Some(Browser::new(browser, client.clone())))
}

/// Returns whether local Chromiums run in bubblewrap.
fn bubblewrap_mode(configured: Option<&Path>) -> BubblewrapMode {
    match configured {
        None => BubblewrapMode::IfAvailable,
        Some(path) if path.as_os_str().is_empty() => BubblewrapMode::Off,
        Some(path) => BubblewrapMode::Required(path.to_owned()),
    }
}

/// Returns the configuration of the remote Chromium, if there is one.
fn remote(config: &Config) -> Result<Option<Remote>> {
    let config::Browser { cdp_url, egress_listen, egress_host, egress_allowed_networks, .. } =
        &config.browser;
    let Some(cdp_url) = cdp_url else {
        let is_unset = egress_listen.is_none() && egress_host.is_none() && egress_allowed_networks.is_empty();
        ensure!(
            is_unset,
            "browser.egress_listen, egress_host and egress_allowed_networks require browser.cdp_url"
        );
        return Ok(None);
    };
    ensure!(
        config.browser.path.is_none(),
        "browser.path and browser.cdp_url are both set: use a local browser or a remote one"
    );
    ensure!(
        !matches!(bubblewrap_mode(config.browser.bubblewrap.as_deref()), BubblewrapMode::Required(_)),
        "browser.bubblewrap and browser.cdp_url are both set: a remote browser does not run in bubblewrap of this machine"
    );
    // The operator has chosen the URL, so it may be on any network. Pages are still guarded.
    let client = client_with(config, AddressGuard::open(), user_agent(config)?)?;
    let mut remote = Remote::new(cdp_url.parse().context("browser.cdp_url")?, client);
    if let Some(listen) = egress_listen {
        remote.egress_listen = listen.parse().with_context(|| {
            format!("browser.egress_listen: {listen:?} is not an IP address without a port")
        })?;
    }
    if let Some(host) = egress_host {
        let parsed = Host::parse(host);
        remote.egress_host = Some(
            parsed.with_context(|| format!("browser.egress_host: {host:?} is not a host without a port"))?,
        );
    }
    let networks = egress_allowed_networks
        .iter()
        .map(|network| network.parse().context("browser.egress_allowed_networks"));
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
    fn remote_browser_is_configured_or_rejected_with_its_key() {
        for text in [
            "",
            "cdp_url = 'http://127.0.0.1:9222'",
            "cdp_url = 'wss://chromium.test/devtools/browser/1'\negress_listen = '0.0.0.0'\n\
             egress_host = 'websvc.test'\negress_allowed_networks = ['172.16.0.0/12']",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
        let remote = "cdp_url = 'http://127.0.0.1:9222'";
        for (text, expected) in [
            (
                "path = '/x'\ncdp_url = 'http://127.0.0.1:9222'".to_owned(),
                "browser.path and browser.cdp_url are both set",
            ),
            (
                format!("bubblewrap = '/usr/bin/bwrap'\n{remote}"),
                "browser.bubblewrap and browser.cdp_url are both set",
            ),
            ("cdp_url = '127.0.0.1:9222'".to_owned(), "browser.cdp_url: not the address of a remote browser"),
            ("cdp_url = 'ftp://a.test'".to_owned(), "must be ws, wss, http or https"),
            ("egress_listen = '0.0.0.0'".to_owned(), "require browser.cdp_url"),
            (format!("{remote}\negress_listen = '0.0.0.0:1'"), "browser.egress_listen: \"0.0.0.0:1\""),
            (format!("{remote}\negress_host = 'a b'"), "browser.egress_host: \"a b\""),
            (
                format!("{remote}\negress_allowed_networks = ['x']"),
                "browser.egress_allowed_networks: \"x\" is not a network",
            ),
        ] {
            let error = check(&text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
