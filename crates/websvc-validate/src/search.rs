//! The rules of a search (specification, section 2.1): request in, plan out.

use std::time::Duration;

use websvc_query::Tbs;
use websvc_types::limits::{
    COUNTRY_DEFAULT, LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN, QUERY_MAX_CHARS, SEARCH_TIMEOUT_DEFAULT_MS,
    SEARCH_TIMEOUT_FLOOR_MS, SEARCH_TIMEOUT_MAX_MS, SEARCH_TIMEOUT_MIN_MS,
};
use websvc_types::{Category, RetentionOption, SearchRequest, Source, SourceKind, ViolationCode};

use crate::checked::Checked;
use crate::error::Rejection;
use crate::path::Path;
use crate::policy::{FeaturePolicy, Policy};
use crate::report::{Report, cut, quoted};
use crate::retention::RetentionMode;
use crate::scrape::{self, ScrapeContext};
use crate::scrape_plan::ScrapePlan;
use crate::search_plan::{SearchPlan, SourcePlan};
use crate::threat_rules::ThreatRules;
use crate::{bounds, country, domain, threat};

/// Longer reasons are cut: they repeat the sender's words.
const REASON_CHARS: usize = 160;

/// Checks a search.
///
/// # Errors
/// Every rule that the request breaks, or what the team may not do.
pub fn check_search(request: SearchRequest, policy: &Policy) -> Result<Checked<SearchPlan>, Rejection> {
    let mut report = Report::default();
    let plan = check(&mut report, request, policy);
    report.finish(plan)
}

/// Checks a search. The plan holds only if the report has no violation.
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
        // Of interest to the log alone.
        origin: _,
        integration: _,
    } = request;
    let body = Path::Root;
    let query = parse_query(report, &body.key("query"), &query_text);
    let limit = limit.unwrap_or(LIMIT_DEFAULT);
    bounds::number(report, &body.key("limit"), limit, LIMIT_MIN, LIMIT_MAX);
    let timeout_ms = timeout.unwrap_or(SEARCH_TIMEOUT_DEFAULT_MS);
    bounds::number(report, &body.key("timeout"), timeout_ms, SEARCH_TIMEOUT_MIN_MS, SEARCH_TIMEOUT_MAX_MS);
    let tbs = parse_tbs(report, &body.key("tbs"), tbs.as_deref());
    let location = given(location);
    let sources = plan_sources(report, &body.key("sources"), sources, tbs, location.as_deref());
    let domains = domain::filter(report, &body, include_domains, exclude_domains);
    // Some clients send an empty one for "not given".
    let country = country::check(report, &body.key("country"), country.as_deref());
    let retention = retention_of(report, &enterprise.unwrap_or_default(), policy);
    let threat = threat_protection
        .map(|protection| threat::check(report, &body.key("threatProtection"), protection, policy));
    let scrape = scrape_options.map(|options| {
        let setting = ScrapeContext { policy, retention, threat: threat.as_ref() };
        scrape::check(report, &body.key("scrapeOptions"), options, setting)
    });
    // Under lockdown of the pages nothing is kept of their URLs.
    let is_locked = scrape.as_ref().is_some_and(ScrapePlan::lockdown);
    let kept = if is_locked { RetentionMode::Zero } else { retention };
    SearchPlan {
        protection: ThreatRules::of(policy, threat.as_ref(), kept),
        query,
        query_text,
        limit: limit as usize,
        sources,
        categories: each_once(categories.unwrap_or_default()),
        domains,
        country: country.unwrap_or(COUNTRY_DEFAULT),
        country_given: country.is_some(),
        location,
        safe: safe.unwrap_or(false),
        timeout: Duration::from_millis(timeout_ms.max(SEARCH_TIMEOUT_FLOOR_MS)),
        ignore_invalid_urls: ignore_invalid_urls.unwrap_or(false),
        highlights: highlights.unwrap_or(true),
        retention,
        // Without formats nothing is scraped (specification, section 4.1, rule 2).
        scrape: scrape.filter(|plan| !plan.formats.is_empty()),
        threat,
    }
}

fn parse_query(report: &mut Report, path: &Path<'_>, text: &str) -> websvc_query::Query {
    let legal =
        bounds::not_blank(report, path, text) && bounds::chars(report, path, text, 1, QUERY_MAX_CHARS);
    if !legal {
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
                let why = error.to_string();
                format!("{name} must be a time filter, not {}: {}", quoted(text), cut(&why, REASON_CHARS))
            });
            None
        }
    }
}

/// Returns the sources, web when there are none: a source without filters of its own has those of the request.
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
        let Source { kind, tbs: own_tbs, location: own_location } = source;
        let plan = SourcePlan {
            kind,
            tbs: parse_tbs(report, &path.key("tbs"), own_tbs.as_deref()).or(tbs),
            location: given(own_location).or_else(|| location.map(str::to_owned)),
        };
        match plans.iter().find(|known| known.kind == kind) {
            None => plans.push(plan),
            Some(known) if *known == plan => {}
            // The answer has one list for each kind.
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

/// Returns what may be kept: the strictest of what the request asks for and the policy demands.
fn retention_of(report: &mut Report, asked: &[RetentionOption], policy: &Policy) -> RetentionMode {
    let mut retention = RetentionMode::requested_retention(policy);
    for enterprise in asked {
        let (allowance, name, wanted) = match enterprise {
            RetentionOption::Default => continue,
            RetentionOption::Anon => (policy.anon, "anon", RetentionMode::Anonymous),
            RetentionOption::Zdr => (policy.zdr, "zdr", RetentionMode::Zero),
        };
        if allowance == FeaturePolicy::Off {
            report.forbid(&format!("enterprise {name} is not enabled for this team"));
        }
        retention = retention.max(wanted);
    }
    retention
}

fn each_once(categories: Vec<Category>) -> Vec<Category> {
    let mut once = Vec::new();
    for category in categories {
        if !once.contains(&category) {
            once.push(category);
        }
    }
    once
}

/// Returns a text that says something: some clients send an empty one for "not given".
fn given(text: Option<String>) -> Option<String> {
    let text = text?;
    let trimmed = text.trim();
    if trimmed.is_empty() { None } else { Some(trimmed.to_owned()) }
}
