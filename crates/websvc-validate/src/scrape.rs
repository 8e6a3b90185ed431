//! The rules of scrape options (specification, section 2.2): options in, plan out.

use std::time::Duration;

use websvc_selector::Dialect;
use websvc_types::limits::{
    AGE_MAX_MS, COUNTRY_DEFAULT, MAX_AGE_DEFAULT_MS, MAX_AGE_LOCKDOWN_MS, MAX_PAGES_MAX, MAX_PAGES_MIN,
    PROFILE_NAME_MAX_CHARS, PROFILE_NAME_MIN_CHARS, SCRAPE_TIMEOUT_DEFAULT_MS, SCRAPE_TIMEOUT_MAX_MS,
    SCRAPE_TIMEOUT_MIN_MS, USERNAME_MAX_CHARS, WAIT_TOTAL_MAX_MS,
};
use websvc_types::{
    AuditMetadata, Location, Parser, ParserKind, Profile, Proxy, RedactOptions, RedactPii, ScrapeOptions,
    ThreatProtection, ViolationCode,
};

use crate::checked::Checked;
use crate::error::Rejection;
use crate::path::Path;
use crate::policy::Policy;
use crate::report::Report;
use crate::retention::RetentionMode;
use crate::scrape_plan::{LocationPlan, ScrapePlan};
use crate::threat_rules::ThreatRules;
use crate::{action, bounds, country, format, header, language, page, selector, threat};

/// The `maxAge` that the official Python client sends with every request that has scrape options, asked or not. Under
/// lockdown, whose default is two years, it would make nearly every page a miss without anybody having wanted that:
/// there exactly this value counts as not given.
const MAX_AGE_OF_PYTHON_CLIENT_MS: u64 = 14_400_000;

/// Context of scrape options.
#[derive(Clone, Copy)]
pub(crate) struct ScrapeContext<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) retention: RetentionMode,
    /// The threat protection of the search, in force where the options have none.
    pub(crate) threat: Option<&'a ThreatProtection>,
}

/// Checks the options of a single scrape, where no formats mean markdown.
///
/// # Errors
/// Every rule that the options break, or what the team may not do.
pub fn check_scrape_options(
    options: ScrapeOptions,
    policy: &Policy,
) -> Result<Checked<ScrapePlan>, Rejection> {
    let mut report = Report::default();
    let plan = check_single(&mut report, options, policy);
    report.finish(plan)
}

/// Checks the options of a single scrape. The plan holds only if the report has no violation.
pub(crate) fn check_single(report: &mut Report, options: ScrapeOptions, policy: &Policy) -> ScrapePlan {
    page::check_alone(report, options, policy, RetentionMode::requested_retention(policy))
}

/// Checks scrape options; no formats stay none. The plan holds only if the report has no violation.
pub(crate) fn check(
    report: &mut Report,
    path: &Path<'_>,
    options: ScrapeOptions,
    setting: ScrapeContext<'_>,
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
        // Of interest to the log alone.
        integration: _,
        origin: _,
    } = options;
    let lockdown = lockdown.unwrap_or(false);
    let leaves_nothing = lockdown || setting.retention == RetentionMode::Zero;
    let timeout_ms = timeout.unwrap_or(SCRAPE_TIMEOUT_DEFAULT_MS);
    bounds::number(report, &path.key("timeout"), timeout_ms, SCRAPE_TIMEOUT_MIN_MS, SCRAPE_TIMEOUT_MAX_MS);
    let wait_for_ms = wait_for.unwrap_or(0);
    check_wait(report, &path.key("waitFor"), wait_for_ms, timeout);
    let actions = actions.unwrap_or_default();
    action::check(report, &path.key("actions"), &actions, wait_for_ms);
    let headers = header::check(report, &path.key("headers"), headers.unwrap_or_default());
    let profile =
        profile.map(|profile| check_profile(report, &path.key("profile"), profile, setting.retention));
    let threat = check_threat(report, &path.key("threatProtection"), threat_protection, &setting);
    let kept = if leaves_nothing { RetentionMode::Zero } else { setting.retention };
    let is_private = !headers.is_empty() || !actions.is_empty() || profile.is_some();
    ScrapePlan {
        formats: format::check(report, &path.key("formats"), formats.unwrap_or_default()),
        only_main_content: only_main_content.unwrap_or(true),
        only_clean_content: clean_content(report, path, only_clean_content, leaves_nothing),
        include_tags: check_tags(report, &path.key("includeTags"), include_tags),
        exclude_tags: check_tags(report, &path.key("excludeTags"), exclude_tags),
        max_age: Duration::from_millis(max_age_ms(report, &path.key("maxAge"), max_age, lockdown)),
        min_age: min_age.map(|age| Duration::from_millis(checked_age(report, &path.key("minAge"), age))),
        headers,
        wait_for: Duration::from_millis(wait_for_ms),
        mobile: mobile.unwrap_or(false),
        skip_tls_verification: skip_tls_verification.unwrap_or(true),
        timeout: Duration::from_millis(timeout_ms),
        parsers: check_parsers(report, &path.key("parsers"), parsers),
        actions,
        location: check_location(report, &path.key("location"), location.unwrap_or_default()),
        remove_base64_images: remove_base64_images.unwrap_or(true),
        block_ads: block_ads.unwrap_or(true),
        proxy: proxy.unwrap_or(Proxy::Auto),
        // Anonymized retention keeps no content either: a page may tell who asked for it.
        store_in_cache: store_in_cache.unwrap_or(true) && !is_private && kept == RetentionMode::Normal,
        lockdown,
        redact_pii: redact(redact_pii),
        profile,
        protection: ThreatRules::of(setting.policy, threat.as_ref(), kept),
        threat,
        audit: audit_metadata.map(|audit| check_audit(report, &path.key("auditMetadata"), audit)),
        leads: false,
    }
}

