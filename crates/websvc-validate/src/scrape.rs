//! Rules of scrape options (specification, section 2.2): converts options to a plan.

use std::time::Duration;

use websvc_selector::Dialect;
use websvc_types::format::Markdown;
use websvc_types::limits::{
    COUNTRY_DEFAULT, MAX_AGE_DEFAULT_MS, MAX_AGE_LOCKDOWN_MS, PROFILE_NAME_MAX_CHARS, PROFILE_NAME_MIN_CHARS,
    SCRAPE_TIMEOUT_DEFAULT_MS, USERNAME_MAX_CHARS,
};
use websvc_types::{
    Action, AuditMetadata, Format, Location, Parser, ParserKind, Profile, Proxy, RedactOptions, RedactPii,
    ScrapeOptions, ThreatProtection, ViolationCode,
};

use crate::path::Path;
use crate::policy::Policy;
use crate::report::Report;
use crate::retention::RetentionMode;
use crate::scrape_plan::{LocationPlan, ScrapePlan};
use crate::threat_rules::ThreatRules;
use crate::tracking::TrackingPlan;
use crate::{action, bounds, country, format, header, language, selector, threat};

/// `maxAge` that the official Python client sends with all scrape options by default. Under lockdown, whose default is
/// two years, it would make nearly every page a miss, so this exact value counts as absent there.
pub(crate) const PYTHON_CLIENT_MAX_AGE_MS: u64 = 14_400_000;

/// Context of a check of scrape options.
#[derive(Clone, Copy)]
pub(crate) struct ScrapeContext<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) retention: RetentionMode,
    /// Threat protection of the search, which applies if the options have none.
    pub(crate) threat: Option<&'a ThreatProtection>,
}

/// Checks the options of a single scrape. Without formats, the format is markdown.
pub(crate) fn check_single(report: &mut Report, options: ScrapeOptions, policy: &Policy) -> ScrapePlan {
    check_with_default_format(report, options, policy, RetentionMode::requested_retention(policy))
}

/// Checks the options of a single page or file. Without formats, the format is markdown.
pub(crate) fn check_with_default_format(
    report: &mut Report,
    options: ScrapeOptions,
    policy: &Policy,
    retention: RetentionMode,
) -> ScrapePlan {
    let mut plan = check(report, &Path::Root, options, ScrapeContext { policy, retention, threat: None });
    if plan.formats.is_empty() {
        plan.formats.push(Format::Markdown(Markdown {}));
    }
    plan
}

