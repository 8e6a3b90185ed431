//! Checks of external services in the configuration: DNS names, proxies, search providers.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::task::JoinSet;
use url::{Host, Url};
use websvc_engine::{FailureKind, SearchSource, SourceRequest, SourceResponse};
use websvc_transport::{Client, FetchError, Proxy, Resolve, SystemResolver};
use websvc_validate::{DomainFilter, SourceKind};

use super::finding::Finding;
use crate::app;
use crate::config::{self, Config};
use crate::output;

const NAMES: &str = "names";
const PATIENCE: Duration = Duration::from_secs(5);
/// Query for the providers; any provider finds it, and an empty result is fine too.
const QUESTION: &str = "web";

/// Checks names, proxies and providers.
pub(super) async fn check(config: &Config) -> Vec<Finding> {
    let mut findings = vec![names(config).await];
    findings.extend(proxies(config).await);
    findings.extend(providers(config).await);
    findings
}

/// Resolves the names that the configuration has; no others, because nobody allowed that.
async fn names(config: &Config) -> Finding {
    let wanted = names_of(config);
    if wanted.is_empty() {
        return name_servers(std::fs::read_to_string("/etc/resolv.conf").ok().as_deref());
    }
    let resolver = SystemResolver::default();
    let mut asked = JoinSet::new();
    for name in wanted {
        let resolver = resolver.clone();
        asked.spawn(async move {
            let found = tokio::time::timeout(PATIENCE, resolver.resolve(&name)).await;
            let is_found = matches!(found, Ok(Ok(addresses)) if !addresses.is_empty());
            (name, is_found)
        });
    }
    let mut answers = asked.join_all().await;
    answers.sort();
    resolved(&answers)
}

fn resolved(answers: &[(String, bool)]) -> Finding {
    let lost: Vec<&str> =
        answers.iter().filter(|(_, is_found)| !is_found).map(|(name, _)| name.as_str()).collect();
    if lost.is_empty() {
        let found: Vec<&str> = answers.iter().map(|(name, _)| name.as_str()).collect();
        return Finding::ok(NAMES, format!("found: {}", found.join(", ")));
    }
    let advice = if lost.len() == answers.len() {
        "none is found: check the name servers of this machine (/etc/resolv.conf) and the way to them"
    } else {
        "correct the names in the configuration, or make them known"
    };
    Finding::problem(NAMES, format!("not found: {}", lost.join(", ")), advice)
}

/// Looks at the servers that are to be asked, without asking them.
fn name_servers(resolver: Option<&str>) -> Finding {
    let quiet = "not tried: the configuration names no host";
    let Some(resolver) = resolver else { return Finding::ok(NAMES, quiet) };
    let servers = resolver.lines().filter(|line| line.trim_start().starts_with("nameserver")).count();
    if servers > 0 {
        return Finding::ok(NAMES, format!("{quiet}; /etc/resolv.conf has {servers} name servers"));
    }
    Finding::warning(
        NAMES,
        "/etc/resolv.conf has no name server",
        "add one (`nameserver ADDRESS`), or pages are found only by address and /etc/hosts",
    )
}

/// Returns the names of the configuration that have to be resolved.
fn names_of(config: &Config) -> BTreeSet<String> {
    let config::Proxy { basic, enhanced, by_country } = &config.proxy;
    let proxies = basic.iter().chain(enhanced).chain(by_country.values().flatten());
    let providers = app::provider_urls(config);
    let named = proxies.chain(&config.browser.cdp_url).chain(&config.llm.base_url);
    let urls = named.filter_map(|url| Url::parse(url).ok()).chain(providers);
    let of_urls = urls.filter_map(|url| {
        // Of schemes that it does not know, the parser leaves an address as text.
        match Host::parse(url.host_str()?).ok()? {
            Host::Domain(name) => Some(name),
            Host::Ipv4(_) | Host::Ipv6(_) => None,
        }
    });
    of_urls.collect()
}

/// Connects to every proxy, a line for each pool.
async fn proxies(config: &Config) -> Vec<Finding> {
    let config::Proxy { basic, enhanced, by_country } = &config.proxy;
    let mut pools = vec![("proxy.basic".to_owned(), basic), ("proxy.enhanced".to_owned(), enhanced)];
    pools.extend(by_country.iter().map(|(country, urls)| (format!("proxy.by_country.{country}"), urls)));
    pools.retain(|(_, urls)| !urls.is_empty());
    // Without a client the values of the configuration are a problem already.
    let Ok(client) = app::client(config) else { return Vec::new() };
    let mut findings = Vec::new();
    for (pool, urls) in pools {
        let mut failures = JoinSet::new();
        for (at, url) in urls.iter().enumerate() {
            let (client, url) = (client.clone(), url.clone());
            failures.spawn(async move { (at, failure(&client, &url).await) });
        }
        let mut failures = failures.join_all().await;
        failures.sort();
        findings.push(of_pool(&pool, &failures));
    }
    findings
}