/// Checks the wait for a page: of a time that the caller gives, half is left for what is not waiting.
fn check_wait(report: &mut Report, path: &Path<'_>, wait_for_ms: u64, timeout_ms: Option<u64>) {
    let Some(timeout_ms) = timeout_ms.filter(|timeout_ms| wait_for_ms > timeout_ms / 2) else {
        bounds::number(report, path, wait_for_ms, 0, WAIT_TOTAL_MAX_MS);
        return;
    };
    if bounds::number(report, path, wait_for_ms, 0, WAIT_TOTAL_MAX_MS) {
        report.violation(path, ViolationCode::TooBig, |name| {
            format!("{name} must not exceed half of timeout: {wait_for_ms} ms of {timeout_ms} ms")
        });
    }
}

/// Returns the threat protection of the pages: without one of their own, that of the search.
fn check_threat(
    report: &mut Report,
    path: &Path<'_>,
    own: Option<ThreatProtection>,
    setting: &ScrapeContext<'_>,
) -> Option<ThreatProtection> {
    match own {
        Some(own) => Some(threat::check(report, path, own, setting.policy)),
        None => setting.threat.cloned(),
    }
}

/// Returns whether a model cleans the content: never that of a page of which nothing may be kept.
fn clean_content(report: &mut Report, path: &Path<'_>, asked: Option<bool>, leaves_nothing: bool) -> bool {
    let asked = asked.unwrap_or(false);
    if asked && leaves_nothing {
        report.violation(&path.key("onlyCleanContent"), ViolationCode::Conflict, |name| {
            format!("{name} is not supported on requests of zero data retention, lockdown among them")
        });
    }
    asked
}

fn max_age_ms(report: &mut Report, path: &Path<'_>, given: Option<u64>, lockdown: bool) -> u64 {
    match (given, lockdown) {
        (None | Some(MAX_AGE_OF_PYTHON_CLIENT_MS), true) => MAX_AGE_LOCKDOWN_MS,
        (Some(given), _) => checked_age(report, path, given),
        (None, false) => MAX_AGE_DEFAULT_MS,
    }
}

/// Checks an age of a cached page, in milliseconds.
fn checked_age(report: &mut Report, path: &Path<'_>, age_ms: u64) -> u64 {
    bounds::number(report, path, age_ms, 0, AGE_MAX_MS);
    age_ms
}

fn check_tags(report: &mut Report, path: &Path<'_>, tags: Option<Vec<String>>) -> Vec<String> {
    let tags = tags.unwrap_or_default();
    for (index, tag) in tags.iter().enumerate() {
        selector::check(report, &path.index(index), tag, Dialect::Page);
    }
    tags
}

/// Returns the parsers; an empty list stays empty, so that files are returned as they are.
fn check_parsers(report: &mut Report, path: &Path<'_>, parsers: Option<Vec<Parser>>) -> Vec<Parser> {
    let Some(parsers) = parsers else {
        return vec![Parser { kind: ParserKind::Pdf, mode: None, max_pages: None }];
    };
    let mut checked: Vec<Parser> = Vec::new();
    for (index, parser) in parsers.into_iter().enumerate() {
        let path = path.index(index);
        let Parser { kind, mode: _, max_pages } = &parser;
        if let Some(max_pages) = max_pages {
            bounds::number(report, &path.key("maxPages"), *max_pages, MAX_PAGES_MIN, MAX_PAGES_MAX);
        }
        match checked.iter().find(|known| known.kind == *kind) {
            None => checked.push(parser),
            Some(known) if *known == parser => {}
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
            format!("{name} was ignored: a page is visited from a country, give location.country")
        });
    }
    let country = country::check(report, &path.key("country"), country.as_deref());
    LocationPlan {
        country: country.unwrap_or(COUNTRY_DEFAULT),
        languages: language::tags(report, &path.key("languages"), &languages.unwrap_or_default()),
    }
}

/// Returns how personal data is removed; an empty list of entities means all of them, as none given does.
fn redact(redact_pii: Option<RedactPii>) -> Option<RedactOptions> {
    match redact_pii? {
        RedactPii::Off => None,
        RedactPii::On(RedactOptions { mode, entities, replace_style }) => {
            let entities = entities.filter(|entities| !entities.is_empty());
            Some(RedactOptions { mode, entities, replace_style })
        }
    }
}

/// Checks a profile. What keeps no trace of its caller cannot use what is kept for the caller's team.
fn check_profile(
    report: &mut Report,
    path: &Path<'_>,
    profile: Profile,
    retention: RetentionMode,
) -> Profile {
    let Profile { name, save_changes: _ } = &profile;
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