/// Checks scrape options. Without formats, the plan has none. The plan is valid only if the report has no violation.
pub(crate) fn check(
    report: &mut Report,
    path: &Path<'_>,
    options: ScrapeOptions,
    context: ScrapeContext<'_>,
) -> ScrapePlan {
    let ScrapeOptions {
        formats,
        only_main_content,
        only_clean_content,
        include_tags,
        exclude_tags,
        max_age,
        min_age,
        headers,
        wait_for,
        mobile,
        skip_tls_verification,
        timeout,
        parsers,
        actions,
        location,
        remove_base64_images,
        block_ads,
        proxy,
        store_in_cache,
        lockdown,
        redact_pii,
        profile,
        threat_protection,
        audit_metadata,
        // Accepted for compatibility and not used.
        integration: _,
        origin: _,
    } = options;
    let lockdown = lockdown.unwrap_or(false);
    let is_zero_retention = lockdown || context.retention == RetentionMode::Zero;
    let wait_for_ms = checked_wait_ms(report, &path.key("waitFor"), wait_for, timeout);
    let actions = checked_actions(report, &path.key("actions"), actions, wait_for_ms);
    let headers = header::check(report, &path.key("headers"), headers.unwrap_or_default());
    let profile = check_profile(report, &path.key("profile"), profile, context.retention);
    let threat = check_threat(report, &path.key("threatProtection"), threat_protection, &context);
    let retention = if is_zero_retention { RetentionMode::Zero } else { context.retention };
    let formats = check_formats(report, &path.key("formats"), formats, context.policy);
    let tracking = TrackingPlan::new(&formats, retention, lockdown, min_age.is_some());
    let is_private = !headers.is_empty() || !actions.is_empty() || profile.is_some();
    ScrapePlan {
        formats,
        only_main_content: only_main_content.unwrap_or(true),
        only_clean_content: check_clean_content(report, path, only_clean_content, is_zero_retention),
        include_tags: check_tags(report, &path.key("includeTags"), include_tags),
        exclude_tags: check_tags(report, &path.key("excludeTags"), exclude_tags),
        max_age: effective_max_age(max_age, lockdown, tracking),
        min_age: min_age.map(Duration::from_millis),
        headers,
        wait_for: Duration::from_millis(wait_for_ms),
        mobile: mobile.unwrap_or(false),
        skip_tls_verification: skip_tls_verification.unwrap_or(true),
        timeout: Duration::from_millis(timeout.unwrap_or(SCRAPE_TIMEOUT_DEFAULT_MS)),
        parsers: check_parsers(report, &path.key("parsers"), parsers),
        actions,
        location: check_location(report, &path.key("location"), location.unwrap_or_default()),
        remove_base64_images: remove_base64_images.unwrap_or(true),
        block_ads: block_ads.unwrap_or(true),
        proxy: proxy.unwrap_or(Proxy::Auto),
        // Anonymized requests store no content either, because a page may identify its caller.
        store_in_cache: store_in_cache.unwrap_or(true) && !is_private && retention == RetentionMode::Normal,
        retention: context.retention,
        lockdown,
        redact_pii: redact(redact_pii),
        profile,
        protection: ThreatRules::new(context.policy, threat.as_ref(), retention),
        threat,
        audit: audit_metadata.map(|audit| check_audit(report, &path.key("auditMetadata"), audit)),
        tracking,
        needs_out_links: false,
    }
}

/// Checks and returns the actions.
fn checked_actions(
    report: &mut Report,
    path: &Path<'_>,
    actions: Option<Vec<Action>>,
    wait_for_ms: u64,
) -> Vec<Action> {
    let actions = actions.unwrap_or_default();
    action::check(report, path, &actions, wait_for_ms);
    actions
}

/// Checks and returns the formats; none if the options have none.
fn check_formats(
    report: &mut Report,
    path: &Path<'_>,
    formats: Option<Vec<Format>>,
    policy: &Policy,
) -> Vec<Format> {
    format::check(report, path, formats.unwrap_or_default(), policy.schema_compiler)
}

/// Checks and returns the wait for a  in milliseconds. It must leave half of a `timeout` that the request sets.
fn checked_wait_ms(
    report: &mut Report,
    path: &Path<'_>,
    wait_for_ms: Option<u64>,
    timeout_ms: Option<u64>,
) -> u64 {
    let wait_for_ms = wait_for_ms.unwrap_or(0);
    if let Some(timeout_ms) = timeout_ms.filter(|timeout_ms| wait_for_ms > timeout_ms / 2) {
        report.violation(path, ViolationCode::TooBig, |name| {
            format!("{name} must not exceed half of timeout: {wait_for_ms} ms of {timeout_ms} ms")
        });
    }
    wait_for_ms
}

/// Returns the threat protection of the pages: that of the options, else that of the search.
fn check_threat(
    report: &mut Report,
    path: &Path<'_>,
    protection: Option<ThreatProtection>,
    context: &ScrapeContext<'_>,
) -> Option<ThreatProtection> {
    match protection {
        Some(protection) => Some(threat::check(report, path, protection, context.policy)),
        None => context.threat.cloned(),
    }
}

/// Returns `onlyCleanContent`, which zero data retention turns off: the operator of the language model may keep the page.
fn check_clean_content(
    report: &mut Report,
    path: &Path<'_>,
    requested: Option<bool>,
    is_zero_retention: bool,
) -> bool {
    let requested = requested.unwrap_or(false);
    if requested && is_zero_retention {
        report.warning(&path.key("onlyCleanContent"), |name| {
            format!(
                "{name} has no effect with zero data retention, which includes lockdown; the markdown is as extracted"
            )
        });
    }
    requested && !is_zero_retention
}

