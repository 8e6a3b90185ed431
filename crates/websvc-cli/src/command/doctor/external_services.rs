//! Checks of the configured external services: DNS names, proxies, search providers, the bucket.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use jiff::Timestamp;
use url::{Host, Url};
use websvc_engine::{ElasticsearchWriter, FailureKind, SearchSource, SourceRequest, SourceResponse};
use websvc_transport::{BoxFuture, Client, FetchError, Proxy, Resolve, SystemResolver};
use websvc_validate::SourceKind;

use super::finding::{Finding, timed};
use crate::app::{self, UnsearchedIndex};
use crate::config::{self, Config};
use crate::output;

const DNS: &str = "dns";
pub(super) const ARTIFACTS: &str = "artifacts";
const TIMEOUT: Duration = Duration::from_secs(5);
/// The query for the providers. Any provider should find results; an empty result is not a problem.
const QUERY: &str = "web";

/// Resolves the host names of the configuration. No other names are resolved, because the operator has not allowed it.
pub(super) async fn dns(config: &Config) -> Finding {
    let names = host_names(config);
    if names.is_empty() {
        return name_servers(std::fs::read_to_string("/etc/resolv.conf").ok().as_deref());
    }
    let resolver = SystemResolver::default();
    let lookups = names.into_iter().map(|name| {
        let resolver = resolver.clone();
        async move {
            let result = tokio::time::timeout(TIMEOUT, resolver.resolve(&name)).await;
            let is_found = matches!(result, Ok(Ok(addresses)) if !addresses.is_empty());
            (name, is_found)
        }
    });
    dns_finding(&all(lookups).await)
}

/// Runs the works at the same time, and returns their outputs in the same order.
async fn all<T: Send + 'static>(
    works: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let tasks: Vec<_> = works.into_iter().map(tokio::spawn).collect();
    let mut outputs = Vec::with_capacity(tasks.len());
    for task in tasks {
        outputs.push(task.await.expect("a check does not panic"));
    }
    outputs
}

fn dns_finding(results: &[(String, bool)]) -> Finding {
    let missing: Vec<&str> =
        results.iter().filter(|(_, is_found)| !is_found).map(|(name, _)| name.as_str()).collect();
    if missing.is_empty() {
        let found: Vec<&str> = results.iter().map(|(name, _)| name.as_str()).collect();
        return Finding::ok(DNS, format!("resolved: {}", found.join(", ")));
    }
    let advice = if missing.len() == results.len() {
        "no name could be resolved: check the name servers of this machine (/etc/resolv.conf) and the network"
    } else {
        "correct the names in the configuration, or add them to DNS or /etc/hosts"
    };
    Finding::problem(DNS, format!("not resolved: {}", missing.join(", "))).advice(advice)
}

/// Checks the configuration of the resolver without sending a request.
fn name_servers(resolver: Option<&str>) -> Finding {
    let skipped = "not checked: the configuration has no host names";
    let Some(resolver) = resolver else { return Finding::ok(DNS, skipped) };
    let servers = resolver.lines().filter(|line| line.trim_start().starts_with("nameserver")).count();
    if servers > 0 {
        return Finding::ok(DNS, format!("{skipped}; name servers in /etc/resolv.conf: {servers}"));
    }
    Finding::warning(DNS, "/etc/resolv.conf has no name server").advice(
        "add one (`nameserver ADDRESS`); otherwise only IP addresses and names in /etc/hosts can be fetched",
    )
}

/// Returns the host names of the configuration that have to be resolved.
fn host_names(config: &Config) -> BTreeSet<String> {
    let config::Proxy { basic, enhanced, by_country } = &config.proxy;
    let proxies = basic.iter().chain(enhanced).chain(by_country.values().flatten());
    let providers = app::provider_urls(config);
    let url_texts = proxies.chain(&config.browser.cdp_url);
    let urls = url_texts
        .filter_map(|url| Url::parse(url).ok())
        .chain(providers)
        .chain(app::endpoint_urls(config))
        .chain(app::embeddings_url(config));
    let hosts = urls.filter_map(|url| url.host_str().map(str::to_owned)).chain(config.mail.host.clone());
    // For unknown schemes, the URL parser does not recognize IP addresses.
    let names = hosts.filter_map(|host| match Host::parse(&host).ok()? {
        Host::Domain(name) => Some(name),
        Host::Ipv4(_) | Host::Ipv6(_) => None,
    });
    names.collect()
}

/// Connects to every proxy. Returns one finding per pool.
pub(super) async fn proxies(config: &Config) -> Vec<Finding> {
    let config::Proxy { basic, enhanced, by_country } = &config.proxy;
    let mut pools = vec![("proxy.basic".to_owned(), basic), ("proxy.enhanced".to_owned(), enhanced)];
    pools.extend(by_country.iter().map(|(country, urls)| (format!("proxy.by_country.{country}"), urls)));
    pools.retain(|(_, urls)| !urls.is_empty());
    // If there is no client, the check of the values reports the reason.
    let Ok(client) = app::client(config) else { return Vec::new() };
    let mut findings = Vec::new();
    for (pool, urls) in pools {
        let probes = urls.iter().map(|url| {
            let (client, url) = (client.clone(), url.clone());
            async move { proxy_failure(&client, &url).await }
        });
        findings.push(pool_finding(&pool, &all(probes).await));
    }
    findings
}

