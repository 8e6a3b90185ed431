//! The address of this process for the other replicas, which pass on the requests that only this one can answer.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU16;

use anyhow::{Context, Result};
use http::uri::Authority;
use url::Url;
use websvc_server::{Announcement, ReplicaConfig};

use crate::config::{self, Config};

/// Returns the settings of a replica that listens on an address.
pub(crate) fn replica_config(config: &Config, listener: SocketAddr) -> Result<ReplicaConfig> {
    let announcement = announcement(config, listener)?;
    ReplicaConfig::new(announcement, config.replica.ca_file.clone()).context("replica.ca_file")
}

/// Returns the address that a replica announces: the configured one, or that of the listener if it can only be right.
pub(crate) fn announcement(config: &Config, listener: SocketAddr) -> Result<Announcement> {
    let config::Replica { address, ca_file: _ } = &config.replica;
    let has_tls = config.server.tls.is_some();
    let scheme = if has_tls { "https" } else { "http" };
    if let Some(address) = address {
        let authority = authority(address, listener.port());
        let url = authority.and_then(|authority| Url::parse(&format!("{scheme}://{authority}")).ok());
        let url = url.with_context(|| {
            format!(
                "replica.address: {address:?} is not a host name or an IP address, with or without a port, such as \
                 10.0.0.5 or websvc-1:3002"
            )
        })?;
        return Ok(Announcement::Url(url));
    }
    Ok(if has_tls {
        no_address("the certificate of the listener is for another name than its address")
    } else if listener.ip().is_unspecified() {
        no_address("the service listens on all addresses")
    } else if listener.ip().is_loopback() {
        no_address("the service listens on a loopback address, which is another machine for each replica")
    } else {
        match Url::parse(&format!("{scheme}://{listener}")) {
            Ok(url) => Announcement::Url(url),
            Err(_) => no_address("the address of the listener has no URL"),
        }
    })
}

fn no_address(reason: &str) -> Announcement {
    let reason =
        format!("{reason}: set replica.address to the host under which the other replicas reach this one");
    Announcement::None { reason }
}

/// Returns the host and port of an address, with the port of the listener if it has none.
fn authority(address: &str, listener_port: u16) -> Option<String> {
    if let Ok(ip) = address.parse::<IpAddr>() {
        return Some(SocketAddr::new(ip, listener_port).to_string());
    }
    let authority: Authority = address.parse().ok()?;
    let host = authority.host();
    // `Authority::port` is `None` for an invalid port, too.
    let rest = authority.as_str().strip_prefix(host)?;
    let port = if rest.is_empty() {
        listener_port
    } else {
        let digits = rest.strip_prefix(':')?;
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<NonZeroU16>().ok().filter(|_| is_number)?.get()
    };
    Some(format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announced(address: Option<&str>, listener: &str, has_tls: bool) -> Result<Announcement> {
        let mut config = Config::default();
        config.replica.address = address.map(str::to_owned);
        config.server.tls = has_tls.then(|| config::Tls { cert: "c".into(), key: "k".into() });
        announcement(&config, listener.parse().unwrap())
    }

    #[track_caller]
    fn check(address: Option<&str>, listener: &str, has_tls: bool, expected: Option<&str>) {
        let url = match announced(address, listener, has_tls).unwrap() {
            Announcement::Url(url) => Some(url.to_string()),
            Announcement::None { reason } => {
                assert!(reason.contains("replica.address"), "{reason}");
                None
            }
        };
        assert_eq!(url.as_deref(), expected, "{address:?} {listener}");
    }

    #[test]
    fn address_of_the_listener_is_announced_only_if_it_leads_to_this_process_from_everywhere() {
        check(None, "10.0.0.5:3002", false, Some("http://10.0.0.5:3002/"));
        check(None, "[fd00::5]:3002", false, Some("http://[fd00::5]:3002/"));
        for listener in ["0.0.0.0:3002", "[::]:3002", "127.0.0.1:3002", "[::1]:3002"] {
            check(None, listener, false, None);
        }
        check(None, "10.0.0.5:3002", true, None);
    }

    #[test]
    fn configured_address_has_the_port_and_the_scheme_of_the_listener() {
        let listener = "0.0.0.0:3002";
        check(Some("10.0.0.5"), listener, false, Some("http://10.0.0.5:3002/"));
        check(Some("fd00::5"), listener, false, Some("http://[fd00::5]:3002/"));
        check(Some("[fd00::5]:80"), listener, false, Some("http://[fd00::5]/"));
        check(Some("websvc-1"), listener, true, Some("https://websvc-1:3002/"));
        check(Some("websvc-1:8443"), listener, true, Some("https://websvc-1:8443/"));
    }

    #[test]
    fn invalid_address_is_an_error_that_names_it() {
        let invalid =
            ["", "http://10.0.0.5", "a b", "a/b", "user@a", "a@a", "a:0", "a:", "a:x", "a:99999", "a:+1"];
        for address in invalid {
            let error = announced(Some(address), "0.0.0.0:3002", false).unwrap_err().to_string();
            assert!(error.contains("replica.address") && error.contains(&format!("{address:?}")), "{error}");
        }
    }
}