/// Returns why a proxy cannot be used; `None` when it can.
async fn failure(client: &Client, url: &str) -> Option<String> {
    let unusable = || Some("its address cannot be used".to_owned());
    let Ok(url) = Url::parse(url) else { return unusable() };
    let Ok(proxy) = Proxy::new(&url) else { return unusable() };
    // The address without the user and the password that may stand before it.
    let port = url.port_or_known_default().map_or_else(String::new, |port| format!(":{port}"));
    let place = format!("{}{port}", url.host_str().unwrap_or_default());
    match client.probe_proxy(&proxy, PATIENCE).await {
        Ok(()) => None,
        Err(FetchError::Proxy { reason, .. }) => Some(format!("{place}: {reason}")),
        Err(error) => Some(format!("{place}: {error}")),
    }
}

fn of_pool(pool: &str, proxies: &[(usize, Option<String>)]) -> Finding {
    let failed: Vec<String> = proxies
        .iter()
        .filter_map(|(at, failure)| failure.as_ref().map(|failure| format!("[{at}] {failure}")))
        .collect();
    let total = proxies.len();
    let answering = total - failed.len();
    if failed.is_empty() {
        return Finding::ok(pool, format!("{answering} of {total} can be connected to"));
    }
    let message = format!("{answering} of {total} can be connected to; {}", failed.join("; "));
    let advice = "check address, port and firewall, or take the proxy out";
    if answering == 0 {
        Finding::problem(pool, message, advice)
    } else {
        Finding::warning(pool, message, advice)
    }
}

/// Asks every provider elsewhere one question, a line for each.
async fn providers(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, source) in app::elsewhere(config) {
        let check = format!("provider {name}");
        findings.push(match source {
            Ok(source) => provider(check, source).await,
            Err(error) => unusable(check, &error),
        });
    }
    findings.extend(unused(config));
    findings
}

/// Puts a file into the bucket of artifacts and takes it out again, if there is a bucket.
pub(super) async fn bucket(config: &Config) -> Option<Finding> {
    const CHECK: &str = "artifacts";
    let place = match app::bucket_place(config)? {
        Ok(place) => place,
        Err(error) => return Some(unusable(CHECK.to_owned(), &error)),
    };
    let probed = tokio::time::timeout(PATIENCE * 2, websvc_artifacts::probe(place)).await;
    let advice =
        "check `[artifacts.s3]`: endpoint, region, bucket, and a key that may write, read and delete";
    Some(match probed {
        Ok(Ok(())) => Finding::ok(CHECK, "a file was put into the bucket and taken out again"),
        Ok(Err(error)) => {
            let causes = output::causes(&error);
            Finding::problem(CHECK, format!("the bucket does not keep files: {causes}"), advice)
        }
        Err(_elapsed) => Finding::problem(CHECK, "the bucket does not answer", advice),
    })
}

fn unusable(check: String, error: &anyhow::Error) -> Finding {
    Finding::problem(check, output::causes(error.as_ref()), "correct what is named; `serve` does not start")
}

/// Names the sources that nobody asks.
fn unused(config: &Config) -> Option<Finding> {
    let lost = app::unused_sources(config);
    (!lost.is_empty()).then(|| {
        Finding::warning(
            "providers",
            format!("described and not used: {}", lost.join(", ")),
            "name them in `search.providers`, or take their sections out",
        )
    })
}

async fn provider(check: String, source: Arc<dyn SearchSource>) -> Finding {
    let query = websvc_query::parse(QUESTION).query;
    let started = Instant::now();
    let kind = [SourceKind::Web, SourceKind::News, SourceKind::Images]
        .into_iter()
        .find(|kind| source.supports(*kind))
        .unwrap_or(SourceKind::Web);
    let ask = SourceRequest {
        kind,
        query: &query,
        limit: 1,
        domains: &DomainFilter::Any,
        tbs: None,
        country: None,
        location: None,
        safe: false,
        highlights: false,
        now: Timestamp::now(),
        deadline: started + 2 * PATIENCE,
    };
    let answer = tokio::time::timeout(2 * PATIENCE, source.search(&ask)).await;
    let taken = started.elapsed();
    match answer {
        Ok(SourceResponse::Results { hits, warnings }) => answered(check, hits.len(), &warnings, taken),
        Ok(SourceResponse::Unavailable { failure, reason }) => unavailable(check, failure, &reason),
        Err(_elapsed) => unavailable(check, FailureKind::Timeout, "it did not answer within 10 seconds"),
    }
}