/// Returns the reason why a proxy cannot be used, or `None` if it can.
async fn proxy_failure(client: &Client, url: &str) -> Option<String> {
    let invalid = || Some("invalid proxy URL".to_owned());
    let Ok(url) = Url::parse(url) else { return invalid() };
    let Ok(proxy) = Proxy::new(&url) else { return invalid() };
    // The address without user and password, which must not be printed.
    let port = url.port_or_known_default().map_or_else(String::new, |port| format!(":{port}"));
    let address = format!("{}{port}", url.host_str().unwrap_or_default());
    match client.probe_proxy(&proxy, TIMEOUT).await {
        Ok(()) => None,
        Err(FetchError::Proxy { reason, .. }) => Some(format!("{address}: {reason}")),
        Err(error) => Some(format!("{address}: {error}")),
    }
}

fn pool_finding(pool: &str, proxies: &[Option<String>]) -> Finding {
    let failed = proxies.iter().enumerate();
    let failed = failed.filter_map(|(index, failure)| Some(format!("[{index}] {}", failure.as_ref()?)));
    let failed: Vec<String> = failed.collect();
    let total = proxies.len();
    let reachable = total - failed.len();
    if failed.is_empty() {
        return Finding::ok(pool, format!("{reachable} of {total} reachable"));
    }
    let message = format!("{reachable} of {total} reachable; {}", failed.join("; "));
    let advice = "check address, port and firewall, or remove the proxy";
    if reachable == 0 {
        Finding::problem(pool, message).advice(advice)
    } else {
        Finding::warning(pool, message).advice(advice)
    }
}

/// Sends one query to every remote provider, to all at the same time. Returns one finding per provider.
pub(super) async fn providers(config: &Config) -> Vec<Finding> {
    let written = app::index_writers(config).unwrap_or_default();
    let mut checks: Vec<BoxFuture<'static, Finding>> = Vec::new();
    for (name, source) in app::remote_sources(config) {
        let check = format!("provider {name}");
        let writer = written.iter().find(|writer| writer.name() == name);
        checks.push(match source {
            Ok(_) if is_index_empty(writer).await => {
                let message = "responds; its index has no pages yet, and the first page creates it";
                Box::pin(std::future::ready(Finding::ok(check, message)))
            }
            Ok(source) => Box::pin(provider(check, source)),
            Err(error) => Box::pin(std::future::ready(Finding::invalid(check, &error))),
        });
    }
    let mut findings = all(checks).await;
    findings.extend(unused(config));
    findings.extend(app::unsearched_index(config).map(|UnsearchedIndex { remedy }| {
        Finding::warning("providers", UnsearchedIndex::MESSAGE).advice(remedy)
    }));
    findings
}

/// Returns whether a server that pages are written to has none. A failure is found by the search that follows.
async fn is_index_empty(writer: Option<&ElasticsearchWriter>) -> bool {
    let Some(writer) = writer else { return false };
    let stats = tokio::time::timeout(TIMEOUT, writer.stats()).await;
    matches!(stats, Ok(Ok(stats)) if stats.documents == 0)
}

/// Writes a file into the bucket of artifacts and deletes it, if a bucket is configured.
pub(super) async fn bucket(config: &Config) -> Result<Option<Finding>> {
    let Some(location) = app::bucket_location(config)? else { return Ok(None) };
    let result = tokio::time::timeout(TIMEOUT * 2, websvc_artifacts::probe(location)).await;
    let advice =
        "check `[artifacts.s3]`: endpoint, region, bucket, and a key that can write, read and delete";
    Ok(Some(match result {
        Ok(Ok(())) => Finding::ok(ARTIFACTS, "a file was written to the bucket and deleted"),
        Ok(Err(error)) => {
            let causes = output::causes(&error);
            Finding::problem(ARTIFACTS, format!("cannot store a file in the bucket: {causes}")).advice(advice)
        }
        Err(_elapsed) => Finding::problem(ARTIFACTS, "the bucket does not respond").advice(advice),
    }))
}

/// Returns a finding for sources that are configured and not used.
fn unused(config: &Config) -> Option<Finding> {
    let unused = app::unused_sources(config);
    (!unused.is_empty()).then(|| {
        Finding::warning("providers", format!("configured but not used: {}", unused.join(", ")))
            .advice("add them to `search.providers`, or remove their sections")
    })
}