/// Returns the maximum age of a cached page. A page that is compared with its last scrape never comes from the
/// cache, where it would not have changed: the Python client sends an age with every scrape that has an option.
fn effective_max_age(max_age: Option<u64>, lockdown: bool, tracking: TrackingPlan) -> Duration {
    let age_ms = match (max_age, lockdown) {
        (None | Some(PYTHON_CLIENT_MAX_AGE_MS), true) => MAX_AGE_LOCKDOWN_MS,
        (Some(max_age), _) => max_age,
        (None, false) => MAX_AGE_DEFAULT_MS,
    };
    Duration::from_millis(if tracking == TrackingPlan::On { 0 } else { age_ms })
}

fn check_tags(report: &mut Report, path: &Path<'_>, tags: Option<Vec<String>>) -> Vec<String> {
    let tags = tags.unwrap_or_default();
    for (index, tag) in tags.iter().enumerate() {
        selector::check(report, &path.index(index), tag, Dialect::Page);
    }
    tags
}

/// Checks the parsers. An empty list stays empty, so that files are not converted.
fn check_parsers(report: &mut Report, path: &Path<'_>, parsers: Option<Vec<Parser>>) -> Vec<Parser> {
    let Some(parsers) = parsers else { return vec![Parser::new(ParserKind::Pdf)] };
    let mut checked: Vec<Parser> = Vec::new();
    for (index, parser) in parsers.into_iter().enumerate() {
        let path = path.index(index);
        match checked.iter().find(|other| other.kind == parser.kind) {
            None => checked.push(parser),
            Some(other) if *other == parser => {}
            Some(_) => report.violation(&path, ViolationCode::Conflict, |name| {
                format!("{name}: the parser is given twice, with different options")
            }),
        }
    }
    checked
}

fn check_location(report: &mut Report, path: &Path<'_>, location: Location) -> LocationPlan {
    let Location { country, languages, city } = location;
    if country.is_none() && city.is_some_and(|city| !city.trim().is_empty()) {
        report.warning(&path.key("city"), |name| {
            format!("{name} was ignored: only location.country has an effect")
        });
    }
    let country = country::check(report, &path.key("country"), country.as_deref());
    LocationPlan {
        country: country.unwrap_or(COUNTRY_DEFAULT),
        languages: language::tags(report, &path.key("languages"), &languages.unwrap_or_default()),
    }
}

/// Returns the redaction options. An empty list of entities means all, the same as an absent one.
fn redact(redact_pii: Option<RedactPii>) -> Option<RedactOptions> {
    match redact_pii? {
        RedactPii::Off => None,
        RedactPii::On(RedactOptions { mode, entities, replace_style }) => {
            let entities = entities.filter(|entities| !entities.is_empty());
            Some(RedactOptions { mode, entities, replace_style })
        }
    }
}

/// Checks a profile. Its state is stored for the team, so it is not available with zero data retention or for
/// anonymized requests.
fn check_profile(
    report: &mut Report,
    path: &Path<'_>,
    profile: Option<Profile>,
    retention: RetentionMode,
) -> Option<Profile> {
    let Profile { name, save_changes: _ } = profile.as_ref()?;
    if retention != RetentionMode::Normal {
        report.violation(path, ViolationCode::Conflict, |name| {
            format!("{name} is not supported with zero data retention or anonymized requests")
        });
    }
    bounds::chars(report, &path.key("name"), name, PROFILE_NAME_MIN_CHARS, PROFILE_NAME_MAX_CHARS);
    profile
}

fn check_audit(report: &mut Report, path: &Path<'_>, audit: AuditMetadata) -> AuditMetadata {
    let AuditMetadata { username } = &audit;
    bounds::chars(report, &path.key("username"), username, 0, USERNAME_MAX_CHARS);
    audit
}