fn answered(check: String, hits: usize, warnings: &[String], taken: Duration) -> Finding {
    let message = format!("answers in {} ms", taken.as_millis());
    if let Some(warning) = warnings.first() {
        return Finding::warning(check, format!("{message}; {warning}"), "see what it says of itself");
    }
    let found = if hits == 0 { ", and finds nothing for a common word" } else { "" };
    Finding::ok(check, message + found)
}

fn unavailable(check: String, failure: FailureKind, reason: &str) -> Finding {
    let advice = match failure {
        FailureKind::Paused | FailureKind::Busy | FailureKind::Limited => {
            let advice = "ask it less (`requests_per_second`), or raise its limits";
            return Finding::warning(check, reason, advice);
        }
        FailureKind::Timeout => "check that it runs and is not overloaded, or raise its `timeout_ms`",
        FailureKind::Unreachable => "check that it runs, its `url`, and the way to it",
        FailureKind::Status | FailureKind::Unreadable => {
            "check its `url` and key: it has to answer with status 200 and JSON in which its fields are"
        }
        FailureKind::Incomplete | FailureKind::Unsuited => {
            "check what the declaration of the source says of its answers"
        }
        FailureKind::Internal => "look into the log, and report it: it is a defect of websvc",
    };
    Finding::problem(check, reason, advice)
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn names_that_are_not_found_are_problems() {
        let answers = |found: [bool; 2]| [("a.test".to_owned(), found[0]), ("b.test".to_owned(), found[1])];
        assert_eq!(resolved(&answers([true, true])), Finding::ok(NAMES, "found: a.test, b.test"));
        let one = resolved(&answers([true, false]));
        assert_eq!((one.state, one.message.as_str()), (State::Problem, "not found: b.test"));
        let none = resolved(&answers([false, false]));
        assert!(none.advice.unwrap().starts_with("none is found"));
    }

    #[test]
    fn without_names_only_the_configuration_of_the_resolver_is_read() {
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
    fn the_names_of_proxies_and_providers_are_those_of_the_configuration() {
        let config = toml::from_str(
            "[proxy]\nbasic = ['http://user:pass@proxy.test:1', 'socks5://192.0.2.1', 'socks5://[::1]:2']\n\
             by_country = { DE = ['socks5://de.test'] }\n\
             [search]\nproviders = ['index', 'searxng', 'own']\n[search.searxng]\nurl = 'http://searx.test/x'\n\
             [search.sources.own]\nkind = 'http-json'\nurl = 'https://own.test/s?q={query}'\nresults = '/r'\n\
             fields = { url = '/u', title = '/t' }",
        )
        .unwrap();
        let names: Vec<String> = names_of(&config).into_iter().collect();
        assert_eq!(names, ["de.test", "own.test", "proxy.test", "searx.test"]);
    }

    #[test]
    fn a_pool_is_as_good_as_its_proxies() {
        let failed = || Some("p.test:1: it cannot be reached".to_owned());
        for (proxies, expected) in [
            (vec![(0, None), (1, None)], State::Ok),
            (vec![(0, None), (1, failed())], State::Warning),
            (vec![(0, failed())], State::Problem),
        ] {
            assert_eq!(of_pool("proxy.basic", &proxies).state, expected);
        }
        let finding = of_pool("proxy.basic", &[(0, None), (1, failed())]);
        assert_eq!(finding.message, "1 of 2 can be connected to; [1] p.test:1: it cannot be reached");
    }

    #[test]
    fn a_provider_that_limits_its_callers_is_no_problem() {
        let of = |failure| unavailable("provider x".to_owned(), failure, "why").state;
        assert_eq!(of(FailureKind::Limited), State::Warning);
        for failure in
            [FailureKind::Timeout, FailureKind::Unreachable, FailureKind::Status, FailureKind::Unreadable]
        {
            assert_eq!(of(failure), State::Problem);
        }
    }
}