async fn provider(check: String, source: Arc<dyn SearchSource>) -> Finding {
    let query = websvc_query::parse(QUERY).query;
    let kinds = [SourceKind::Web, SourceKind::News, SourceKind::Images];
    let kind = kinds.into_iter().find(|kind| source.supports(*kind)).unwrap_or(SourceKind::Web);
    let new = SourceRequest::new(kind, &query, Timestamp::now(), Instant::now() + 2 * TIMEOUT);
    let request = SourceRequest { limit: 1, ..new };
    let (response, elapsed) = timed(tokio::time::timeout(2 * TIMEOUT, source.search(&request))).await;
    match response {
        Ok(SourceResponse::Results { hits, warnings }) => available(check, hits.len(), &warnings, elapsed),
        Ok(SourceResponse::Unavailable { failure, reason }) => unavailable(check, failure, &reason),
        Err(_elapsed) => unavailable(check, FailureKind::Timeout, "no response within 10 seconds"),
    }
}

fn available(check: String, hits: usize, warnings: &[String], elapsed: Duration) -> Finding {
    let message = format!("responds in {} ms", elapsed.as_millis());
    if let Some(warning) = warnings.first() {
        return Finding::warning(check, format!("{message}; {warning}"))
            .advice("see the warning of the provider");
    }
    let suffix = if hits == 0 { ", but finds nothing for a common word" } else { "" };
    Finding::ok(check, message + suffix)
}

fn unavailable(check: String, failure: FailureKind, reason: &str) -> Finding {
    let advice = match failure {
        FailureKind::Paused | FailureKind::Busy | FailureKind::Limited => {
            let advice = "lower `requests_per_second`, or raise the limits of the provider";
            return Finding::warning(check, reason).advice(advice);
        }
        FailureKind::Timeout => "check that the provider runs and is not overloaded, or raise `timeout_ms`",
        FailureKind::Unreachable => "check that the provider runs, its `url`, and the network",
        FailureKind::Status | FailureKind::Unreadable => {
            "check `url` and key: the provider must respond with status 200 and JSON that has the configured fields"
        }
        FailureKind::Incomplete | FailureKind::Unsuited => {
            "check the configuration of the source: it does not match the responses"
        }
        FailureKind::Internal => "see the log, and report this bug of websvc",
    };
    Finding::problem(check, reason).advice(advice)
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn unresolved_names_are_problems() {
        let results = |found: [bool; 2]| [("a.test".to_owned(), found[0]), ("b.test".to_owned(), found[1])];
        assert_eq!(dns_finding(&results([true, true])), Finding::ok(DNS, "resolved: a.test, b.test"));
        let one = dns_finding(&results([true, false]));
        assert_eq!((one.state, one.message.as_str()), (State::Problem, "not resolved: b.test"));
        let none = dns_finding(&results([false, false]));
        assert!(none.advice.unwrap().starts_with("no name could be resolved"));
    }

    #[test]
    fn configuration_without_names_checks_only_the_resolver() {
        for (text, expected) in [
            (None, State::Ok),
            (Some("search test\nnameserver 192.0.2.1\n"), State::Ok),
            (Some("# nameserver 192.0.2.1\n"), State::Warning),
            (Some(""), State::Warning),
        ] {
            assert_eq!(name_servers(text).state, expected, "{text:?}");
        }
    }

    #[test]
    fn host_names_are_those_of_proxies_and_providers() {
        let config = toml::from_str(
            "[proxy]\nbasic = ['http://user:pass@proxy.test:1', 'socks5://192.0.2.1', 'socks5://[::1]:2']\n\
             by_country = { DE = ['socks5://de.test'] }\n\
             [search]\nproviders = ['index', 'searxng', 'own']\n[search.searxng]\nurl = 'http://searx.test/x'\n\
             [search.sources.own]\nkind = 'http-json'\nurl = 'https://own.test/s?q={query}'\nresults = '/r'\n\
             fields = { url = '/u', title = '/t' }\n\
             [fetch.connect_to]\n'mapped.test:80' = '127.0.0.1:1'\n[llm]\nbase_url = 'http://mapped.test/v1'\n\
             [[llm.fallback]]\nbase_url = 'http://llm.test/v1'",
        )
        .unwrap();
        let names: Vec<String> = host_names(&config).into_iter().collect();
        assert_eq!(names, ["de.test", "llm.test", "own.test", "proxy.test", "searx.test"]);
    }

    #[test]
    fn pool_finding_depends_on_reachable_proxies() {
        let failed = || Some("p.test:1: connection refused".to_owned());
        for (proxies, expected) in [
            (vec![None, None], State::Ok),
            (vec![None, failed()], State::Warning),
            (vec![failed()], State::Problem),
        ] {
            assert_eq!(pool_finding("proxy.basic", &proxies).state, expected);
        }
        let finding = pool_finding("proxy.basic", &[None, failed()]);
        assert_eq!(finding.message, "1 of 2 reachable; [1] p.test:1: connection refused");
    }

    #[test]
    fn rate_limited_provider_is_a_warning() {
        let of = |failure| unavailable("provider x".to_owned(), failure, "why").state;
        assert_eq!(of(FailureKind::Limited), State::Warning);
        for failure in
            [FailureKind::Timeout, FailureKind::Unreachable, FailureKind::Status, FailureKind::Unreadable]
        {
            assert_eq!(of(failure), State::Problem);
        }
    }
}
