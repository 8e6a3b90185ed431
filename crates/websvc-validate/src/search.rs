//! Rules of a search (specification, section 2.1): converts a request to a plan.

use std::time::Duration;

use websvc_query::Tbs;
use websvc_types::limits::{
    COUNTRY_DEFAULT, LIMIT_DEFAULT, QUERY_MAX_CHARS, SEARCH_TIMEOUT_DEFAULT_MS, SEARCH_TIMEOUT_FLOOR_MS,
};
use websvc_types::{Category, RetentionOption, SearchRequest, Source, SourceKind, ViolationCode};

use crate::path::Path;
use crate::policy::{FeaturePolicy, Policy};
use crate::report::{Report, quoted, truncated};
use crate::retention::RetentionMode;
use crate::scrape::{self, ScrapeContext};
use crate::search_plan::{SearchPlan, SourcePlan};
use crate::threat_rules::ThreatRules;
use crate::{bounds, country, domain, threat};

/// Maximum length of the reason in a message, because it repeats text of the request.
const MAX_REASON_CHARS: usize = 160;

/// Checks a search. The plan is valid only if the report has no violation.
pub(crate) fn check(report: &mut Report, request: SearchRequest, policy: &Policy) -> SearchPlan {
    let SearchRequest {
        query: query_text,
        limit,
        sources,
        categories,
        include_domains,
        exclude_domains,
        tbs,
        location,
        country,
        safe,
        timeout,
        ignore_invalid_urls,
        highlights,
        enterprise,
        scrape_options,
        threat_protection,
        // Accepted for compatibility and not used.
        origin: _,
        integration: _,
    } = request;
    let body = Path::Root;
    let query = parse_query(report, &body.key("query"), &query_text);
    let timeout_ms = timeout.unwrap_or(SEARCH_TIMEOUT_DEFAULT_MS);
    let tbs = parse_tbs(report, &body.key("tbs"), tbs.as_deref());
    let location = non_blank(location);
    let sources = plan_sources(report, &body.key("sources"), sources, tbs, location.as_deref());
    let domains = domain::filter(report, &body, include_domains, exclude_domains);
    let country = country::check(report, &body.key("country"), country.as_deref());
    let retention = retention_of(report, &enterprise.unwrap_or_default(), policy);
    let threat = threat_protection
        .map(|protection| threat::check(report, &body.key("threatProtection"), protection, policy));
    let scrape = scrape_options.map(|options| {
        let context = ScrapeContext { policy, retention, threat: threat.as_ref() };
        scrape::check(report, &body.key("scrapeOptions"), options, context)
    });
    // Under lockdown, the URLs of the pages are not stored either.
    let is_lockdown = scrape.as_ref().is_some_and(|plan| plan.lockdown);
    let url_retention = if is_lockdown { RetentionMode::Zero } else { retention };
    SearchPlan {
        protection: ThreatRules::new(policy, threat.as_ref(), url_retention),
        query,
        query_text,
        limit: limit.unwrap_or(LIMIT_DEFAULT) as usize,
        sources,
        categories: deduplicate(categories.unwrap_or_default()),
        domains,
        country: country.unwrap_or(COUNTRY_DEFAULT),
        country_given: country.is_some(),
        location,
        safe: safe.unwrap_or(false),
        timeout: Duration::from_millis(timeout_ms.max(SEARCH_TIMEOUT_FLOOR_MS)),
        ignore_invalid_urls: ignore_invalid_urls.unwrap_or(false),
        highlights: highlights.unwrap_or(true),
        retention,
        // Without formats, no page is scraped (specification, section 4.1, rule 2).
        scrape: scrape.filter(|plan| !plan.formats.is_empty()),
        threat,
    }
}

fn parse_query(report: &mut Report, path: &Path<'_>, text: &str) -> websvc_query::Query {
    let is_valid =
        bounds::not_blank(report, path, text) && bounds::chars(report, path, text, 1, QUERY_MAX_CHARS);
    if !is_valid {
        return websvc_query::Query::default();
    }
    let websvc_query::Parsed { query, warnings } = websvc_query::parse(text);
    for warning in warnings {
        report.warning(path, |name| format!("{name}: {warning}"));
    }
    query
}

fn parse_tbs(report: &mut Report, path: &Path<'_>, text: Option<&str>) -> Option<Tbs> {
    let text = text?;
    match websvc_query::parse_tbs(text) {
        Ok(tbs) => tbs,
        Err(error) => {
            report.violation(path, ViolationCode::InvalidFormat, |name| {
                let reason = error.to_string();
                let reason = truncated(&reason, MAX_REASON_CHARS);
                format!("{name} must be a time filter, not {}: {reason}", quoted(text))
            });
            None
        }
    }
}

/// Returns the sources; web if there are none. A source without its own filters gets those of the request.
fn plan_sources(
    report: &mut Report,
    path: &Path<'_>,
    sources: Option<Vec<Source>>,
    tbs: Option<Tbs>,
    location: Option<&str>,
) -> Vec<SourcePlan> {
    let mut plans: Vec<SourcePlan> = Vec::new();
    for (index, source) in sources.unwrap_or_default().into_iter().enumerate() {
        let path = path.index(index);
        let Source { kind, tbs: source_tbs, location: source_location } = source;
        let plan = SourcePlan {
            kind,
            tbs: parse_tbs(report, &path.key("tbs"), source_tbs.as_deref()).or(tbs),
            location: non_blank(source_location).or_else(|| location.map(str::to_owned)),
        };
        match plans.iter().find(|other| other.kind == kind) {
            None => plans.push(plan),
            Some(other) if *other == plan => {}
            // The response has one list for each kind.
            Some(_) => report.violation(&path, ViolationCode::Conflict, |name| {
                format!("{name}: the source is given twice, with different filters")
            }),
        }
    }
    if plans.is_empty() {
        plans.push(SourcePlan { kind: SourceKind::Web, tbs, location: location.map(str::to_owned) });
    }
    plans
}

/// Returns the data retention: the strictest of the request and the policy.
fn retention_of(report: &mut Report, options: &[RetentionOption], policy: &Policy) -> RetentionMode {
    let mut retention = RetentionMode::requested_retention(policy);
    for option in options {
        let (feature_policy, name, requested) = match option {
            RetentionOption::Default => continue,
            RetentionOption::Anon => (policy.anon, "anon", RetentionMode::Anonymous),
            RetentionOption::Zdr => (policy.zdr, "zdr", RetentionMode::Zero),
        };
        if feature_policy == FeaturePolicy::Off {
            report.forbid(&format!("enterprise {name} is not enabled for this team"));
        }
        retention = retention.max(requested);
    }
    retention
}

fn deduplicate(categories: Vec<Category>) -> Vec<Category> {
    let mut distinct = Vec::new();
    for category in categories {
        if !distinct.contains(&category) {
            distinct.push(category);
        }
    }
    distinct
}

/// Returns a trimmed text, or `None` if it is blank, because some clients send blank text for an absent value.
fn non_blank(text: Option<String>) -> Option<String> {
    let text = text?;
    let trimmed = text.trim();
    if trimmed.is_empty() { None } else { Some(trimmed.to_owned()) }
}
