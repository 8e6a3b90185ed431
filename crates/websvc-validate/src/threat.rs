//! Rules of threat protection in a request (specification, section 2.3).

use websvc_types::limits::THREAT_LIST_MAX;
use websvc_types::team::TeamThreatRequest;
use websvc_types::{ThreatMode, ThreatProtection, ViolationCode};

use crate::bounds;
use crate::domain::{canonical, deduplicate};
use crate::path::Path;
use crate::policy::{Policy, ThreatOverride, ThreatPolicy};
use crate::report::{Report, quoted};

/// Checks the changes of a request and its permission. Converts domains to lower case and ASCII form.
pub(crate) fn check(
    report: &mut Report,
    path: &Path<'_>,
    protection: ThreatProtection,
    policy: &Policy,
) -> ThreatProtection {
    check_permission(report, &protection, policy);
    check_rules(report, path, protection)
}

/// Checks the settings of a team, and returns its policies and its values.
pub(crate) fn check_team(
    report: &mut Report,
    request: TeamThreatRequest,
) -> (ThreatPolicy, ThreatOverride, ThreatProtection) {
    let TeamThreatRequest {
        mode,
        enforced,
        allow_request_overrides,
        risk_score_threshold,
        blacklist,
        whitelist,
        blocked_tlds,
        failure_policy,
    } = request;
    let threat = match (mode, enforced.unwrap_or(false)) {
        (ThreatMode::Off, false) => ThreatPolicy::Off,
        (ThreatMode::Off, true) => {
            report.violation(&Path::Root.key("enforced"), ViolationCode::Conflict, |name| {
                format!("{name} cannot be true with the mode off: set the mode to normal")
            });
            ThreatPolicy::Off
        }
        (ThreatMode::Normal, false) => ThreatPolicy::On,
        (ThreatMode::Normal, true) => ThreatPolicy::Enforced,
    };
    let threat_override = match allow_request_overrides.unwrap_or(true) {
        true => ThreatOverride::Allowed,
        false => ThreatOverride::Denied,
    };
    let rules = ThreatProtection {
        mode: None,
        risk_score_threshold,
        blacklist,
        whitelist,
        blocked_tlds,
        failure_policy,
    };
    (threat, threat_override, check_rules(report, &Path::Root, rules))
}

fn check_rules(report: &mut Report, path: &Path<'_>, protection: ThreatProtection) -> ThreatProtection {
    let ThreatProtection { mode, risk_score_threshold, blacklist, whitelist, blocked_tlds, failure_policy } =
        protection;
    let mut domains = |key, list: Option<Vec<String>>| {
        let expected = "a domain or a wildcard such as *.example.com, without protocol, path and port";
        list.map(|list| check_list(report, &path.key(key), &list, expected, domain))
    };
    let blacklist = domains("blacklist", blacklist);
    let whitelist = domains("whitelist", whitelist);
    let blocked_tlds = blocked_tlds.map(|list| {
        let expected = "a top-level domain in lower case without the dot, such as zip";
        check_list(report, &path.key("blockedTlds"), &list, expected, top_level)
    });
    ThreatProtection { mode, risk_score_threshold, blacklist, whitelist, blocked_tlds, failure_policy }
}

fn check_permission(report: &mut Report, protection: &ThreatProtection, policy: &Policy) {
    match (policy.threat, policy.threat_override) {
        (ThreatPolicy::Off, _) => report.forbid("threatProtection is not enabled for this team"),
        (ThreatPolicy::On | ThreatPolicy::Enforced, ThreatOverride::Denied) => {
            report.forbid(
                "threatProtection cannot be changed by a request: the organization disabled overrides",
            );
        }
        (ThreatPolicy::Enforced, ThreatOverride::Allowed) if protection.mode == Some(ThreatMode::Off) => {
            report.forbid("threatProtection.mode cannot be off: threat protection is enforced for this team");
        }
        (ThreatPolicy::On | ThreatPolicy::Enforced, ThreatOverride::Allowed) => {}
    }
}

fn check_list(
    report: &mut Report,
    path: &Path<'_>,
    texts: &[String],
    expected: &str,
    parse: fn(&str) -> Option<String>,
) -> Vec<String> {
    let mut entries = Vec::new();
    if !bounds::items(report, path, texts.len(), THREAT_LIST_MAX as usize) {
        return entries;
    }
    for (index, text) in texts.iter().enumerate() {
        match parse(text) {
            Some(entry) => entries.push(entry),
            None => report.violation(&path.index(index), ViolationCode::InvalidFormat, |name| {
                format!("{name} must be {expected}, not {}", quoted(text))
            }),
        }
    }
    deduplicate(entries)
}

fn domain(text: &str) -> Option<String> {
    let text = text.trim();
    match text.strip_prefix("*.") {
        Some(parent) => canonical(parent).map(|parent| format!("*.{parent}")),
        None => canonical(text),
    }
}

fn top_level(text: &str) -> Option<String> {
    if text.contains('.') || text.chars().any(char::is_uppercase) {
        return None;
    }
    // UTS 46 maps other characters to dots, and no top-level domain is a number (RFC 3696, section 2).
    canonical(text).filter(|tld| !tld.contains(['.', '_']) && !tld.bytes().all(|byte| byte.is_ascii_digit()))
}
